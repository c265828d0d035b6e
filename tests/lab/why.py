"""What the live engine of `benchwatch why` says in each round: the last layer within 30 s, and how many messages.

    .venv/bin/python -m tests.lab.why simulated=3,1000        rounds of each scene of the simulated CVM, from a seed on
    .venv/bin/python -m tests.lab.why recorded=faults.json    rounds of tests/lab/real

With docs/measured/why.md as a second word, it also writes the table into the section of that name there.

The engine is the product's, with its questions; what answers them is a tape instead of a Prometheus. A simulated round
is a cluster, its guest and its pgbench on a virtual clock, so that hundreds take minutes. The product's poller reads
the pages' HTML, its watcher of runs reads pgbench's lines, and its exporter renders both.
"""

import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.prometheus import Prometheus, Samples
from benchwatch.nutanix.client import Client
from benchwatch.nutanix.poller import Poller
from benchwatch.nutanix.simulator.cluster import Cluster
from benchwatch.nutanix.simulator.guest import NAME as GUEST
from benchwatch.nutanix.simulator.guest import RECORD, Guest
from benchwatch.nutanix.simulator.page_html import render
from benchwatch.nutanix.simulator.scenes import FAULT_SECONDS, FAULT_START
from benchwatch.runs.watcher import Runs
from benchwatch.server.exporter import Exporter
from benchwatch.settings.cvm_settings import CvmSettings, NutanixSettings, VdiskDisk
from benchwatch.settings.settings import RunsSettings
from benchwatch.why.exported import INFO, MESSAGE
from benchwatch.why.live import Engine
from tests.lab.judging import WITHIN, Message, Round, insert, report

_LAYERS = {
    "steady": "none",
    "path-slow": "path",
    "vdisk-slow": "frontend",
    "oplog-full": "oplog",
    "oplog-bypassed": "oplog",
    "reads-hdd": "read_source",
    "reads-remote": "read_source",
    "cvm-queue": "cvm_queue",
}
"""The layer that each scene's fault is in."""
_AROUND, _POLL = 20, 10
"""Seconds looked at after a fault; seconds between polls of a CVM."""
_DISKS = {
    "5f0d7d8e-3a52-4c0b-9f0e-000000045269": VdiskDisk(vm=GUEST, disk="scsi.1", role="data"),
    "5f0d7d8e-3a52-4c0b-9f0e-000000040043": VdiskDisk(vm=GUEST, disk="scsi.2", role="log"),
}
"""What the cluster's vdisks are to the guest."""
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_MATCHER = re.compile(r'(\w+)(=~|!~|=)"((?:[^"\\]|\\.)*)"')
_MATCHES = {"=": str.__eq__, "=~": re.fullmatch, "!~": lambda pattern, value: not re.fullmatch(pattern, value)}
_SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*(?:\{.*\})?) (\S+)$", re.MULTILINE)


class Recorded(Prometheus):
    """A Prometheus with these samples; every run is active, and slow by its rules, all the time."""

    def __init__(self, series: Sequence[Samples], runs: Sequence[str]) -> None:
        super().__init__("http://127.0.0.1:1")
        self._series = series
        self._runs = runs

    def at(self, query: str, moment: float) -> list[tuple[Mapping[str, str], float]]:
        """See Prometheus."""
        return [({"__name__": "run:benchmark_slow:info", "run": run}, 1.0) for run in self._runs]

    def samples(self, selector: str, begin: float, end: float) -> list[Samples]:
        """See Prometheus."""
        name, _, rest = selector.partition("{")
        matchers = [("__name__", "=", name)] if name else []
        matchers += [(label, how, json.loads(f'"{value}"')) for label, how, value in _MATCHER.findall(rest)]
        found = []
        for one in self._series:
            if all(_MATCHES[how](value, one.labels.get(label, "")) for label, how, value in matchers):
                first, last = np.searchsorted(one.times, (begin, end), side="right")
                if last > first:
                    found.append(Samples(one.labels, one.times[first:last], one.values[first:last]))
        return found


def _series(key: str, samples: Sequence[tuple[float, float]], **more: str) -> Samples:
    """A series by its name and labels as in an exposition, from its times and values."""
    name, _, rest = key.partition("{")
    labels = {label: json.loads(f'"{value}"') for label, value in _LABEL.findall(rest)}
    times, values = np.array(samples, dtype=float).T
    return Samples({"__name__": name, **labels, **more}, times, values)


