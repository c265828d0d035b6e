"""The laboratory's alert_noise: how it tells right alerts from false ones."""

import random
from pathlib import Path

from benchwatch.tools.pgbench.progress import Progress
from benchwatch.tools.pgbench.text import TextParser
from tests.lab import shipped
from tests.lab.alert_noise import Episode, Load, Spike, Worker, judge, spans

LOAD = Load(0.2, "independent", spiky=True)


def episode(begin: float, end: float, worker: str = "w0", name: str = "LatencySpike") -> Episode:
    return Episode(name, LOAD.run, worker, begin, end)


def test_evaluations_more_than_two_seconds_apart_are_two_episodes() -> None:
    assert list(spans([10.0, 11.0, 13.0, 15.1, 16.1])) == [(10.0, 13.0), (15.1, 16.1)]


def test_spike_is_seen_if_its_alert_fires_in_time() -> None:
    row = judge(LOAD.run, [Spike(LOAD.run, "w0", 100.0)], [episode(101.5, 132.5)])
    assert (row.seen, row.delays, row.false) == (1, [1.5], [])


def test_late_alert_and_those_of_another_worker_or_kind_are_false() -> None:
    wrong = [episode(103.5, 134.0), episode(101.0, 132.0, worker="w1"), episode(101.0, 132.0, name="RunStalled")]
    row = judge(LOAD.run, [Spike(LOAD.run, "w0", 100.0)], wrong)
    assert (row.seen, row.spikes, list(row.false)) == (0, 1, sorted(wrong))


def test_alert_that_a_false_one_had_begun_is_seen_but_has_no_delay() -> None:
    row = judge(LOAD.run, [Spike(LOAD.run, "w0", 100.0)], [episode(90.0, 131.0)])
    assert (row.seen, row.delays, len(row.false)) == (1, [], 1)


def test_simulated_worker_prints_what_pgbench_prints(tmp_path: Path) -> None:
    worker = Worker(LOAD, "w0", tmp_path, random.Random(1))
    worker.report(1_790_000_000.25, slow=False)
    (line,) = TextParser().feed((tmp_path / LOAD.run / "w0.err").read_bytes())
    assert isinstance(line, Progress)
    assert line.time == 1_790_000_000.25 and line.tps > 0 and line.failed == 0


def test_configuration_of_the_repository_is_what_is_measured() -> None:
    config = shipped({"benchwatch-": [{"targets": ["127.0.0.1:1"]}]})
    assert [job["job_name"] for job in config["scrape_configs"]][:2] == ["benchwatch-live", "benchwatch-runs"]
    assert "127.0.0.1:1" in str(config) and "19777" not in str(config)
