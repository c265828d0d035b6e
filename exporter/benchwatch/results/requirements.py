"""Requirements on results, as a gate for CI: `p99 < 20ms`, `tps >= 1000`, `read p99.9 <= 5ms`, `failed == 0`.

    [GROUP ...] FIGURE OPERATOR VALUE[UNIT]

- FIGURE: `throughput` or the tool's own word for it (tps, iops ...), `bandwidth`; `mean`, `p50`, `p95`, `p99`,
  `p99.9`, `max`, `connection`, `stalled` (times); `failed`, `skipped` (how many operations or, with %, which part).
- GROUP: an operation, a job, or both. Without one, a throughput or bandwidth is the sum of a job's operations, and a
  latency that of each operation: all must meet the requirement.
- UNIT: of times ns, us, ms, s, m; of bytes a second B/s, KiB/s, MiB/s, GiB/s, kB/s, MB/s, GB/s; of rates k, M or none.

What was not measured does not meet a requirement, nor does a run that has not finished. In a series every run has to
meet it.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from ..compare.measured import MeasuredRun, is_sum
from ..compare.measures import (
    BANDWIDTH,
    CONNECTION,
    LATENCY_MAX,
    LATENCY_MEAN,
    LATENCY_QUANTILES,
    THROUGHPUT,
    Measure,
    rounded,
    unit_of,
)
from ..compare.text import heading
from ..metrics.latencies import Group
from ..tools.api import Tool
from ..tools.registry import TOOLS
from ..values import numbers
from ..values.durations import Duration
from ..values.errors import UserError
from .result import RunResult

_OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
_FORM = re.compile(r"\s*([^<>=!\s][^<>=!]*?)\s*(<=|>=|==|!=|<|>)\s*(\S.*?)\s*")
_NUMBER = re.compile(r"((?:[0-9]{1,3}(?:[,_][0-9]{3})+|[0-9]+)(?:\.[0-9]+)?)\s*([a-zA-Z/%µ]*)")
_MEASURES: Mapping[str, Measure] = {
    "throughput": THROUGHPUT,
    "bandwidth": BANDWIDTH,
    "mean": LATENCY_MEAN,
    **{one.title.removeprefix("latency "): one for one in LATENCY_QUANTILES},
    "max": LATENCY_MAX,
    "connection": CONNECTION,
}
_LATENCIES = (LATENCY_MEAN, *LATENCY_QUANTILES, LATENCY_MAX)
_COUNTS = ("failed", "skipped")
_STALLED = "stalled"
_RATES = {"": 1.0, "/s": 1.0, "k": 1e3, "m": 1e6}
_BYTES = {
    "b/s": 1.0,
    **{f"{prefix}ib/s": 1024.0**power for power, prefix in enumerate("kmg", 1)},
    **{f"{prefix}b/s": 1000.0**power for power, prefix in enumerate("kmg", 1)},
}

_Kind = Literal["rate", "bytes", "time", "count", "share"]


class Requirement(NamedTuple):
    """One requirement, read."""

    text: str
    group: tuple[str, ...]
    figure: str
    sign: str
    number: str
    unit: str

    def value(self, kind: _Kind) -> float:
        """What it compares with, in base units. Raises UserError if its unit is not one of that kind."""
        number, unit = self.number.replace(",", "").replace("_", ""), self.unit
        plain = float(number)
        try:
            if kind == "time":
                if not unit and plain:
                    raise ValueError
                return float(Duration.read(f"{number}{unit or 's'}"))
            if kind == "share":
                return plain / 100
            scales = {"rate": _RATES, "bytes": _BYTES, "count": {"": 1.0}}[kind]
            return plain * scales[unit.lower()]
        except (KeyError, ValueError):
            expected = {
                "time": "a time, such as 20ms",
                "rate": "a number, such as 1000 or 1k",
                "bytes": "bytes a second, such as 100MiB/s",
                "count": "a number, or a part such as 0.1%",
            }[kind]
            given = f"{self.number}{self.unit}"
            raise UserError(f"--require {self.text!r}: {self.figure}: expected {expected}, got {given!r}") from None


class CheckedRequirement(NamedTuple):
    """Whether a requirement is met, and by which figure."""

    requirement: Requirement
    met: bool
    measured: str
    """The figure that decides, with its run and group; or that there is none."""

    @property
    def line(self) -> str:
        """One line for people."""
        return f"{'met' if self.met else 'NOT MET'}: {self.requirement.text}: {self.measured}"


def requirement(text: str, tool: Tool | None = None) -> Requirement:
    """Read a requirement. Raises UserError, with the figures that are known (to `tool`, if given)."""
    form = _FORM.fullmatch(text)
    number = _NUMBER.fullmatch(form[3]) if form else None
    if form is None or number is None:
        raise UserError(f"--require {text!r}: expected FIGURE OPERATOR VALUE, such as 'p99 < 20ms' or 'failed == 0'")
    *group, name = form[1].split()
    found = Requirement(text.strip(), tuple(group), name.lower(), form[2], number[1], number[2])
    lost = {word for each in ([tool] if tool else TOOLS) for roles in each.roles for word in roles.lost}
    known = [*_throughputs(tool), *_MEASURES, *(word for word in _COUNTS if word in lost), _STALLED]
    if found.figure not in known:
        of = f"{tool.name} has" if tool else "expected"
        raise UserError(f"--require {text!r}: unknown figure {name!r}; {of} {', '.join(dict.fromkeys(known))}")
    kinds = _kinds(found, tool)
    for place, kind in enumerate(kinds):
        try:
            found.value(kind)
            break
        except UserError:
            if place == len(kinds) - 1:
                raise
    return found


def _throughputs(tool: Tool | None) -> list[str]:
    units = [roles.unit for each in ([tool] if tool else TOOLS) for roles in each.roles]
    return list(dict.fromkeys(unit.name.lower() for unit in units if not unit.in_bytes and " " not in unit.name))


def _kinds(asked: Requirement, tool: Tool | None) -> list[_Kind]:
    """What its value may be, as far as that is known before anything was measured."""
    if asked.figure in _COUNTS:
        return ["share" if asked.unit == "%" else "count"]
    measure = _MEASURES.get(asked.figure)
    if asked.figure == _STALLED or (measure and measure.unit == "seconds"):
        return ["time"]
    if measure is BANDWIDTH:
        return ["bytes"]
    if measure is None:
        return ["rate"]
    units = (roles.unit for each in ([tool] if tool else TOOLS) for roles in each.roles)
    return list(dict.fromkeys("bytes" if unit.in_bytes else "rate" for unit in units))


def answers(
    requirements: Sequence[Requirement], results: Sequence[RunResult], without: Sequence[str] = ()
) -> list[CheckedRequirement]:
    """Whether results meet requirements: those of one run, or of each run of a series; `without` are runs of the series
    that have no result."""
    return [_answer(asked, results, without) for asked in requirements]


def _answer(asked: Requirement, results: Sequence[RunResult], without: Sequence[str]) -> CheckedRequirement:
    several = len({*without, *(result.run.name for result in results)}) > 1
    found: list[tuple[bool, str]] = []
    missing = [*without]
    meant = {result.run.name for result in results if _applies(asked, result)}
    for result in results:
        if result.state != "finished":
            return CheckedRequirement(
                asked, False, f"{result.run.name} {result.state}" + (f": {result.reason}" * bool(result.reason))
            )
        if result.run.name in meant and not _applies(asked, result):  # but to another tool of that run
            continue
        mine = list(_figures(asked, result)) if result.measured else []
        if not mine:
            missing.append(result.run.name)
        for group, value, kind in mine:
            who = " ".join(part for part in (heading(group), f"in {result.run.name}" if several else "") if part)
            met = _OPERATORS[asked.sign](rounded(value), asked.value(kind))
            found.append((met, f"{_shown(value, kind)}{f' ({who})' if who else ''}"))
    if missing or not found:
        return CheckedRequirement(asked, False, "not measured" + (f" in {', '.join(missing)}" if several else ""))
    worst = next((one for one in found if not one[0]), found[0])
    missed = sum(not met for met, _ in found)
    more = f", and {missed - 1} more" if missed > 1 else ""
    return CheckedRequirement(asked, not missed, f"{worst[1]}{more}")


def _applies(asked: Requirement, result: RunResult) -> bool:
    """Whether its tool has a figure of that name."""
    roles = result.run.roles
    if asked.figure in _COUNTS:
        return asked.figure in roles.lost
    return asked.figure in (*_MEASURES, _STALLED) or (
        asked.figure == roles.unit.name.lower() and not roles.unit.in_bytes
    )


def _shown(value: float, kind: _Kind) -> str:
    if kind == "time":
        return numbers.latency(value)
    if kind == "bytes":
        return numbers.bandwidth(value)
    if kind == "share":
        return numbers.part(value)
    return f"{value:,.0f}" if kind == "count" else numbers.rate_in_full(value)


def _figures(asked: Requirement, result: RunResult) -> Iterator[tuple[Group, float, _Kind]]:
    run = result.run
    if asked.figure == _STALLED:
        if result.stalled is not None:
            yield (), result.stalled, "time"
        return
    if asked.figure in _COUNTS:
        count, _ = result.lost.get(asked.figure, (None, 0.0))
        share = next((one.value for (_, of), one in run.figures.items() if of.name == asked.figure), None)
        if asked.unit != "%" and count is not None:
            yield (), count, "count"
        elif share is not None or (count == 0 and result.operations):
            yield (), share or 0.0, "share"
        return
    measure = _MEASURES.get(asked.figure) or (THROUGHPUT if _applies(asked, result) else None)
    meant = [group for group, one in run.figures if one is THROUGHPUT and _is_meant(asked, group, run)]
    if measure is None or (measure in _LATENCIES and not all((one, measure) in run.figures for one in meant)):
        return
    of = [group for group, one in run.figures if one is measure and set(asked.group) <= {*group}]
    if not asked.group:
        of = [group for group in of if run.roles.apart.isdisjoint(group[-1:])]
        summed = {group[:-1] for group in of if is_sum(group)}
        if measure in (THROUGHPUT, BANDWIDTH):
            of = [group for group in of if is_sum(group) or group[:-1] not in summed]
        else:
            of = [group for group in of if not is_sum(group)]
    kinds: dict[str, _Kind] = {"seconds": "time", "bytes per second": "bytes"}
    for group in of:
        yield group, run.figures[group, measure].value, kinds.get(unit_of(measure, run.roles), "rate")


def _is_meant(asked: Requirement, group: Group, run: MeasuredRun) -> bool:
    """Whether a requirement on a latency is one on that group, which has done something."""
    if is_sum(group) or not run.figures[group, THROUGHPUT].value:
        return False
    return set(asked.group) <= {*group} if asked.group else run.roles.apart.isdisjoint(group[-1:])
