"""How often the alert rules cry wolf under a steady but noisy load, and how surely and soon they see a spike.

Simulated pgbench workers print a progress line a second. A real exporter reads them, a real Prometheus scrapes it and
evaluates the rules, with the scrape jobs, rules and intervals of prometheus/, second by second in real time; an hour is
made of many workers side by side, since rules look at each worker for itself. Latency is lognormal around each worker's
own level, of standard deviation sigma in its logarithm, independent from second to second or autocorrelated (each
second keeps 0.8 of the deviation of the one before); throughput follows from it, as for a fixed number of clients.

Of each load there are two runs: a steady one, in which every alert is a false one, and one in which each worker
reports a second of several times the latency every two minutes: the alert on it stays for 70 s.
"""

import argparse
import math
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import requests
import yaml

from demo_ports import Ports
from demo_processes import Failure, Processes

_CHECKOUT = Path(__file__).resolve().parent.parent
_CORRELATIONS = {"independent": 0.0, "autocorrelated": 0.8}
_RAMP = 60
"""Seconds before the first spike: rules look at runs past a ramp of 30 s, with baselines that are made every 15 s."""
_AFTERMATH = 75
"""Seconds after the last spike, in which its alert is to end."""
_SPIKE_EVERY = 120
_IN_TIME = 3.0
"""Seconds after its report within which a spike must be firing."""
_CLIENTS = 16
_LEVELS = (0.0005, 0.02)
"""Lowest and highest usual latency of a worker, seconds."""


class Load(NamedTuple):
    """A kind of noise, and whether there are spikes in it."""

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

    def __init__(self, load: Load, name: str, folder: Path, chance: random.Random, factor: float) -> None:
        self.load = load
        self.name = name
        self.phase = chance.random()
        self._chance = chance
        self._factor = factor
        self._level = math.exp(chance.uniform(*map(math.log, _LEVELS)))
        self._deviation = chance.gauss(0, 1)
        self._file = (folder / f"{name}.err").open("w", buffering=1)

    def report(self, now: float, slow: bool) -> None:
        """Prints the line of one second."""
        kept = _CORRELATIONS[self.load.kind]
        self._deviation = kept * self._deviation + math.sqrt(1 - kept**2) * self._chance.gauss(0, 1)
        latency = self._level * math.exp(self.load.sigma * self._deviation) * (self._factor if slow else 1)
        milliseconds = latency * 1e3
        self._file.write(
            f"progress: {now:.3f} s, {_CLIENTS / latency:.1f} tps, lat {milliseconds:.3f} ms"
            f" stddev {milliseconds / 2:.3f}, 0 failed\n"
        )

    def close(self) -> None:
        """Lets go of its file."""
        self._file.close()


