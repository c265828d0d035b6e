"""Prometheus' configuration for compose.yaml: what prometheus.yml says, under the names of the services."""

import os
from pathlib import Path
from typing import Any

import yaml

from tests.support.programs import FOLDER, output, program, too_old

from .test_compose import SERVICES

NAMES = {
    "127.0.0.1:19777": "exporter:19777",
    "127.0.0.1:9100": "node-exporter:9100",
    "127.0.0.1:9093": "alertmanager:9093",
}


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
    text = (FOLDER / "prometheus.yml").read_text()
    for address, name in NAMES.items():
        text = text.replace(address, name)
    found = load("compose.yml")
    found.pop("storage")
    for job in found["scrape_configs"]:
        job.pop("dns_sd_configs", None)
        job.pop("relabel_configs", None)
    assert found == yaml.safe_load(text)


def test_what_is_looked_for_by_name_is_a_service_of_a_profile() -> None:
    lookups = [one for job in load("compose.yml")["scrape_configs"] for one in job.get("dns_sd_configs", [])]
    assert [(one["names"], one["type"], one["port"]) for one in lookups] == [
        (["demo-cvm-exporter"], "A", 19777),
        (["postgres-exporter"], "A", 9187),
    ]
    assert all(SERVICES[name].get("profiles") for one in lookups for name in one["names"])