def hear(prometheus: Recorded, run: str, rounds: Sequence[Round]) -> list[Round]:
    """Let an engine look each second at the run of these rounds; what each new message of it says."""
    now = 0.0
    engine = Engine(prometheus, lambda: now)
    heard: dict[float, list[Message]] = {one.begin: [] for one in rounds}
    known: set[tuple[str, ...]] = set()
    for second in range(int(rounds[0].begin) - 30, int(rounds[-1].begin) + WITHIN + 1):
        now = float(second)
        engine.look()
        samples = list(engine.samples())
        texts = {one.labels[0]: one.labels[3] for one in samples if one.family is INFO}
        for labels in {one.labels for one in samples if one.family is MESSAGE} - known:
            known.add(labels)
            for begin, messages in heard.items():
                if 0 <= second - int(begin) <= WITHIN:
                    messages.append(Message(second - int(begin), labels[2], texts[run]))
    return [one._replace(messages=heard[one.begin]) for one in rounds]


class _Pages(Client):
    """A CVM's pages without a network."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__("http://127.0.0.1:1")
        self._cluster = cluster

    def get(self, path: str, query: str = "") -> bytes:
        """See Client."""
        document = self._cluster.page(0, f"{path}?{query}")
        assert document is not None
        return render(document).encode()


def play(scene: str, seed: int, folder: Path) -> list[Round]:
    """Play a scene until some time after its fault; what the engine says of it."""
    now = begun = float(int(time.time()))
    cluster = Cluster(scene, cvms=1, vdisks=4, seed=seed, clock=lambda: now)
    guest, cvm = Guest(cluster), CvmSettings(name=GUEST, url="http://127.0.0.1:1")
    settings, pages = NutanixSettings(oplog_flush_stats=True), _Pages(cluster)
    poller = Poller(cvm, settings, _DISKS, pages, wall_clock=lambda: now, monotonic=lambda: now)
    runs = Runs([folder], RunsSettings(), Buckets(4))
    exporter = Exporter(runs, [poller])
    run, phase = folder / GUEST, random.Random(seed).randrange(_POLL)
    run.mkdir()
    (run / "run.yaml").write_text(RECORD)
    scraped: dict[Any, list[tuple[float, float]]] = {}

    def scrape(exposition: str, **target: str) -> None:
        for key, value in _SAMPLE.findall(exposition):
            scraped.setdefault((key, *target.items()), []).append((now, float(value)))

    with (run / "db1.err").open("w", buffering=1) as output:
        for second in range(FAULT_START + FAULT_SECONDS + _AROUND + 1):
            now = begun + second
            if second:
                output.write(guest.progress(second - 1, now))
                os.utime(output.fileno(), (now, now))
            if second % _POLL == phase:
                poller.poll()
            while runs.poll(now, now):
                pass
            scrape(guest.exposition(second), job="node", host=GUEST)
            for part in ("live",) if second % _POLL else ("live", "runs", "nutanix"):
                scrape(exporter.render(frozenset({part})), job=f"benchwatch-{part}")
    series = [_series(key, samples, **dict(target)) for (key, *target), samples in scraped.items()]
    return hear(Recorded(series, [GUEST]), GUEST, [Round(scene, _LAYERS[scene], "", [], begun + FAULT_START)])


def simulated(times: str) -> Iterator[Round]:
    """Rounds of each scene of the simulated CVM: how many, and after a comma the first seed (1)."""
    number, _, first = times.partition(",")
    for seed, scene in enumerate(list(_LAYERS) * int(number), int(first or 1)):
        with tempfile.TemporaryDirectory(prefix="why-") as name:
            yield from play(scene, seed, Path(name))


def of_recording(path: str) -> list[Round]:
    """Rounds of tests/lab/real."""
    content = json.loads(Path(path).read_text())
    series = []
    for key, values in content["series"].items():
        samples = [(second, value) for second, value in enumerate(values, content["first"]) if value is not None]
        if samples and not key.startswith("benchwatch_run_why"):
            series.append(_series(key, samples))
    rounds = [Round(**one | {"messages": []}) for one in content["rounds"]]
    return hear(Recorded(series, [content["run"]]), content["run"], rounds)


def main(rounds: str, document: str = "") -> None:
    """Judge these rounds, print the table, and write it into a document."""
    kind, _, value = rounds.partition("=")
    text = report(list({"simulated": simulated, "recorded": of_recording}[kind](value)))
    print(text)
    if document:
        insert(Path(document), kind, text)


if __name__ == "__main__":
    main(*sys.argv[1:])
