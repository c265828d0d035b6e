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
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchwatch.why.exported import INFO
from benchwatch.why.live import Engine
from benchwatch.why.prometheus import Prometheus
from benchwatch.why.seen import Samples
from tests.lab.simulated import EXPECTED, play
from tests.lab.tables import insert, table
from tests.lab.tape import Round, Tape

EPOCH = 1_790_000_000.0
"""Unix time of a tape's first second."""
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_MATCHER = re.compile(r'(\w+)(=~|!~|=)"((?:[^"\\]|\\.)*)"')
_WITHIN = 30
"""Seconds from the onset in which the last message counts."""


class Recorded(Prometheus):
    """A Prometheus whose samples are those of a tape; every run is active, and slow by its rules, all the time."""

    def __init__(self, series: Sequence[Samples], runs: Sequence[str]) -> None:
        super().__init__("http://127.0.0.1:1", 0.0, 0.0)
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


class Heard(NamedTuple):
    """What was said in a round: (seconds since the onset, layer, text), whenever something else is said."""

    round: Round
    said: Sequence[tuple[int, str, str]]

    @property
    def layer(self) -> str:
        """That of the last message; none without any."""
        known = [layer for _, layer, _ in self.said if layer != "none"]
        return known[-1] if known else "none"

    @property
    def messages(self) -> int:
        """Each layer is one."""
        layers = [layer for _, layer, _ in self.said if layer != "none"]
        return sum(one != before for one, before in zip(layers, ["", *layers], strict=False))


def hear(prometheus: Recorded, rounds: Sequence[Round]) -> Iterator[Heard]:
    """Let an engine look each second at the runs of these rounds."""
    now = EPOCH
    engine = Engine(prometheus, lambda: now)
    said: dict[int, list[tuple[int, str, str]]] = {number: [] for number, _ in enumerate(rounds)}
    earlier: dict[int, str] = {}
    last = max(one.begin for one in rounds) + _WITHIN
    for second in range(max(0, min(one.begin for one in rounds) - 30), last + 1):
        now = EPOCH + second
        engine.look()
        for sample in engine.samples():
            if sample.family is not INFO:
                continue
            run, _, layer, text = sample.labels
            for number, one in enumerate(rounds):
                if one.run != run:
                    continue
                if second < one.begin:
                    earlier[number] = text  # a message of the time before, which need not be over
                elif second <= one.begin + _WITHIN and text != earlier.get(number):
                    line = (second - one.begin, layer, text)
                    if not said[number] or said[number][-1][1:] != line[1:]:
                        said[number].append(line)
    yield from (Heard(one, said[number]) for number, one in enumerate(rounds))


def simulated(times: str) -> list[Heard]:
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


def of_recording(path: str) -> list[Heard]:
    """Rounds of tests/lab/real."""
    content = json.loads(Path(path).read_text())
    first = content["first"]
    tape = Tape(len(next(iter(content["series"].values()))))
    for key, values in content["series"].items():
        epoch = first if "_timestamp_seconds{" in key else 0
        tape.series[key] = [None if value is None else value - epoch for value in values]
    rounds = [
        Round(content["run"], one["fault"], one["expected"], int(one["begin"]) - first) for one in content["rounds"]
    ]
    return list(hear(recorded(tape, [content["run"]]), rounds))


def report(heard: Sequence[Heard]) -> str:
    """A row for each fault, in Markdown, and what was not right."""
    rows = [("fault", "its layer", "rounds", "layer right", "most messages", "first message after")]
    for fault in dict.fromkeys(one.round.fault for one in heard):
        own = [one for one in heard if one.round.fault == fault]
        right = sum(one.layer == one.round.expected for one in own)
        first = sorted(one.said[0][0] for one in own if one.said)
        delay = f"{first[len(first) // 2]} s (at most {first[-1]} s)" if first else "-"
        most = max(one.messages for one in own)
        rows.append((fault, own[0].round.expected, str(len(own)), f"{right} of {len(own)}", str(most), delay))
    wrong = [f"not right: {one.round.fault}: {one.said}" for one in heard if one.layer != one.round.expected]
    layers = Counter(one.layer == one.round.expected for one in heard if one.round.expected != "none")
    total = f"{layers[True]} of {layers.total()} faults right"
    return "\n".join([table(rows), total, *wrong])


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
