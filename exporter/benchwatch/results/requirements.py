"""Requirements on results, as a gate for CI: `p99 < 20ms`, `tps >= 1000`, `read p99.9 <= 5ms`, `failed == 0`.

    [GROUP ...] FIGURE OPERATOR VALUE[UNIT]

- FIGURE: `throughput` or the tool's own word for it (tps, iops ...), `bandwidth`; `mean`, `p50`, `p95`, `p99`,
  `p99.9`, `max`, `connection`, `stalled` (times); `failed`, `skipped` (a number of operations; with %, a share).
- GROUP: an operation, a job, or both. Without one, a requirement on throughput or bandwidth applies to the sum of each
  job's operations, and one on a latency to each operation.
- UNIT: of times ns, us, ms, s, m; of bytes a second B/s, KiB/s, MiB/s, GiB/s, kB/s, MB/s, GB/s, bit/s, kbit/s,
  Mbit/s, Gbit/s; of rates k, M or none.

A figure that was not measured does not meet a requirement, nor does a run that has not finished. All runs of a series
must meet it.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from ..compare.measures import (
    BANDWIDTH,
    CONNECTION,
    LATENCY_MAX,
    LATENCY_MEAN,
    LATENCY_QUANTILES,
    THROUGHPUT,
    Measure,
    heading,
    rounded,
    unit_of,
)
from ..compare.result import Result, is_sum
from ..metrics.latencies import Group
from ..tools.api import Tool
from ..tools.registry import TOOLS
from ..values import numbers
from ..values.durations import UNITS
from ..values.errors import UserError
from ..values.suggestion import did_you_mean
from .subject import longest_stall

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_TOWARDS = {"<": 1, "<=": 1, ">": -1, ">=": -1}
"""In which direction a figure comes closer to missing the limit."""
_FORM = re.compile(r"\s*([^<>=!\s][^<>=!]*?)\s*(<=|>=|==|!=|<|>)\s*(\S.*?)\s*")
_NUMBER = re.compile(r"((?:[0-9]{1,3}(?:[,_][0-9]{3})+|[0-9]+)(?:\.[0-9]+)?)\s*([a-zA-Z/%µ]*)")
MEASURES: Mapping[str, Measure] = {
    "throughput": THROUGHPUT,
    "bandwidth": BANDWIDTH,
    "mean": LATENCY_MEAN,
    **{one.title.removeprefix("latency "): one for one in LATENCY_QUANTILES},
    "max": LATENCY_MAX,
    "connection": CONNECTION,
}
_COUNTS = ("failed", "skipped")
_STALLED = "stalled"


@dataclass(frozen=True, eq=False)
class _Kind:
    """How the value of a figure is written."""

    expected: str
    scales: Mapping[str, float]
    """Base units per unit."""
    shown: Callable[[float], str]


_TIME = _Kind("a time, such as 20ms", UNITS, numbers.latency)
_RATE = _Kind("a number, such as 1000 or 1k", {"": 1.0, "/s": 1.0, "k": 1e3, "m": 1e6}, numbers.rate_in_full)
_BYTES = _Kind(
    "bytes or bits a second, such as 100MiB/s or 9Gbit/s",
    {
        "b/s": 1.0,
        **{f"{prefix}ib/s": 1024.0**power for power, prefix in enumerate("kmg", 1)},
        **{f"{prefix}b/s": 1000.0**power for power, prefix in enumerate("kmg", 1)},
        **{f"{prefix}bit/s": 1000.0**power / 8 for power, prefix in enumerate(("", *"kmg"))},
    },
    numbers.bandwidth,
)
_COUNT = _Kind("a number, or a part such as 0.1%", {"": 1.0}, "{:,.0f}".format)
_SHARE = _Kind(_COUNT.expected, {"%": 0.01}, numbers.part)


class Requirement(NamedTuple):
    """One requirement, parsed."""

    text: str
    group: tuple[str, ...]
    figure: str
    sign: str
    value: str
    """As it is written: a number and a unit."""
    limits: Mapping[_Kind, float]
    """The value in base units; a throughput counts operations or bytes, which may depend on the run."""

    def is_met(self, value: float, kind: _Kind) -> bool:
        """Whether a figure meets it. Raises UserError if the requirement's unit is of another kind."""
        if kind not in self.limits:
            raise self.wrong(f"{self.figure}: expected {kind.expected}, got {self.value!r}")
        return _OPERATORS[self.sign](rounded(value), self.limits[kind])

    def wrong(self, why: str) -> UserError:
        """An error in it."""
        return UserError(f"--require {self.text!r}: {why}")


class CheckedRequirement(NamedTuple):
    """Whether a requirement is met, and the figure that decides."""

    requirement: Requirement
    met: bool
    measured: str
    """The figure that is closest to missing it, or misses it by most, with its run and group; or why there is none."""

    @property
    def line(self) -> str:
        """One line for people."""
        return f"{'met' if self.met else 'NOT MET'}: {self.requirement.text}: {self.measured}"


