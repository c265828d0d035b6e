"""What the live engine of `benchwatch why` says in each round: the last layer within 30 s, and how many messages.

    .venv/bin/python -m tests.lab.why simulated=3,1000                        rounds of each scene of the simulated CVM
    .venv/bin/python -m tests.lab.why recorded=faults.json   rounds of tests/lab/real

With document=docs/measured/why.md, it also writes the table into the section of that name there.

The engine is the product's, with its questions; what answers them is a tape instead of a Prometheus.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchwatch.metrics.prometheus import Prometheus, Samples
from benchwatch.why.exported import INFO, MESSAGE
from benchwatch.why.live import Engine
from tests.lab.judging import WITHIN, Message, Round, report
from tests.lab.simulated import EXPECTED, play
from tests.lab.tables import insert
from tests.lab.tape import Fault, Tape

EPOCH = 1_790_000_000.0
"""Unix time of a tape's first second."""
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_MATCHER = re.compile(r'(\w+)(=~|!~|=)"((?:[^"\\]|\\.)*)"')


class Recorded(Prometheus):
    """A Prometheus whose samples are those of a tape; every run is active, and slow by its rules, all the time."""

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
            if all(_matches(one.labels.get(label, ""), how, value) for label, how, value in matchers):
                first, last = np.searchsorted(one.times, (begin, end), side="right")
                if last > first:
                    found.append(Samples(one.labels, one.times[first:last], one.values[first:last]))
        return found


def _matches(value: str, how: str, expected: str) -> bool:
    if how == "=":
        return value == expected
    return bool(re.fullmatch(expected, value)) is (how == "=~")


def recorded(tape: Tape, runs: Sequence[str]) -> Recorded:
    """The tape of these runs as a Prometheus."""
    found = []
    for key, values in tape.series.items():
        name, _, rest = key.partition("{")
        labels = {"__name__": name, **{label: json.loads(f'"{value}"') for label, value in _LABEL.findall(rest)}}
        pairs = [(EPOCH + second, value) for second, value in enumerate(values) if isinstance(value, int | float)]
        if pairs and not name.startswith("benchwatch_run_why"):
            times, numbers = np.array(pairs, dtype=float).T
            found.append(Samples(labels, times, numbers + EPOCH * name.endswith("_timestamp_seconds")))
    return Recorded(found, runs)


def hear(prometheus: Recorded, rounds: Sequence[Fault]) -> Iterator[Round]:
    """Let an engine look each second at the runs of these rounds; what each new message of it says."""
    now = EPOCH
    engine = Engine(prometheus, lambda: now)
    heard: dict[int, list[Message]] = {number: [] for number, _ in enumerate(rounds)}
    known: set[tuple[str, ...]] = set()
    for second in range(max(0, min(one.begin for one in rounds) - 30), max(one.begin for one in rounds) + WITHIN + 1):
        now = EPOCH + second
        engine.look()
        samples = list(engine.samples())
        texts = {one.labels[0]: one.labels[3] for one in samples if one.family is INFO}
        for labels in {one.labels for one in samples if one.family is MESSAGE} - known:
            known.add(labels)
            for number, one in enumerate(rounds):
                if one.run == labels[0] and 0 <= second - one.begin <= WITHIN:
                    heard[number].append(Message(second - one.begin, labels[2], texts[one.run]))
    yield from (Round(one.fault, one.expected, "", heard[number]) for number, one in enumerate(rounds))


def simulated(times: str) -> list[Round]:
    """Rounds of each scene of the simulated CVM: how many, and after a comma the first seed (1)."""
    number, _, first = times.partition(",")
    scenes = [(scene, seed) for seed, scene in enumerate(list(EXPECTED) * int(number), int(first or 1))]
    found = []
    for begin in range(0, len(scenes), len(EXPECTED)):
        with tempfile.TemporaryDirectory(prefix="why-") as name:
            tape, rounds = play(scenes[begin : begin + len(EXPECTED)], Path(name))
        for one in rounds:
            part = Tape(tape.seconds)
            part.series = {key: values for key, values in tape.series.items() if f'"{one.run}"' in key}
            found += hear(recorded(part, [one.run]), [one])
    return found


def of_recording(path: str) -> list[Round]:
    """Rounds of tests/lab/real."""
    content = json.loads(Path(path).read_text())
    first, run = content["first"], content["run"]
    tape = Tape(len(next(iter(content["series"].values()))))
    for key, values in content["series"].items():
        epoch = first if "_timestamp_seconds{" in key else 0
        tape.series[key] = [None if value is None else value - epoch for value in values]
    rounds = [Fault(run, one["fault"], one["expected"], int(one["begin"]) - first) for one in content["rounds"]]
    return list(hear(recorded(tape, [run]), rounds))


def main(*words: str) -> None:
    """Judge the rounds that the words name, and print the tables."""
    options = dict(word.split("=", 1) for word in words)
    document = options.pop("document", "")
    for kind, value in options.items():
        text = report({"simulated": simulated, "recorded": of_recording}[kind](value))
        print(text)
        if document:
            insert(Path(document), kind, text)


if __name__ == "__main__":
    main(*sys.argv[1:])
