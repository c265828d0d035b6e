"""The spike rules on noisy loads, second by second in promtool's rule engine, in simulated time.

promtool evaluates every group each second, the baselines too; tests/lab/alert_noise.py measures the same in real time.
"""

import math
import random
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.programs import evaluate, series

SECONDS = 660
CORRELATIONS = (0.0, 0.8) * 3
"""A worker each, of either run."""
SPIKES = range(119, SECONDS, 120)
"""One second before the steps of the query that looks for their alerts."""
FIRING = 'ALERTS{run="spiky", alertname="LatencySpike", severity="warning", alertstate="firing"}'


def latencies(chance: random.Random, correlation: float, spikes: Collection[int]) -> Iterator[float]:
    """Lognormal around a level between 0.3 ms and 20 ms, one a second; five times as much in the spikes."""
    level = math.exp(chance.uniform(math.log(0.0003), math.log(0.02)))
    deviation = chance.gauss(0, 1)
    for second in range(SECONDS + 1):
        yield level * math.exp(0.2 * deviation) * (5 if second in spikes else 1)
        deviation = correlation * deviation + math.sqrt(1 - correlation**2) * chance.gauss(0, 1)


def load(run: str, spikes: Collection[int]) -> Iterator[dict[str, str]]:
    chance = random.Random(run)
    for number, correlation in enumerate(CORRELATIONS):
        worker = {"instance": "b:1", "run": run, "worker": str(number)}
        found = list(latencies(chance, correlation, spikes))
        yield series("benchwatch_run_state", f"1x{SECONDS}", **worker, state="running")
        yield series("pgbench_latency_average_seconds", " ".join(f"{latency:.6g}" for latency in found), **worker)
        yield series("pgbench_tps", " ".join(f"{16 / latency:.6g}" for latency in found), **worker)


@pytest.mark.slow(5)
def test_steady_noise_fires_nothing_and_every_spike_fires_once_within_a_second(tmp_path: Path) -> None:
    number = len(CORRELATIONS) * len(SPIKES)
    expected = {
        f'count_over_time(ALERTS{{run="steady"}}[{SECONDS}s])': {},
        f"sum(count_over_time({FIRING}[{SECONDS}s:120s]))": {"{}": number},
        f"sum(count_over_time(({FIRING} unless {FIRING} offset 1s)[{SECONDS}s:1s]))": {"{}": number},
    }
    evaluate(tmp_path, [*load("steady", ()), *load("spiky", SPIKES)], SECONDS, expected, ("runs", "workers"))


def spiky(latency: Iterable[float]) -> list[dict[str, str]]:
    """A worker with these latencies, seconds, one a second."""
    worker = {"instance": "b:1", "run": "spiky", "worker": "1"}
    found = list(latency)
    return [
        series("benchwatch_run_state", f"1x{len(found)}", **worker, state="running"),
        series("pgbench_latency_average_seconds", " ".join(f"{one:.6g}" for one in found), **worker),
        series("pgbench_tps", " ".join(f"{16 / one:.6g}" for one in found), **worker),
    ]


def test_a_spike_is_seen_beside_a_usual_latency_of_two_levels(tmp_path: Path) -> None:
    chance = random.Random(3)
    level = [0.0013 if second % 60 < 20 else 0.006 for second in range(301)]
    found = [usual * math.exp(0.1 * chance.gauss(0, 1)) for usual in level]
    found[240] = 0.04
    expected = {
        f"count(count_over_time({FIRING}[60s] offset 4s))": {},
        f"count(count_over_time({FIRING}[2s]))": {"{}": 1},
    }
    evaluate(tmp_path, spiky(found), 242, expected, ("runs", "workers"))


def test_five_times_the_upper_level_is_a_spike_although_the_median_is_far_above_the_lowest(tmp_path: Path) -> None:
    """And an earlier fault is far above the median."""
    found = ([0.001] * 21 + [0.003] * 15 + [0.008] * 24) * 5
    found[100:120] = [0.06] * 20
    found[240] = 0.04
    expected = {
        f"count(count_over_time({FIRING}[30s] offset 4s))": {},
        f"count(count_over_time({FIRING}[2s]))": {"{}": 1},
    }
    evaluate(tmp_path, spiky(found), 242, expected, ("runs", "workers"))