def requirement(text: str, tool: Tool | None = None) -> Requirement:
    """Parse a requirement. Raises UserError; for an unknown figure it lists those of `tool`, by default of any tool."""
    form = _FORM.fullmatch(text)
    number = _NUMBER.fullmatch(form[3]) if form else None
    if form is None or number is None:
        raise UserError(f"--require {text!r}: expected FIGURE OPERATOR VALUE, such as 'p99 < 20ms' or 'failed == 0'")
    *group, name = form[1].split()
    found = Requirement(text.strip(), tuple(group), name.lower(), form[2], f"{number[1]}{number[2]}", {})
    roles = [each for one in ([tool] if tool else TOOLS) for each in one.roles]
    rates = [each.unit.name.lower() for each in roles if not each.unit.in_bytes and " " not in each.unit.name]
    counts = [word for word in _COUNTS if any(word in each.lost for each in roles)]
    known = [*rates, *MEASURES, *counts, _STALLED]
    if found.figure not in known:
        of = f"{tool.name} has" if tool else "expected"
        meant = did_you_mean(found.figure, known)
        raise found.wrong(f"unknown figure {name!r}; {of} {', '.join(dict.fromkeys(known))}{meant}")
    if found.figure in counts:
        kinds = [_SHARE if number[2] == "%" else _COUNT]
    elif found.figure == "throughput":
        kinds = [*dict.fromkeys(_BYTES if each.unit.in_bytes else _RATE for each in roles)]
    elif found.figure == "bandwidth":
        kinds = [_BYTES]
    else:
        kinds = [_TIME if found.figure in (*MEASURES, _STALLED) else _RATE]
    plain = float(re.sub("[,_]", "", number[1]))
    unit = number[2] if kinds == [_TIME] else number[2].lower()
    if kinds == [_TIME] and not plain:
        unit = "s"
    limits = {kind: rounded(plain * kind.scales[unit]) for kind in kinds if unit in kind.scales}
    if not limits:
        raise found.wrong(f"{found.figure}: expected {kinds[-1].expected}, got {found.value!r}")
    return found._replace(limits=limits)


def answers(
    requirements: Sequence[Requirement], results: Sequence[Result], without: Sequence[str] = ()
) -> list[CheckedRequirement]:
    """Whether the results of a run, or those of every run of a series, meet requirements.

    `without` names the runs of the series that have no result.
    """
    return [_answer(asked, results, without) for asked in requirements]


def _answer(asked: Requirement, results: Sequence[Result], without: Sequence[str]) -> CheckedRequirement:
    several = len({*without, *(result.name for result in results)}) > 1
    missing = [*without]
    figures = [_figures(asked, result) for result in results]
    meant = {result.name for result, own in zip(results, figures, strict=True) if own is not None}
    found: list[tuple[bool, float, str]] = []  # whether it misses the limit, by how much, what it is
    for result, own in zip(results, figures, strict=True):
        if result.state != "finished":
            reason = f": {result.reason}" if result.reason else ""
            return CheckedRequirement(asked, False, f"{result.name} {result.state}{reason}")
        if own is None and result.name in meant:  # it applies to another tool of the run
            continue
        if not own:
            missing.append(result.name)
        for group, value, kind in own or ():
            who = " ".join(part for part in (heading(group), f"in {result.name}" if several else "") if part)
            in_bits = asked.figure == "throughput" and result.roles.unit.name == "bit/s"
            shown = numbers.bits(value) if in_bits else kind.shown(value)
            met = asked.is_met(value, kind)
            beyond = (value - asked.limits[kind]) * _TOWARDS.get(asked.sign, 0)
            found.append((not met, beyond, f"{shown}{f' ({who})' if who else ''}"))
    if missing or not found:
        return CheckedRequirement(asked, False, "not measured" + (f" in {', '.join(missing)}" if several else ""))
    missed = sum(not_met for not_met, _, _ in found)
    more = f", and {missed - 1} more" if missed > 1 else ""
    *_, worst = max(found, key=itemgetter(0, 1))
    return CheckedRequirement(asked, not missed, f"{worst}{more}")


def _figures(asked: Requirement, result: Result) -> list[tuple[Group, float, _Kind]] | None:
    """The figures that must meet it; empty if they were not measured, None if the tool has none of that name."""
    roles = result.roles
    measure = MEASURES.get(asked.figure)
    if asked.figure == roles.unit.name.lower() and not roles.unit.in_bytes:
        measure = THROUGHPUT
    if asked.figure in _COUNTS:
        return _lost(asked, result) if asked.figure in roles.lost else None
    if asked.figure == _STALLED:
        seconds = longest_stall(result) if result.measured else None
        return [] if seconds is None else [((), seconds, _TIME)]
    if measure is None:
        return None
    if measure not in (THROUGHPUT, BANDWIDTH, CONNECTION):  # every operation that was done must have that latency
        done = [group for group, one in result.figures if one is THROUGHPUT and _is_meant(asked, group, result)]
        if not all((group, measure) in result.figures for group in done):
            return []
    of = [group for group, one in result.figures if one is measure and set(asked.group) <= {*group}]
    if not asked.group:
        of = [group for group in of if roles.apart.isdisjoint(group[-1:])]
        summed = {group[:-1] for group in of if is_sum(group)}
        if measure in (THROUGHPUT, BANDWIDTH):
            of = [group for group in of if is_sum(group) or group[:-1] not in summed]
        else:
            of = [group for group in of if not is_sum(group)]
    kind = {"seconds": _TIME, "bytes per second": _BYTES}.get(unit_of(measure, roles), _RATE)
    return [(group, result.figures[group, measure].value, kind) for group in of] if result.measured else []


def _lost(asked: Requirement, result: Result) -> list[tuple[Group, float, _Kind]]:
    """How many operations failed or were skipped, or their share."""
    count, whole = result.lost.get(asked.figure, (None, 0.0))
    if count is None or not result.measured:
        return []
    if _COUNT in asked.limits:
        return [((), count, _COUNT)]
    is_share = whole or (not count and result.operations)
    return [((), count / whole if whole else 0.0, _SHARE)] if is_share else []


def _is_meant(asked: Requirement, group: Group, run: Result) -> bool:
    """Whether a requirement on a latency applies to this group and the group completed any operation."""
    if is_sum(group) or not run.figures[group, THROUGHPUT].value:
        return False
    return set(asked.group) <= {*group} if asked.group else run.roles.apart.isdisjoint(group[-1:])
