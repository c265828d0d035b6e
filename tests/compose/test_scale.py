"""Many machines: what compose.scale.yaml and compose.agent.yaml add, and that both scrape what compose.yaml does."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchwatch.values.durations import Duration
from tests.support.programs import FOLDER, program

from .test_compose import AGENT, PROJECT, ROOT, SCALE, SERVICES, environment


def load(name: str) -> dict[str, Any]:
    return yaml.safe_load((FOLDER / name).read_text())


def jobs(name: str, *keys: str) -> dict[str, dict[str, Any]]:
    """The jobs of a configuration by name, each with these keys only, or all."""
    return {
        job["job_name"]: {key: value for key, value in job.items() if not keys or key in keys}
        for job in load(name)["scrape_configs"]
    }


HOW = ("scrape_interval", "scrape_timeout", "sample_limit", "params", "honor_labels")


def test_the_receivers_agent_scrapes_what_prometheus_would_and_the_cluster() -> None:
    ours, theirs = jobs("scale.yml"), jobs("compose.yml")
    del theirs["prometheus"]
    for job in theirs.values():  # names that the agent looks up itself
        for names in job.pop("dns_sd_configs", []):
            job["file_sd_configs"].append({"files": [f"/tmp/{names['names'][0]}.yml"]})
            assert f"-promscrape.fileSDCheckInterval={names['refresh_interval']}" in SERVICES["agent"]["command"]
            name = {"source_labels": ["__meta_dns_name", "__address__"], "regex": r"(.+);.+(:\d+)"}
            job["relabel_configs"].remove(name | {"target_label": "instance", "replacement": "$1$2"})
            for rule in job["relabel_configs"]:
                if rule["source_labels"] == ["__meta_dns_name"]:
                    rule |= {"source_labels": ["__address__"], "regex": f"{names['names'][0]}:.*"}
    own = {name: ours.pop(name) for name in ("agent", "victoriametrics")}
    assert ours == theirs
    cluster = [address for one in own["victoriametrics"]["static_configs"] for address in one["targets"]]
    added = {name for name, service in SCALE["services"].items() if "image" in service}
    assert {address.partition(":")[0] for address in cluster} == added - {"agent"}


def test_the_receivers_agent_scrapes_the_exporters_of_profiles_that_run(tmp_path: Path) -> None:
    """Docker knows the names of those only."""
    (tmp_path / "getent").write_text('#!/bin/sh\n[ "$1 $2" = "hosts postgres-exporter" ]\n')
    (tmp_path / "getent").chmod(0o755)
    shell, options, script, name = SERVICES["agent"]["entrypoint"]
    own = {"/tmp/": f"{tmp_path}/", "while sleep 10": "while false", "/vmagent-prod": "echo", "$$": "$"}
    script = re.sub("|".join(map(re.escape, own)), lambda match: own[match[0]], script)
    path = f"{tmp_path}:{os.environ['PATH']}"
    command = [shell, options, script, name, "-flag=1"]
    assert subprocess.run(command, env={"PATH": path}, capture_output=True, check=True).stdout == b"-flag=1\n"
    lookups = [one for job in load("compose.yml")["scrape_configs"] for one in job.get("dns_sd_configs", [])]
    found = {one["names"][0]: yaml.safe_load((tmp_path / f"{one['names'][0]}.yml").read_text()) for one in lookups}
    assert found == {
        "demo-cvm-exporter": [{"targets": []}],
        "postgres-exporter": [{"targets": ["postgres-exporter:9187"]}],
    }
    assert [(one["names"], one["port"]) for one in lookups][1] == (["postgres-exporter"], 9187)


def test_an_agent_runs_beside_the_receiver() -> None:
    assert AGENT["name"] not in (PROJECT["name"], SCALE.get("name"))
    assert AGENT["services"]["agent"]["extra_hosts"] == ["host.docker.internal:host-gateway"]
    page = (ROOT / "docs" / "scale.md").read_text()
    assert "-addext subjectAltName=DNS:receiver.example,DNS:host.docker.internal " in page
    assert "AGENT_URL=https://host.docker.internal:8427/api/v1/write" in page and "EXPORTER_PORT=" in page
    assert not re.search(r"127\.0\.0\.1, they must run here", (ROOT / ".env").read_text())


@pytest.mark.parametrize("name", ["scale.yml", "agent.yml"])
def test_vmagent_reads_what_it_scrapes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_HOST", "db07")
    command = [program("vmagent"), f"-promscrape.config={FOLDER / name}", "-dryRun"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_agents_scrape_as_prometheus_does() -> None:
    ours, theirs = jobs("agent.yml", *HOW), jobs("prometheus.yml", *HOW)
    assert ours.pop("agent") == {}
    assert ours == {name: job for name, job in theirs.items() if name not in ("prometheus", "alertmanager")}
    assert load("agent.yml")["global"] == {"scrape_interval": load("prometheus.yml")["global"]["scrape_interval"]}


def test_no_two_agents_have_a_target_of_the_same_name() -> None:
    for job in load("agent.yml")["scrape_configs"]:
        if "static_configs" in job:
            (named,) = [one for one in job["relabel_configs"] if one["target_label"] == "instance"]
            assert re.fullmatch(r"%\{AGENT_HOST\}:\d+", named["replacement"])
    assert environment()["AGENT_HOST"] == environment()["AGENT_URL"] == ""
    text = (ROOT / "compose.agent.yaml").read_text()
    assert re.search(r"--host=\$\{AGENT_HOST:\?[^}]+\}", text) and re.search(r"url=\$\{AGENT_URL:\?[^}]+\}", text)


def test_an_agents_machine_runs_the_services_of_the_stack_and_the_agent() -> None:
    for name in ("exporter", "node-exporter"):
        ours, theirs = dict(AGENT["services"][name]), dict(SERVICES[name])
        assert (ours.pop("command") == theirs.pop("command")) is (name == "node-exporter")
        assert ours == theirs
    assert AGENT["services"].keys() == {"exporter", "node-exporter", "agent"}
    changed, original = AGENT["services"]["exporter"]["command"], SERVICES["exporter"]["command"]
    own = re.compile("--(host|prometheus.url|grafana.url)=.*")  # an agent's machine has neither
    assert [one for one in changed if not own.fullmatch(one)] == [one for one in original if not own.fullmatch(one)]
    assert not [one for one in changed if "prometheus" in one]


def test_the_receivers_exporter_asks_the_cluster() -> None:
    changed, original = SCALE["services"]["exporter"]["command"], SERVICES["exporter"]["command"]
    own = "--prometheus.url=http://vmselect:8481/select/0/prometheus"
    assert changed == [own if one.startswith("--prometheus.url=") else one for one in original]


def test_agents_send_over_tls_with_a_token_and_keep_what_they_cannot_send() -> None:
    command = AGENT["services"]["agent"]["command"]
    flags = dict(one[1:].split("=", 1) for one in command if "=" in one)
    assert flags["remoteWrite.bearerTokenFile"] == "/run/secrets/agent_token"
    assert flags["remoteWrite.tlsCAFile"] == "/run/secrets/agent_ca"
    assert not [name for name in flags if "Insecure" in name]
    assert (
        flags["remoteWrite.tmpDataPath"].startswith("/tmp/") and "agent:/tmp" in AGENT["services"]["agent"]["volumes"]
    )


def test_agents_sort_labels_without_which_thanos_drops_series() -> None:
    assert "-sortLabels" in AGENT["services"]["agent"]["command"]


def test_every_sample_is_stored_twice_and_shown_once() -> None:
    insert, select = SERVICES["vminsert"]["command"], SERVICES["vmselect"]["command"]
    stores = [name for name in SERVICES if name.startswith("vmstorage")]
    assert f"-storageNode={','.join(f'{name}:8400' for name in stores)}" in insert
    assert f"-storageNode={','.join(f'{name}:8401' for name in stores)}" in select
    for command in (insert, select):
        assert f"-replicationFactor={len(stores)}" in command
    for name in (*stores, "vmselect"):
        assert "-dedup.minScrapeInterval=1ms" in SERVICES[name]["command"]


def test_nobody_sends_without_the_token_or_does_anything_but_send() -> None:
    (line,) = SERVICES["receiver"]["command"]
    assert " -tls " in line and "RECEIVER_TOKEN=$$(cat /run/secrets/receiver_token)" in line
    (user,) = yaml.safe_load((ROOT / "docker/receiver.yml").read_text())["users"]
    assert user["bearer_token"] == "%{RECEIVER_TOKEN}"
    assert user["url_prefix"].endswith("/api/v1/write") and user["drop_src_path_prefix_parts"] >= 10


def test_labels_for_links_reach_neither_series_nor_alerts() -> None:
    added = {one.split("=")[1] for one in SERVICES["vmalert"]["command"] if one.startswith("-external.label=")}
    relabelled = load("notifier.yml")["alert_relabel_configs"]
    assert relabelled == load("links.yml") == load("compose.yml")["alerting"]["alert_relabel_configs"]
    (rule,) = relabelled
    assert (rule["action"], set(rule["regex"].split("|"))) == ("labeldrop", added)
    assert "-relabelConfig=/etc/prometheus/links.yml" in SERVICES["vminsert"]["command"]


def test_grafana_asks_the_cluster_and_prometheus_stays_away() -> None:
    grafana = SCALE["services"]["grafana"]
    assert grafana["environment"] == {"PROMETHEUS_URL": "http://vmselect:8481/select/0/prometheus"}
    assert set(grafana["depends_on"]) == {"grafana-password", "vmselect"}
    assert SCALE["services"]["prometheus"] == {"profiles": ["prometheus"]}


@pytest.mark.parametrize(("page", "healthy"), [("0", True), ("900000", True), ("2500000", False), ("", False)])
def test_an_agent_with_much_to_send_is_unhealthy(page: str, healthy: bool) -> None:
    (_, command) = AGENT["services"]["agent"]["healthcheck"]["test"]
    line = f'vmagent_remotewrite_pending_data_bytes{{path="/tmp/queue", url="1:secret-url"}} {page}\n' if page else ""
    script = command.partition(" | ")[2].replace("$$", "$")
    finished = subprocess.run(
        ["sh", "-c", script], input=f"vmagent_x 7000000\n{line}", text=True, timeout=60, check=False
    )
    assert (finished.returncode == 0) is healthy


def test_one_late_evaluation_of_the_slowest_rules_loses_no_limit() -> None:
    flags = dict(one[1:].split("=", 1) for one in SCALE["services"]["vmalert"]["command"] if "=" in one)
    rules = [yaml.safe_load(path.read_text()) for path in (FOLDER / "rules").glob("*.yml")]
    slowest = max(Duration.read(group["interval"]) for content in rules for group in content["groups"])
    assert Duration.read(flags["datasource.queryStep"]) >= 3 * slowest + Duration.read(flags["rule.evalDelay"])
