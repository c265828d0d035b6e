"""How tests/lab judges rounds, and what it takes for the machines of real ones."""

import re
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.lab.real import configure
from tests.lab.tables import insert
from tests.lab.tape import Round
from tests.lab.why import Heard, report


def test_the_tables_stand_between_their_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- recorded: written by tests/lab -->\nold\n<!-- end of recorded -->\nafter\n")
    lock = Round("run", "lock", "database", 100)
    quiet = Round("run", "no fault", "none", 200)
    heard = [Heard(lock, [(3, "network", "a"), (5, "database", "b")]), Heard(lock, []), Heard(quiet, [])]
    insert(page, "recorded", report(heard))
    text = page.read_text()
    assert text.startswith("before\n<!-- recorded: written by tests/lab -->\n\n|fault|")
    assert text.endswith("\n\n<!-- end of recorded -->\nafter\n")
    assert "|lock|database|2|1 of 2|2|3 s (at most 3 s)|" in text
    assert "|no fault|none|1|1 of 1|0|-|" in text
    assert "1 of 2 faults right" in text
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
        (server, "node_procs_running", "", False),  # who waits for a processor is known of both together
        (server, "node_disk_io_now", "", True),
        (client, "node_cpu_seconds_total", "0", False),
        (client, "node_cpu_seconds_total", "1", True),
        (client, "node_procs_running", "", False),
        (client, "benchwatch_run_host_info", "", True),
    ):
        for job in jobs:
            labels = {"host": host, "__name__": name, "cpu": cpu}
            assert kept(job["metric_relabel_configs"], labels) == expected, labels
