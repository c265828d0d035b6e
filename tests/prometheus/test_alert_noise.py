"""The laboratory's alert_noise: how it tells right alerts from false ones."""

import random
from pathlib import Path
from typing import Any

from benchwatch.tools.pgbench.progress import Progress
from benchwatch.tools.pgbench.text import TextParser
from tests.lab import shipped
from tests.lab.alert_noise import Episode, Spike, Worker, episodes, judge
from tests.support.grafana import Prometheus

RUN = "spiky-0.2-independent"
SPIKE = Spike(RUN, "w0", 100.0)


def episode(begin: float, end: float, worker: str = "w0", name: str = "LatencySpike") -> Episode:
    return Episode(name, RUN, worker, begin, end)


class Fired(Prometheus):
    """Where a warning and a critical alert fired."""

    def instant(self, expression: str, moment: float) -> list[dict[str, Any]]:
        labels = {"alertname": "LatencySpike", "run": RUN, "worker": "w0"}
        moments = {"warning": (10.0, 11.0, 13.0, 15.1), "critical": (11.0, 16.1)}
        return [
            {"metric": labels | {"severity": severity}, "values": [[one, "1"] for one in found]}
            for severity, found in moments.items()
        ]


def test_evaluations_more_than_two_seconds_apart_are_two_episodes() -> None:
    assert list(episodes(Fired(""), 60)) == [episode(10.0, 13.0), episode(15.1, 16.1)]


def test_spike_is_seen_if_its_alert_fires_in_time() -> None:
    assert judge([SPIKE], [episode(101.5, 132.5)]) == ([], 1, [1.5])


def test_late_alert_and_those_of_another_worker_or_kind_are_false() -> None:
    wrong = [episode(103.5, 134.0), episode(101.0, 132.0, worker="w1"), episode(101.0, 132.0, name="RunStalled")]
    assert judge([SPIKE], wrong) == (sorted(wrong), 0, [])


def test_alert_that_a_false_one_had_begun_is_seen_but_has_no_delay() -> None:
    assert judge([SPIKE], [episode(90.0, 131.0)]) == ([episode(90.0, 131.0)], 1, [])


def test_simulated_worker_prints_what_pgbench_prints(tmp_path: Path) -> None:
    output = tmp_path / "w0.err"
    Worker(output, 0.2, "independent", 0, random.Random(1)).report(1_790_000_000.25, slow=False)
    (line,) = TextParser().feed(output.read_bytes())
    assert isinstance(line, Progress)
    assert line.time == 1_790_000_000.25 and line.tps > 0 and line.failed == 0


def test_configuration_of_the_repository_is_what_is_measured() -> None:
    config = shipped({"benchwatch-": [{"targets": ["127.0.0.1:1"]}]})
    assert [job["job_name"] for job in config["scrape_configs"]][:2] == ["benchwatch-live", "benchwatch-runs"]
    assert "127.0.0.1:1" in str(config) and "19777" not in str(config)
