"""Tables of the rounds, and their place in docs/attribution.md."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

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
"""Layers that are slow too, because what is below them is: true, but not the cause. (One host is client and server.)"""
METHODS = {"ours": "benchwatch", "ks": "Kolmogorov-Smirnov", "baro": "BARO"}


class Judged(NamedTuple):
    """A round. `named` are seconds by named layer, `first_right` the seconds from the fault to its layer's name."""

    fault: str
    expected: str
    named: Mapping[str, int]
    first_right: int | None
    slow: int
    """Seconds in which the benchmark was slow by the rules' own condition."""
    ks: str = "none"
    baro: str = "none"
    notes: str = ""

    @property
    def ours(self) -> str:
        """The layer that was named for the longest."""
        return max(self.named, key=lambda layer: self.named[layer], default="none")

    @property
    def wrong(self) -> set[str]:
        """Layers that were named at any second, and are neither the fault's nor on the way to it."""
        return self.named.keys() - {self.expected} - _ON_THE_WAY.get(self.expected, frozenset())


def tables(rounds: Sequence[Judged], told: str) -> str:
    """The summary and a confusion matrix for each method, in Markdown; `told` says how they were measured."""
    return "\n\n".join([told, _summary(rounds), *(_matrix(rounds, method) for method in METHODS)])


def insert(document: Path, section: str, text: str) -> None:
    """Replaces what stands between the marks of a section. Raises ValueError if they are not there."""
    begin, end = f"<!-- {section}: written by scripts/experiments -->", f"<!-- end of {section} -->"
    before, found, rest = document.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"{document}: expected the lines {begin!r} and {end!r}")
    document.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _summary(rounds: Sequence[Judged]) -> str:
    header = [
        "fault",
        "its layer",
        "rounds",
        "benchmark slow",
        "right",
        "a wrong layer at any second",
        "seconds until right",
    ]
    rows = [[*header, *(METHODS[method] for method in ("ks", "baro"))]]
    faults = list(dict.fromkeys(one.fault for one in rounds))
    for fault in faults:
        own = [one for one in rounds if one.fault == fault]
        rows.append([fault, own[0].expected, *_figures(own)])
    rows.append(["all faults", "", *_figures([one for one in rounds if one.expected != "none"])])
    return _table(rows)


def _figures(rounds: Sequence[Judged]) -> list[str]:
    delays = [one.first_right for one in rounds if one.first_right is not None]
    return [
        str(len(rounds)),
        _percent(sum(one.slow > 0 for one in rounds), len(rounds)),
        _percent(sum(one.ours == one.expected for one in rounds), len(rounds)),
        str(sum(bool(one.wrong) for one in rounds)),
        f"{median(delays):.0f} (at most {max(delays)})" if delays else "-",
        *(
            _percent(sum(getattr(one, method) == one.expected for one in rounds), len(rounds))
            for method in ("ks", "baro")
        ),
    ]


def _matrix(rounds: Sequence[Judged], method: str) -> str:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for one in rounds:
        counts.setdefault((one.fault, one.expected), Counter())[getattr(one, method)] += 1
    seen = [layer for layer in (*LAYERS, "other") if any(count[layer] for count in counts.values())]
    rows = [[f"{METHODS[method]}: named", *seen]]
    for (fault, expected), count in counts.items():
        cells = [f"**{count[layer]}**" if layer == expected else str(count[layer] or "") for layer in seen]
        rows.append([f"{fault} ({expected})" if fault != expected else fault, *cells])
    return _table(rows)


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])


def read(lines: Iterable[Mapping[str, object]]) -> list[Judged]:
    """Rounds as they were written."""
    return [Judged(**line) for line in lines]  # type: ignore[arg-type]


def plain(text: str) -> str:
    """A table for a terminal."""
    return re.sub(r"^\|-.*\n", "", text.replace("**", ""), flags=re.MULTILINE)
