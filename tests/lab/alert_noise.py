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
_CLIENTS = 16
_LEVELS = (0.0005, 0.02)
"""Lowest and highest usual latency of a worker, seconds."""


class Load(NamedTuple):
    """A kind of noise, and whether it has spikes."""

    sigma: float
    kind: str
    spiky: bool

    @property
    def run(self) -> str:
        """The name of its run."""
        return f"{'spiky' if self.spiky else 'steady'}-{self.sigma:g}-{self.kind}"


class Spike(NamedTuple):
    """A slow second of a worker; `reported` is when its line was written, Unix seconds."""

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
    """One simulated pgbench."""

    def __init__(self, load: Load, name: str, runs: Path, chance: random.Random) -> None:
        self.load, self.name, self.phase = load, name, chance.random()
        self._chance = chance
        self._level = math.exp(chance.uniform(*map(math.log, _LEVELS)))
        self._deviation = chance.gauss(0, 1)
        self._output = runs / load.run / f"{name}.err"
        self._output.parent.mkdir(parents=True, exist_ok=True)

    def report(self, now: float, slow: bool) -> None:
        """Print the line of one second."""
        kept = _CORRELATIONS[self.load.kind]
        self._deviation = kept * self._deviation + math.sqrt(1 - kept**2) * self._chance.gauss(0, 1)
        latency = self._level * math.exp(self.load.sigma * self._deviation) * (_SPIKE if slow else 1)
        figures = f"{_CLIENTS / latency:.1f} tps, lat {latency * 1e3:.3f} ms stddev {latency * 500:.3f}, 0 failed"
        with self._output.open("a") as file:
            file.write(f"progress: {now:.3f} s, {figures}\n")


def simulate(workers: Sequence[Worker], seconds: float) -> list[Spike]:
    """Let all workers report for so long, in real time; returns the spikes."""
    spikes = []
    begin = math.ceil(time.time())
    ordered = sorted(workers, key=lambda worker: worker.phase)
    offsets = {worker: n * _SPIKE_EVERY // len(workers) for n, worker in enumerate(workers)}
    for second, worker in itertools.product(range(int(seconds)), ordered):
        due = begin + second + worker.phase
        time.sleep(max(0.0, due - time.time()))
        spiky = worker.load.spiky and _RAMP <= second < seconds - _AFTERMATH
        slow = spiky and second % _SPIKE_EVERY == offsets[worker]
        worker.report(due, slow)
        if slow:
            spikes.append(Spike(worker.load.run, worker.name, time.time()))
    return spikes


def episodes(prometheus: Prometheus, seconds: float) -> list[Episode]:
    """What fired in the last `seconds`; a warning and the critical alert of a spike are one episode."""
    fired: dict[tuple[str, ...], set[float]] = {}
    query = f'ALERTS{{alertstate="firing"}}[{math.ceil(seconds)}s]'
    for series in prometheus.instant(query, time.time()):
        key = tuple(series["metric"].get(label, "") for label in ("alertname", "run", "worker"))
        fired.setdefault(key, set()).update(float(moment) for moment, _ in series["values"])
    return [Episode(*key, *span) for key, all_of in fired.items() for span in spans(sorted(all_of))]


def spans(moments: Sequence[float]) -> Iterator[tuple[float, float]]:
    """First and last of each group of moments that follow each other within two seconds."""
    begin = end = moments[0]
    for moment in moments[1:]:
        if moment - end > 2:
            yield begin, end
            begin = moment
        end = moment
    yield begin, end


class Row(NamedTuple):
    """What was measured of one run: false alerts, spikes seen in time, and what passed before their alerts fired."""

    false: Sequence[Episode]
    spikes: int
    seen: int
    delays: Sequence[float]


def judge(run: str, spikes: Sequence[Spike], found: Sequence[Episode]) -> Row:
    """Separate the episodes of a run that are a spike's from the false ones."""
    own = [episode for episode in found if episode.run == run]
    spikes = [spike for spike in spikes if spike.run == run]
    seen, delays, right = 0, [], set()
    for spike, episode in itertools.product(spikes, own):
        if episode.worker == spike.worker and episode.name == "LatencySpike":
            if spike.reported - 1 <= episode.begin <= spike.reported + _IN_TIME:
                right.add(episode)
                delays.append(episode.begin - spike.reported)
            seen += episode.begin <= spike.reported + _IN_TIME <= episode.end
    return Row(sorted(set(own) - right), len(spikes), seen, delays)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=15, help="of load after the ramp (15)")
    parser.add_argument("--workers", type=int, default=8, help="of each run (8)")
    parser.add_argument("--sigma", type=float, nargs="+", default=[0.2, 0.3], help="(0.2 0.3)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (1)")
    options = parser.parse_args()
    loads = [Load(*one) for one in itertools.product(options.sigma, _CORRELATIONS, (False, True))]
    chance = random.Random(options.seed)
    seconds = options.minutes * 60 + _RAMP
    with tempfile.TemporaryDirectory(prefix="alert-noise-") as name:
        folder = Path(name)
        names = [f"w{number}" for number in range(options.workers)]
        workers = [Worker(load, name, folder / "runs", chance) for load in loads for name in names]
        processes = Processes(folder, os.environ)
        try:
            exporter = Exporter(processes, folder / "runs").url.removeprefix("http://")
            config = shipped({"benchwatch-": [{"targets": [exporter]}]})
            prometheus = start_prometheus(processes, folder, config)
            print(f"{len(workers)} workers for {seconds:.0f} s", flush=True)
            begin = time.time()
            spikes = simulate(workers, seconds)
            found = episodes(prometheus, time.time() - begin)
        finally:
            processes.stop_all()
    cells = [("load", "worker-hours", "false", "spikes", f"within {_IN_TIME:g} s", "median, maximum")]
    for load in loads:
        row = judge(load.run, spikes, found)
        seen = f"{row.seen / row.spikes:.1%}" if row.spikes else ""
        late = f"{statistics.median(row.delays):.1f} s, {max(row.delays):.1f} s" if row.delays else ""
        hours = f"{options.workers * options.minutes / 60:.2f}"
        cells.append((load.run, hours, f"{len(row.false)}", f"{row.spikes}", seen, late))
        for one in row.false:
            print(f"false: {one.name} of {one.run}/{one.worker}, {one.begin - begin - _RAMP:.0f} s after the ramp")
    print(table(cells))


if __name__ == "__main__":
    main()
