"""The objects for Kubernetes: nothing is left out or copied, no right too many; the Job's script and sidecar deliver.

tests/deploy/kubernetes checks them against the published schemas.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.launching import Launchpad
from tests.support.serving import FakeExporter, served
from tests.support.waiting import PATIENCE, eventually

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "kubernetes"
LARGEST = 1024 * 1024
"""Bytes of an object: https://kubernetes.io/docs/concepts/configuration/configmap/"""


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text()))


OBJECTS = [one for path in sorted(FOLDER.glob("*.yaml")) for one in documents(path) if "kind" in one]


def only(kind: str) -> dict[str, Any]:
    (found,) = (one for one in OBJECTS if one["kind"] == kind)
    return found


PODS = {kind: only(kind)["spec"]["template"]["spec"] for kind in ("StatefulSet", "Job")}
CONTAINERS = [
    pytest.param(pod, container, id=container["name"])
    for pod in PODS.values()
    for container in (*pod.get("initContainers", ()), *pod["containers"])
]


def test_every_file_is_part_of_it_but_the_job() -> None:
    kustomization = only("Kustomization")
    resources = set(kustomization["resources"]) | {
        file for map in kustomization["configMapGenerator"] for file in map["files"]
    }
    files = {path.name for path in FOLDER.glob("*.yaml")} - {"kustomization.yaml", "pgbench-job.yaml"}
    assert resources == files | {"../../dashboards"}


def test_every_dashboard_is_a_config_map_that_the_sidecar_finds_and_the_cluster_takes() -> None:
    kustomization = yaml.safe_load((ROOT / "dashboards" / "kustomization.yaml").read_text())
    assert kustomization["generatorOptions"]["labels"] == {"grafana_dashboard": "1"}
    (files,) = zip(*(one["files"] for one in kustomization["configMapGenerator"]), strict=True)
    assert sorted(files) == [f"json/{path.name}" for path in sorted((ROOT / "dashboards" / "json").iterdir())]
    names = [one["name"] for one in kustomization["configMapGenerator"]]
    assert names == [f"benchwatch-dashboard-{Path(file).stem}" for file in files]
    for file in files:
        assert (ROOT / "dashboards" / file).stat().st_size < 0.95 * LARGEST, file


