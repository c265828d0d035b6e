"""Ways in which an agent can send what a machine has: what each changes in the jobs of prometheus/prometheus.yml."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

CHECKOUT = Path(__file__).resolve().parents[2]
MACHINE, CVM = b"vm-0000", b"cvm-0000"
"""The names under which they are recorded."""
CVMS_VDISKS = 20
"""Vdisks of the simulated CVM: two of each of ten virtual machines."""

Config = dict[str, Any]


class Way(NamedTuple):
    """A way of sending: what it changes in the configuration of the agent, and which servers are scraped."""

    change: Callable[[Config], None] = lambda config: None
    version: int = 1
    exporter: str = "exporter"
    node: str = "node_exporter"
    jobs: tuple[str, ...] = ("benchwatch-live", "benchwatch-runs", "node")
    agent: str = "prometheus"


def _slower(config: Config) -> None:
    for job in config["scrape_configs"]:
        if job["job_name"] == "benchwatch-live":
            job |= {"scrape_interval": "1s", "scrape_timeout": "1s"}


def _native(config: Config) -> None:
    config["global"]["convert_classic_histograms_to_nhcb"] = True
    config["remote_write"][0]["send_native_histograms"] = True


def _results(config: Config) -> None:
    """The lines that prometheus-3.yml has as a comment."""
    shipped = (CHECKOUT / "prometheus" / "prometheus-3.yml").read_text()
    (regex,) = re.findall(r'regex: ("benchwatch_run_.*?")', shipped)
    kept = {"source_labels": ["__name__"], "regex": json.loads(regex), "action": "keep"}
    config["remote_write"][0]["write_relabel_configs"] = [kept]


def _all(config: Config) -> None:
    _slower(config)
    _native(config)


WAYS: Mapping[str, Way] = {
    "as shipped": Way(),
    "protocol 2": Way(version=2),
    "vmagent": Way(agent="vmagent"),
    "1 s": Way(_slower),
    "coarse": Way(exporter="coarse_exporter"),
    "native": Way(_native, version=2),
    "fewer collectors": Way(node="fewer"),
    "all of it": Way(_all, version=2, node="fewer"),
    "all, coarse": Way(_slower, exporter="coarse_exporter", node="fewer"),
    "results": Way(_results),
    "cvm": Way(jobs=("benchwatch-nutanix",)),
}
