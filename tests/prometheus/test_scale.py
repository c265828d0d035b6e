"""tests/lab/scale.py: under which names vmagent writes the one real machine, and how a metric is read."""

from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from tests.lab.scale import metric, start_agent


class Started:
    """Keeps what would be started."""

    def __init__(self) -> None:
        self.command: list[str] = []

    def start(self, name: str, command: list[str], **more: Any) -> None:
        self.command = command

    def wait_for(self, process: None, url: str) -> None:
        pass


def test_each_machine_has_a_name_and_every_tenth_the_cvm(tmp_path: Path) -> None:
    started = Started()
    targets = {"node": [{"targets": ["n:1"]}], "benchwatch-": [{"targets": ["b:1"]}]}
    start_agent(started, tmp_path, targets, "250ms", ["http://r"] * 11)  # type: ignore[arg-type]
    assert started.command.count("-remoteWrite.url=http://r/api/v1/write") == 11
    written = [word.partition("urlRelabelConfig=")[2] for word in started.command if "urlRelabelConfig" in word]
    relabels = [yaml.safe_load(Path(path).read_text()) for path in written]
    assert [one[0]["replacement"] for one in relabels] == [f"vm-{number:05}" for number in range(11)]
    with_cvm = [number for number, one in enumerate(relabels) if not any(rule.get("action") == "drop" for rule in one)]
    assert with_cvm == [0, 10]
    jobs = {job["job_name"]: job for job in yaml.safe_load((tmp_path / "vmagent.yml").read_text())["scrape_configs"]}
    assert jobs["node"]["static_configs"] == [{"targets": ["n:1"]}]
    assert jobs["benchwatch-live"]["static_configs"] == [{"targets": ["b:1"]}]
    assert jobs["benchwatch-live"]["scrape_interval"] == "250ms"


def test_a_metric_is_the_sum_of_its_series_with_these_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    page = requests.Response()
    page._content = b'rows_sum 2\nrows{job="metrics"} 7\nrows{job="b"} 2\nrows_total 5\n'
    monkeypatch.setattr(requests, "get", lambda url, timeout: page)
    assert metric("http://r", "rows") == 9
    assert metric("http://r", "rows", 'job="metrics"') == 7
    assert metric("http://r", "rows_sum|rows_total") == 7
