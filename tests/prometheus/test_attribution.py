"""The short form of tests/lab/attribution.py: simulated faults, judged by the rules as they are."""

import re
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.lab.attribution import play
from tests.lab.judging import Judged, insert, judge, tables
from tests.lab.real import configure


@pytest.mark.slow(6)
def test_the_layer_of_a_fault_is_named_and_none_without_one(tmp_path: Path) -> None:
    scenes = [("steady", 1), ("path-slow", 2), ("oplog-bypassed", 3)]
    tape, rounds = play(scenes, tmp_path, skipped=60)
    judged = list(judge(tape, rounds, tmp_path, lambda one: tape.of(one.run), None))
    named = {one.fault: one.ours for one in judged}
    assert named == {"steady": "none", "path-slow": "path", "oplog-bypassed": "oplog"}
    assert [one.fault for one in judged if one.wrong] == []


def test_what_is_slow_because_of_the_fault_is_not_wrong() -> None:
    named = {"log_device": 10, "oplog": 25, "path": 2}
    one = Judged("oplog-full", "oplog", named, 11, 40)
    assert one.ours == "oplog"
    assert one.wrong == {"path"}
    assert Judged("steady", "none", {"log_device": 1}, None, 0).wrong == {"log_device"}
    assert Judged("steady", "none", {}, None, 0).ours == "none"


def test_the_tables_stand_between_their_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    marks = "<!-- real: written by tests/lab -->\nold\n<!-- end of real -->"
    page.write_text(f"before\n{marks}\nafter\n")
    rounds = [
        Judged("lock", "database", {"database": 9}, 3, 10, "memory", "database"),
        Judged("lock", "database", {}, None, 0, "memory", "network"),
        Judged("no fault", "none", {}, None, 0, "memory", "memory"),
    ]
    insert(page, "real", tables(rounds, "3 rounds."))
    text = page.read_text()
    assert text.startswith("before\n<!-- real: written by tests/lab -->\n\n3 rounds.\n")
    assert text.endswith("\n\n<!-- end of real -->\nafter\n")
    assert "|lock|database|2|50 %|50 %|0|3 (at most 3)|0 %|50 %|" in text
    assert "|lock (database)|1|**1**|" in text
    assert "|no fault (none)|**1**||" in text
    assert "old" not in text
    with pytest.raises(ValueError, match="expected the lines '<!-- other"):
        insert(page, "other", "")


def kept(configs: list[dict[str, Any]], labels: Mapping[str, str]) -> bool:
    """Whether Prometheus keeps a sample with these labels, by its rules for replace and drop."""
    labels = dict(labels)
    for config in configs:
        value = ";".join(labels.get(name, "") for name in config.get("source_labels", ()))
        found = re.fullmatch(config["regex"], value)
        action = config.get("action", "replace")
        if action == "replace" and found:
            labels[config["target_label"]] = config["replacement"]
        if action == "drop" and found:
            return False
    return True


def test_the_client_has_its_own_processor_and_nothing_else_of_the_machine(tmp_path: Path) -> None:
    ports, disks = "1 2 3 4", "loop1=bench_log loop3=bench_data"
    arguments = Namespace(folder=tmp_path, ports=ports, disks=disks, client="vm-client", processor="1")
    configure(arguments)
    jobs = yaml.safe_load((tmp_path / "prometheus.yml").read_text())["scrape_configs"]
    (node,) = (job for job in jobs if job["job_name"] == "node")
    server, client = (one["labels"]["host"] for one in node["static_configs"])
    assert client == "vm-client"
    for host, name, cpu, expected in (
        (server, "node_cpu_seconds_total", "0", True),
        (server, "node_cpu_seconds_total", "1", False),
        (server, "node_procs_running", "", True),
        (client, "node_cpu_seconds_total", "0", False),
        (client, "node_cpu_seconds_total", "1", True),
        (client, "node_procs_running", "", False),
        (client, "benchwatch_run_host_info", "", True),
    ):
        for job in jobs:
            labels = {"host": host, "__name__": name, "cpu": cpu}
            assert kept(job["metric_relabel_configs"], labels) == expected, labels