def test_rules_are_those_of_every_other_prometheus() -> None:
    command = [ROOT / "scripts" / "prometheus-rules", "release=kps"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    made = {one["metadata"]["name"]: one for one in yaml.safe_load_all(printed)}
    files = {f"benchwatch-{path.stem}": path for path in (ROOT / "prometheus" / "rules").glob("*.yml")}
    assert made.keys() == files.keys()
    for name, one in made.items():
        assert one["spec"] == yaml.safe_load(files[name].read_text())
        assert one["metadata"]["labels"] == {"app.kubernetes.io/name": "benchwatch", "release": "kps"}
        assert len(yaml.safe_dump(one)) < 0.95 * LARGEST


def test_a_label_of_the_rules_that_is_none_is_refused() -> None:
    for label in ("release", "release=a: b", "x}=1"):
        done = subprocess.run(
            [ROOT / "scripts" / "prometheus-rules", label], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"prometheus-rules: expected LABEL=VALUE, got {label}\n"


def test_jobs_are_those_of_prometheus_yml() -> None:
    config = yaml.safe_load((ROOT / "prometheus" / "prometheus.yml").read_text())
    wanted = {
        job["job_name"]: (
            job.get("scrape_interval", config["global"]["scrape_interval"]),
            job.get("scrape_timeout"),
            job["params"],
            job.get("honor_labels", False),
        )
        for job in config["scrape_configs"]
        if job["job_name"].startswith("benchwatch-")
    }
    endpoints = only("ServiceMonitor")["spec"]["endpoints"]
    names = [
        [rule["replacement"] for rule in one["relabelings"] if rule.get("targetLabel") == "job"] for one in endpoints
    ]
    assert {
        name: (one["interval"], one.get("scrapeTimeout"), one["params"], one.get("honorLabels", False))
        for (name,), one in zip(names, endpoints, strict=True)
    } == wanted


def test_the_exporter_is_found_by_its_service_its_monitor_and_its_policy() -> None:
    labels = only("StatefulSet")["spec"]["template"]["metadata"]["labels"]
    assert only("StatefulSet")["spec"]["selector"]["matchLabels"] == labels
    assert only("Service")["spec"]["selector"] == only("Service")["metadata"]["labels"] == labels
    assert only("ServiceMonitor")["spec"]["selector"]["matchLabels"] == labels
    assert only("NetworkPolicy")["spec"]["podSelector"]["matchLabels"] == labels
    (port,) = only("Service")["spec"]["ports"]
    assert {one["port"] for one in only("ServiceMonitor")["spec"]["endpoints"]} == {port["name"]}


@pytest.mark.parametrize(("pod", "container"), CONTAINERS)
def test_container_has_no_right_that_it_does_not_need(pod: dict[str, Any], container: dict[str, Any]) -> None:
    security = pod["securityContext"] | container["securityContext"]
    assert security.pop("runAsUser") == security.pop("runAsGroup") == security.pop("fsGroup") == 10001
    assert security.pop("fsGroupChangePolicy", None) in (None, "OnRootMismatch")
    assert security == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()
    assert not any("hostPath" in volume for volume in pod["volumes"])
    assert container["resources"]["requests"].keys() == {"cpu", "memory"}
    assert container["resources"]["limits"].keys() == {"memory"}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Launchpad]:
    made = Launchpad(tmp_path)
    yield made
    made.stop()


@pytest.mark.parametrize(("code", "host"), [(0, ""), (2, "db1")])
def test_the_job_runs_and_its_sidecar_delivers(place: Launchpad, code: int, host: str) -> None:
    script = "for a; do case $a in --log-prefix=*) prefix=${a#*=};; esac; done; echo 0 1 2 0 1790000000 5 >$prefix.7"
    place.tool("pgbench", f"{script}; echo progress: 1.0 s, 5.0 tps, lat 1.000 ms stddev 1.000 >&2; exit {code}")
    (pgbench,), (sidecar,) = PODS["Job"]["containers"], PODS["Job"]["initContainers"]
    folder = place.folder / "pod"
    folder.mkdir()
    given = {"RUN": "pgbench-x1", "NODE": "n1", "JOB_COMPLETION_INDEX": "3", "PGHOST": "db", "HOST": host}
    with served(FakeExporter(push_folder=place.folder / "there")) as server:
        words = [
            word.replace("http://benchwatch:19777", server.url).replace("/runs", str(folder))
            for word in sidecar["args"]
        ]
        push = subprocess.Popen([sys.executable, "-m", "benchwatch", *words], stderr=subprocess.PIPE)
        command = [word.replace("/runs", str(folder)) for word in (*pgbench["command"], *pgbench["args"])]
        done = subprocess.run(
            command,
            env=place.environment | given,
            cwd="/",
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (
            code,
            "progress: 1.0 s, 5.0 tps, lat 1.000 ms stddev 1.000\n",
            "",
        )
        there = place.folder / "there" / "pgbench-x1"
        eventually((there / "db3.yaml").exists, "the sidecar has begun")
        push.send_signal(signal.SIGTERM)
        _, said = push.communicate(timeout=PATIENCE)
        assert (push.returncode, said) == (0, b"")
    here = folder / "pgbench-x1"
    delivered = {file.name: file.read_bytes() for file in there.iterdir()}
    assert delivered.keys() == {"db3.7", "db3.out", "db3.yaml"}
    assert delivered == {file.name: file.read_bytes() for file in here.iterdir()}
    record = yaml.safe_load((there / "db3.yaml").read_text())
    assert record.pop("end") > 1790000000
    assert record == {"command": "pgbench -T 600 -c 8 -j 4", "host": host or "db", "client": "n1", "exit_code": code}