def simulate(workers: Sequence[Worker], seconds: float) -> list[Spike]:
    """Lets all workers report for so long, in real time; the spikes there were."""
    spikes = []
    begin = math.ceil(time.time())
    ordered = sorted(workers, key=lambda worker: worker.phase)
    offsets = {worker: number * _SPIKE_EVERY // len(workers) for number, worker in enumerate(workers)}
    for second in range(int(seconds)):
        for worker in ordered:
            due = begin + second + worker.phase
            time.sleep(max(0.0, due - time.time()))
            spiky = worker.load.spiky and _RAMP <= second < seconds - _AFTERMATH
            slow = spiky and second % _SPIKE_EVERY == offsets[worker]
            worker.report(due, slow)
            if slow:
                spikes.append(Spike(worker.load.run, worker.name, time.time()))
    return spikes


class Server:
    """The exporter and the Prometheus that watch the simulated runs in `folder`."""

    def __init__(self, folder: Path) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        self.processes = Processes(folder, environment)
        self._folder = folder
        self._ports = Ports({"exporter": 0, "prometheus": 0})
        self._exporter, self._prometheus = (f"127.0.0.1:{port}" for port in self._ports.values())
        self._session = requests.Session()
        self._session.trust_env = False

    def start(self, runs: Path) -> None:
        """Starts both and waits until they answer. Raises Failure."""
        program = shutil.which("prometheus")
        if program is None:
            raise Failure("prometheus was not found on PATH: run scripts/setup, which installs it")
        exporter = self.processes.start(
            "exporter",
            [
                *(sys.executable, "-m", "benchwatch", "serve"),
                *("--web.listen-address", self._exporter, "--runs.path", str(runs)),
            ],
        )
        self.processes.wait_for(exporter, f"http://{self._exporter}/-/ready")
        config = self._folder / "prometheus.yml"
        config.write_text(yaml.safe_dump(scrape_config(self._exporter)))
        prometheus = self.processes.start(
            "prometheus",
            [
                program,
                f"--config.file={config}",
                f"--storage.tsdb.path={self._folder / 'data'}",
                f"--web.listen-address={self._prometheus}",
            ],
        )
        self.processes.wait_for(prometheus, f"http://{self._prometheus}/-/ready")

    def episodes(self, seconds: float) -> list[Episode]:
        """What fired in the last `seconds`; a warning and the critical alert of the same spike are one episode."""
        query = f'ALERTS{{alertstate="firing"}}[{math.ceil(seconds)}s]'
        answer = self._session.get(f"http://{self._prometheus}/api/v1/query", params={"query": query}, timeout=60)
        answer.raise_for_status()
        fired: dict[tuple[str, str, str], set[float]] = {}
        for series in answer.json()["data"]["result"]:
            labels = series["metric"]
            key = labels["alertname"], labels.get("run", ""), labels.get("worker", "")
            fired.setdefault(key, set()).update(float(moment) for moment, _ in series["values"])
        return [Episode(*key, *span) for key, moments in fired.items() for span in spans(sorted(moments))]

    def missed(self) -> int:
        """How many evaluations of rules Prometheus has skipped."""
        page = self._session.get(f"http://{self._prometheus}/metrics", timeout=10).text
        name = "prometheus_rule_group_iterations_missed_total{"
        return sum(int(float(line.rsplit(" ", 1)[1])) for line in page.splitlines() if line.startswith(name))

    def version(self) -> str:
        """The version of Prometheus."""
        answer = self._session.get(f"http://{self._prometheus}/api/v1/status/buildinfo", timeout=10)
        return str(answer.json()["data"]["version"])


def scrape_config(exporter: str) -> Any:
    """prometheus/prometheus.yml with its rules, of its jobs those of the exporter, found at another address."""
    folder = _CHECKOUT / "prometheus"
    config = yaml.safe_load((folder / "prometheus.yml").read_text())
    jobs = [job for job in config["scrape_configs"] if job["job_name"].startswith("benchwatch-")]
    for job in jobs:
        del job["file_sd_configs"]
        job["static_configs"] = [{"targets": [exporter]}]
    return {"global": config["global"], "scrape_configs": jobs, "rule_files": [str(folder / "rules" / "*.yml")]}


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
    """What was measured of one load."""

    load: Load
    hours: float
    false: Sequence[Episode]
    spikes: int
    seen: int
    delays: Sequence[float]
    shortest: float | None
    """The shortest time that a spike was visible, seconds; None if none was seen."""


def judge(load: Load, hours: float, spikes: Sequence[Spike], episodes: Sequence[Episode]) -> Row:
    """Tells the episodes of a load's run that are a spike's from the false ones."""
    own = [episode for episode in episodes if episode.run == load.run]
    seen, delays, lengths, right = 0, [], [], set()
    for spike in (spike for spike in spikes if spike.run == load.run):
        for episode in own:
            if episode.worker != spike.worker or episode.name != "LatencySpike":
                continue
            if spike.reported - 1 <= episode.begin <= spike.reported + _IN_TIME:
                right.add(episode)
                delays.append(episode.begin - spike.reported)
                lengths.append(episode.end - episode.begin)
            if episode.begin <= spike.reported + _IN_TIME <= episode.end:
                seen += 1
    number = sum(spike.run == load.run for spike in spikes)
    return Row(load, hours, sorted(set(own) - right), number, seen, delays, min(lengths, default=None))


def show(rows: Sequence[Row]) -> None:
    """Prints the table."""
    print("                          worker-  false     an           seen in  delay after report  visible")
    print("load                        hours  episodes  hour  spikes  3 s      median, max        at least")
    for row in rows:
        line = f"{row.load.run:<26}{row.hours:>7.2f}{len(row.false):>10}{len(row.false) / row.hours:>6.2f}"
        if row.spikes:
            line += f"{row.spikes:>8}{row.seen / row.spikes:>9.1%}"
        if row.delays:
            line += f"{statistics.median(row.delays):>9.1f} s,{max(row.delays):>4.1f} s{row.shortest:>11.0f} s"
        print(line)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="alert-noise", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--minutes", type=float, default=15, help="minutes of load after the ramp (15)")
    parser.add_argument("--workers", type=int, default=8, help="workers of each run (8)")
    parser.add_argument("--sigma", type=float, nargs="+", default=[0.2, 0.3], help="sigmas of the noise (0.2 0.3)")
    parser.add_argument("--factor", type=float, default=5, help="latency of a spike, as a multiple (5)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random numbers (1)")
    return parser.parse_args()


def main() -> None:
    """Measures and prints."""
    arguments = _arguments()
    loads = [Load(sigma, kind, spiky) for sigma in arguments.sigma for kind in _CORRELATIONS for spiky in (False, True)]
    chance = random.Random(arguments.seed)
    seconds = arguments.minutes * 60 + _RAMP
    with tempfile.TemporaryDirectory(prefix="alert-noise-") as name:
        folder = Path(name)
        server = Server(folder)
        workers = []
        for load in loads:
            place = folder / "runs" / load.run
            place.mkdir(parents=True)
            workers += [Worker(load, f"w{n}", place, chance, arguments.factor) for n in range(arguments.workers)]
        try:
            server.start(folder / "runs")
            print(f"{len(workers)} workers for {seconds:.0f} s, watched by Prometheus {server.version()}", flush=True)
            begin = time.time()
            spikes = simulate(workers, seconds)
            episodes = server.episodes(time.time() - begin)
            hours = arguments.workers * arguments.minutes / 60
            rows = [judge(load, hours, spikes, episodes) for load in loads]
            show(rows)
            for episode in (episode for row in rows for episode in row.false):
                moment = episode.begin - begin - _RAMP
                print(f"false: {episode.name} of {episode.run}/{episode.worker}, {moment:.0f} s after the ramp")
            print(f"evaluations of rules that Prometheus missed: {server.missed()}")
        finally:
            server.processes.stop_all()
            for worker in workers:
                worker.close()


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"alert-noise: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
