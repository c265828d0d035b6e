"""What the rules name in each round, what two other methods name (tests/lab/peers.py), and the tables of that."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.lab import CHECKOUT
from tests.lab.tape import Tape, evaluate

LAYERS = (
    *("none", "client_cpu", "server_cpu", "memory", "database", "network", "log_device", "data_device"),
    *("path", "frontend", "oplog", "read_source", "cvm_queue", "backend"),
)
_DEVICES = frozenset({"log_device", "data_device"})
_ON_THE_WAY: Mapping[str, frozenset[str]] = {
    "none": frozenset(),
    "server_cpu": frozenset({"client_cpu"}),
    "path": _DEVICES,
    "frontend": _DEVICES,
    "oplog": _DEVICES | {"frontend", "backend"},
    "read_source": _DEVICES | {"frontend", "backend"},
    "cvm_queue": _DEVICES | {"frontend"},
}
"""Layers above the fault's, which are slow because of it. (One host is client and server.)"""
METHODS = {"ours": "benchwatch", "ks": "Kolmogorov-Smirnov", "baro": "BARO"}
_HEADER = (
    *("fault", "its layer", "rounds", "benchmark slow", "right", "a wrong layer at any second"),
    *("seconds until right", METHODS["ks"], METHODS["baro"]),
)
_VERDICT, _SLOW = "run:verdict:layer", "run:benchmark_slow:info"

Series = Mapping[str, Sequence[float | None]]


class Round(NamedTuple):
    """One fault, from second `begin` to `end` of a tape; what is named from `first` to `last` counts."""

    run: str
    fault: str
    expected: str
    begin: int
    end: int
    first: int
    last: int


class Judged(NamedTuple):
    """A judged round. `named` are seconds by layer, `first_right` the seconds from the fault to its layer's name.

    In `slow` seconds, the benchmark was slow by the rules' own condition.
    """

    fault: str
    expected: str
    named: Mapping[str, int]
    first_right: int | None
    slow: int
    ks: str = ""
    baro: str = ""

    @property
    def ours(self) -> str:
        """The layer that was named for the longest."""
        return max(self.named, key=lambda layer: self.named[layer], default="none")

    @property
    def wrong(self) -> set[str]:
        """Layers that were named at any second, and are neither the fault's nor above it."""
        return self.named.keys() - {self.expected} - _ON_THE_WAY.get(self.expected, frozenset())


def judge(
    tape: Tape, rounds: Sequence[Round], folder: Path, series: Callable[[Round], Series], peers: str | None
) -> Iterator[Judged]:
    """Judge the rounds of a tape; `peers` is the Python that has fse-baro (None: leave the other methods out)."""
    seconds = sorted({second for one in rounds for second in range(one.first, one.last + 1)})
    found = evaluate(tape, {_VERDICT: seconds, _SLOW: seconds}, folder)
    ranks = _ranks(rounds, folder, series, peers) if peers else [{}] * len(rounds)
    for one, ranked in zip(rounds, ranks, strict=True):
        verdicts, slow = (
            [s for s in found[name] if s.labels.get("run") == one.run and one.first <= s.second <= one.last]
            for name in (_VERDICT, _SLOW)
        )
        right = [s.second for s in verdicts if s.labels["layer"] == one.expected and s.second >= one.begin]
        yield Judged(
            one.fault,
            one.expected,
            Counter(sample.labels["layer"] for sample in verdicts),
            min(right) - one.begin if right else None,
            len({sample.second for sample in slow}),
            **ranked,
        )


def _ranks(
    rounds: Sequence[Round], folder: Path, series: Callable[[Round], Series], python: str
) -> Iterator[Mapping[str, str]]:
    path = folder / "rounds.jsonl"
    with path.open("w") as file:
        for one in rounds:
            first = max(0, one.begin - 4 * (one.end - one.begin) - 2)
            cut = {key: values[first : one.end] for key, values in series(one).items()}
            file.write(json.dumps({"begin": one.begin - first, "end": one.end - first, "series": cut}) + "\n")
    program = CHECKOUT / "tests" / "lab" / "peers.py"
    said = subprocess.run([python, program, path], stdout=subprocess.PIPE, text=True, check=True)
    yield from map(json.loads, said.stdout.splitlines())


def publish(rounds: Sequence[Judged], told: str, document: Path | None, section: str) -> None:
    """Print the tables, and those rounds that are not right; write the summary into a section of a page."""
    for one in rounds:
        if one.ours != one.expected or one.wrong:
            print(f"not right: {one}", file=sys.stderr)
    text = tables(rounds, told)
    print(re.sub(r"^\|-.*\n", "", text.replace("**", ""), flags=re.MULTILINE))
    if document:
        insert(document, section, summary(rounds, told))


def insert(document: Path, section: str, text: str) -> None:
    """Replace what is between the marks of a section. Raises ValueError if they are not there."""
    begin, end = f"<!-- {section}: written by tests/lab -->", f"<!-- end of {section} -->"
    before, found, rest = document.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"{document}: expected the lines {begin!r} and {end!r}")
    document.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


def tables(rounds: Sequence[Judged], told: str) -> str:
    """The summary and a confusion matrix for each method, in Markdown; `told` says how they were measured."""
    used = [method for method in METHODS if any(getattr(one, method) for one in rounds)]
    return "\n\n".join([summary(rounds, told), *(_matrix(rounds, method) for method in used)])


def summary(rounds: Sequence[Judged], told: str) -> str:
    """A row for each fault, in Markdown."""
    rows = [_HEADER]
    for fault in dict.fromkeys(one.fault for one in rounds):
        own = [one for one in rounds if one.fault == fault]
        rows.append((fault, own[0].expected, *_figures(own)))
    rows.append(("all faults", "", *_figures([one for one in rounds if one.expected != "none"])))
    return f"{told}\n\n{table(rows)}"


def _figures(rounds: Sequence[Judged]) -> list[str]:
    def percent(part: Sequence[bool]) -> str:
        return f"{100 * sum(part) / len(part):.0f} %" if part else "-"

    delays = [one.first_right for one in rounds if one.first_right is not None]
    return [
        str(len(rounds)),
        percent([one.slow > 0 for one in rounds]),
        percent([one.ours == one.expected for one in rounds]),
        str(sum(bool(one.wrong) for one in rounds)),
        f"{median(delays):.0f} (at most {max(delays)})" if delays else "-",
        percent([one.ks == one.expected for one in rounds if one.ks]),
        percent([one.baro == one.expected for one in rounds if one.baro]),
    ]


def _matrix(rounds: Sequence[Judged], method: str) -> str:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for one in rounds:
        counts.setdefault((one.fault, one.expected), Counter())[getattr(one, method)] += 1
    seen = [layer for layer in (*LAYERS, "other") if any(count[layer] for count in counts.values())]
    rows = [[f"{METHODS[method]}: named", *seen]]
    for (fault, expected), count in counts.items():
        cells = [f"**{count[one]}**" if one == expected else str(count[one] or "") for one in seen]
        rows.append([f"{fault} ({expected})" if fault != expected else fault, *cells])
    return table(rows)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in Markdown, the first one the header."""
    lines = [f"|{'|'.join(row)}|" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])
