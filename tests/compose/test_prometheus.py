"""Prometheus' configuration for compose.yaml: what prometheus.yml says, under the names of the services."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from benchwatch.why import causes, window
from tests.support.programs import FOLDER, output, program, too_old

from .test_compose import SERVICES, TEXT, environment

ALERTMANAGER = ("127.0.0.1:9093", "alertmanager:9093")


def load(name: str) -> dict[str, Any]:
    return yaml.safe_load((FOLDER / name).read_text())


def test_promtool_reads_it_without_complaint(tmp_path: Path) -> None:
    """Whatever promtool there is: that of PROMETHEUS_3 reads all of it, older ones all but the retention."""
    newest = os.environ.get("PROMETHEUS_3")
    promtool = Path(newest).with_name("promtool") if newest else Path(program("promtool"))
    config = load("compose.yml")
    if too_old(output(promtool, "--version")):
        config.pop("storage")
    config["rule_files"] = [f"{FOLDER}/{pattern}" for pattern in config["rule_files"]]
    (tmp_path / "compose.yml").write_text(yaml.safe_dump(config))
    assert "SUCCESS" in output(promtool, "check", "config", tmp_path / "compose.yml")


def test_what_is_kept_is_said_in_the_file_and_not_by_deprecated_flags() -> None:
    assert load("compose.yml")["storage"] == {"tsdb": {"retention": {"time": "30d", "size": "10GB"}}}
    assert not [flag for flag in SERVICES["prometheus"]["command"] if "retention" in flag]


def test_is_the_other_one_with_the_names_of_the_services_and_what_the_profiles_add() -> None:
    found = load("compose.yml")
    found.pop("storage")
    assert found["global"].pop("external_labels") == {"grafana": "${GRAFANA_URL}", "runbooks": "${RUNBOOKS_URL}"}
    for job in found["scrape_configs"]:
        job.pop("dns_sd_configs", None)
        job.pop("relabel_configs", None)
    other = yaml.safe_load((FOLDER / "prometheus.yml").read_text().replace(*ALERTMANAGER))
    del other["global"]["external_labels"]
    assert found == other


def test_links_in_alerts_lead_to_grafana_of_compose() -> None:
    settings = dict(SERVICES["prometheus"]["environment"])
    del settings["GOGC"]
    assert settings == {"GRAFANA_URL": "http://127.0.0.1:3000", "RUNBOOKS_URL": "./"}, (
        "of an empty one, Prometheus warns"
    )


def test_what_is_on_this_machine_by_targets_is_its_service_in_compose() -> None:
    """By the relabelling of Prometheus, which anchors its patterns."""
    addresses = {"exporters": "127.0.0.1:19777", "nodes": "127.0.0.1:9100"}
    for name, address in addresses.items():
        assert [group["targets"] for group in load(f"targets/{name}.yml")] == [[address]]
    renamed = {
        job["job_name"]: {
            rule["replacement"]
            for rule in job.get("relabel_configs", [])
            for address in addresses.values()
            if rule["target_label"] == "__address__" and re.fullmatch(rule["regex"], address)
        }
        for job in load("compose.yml")["scrape_configs"]
    }
    assert {name: services for name, services in renamed.items() if services} == {
        **{f"benchwatch-{part}": {"exporter:19777"} for part in ("live", "runs", "nutanix")},
        "node": {"node-exporter:9100"},
    }
    assert {name.partition(":")[0] for (name,) in filter(None, renamed.values())} <= SERVICES.keys()


def test_this_machine_has_one_name_whoever_names_it() -> None:
    named = {environment()["BENCHWATCH_HOST"]}
    assert "--host=${BENCHWATCH_HOST:?see .env}" in TEXT
    named |= {group["labels"]["host"] for group in load("targets/nodes.yml")}
    jobs = {job["job_name"]: job for job in load("compose.yml")["scrape_configs"]}
    named |= {rule["replacement"] for rule in jobs["postgres"]["relabel_configs"] if rule["target_label"] == "host"}
    assert named == {"localhost"}
    assert SERVICES["exporter"]["uts"] == "host", "so that it knows what launchers call the machine"


def test_examples_of_targets_hold_without_their_hash(tmp_path: Path) -> None:
    found = {}
    for path in sorted((FOLDER / "targets").glob("*.yml")):
        groups = yaml.safe_load(re.sub(r"^( *)#(?=- |  |\w*\.?yml:)", r"\1", path.read_text(), flags=re.MULTILINE))
        found[path.stem] = [(*group["targets"], group.get("labels", {}).get("host")) for group in groups]
    assert found == {
        "exporters": [("127.0.0.1:19777", "bench2.example:19777", None)],
        "nodes": [
            *[("127.0.0.1:9100", "localhost"), ("db1.example:9100", "db1"), ("db2.example:9100", "db2")],
        ],
        "postgres": [("127.0.0.1:9187", "localhost"), ("db1.example:9187", "db1")],
    }
    files = {
        file
        for job in load("prometheus.yml")["scrape_configs"]
        for one in job.get("file_sd_configs", [])
        for file in one["files"]
    }
    assert files == {f"targets/{name}.yml" for name in found}


def test_what_is_looked_for_by_name_is_a_service_of_a_profile() -> None:
    lookups = [one for job in load("compose.yml")["scrape_configs"] for one in job.get("dns_sd_configs", [])]
    assert [(one["names"], one["type"], one["port"]) for one in lookups] == [
        (["demo-cvm-exporter"], "A", 19777),
        (["postgres-exporter"], "A", 9187),
    ]
    assert all(SERVICES[name].get("profiles") for one in lookups for name in one["names"])


def node_exporter_arguments(proc: Path, seen: Path) -> list[str]:
    """What the container's shell starts; `proc` is the machine's, `seen` a folder for what it makes of it."""
    shell, options, script, name = SERVICES["node-exporter"]["entrypoint"]
    own = {"/host/proc": str(proc), "/dev/shm/proc": str(seen), "/bin/node_exporter": "printf '%s\\n'", "$$": "$"}
    script = re.sub("|".join(map(re.escape, own)), lambda match: own[match[0]], script)
    command = [shell, options, script, name, *SERVICES["node-exporter"]["command"]]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def test_node_exporter_sees_the_network_of_the_machine(tmp_path: Path) -> None:
    """Its own /proc/net is that of the container: "net" leads to "self/net"."""
    machine, seen = tmp_path / "machine", tmp_path / "seen"
    (machine / "1" / "net").mkdir(parents=True)
    (machine / "1" / "net" / "dev").write_text("eth0")
    (machine / "stat").write_text("cpu")
    (machine / "2").mkdir()
    seen.mkdir()
    for _ in range(2):  # a container that is started again has what it made before, or nothing
        arguments = node_exporter_arguments(machine, seen)
        assert {"--collector.netdev", "--collector.netstat"} <= set(arguments)
    assert (seen / "net" / "dev").read_text() == "eth0"
    assert (seen / "stat").read_text() == "cpu"
    assert not (seen / "2").exists()


def test_node_exporter_without_access_to_the_network_has_the_rest(tmp_path: Path) -> None:
    assert node_exporter_arguments(tmp_path, tmp_path) == SERVICES["node-exporter"]["command"]


def test_node_exporter_has_the_collectors_that_rules_and_why_need(tmp_path: Path) -> None:
    collectors = {
        "node_cpu_seconds_total": "cpu",
        "node_disk_": "diskstats",
        "node_memory_": "meminfo",
        "node_netstat_": "netstat",
        "node_network_": "netdev",
        "node_pressure_": "pressure",
        "node_procs_": "stat",
        "node_vmstat_": "vmstat",
    }
    rules = "".join(path.read_text() for path in (FOLDER / "rules").glob("*.yml"))
    asked = "".join(Path(module.__file__).read_text() for module in (causes, window))
    metrics = {*re.findall(r"(?<![\w:])node_\w+(?=[{\[])", rules), *re.findall(r'"(node_\w+)', asked)}
    needed = {collectors[next(prefix for prefix in collectors if name.startswith(prefix))] for name in metrics}
    flags = node_exporter_arguments(Path("/proc"), tmp_path)
    assert needed <= {flag.removeprefix("--collector.") for flag in flags}
    (fields,) = (flag.partition("fields=")[2] for flag in flags if "vmstat.fields" in flag)
    parts = {name.removeprefix("node_vmstat_") for name in metrics if name.startswith("node_vmstat_")}
    assert parts
    assert [part for part in parts if not re.match(fields, part)] == []
    demo = (FOLDER.parent / "scripts" / "demo_parts.py").read_text()
    assert [name for name in needed if f'"{name}"' not in demo] == []
    assert f'"vmstat.fields={fields}"' in demo
