"""How often the alert rules cry wolf under a steady but noisy load, and how surely and soon they see a spike.

Simulated pgbench workers print a progress line a second. A real exporter reads them, a real Prometheus scrapes it and
evaluates the rules, with the jobs, rules and intervals of prometheus/. Latency is lognormal around each worker's own
level, of standard deviation sigma in its logarithm, independent from second to second or autocorrelated (each second
keeps 0.8 of the deviation of the one before); throughput follows from it, as for a fixed number of clients.

Of each load there are two runs: a steady one, in which every alert is a false one, and one in which each worker
reports a second of several times the latency every two minutes: the alert on it stays for 70 s.
"""

import argparse
import itertools
import math
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from demo_processes import Processes
from tests.lab import shipped
from tests.lab.judging import table
from tests.support.grafana import Prometheus
from tests.support.servers import Exporter, start_prometheus

_CORRELATIONS = {"independent": 0.0, "autocorrelated": 0.8}
_RAMP, _AFTERMATH = 60, 75
"""Seconds before the first spike, as a baseline exists 30 to 45 s after a series begins; and after the last."""
_SPIKE_EVERY, _SPIKE = 120, 5
"""Seconds; the latency of a spike, a multiple of the usual one."""
_IN_TIME = 3.0
"""Seconds after its report within which a spike must be firing."""
_CLIENTS, _LEVELS = 16, (0.0005, 0.02)
"""Of a worker; its lowest and highest usual latency, seconds."""


class Spike(NamedTuple):
    """A slow second of a worker, and when its line was written; Unix seconds."""

    run: str
    worker: str
    reported: float


class Episode(NamedTuple):
    """An alert from its first to its last firing evaluation, Unix seconds."""

    name: str
    run: str
    worker: str
    begin: float
    end: float


class Worker:
    """One simulated pgbench. Of every two minutes, it is slow in the second `spike`; None: never."""

    def __init__(self, output: Path, sigma: float, kind: str, spike: int | None, chance: random.Random) -> None:
        self.run, self.name, self.spike, self.phase = output.parent.name, output.stem, spike, chance.random()
        self._output, self._sigma, self._kept, self._chance = output, sigma, _CORRELATIONS[kind], chance
        self._level = math.exp(chance.uniform(*map(math.log, _LEVELS)))
        self._deviation = chance.gauss(0, 1)

    def report(self, now: float, slow: bool) -> None:
        """Print the line of one second."""
        self._deviation = self._kept * self._deviation + math.sqrt(1 - self._kept**2) * self._chance.gauss(0, 1)
        latency = self._level * math.exp(self._sigma * self._deviation) * (_SPIKE if slow else 1)
        figures = f"{_CLIENTS / latency:.1f} tps, lat {latency * 1e3:.3f} ms stddev {latency * 500:.3f}, 0 failed"
        with self._output.open("a") as file:
            file.write(f"progress: {now:.3f} s, {figures}\n")


def simulate(workers: Sequence[Worker], seconds: float) -> list[Spike]:
    """Let all workers report for so long, in real time; returns the spikes."""
    spikes, begin = [], math.ceil(time.time())
    ordered = sorted(workers, key=lambda worker: worker.phase)
    for second, worker in itertools.product(range(int(seconds)), ordered):
        due = begin + second + worker.phase
        time.sleep(max(0.0, due - time.time()))
        slow = second % _SPIKE_EVERY == worker.spike and _RAMP <= second < seconds - _AFTERMATH
        worker.report(due, slow)
        if slow:
            spikes.append(Spike(worker.run, worker.name, time.time()))
    return spikes


def episodes(prometheus: Prometheus, seconds: float) -> Iterator[Episode]:
    """What fired in the last `seconds`, interrupted for two seconds at most; all severities of an alert are one."""
    fired: dict[tuple[str, ...], set[float]] = {}
    query = f'ALERTS{{alertstate="firing"}}[{math.ceil(seconds)}s]'
    for series in prometheus.instant(query, time.time()):
        key = tuple(series["metric"].get(label, "") for label in ("alertname", "run", "worker"))
        fired.setdefault(key, set()).update(float(moment) for moment, _ in series["values"])
    for key, moments in fired.items():
        ordered = np.array(sorted(moments))
        for part in np.split(ordered, np.flatnonzero(np.diff(ordered) > 2) + 1):
            yield Episode(*key, part[0], part[-1])


def judge(spikes: Sequence[Spike], found: Sequence[Episode]) -> tuple[list[Episode], int, list[float]]:
    """Of one run: the false alerts, how many spikes were seen in time, and after how long their alerts fired."""
    seen, delays, right = 0, [], set()
    for spike, episode in itertools.product(spikes, found):
        if episode.worker == spike.worker and episode.name == "LatencySpike":
            if spike.reported - 1 <= episode.begin <= spike.reported + _IN_TIME:
                right.add(episode)
                delays.append(episode.begin - spike.reported)
            seen += episode.begin <= spike.reported + _IN_TIME <= episode.end
    return sorted(set(found) - right), seen, delays


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=15, help="of load after the ramp (15)")
    parser.add_argument("--workers", type=int, default=8, help="of each run (8)")
    parser.add_argument("--sigma", type=float, nargs="+", default=[0.2, 0.3], help="(0.2 0.3)")
    options = parser.parse_args()
    chance, seconds = random.Random(1), options.minutes * 60 + _RAMP
    with tempfile.TemporaryDirectory(prefix="alert-noise-") as name:
        folder, workers = Path(name), []
        for sigma, kind, often in itertools.product(options.sigma, _CORRELATIONS, ("steady", "spiky")):
            run = folder / "runs" / f"{often}-{sigma:g}-{kind}"
            run.mkdir(parents=True)
            for number in range(options.workers):
                spike = number * _SPIKE_EVERY // options.workers if often == "spiky" else None
                workers.append(Worker(run / f"w{number}.err", sigma, kind, spike, chance))
        processes = Processes(folder, os.environ)
        try:
            exporter = Exporter(processes, folder / "runs").url.removeprefix("http://")
            config = shipped({"benchwatch-": [{"targets": [exporter]}]})
            prometheus = start_prometheus(processes, folder, config)
            print(f"{len(workers)} workers for {seconds:.0f} s", flush=True)
            begin = time.time()
            spikes = simulate(workers, seconds)
            found = list(episodes(prometheus, time.time() - begin))
        finally:
            processes.stop_all()
    hours = f"{options.workers * options.minutes / 60:.2f}"
    rows = [("load", "worker-hours", "false", "spikes", f"within {_IN_TIME:g} s", "median, maximum")]
    for run in dict.fromkeys(worker.run for worker in workers):
        own = [spike for spike in spikes if spike.run == run]
        false, seen, delays = judge(own, [one for one in found if one.run == run])
        late = f"{statistics.median(delays):.1f} s, {max(delays):.1f} s" if delays else ""
        rows.append((run, hours, f"{len(false)}", f"{len(own)}", f"{seen / len(own):.1%}" if own else "", late))
        for one in false:
            print(f"false: {one.name} of {one.run}/{one.worker}, {one.begin - begin - _RAMP:.0f} s after the ramp")
    print(table(rows))


if __name__ == "__main__":
    main()
