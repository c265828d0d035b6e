"""How far one receiver goes: the steps of scripts/experiments/scale, and their results."""

import argparse
import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import scale_table
from demo_processes import Failure
from scale_load import Load
from scale_receivers import RECEIVERS, Prometheus, Receiver
from scale_recording import Stack
from scale_ways import CHECKOUT, WAYS

_STEPS = ("record", "load", "store", "rules", "tables")
_REGISTERING = 12
"""Seconds of the recording, sent before the measurement, so that the receiver knows all series."""
_NOT_STORED = ("vmagent", "cvm")
"""The requests of vmagent are packed in its own way; what a CVM has is a part of all."""
_LATE = 20.0
"""Seconds behind its time, at which a load is one that the receiver does not keep up with."""
_MOST_MEMORY = 8 << 30


def main() -> int:
    """Does the steps. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="scripts/experiments/scale", description=(__doc__ or "").strip())
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"some of {', '.join(_STEPS)} (all)")
    folder = CHECKOUT / ".experiments" / "scale"
    parser.add_argument("--folder", type=Path, default=folder, help="folder for everything (.experiments/scale)")
    parser.add_argument("--seconds", type=int, default=120, help="length of a load, seconds (120)")
    parser.add_argument("--recorded", type=int, default=240, help="length of the recording, seconds (240)")
    parser.add_argument(
        "--machines",
        type=int,
        nargs="+",
        default=[40, 400, 1000],
        help="machines of each load, until one is too many (40 400 1000)",
    )
    parser.add_argument("--stored", type=int, default=40, help="machines whose recordings are stored (40)")
    parser.add_argument(
        "--receiver", action="append", choices=RECEIVERS, help="receiver to measure; can be repeated (all)"
    )
    parser.add_argument("--way", action="append", choices=WAYS, help="way of sending; can be repeated (all)")
    parser.add_argument("--document", type=Path, help="page to write the tables into (docs/scale.md)")
    arguments = parser.parse_args()
    steps = arguments.steps or list(_STEPS)
    if unknown := [step for step in steps if step not in _STEPS]:
        parser.error(f"expected some of {', '.join(_STEPS)}, got {unknown[0]}")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(143))
    try:
        Experiment(arguments).run(steps)
    except KeyboardInterrupt:
        return 130
    except Failure as failure:
        print(f"scale: {failure}", file=sys.stderr)
        return 1
    return 0


class _Mark(NamedTuple):
    """A look at a load: when, processor time of the receiver and of the load until then, and what was sent."""

    at: float
    cpu: float
    own: float
    samples: int
    bytes: int


class Experiment:
    """One folder: the recording, and a file for each result."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._folder: Path = arguments.folder.resolve()
        self._recording = self._folder / "recording"
        self._results = self._folder / "results"
        self._results.mkdir(parents=True, exist_ok=True)
        self._lock = (self._folder / "lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Failure(
                f"another one runs in {self._folder}: end it, or choose another folder with --folder"
            ) from None

    def run(self, steps: Iterable[str]) -> None:
        """Does these steps. Raises Failure."""
        for step in steps:
            getattr(self, step)()

    def record(self) -> None:
        """The recording that everything else is about."""
        _say(f"recording for {self._arguments.recorded} s")
        stack = Stack(self._folder / "stack", self._arguments.recorded, self._ways())
        for way, cost in stack.record(self._recording).items():
            _say(f"{way}: {cost}")

    def load(self) -> None:
        """More and more machines, in real time, until one receiver does not keep up."""
        for receiver in self._receivers():
            for machines in self._arguments.machines:
                with receiver(self._folder) as running:
                    empty = running.usage.resident
                    found = self._send(running, "as shipped", machines)
                self._keep(f"load-{receiver.name}-{machines:05}", {**found, "empty": empty})
                if found["broke"]:
                    break

    def store(self) -> None:
        """What the recordings take on disk and of the processor, in each way of sending."""
        for receiver in self._receivers():
            for way in self._ways():
                if way in _NOT_STORED or WAYS[way].version not in receiver.versions:
                    continue
                with receiver(self._folder) as running:
                    empty = running.usage
                    span = self._arguments.recorded
                    load = Load(running, self._recording, way, self._arguments.stored, span, hurried=True)
                    began = time.monotonic()
                    load.run(lambda load: running.usage.resident < _MOST_MEMORY)
                    took, used, series = time.monotonic() - began, running.usage, running.active()
                    stored = running.stored()
                found = {
                    "receiver": receiver.name,
                    "way": way,
                    "machines": self._arguments.stored,
                    "seconds": self._arguments.recorded,
                    "sent": load.total().samples,
                    "took": took,
                    "cpu": used.cpu - empty.cpu,
                    "memory": used.resident - empty.resident,
                    "series": series,
                    **stored._asdict(),
                }
                self._keep(f"store-{receiver.name}-{way}", found)

    def rules(self) -> None:
        """Prometheus that evaluates the rules of prometheus/rules, too."""
        for machines in self._arguments.machines:
            with Prometheus(self._folder, rules=True) as running:
                found = self._send(running, "as shipped", machines)
                missed = sum(running.metrics("prometheus_rule_group_iterations_missed_total").values())
            self._keep(f"rules-{machines:05}", {**found, "missed": missed})
            if found["broke"]:
                break

    def tables(self) -> None:
        """Prints the tables, and writes them into the page."""
        results = [
            json.loads(path.read_text()) | {"step": path.name.partition("-")[0]}
            for path in sorted(self._results.glob("*.json"))
        ]
        text = scale_table.tables(json.loads((self._recording / "costs.json").read_text()), results)
        print(text)
        if self._arguments.document:
            scale_table.insert(self._arguments.document, "far", text)

    def _send(self, running: Receiver, way: str, machines: int) -> dict[str, Any]:
        """One load: what it takes to register its series, and then, in real time, to store its samples."""
        broke = ""
        latest = 0.0
        marks: list[_Mark] = []

        def look(load: Load) -> bool:
            nonlocal broke, latest
            sent, used = load.total(), running.usage
            marks.append(_Mark(time.monotonic(), used.cpu, time.process_time(), sent.samples, sent.bytes))
            latest = max(latest, sent.late)
            if used.resident > _MOST_MEMORY:
                broke = f"memory: {used.resident / 2**30:.1f} GiB"
            elif sent.late > _LATE:
                broke = f"{sent.late:.0f} s behind"
            return not broke

        first = Load(running, self._recording, way, machines, _REGISTERING, hurried=True)
        before = running.usage.cpu
        first.run(look)
        registering = running.usage.cpu - before
        if not broke:
            marks.clear()
            load = Load(running, self._recording, way, machines, self._arguments.seconds, hurried=False)
            load.run(look)
            look(load)
        begin, end = marks[0], marks[-1]
        length = end.at - begin.at
        return {
            "receiver": running.name,
            "way": way,
            "machines": machines,
            "series": running.active(),
            "registering_cpu": registering,
            "seconds": length,
            "samples": end.samples - begin.samples,
            "bytes": end.bytes - begin.bytes,
            "cpu": end.cpu - begin.cpu,
            "cpu_of_the_load": end.own - begin.own,
            "resident": running.usage.resident,
            "late": latest,
            "broke": broke,
            "loadavg": os.getloadavg()[0],
        }

    def _ways(self) -> list[str]:
        return self._arguments.way or list(WAYS)

    def _receivers(self) -> list[type[Receiver]]:
        return [RECEIVERS[name] for name in self._arguments.receiver or RECEIVERS]

    def _keep(self, name: str, found: dict[str, Any]) -> None:
        (self._results / f"{name.replace(' ', '_')}.json").write_text(json.dumps(found, indent=1))
        _say(f"{name}: {found}")


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
