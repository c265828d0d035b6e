"""The rows of a page: a run, its totals, a line for each worker or each operation of its jobs.

Totals cover what was measured, except operations that are counted separately, such as syncs: rates add up, and the mean
latency is weighted by them. Percentiles of several workers cannot be combined, so a total has only the highest latency.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..model.run import Loss, Measured, Run, Worker
from ..values import numbers as figures
from ..values.names import natural
from .known import Page

_TARGET_REACHED = 0.95
"""Share of a target from which on it counts as reached: rates of single windows are slightly off."""
_STATES = ("failed", "stalled", "abandoned", "interrupted", "unknown", "running", "finished")
"""Worst first."""

Key = tuple[str, ...]
"""What identifies a row from one page to the next."""


class Note(NamedTuple):
    """A remark on a row; `bad`: something to look at."""

    text: str
    bad: bool = False


class ShownRow(NamedTuple):
    """One line: a worker, one operation of it, or (with state empty) the total of several."""

    key: Key
    name: str
    measured: Measured
    op: str = ""
    state: str = ""
    reason: str = ""
    """The reason for its state, if known."""
    age: float | None = None
    """Seconds since the tool last reported."""
    late: bool = False
    """Whether a report is overdue."""
    objective: float | None = None
    apart: str = ""
    """How far apart the times of its percentiles and its mean are; empty if they are close."""
    notes: tuple[Note, ...] = ()

    @property
    def name_length(self) -> int:
        """Characters of its name with the operation."""
        return len(self.name) + bool(self.op) + len(self.op)


class RunRows(NamedTuple):
    """An active run."""

    name: str
    facts: tuple[str, ...]
    states: tuple[tuple[str, int], ...]
    """How many workers are in each state, worst first."""
    totals: tuple[ShownRow, ...]
    rows: tuple[ShownRow, ...]
    verdict: tuple[str, ...] = ()
    """Why it is slower than usual, in lines of the screen; empty if it is not, or if that is not known."""


def severity(state: str) -> int:
    """The rank of a state, 0 for the worst; a state that only a newer exporter has ranks as unknown."""
    return _STATES.index(state if state in _STATES else "unknown")


def total(measured: Sequence[Measured]) -> Measured:
    """The totals of several workers."""
    rates = [one.rate for one in measured if one.rate is not None]
    weights = [(one.rate, one.latency) for one in measured if one.rate and one.latency is not None]
    weight = sum(rate for rate, _ in weights)
    timed = [one for one in measured if one.latency is not None]
    highest = [one.quantiles["1"] for one in timed if "1" in one.quantiles]
    bandwidths = [one.bandwidth for one in measured if one.bandwidth is not None]
    return Measured(
        rate=sum(rates) if rates else None,
        latency=sum(rate * latency for rate, latency in weights) / weight if weight else None,
        quantiles={"1": max(highest)} if highest and len(highest) == len(timed) else {},
        bandwidth=sum(bandwidths) if bandwidths else None,
    )


def active_runs(page: Page, now: float) -> list[RunRows]:
    """Active runs with all their workers, stalled ones first, then the most recent; `now` in Unix seconds."""
    groups = [list(run.workers) for run in _by_name(page) if run.active]
    groups.sort(
        key=lambda group: max((worker.state == "stalled", worker.start or 0.0) for worker in group), reverse=True
    )
    return [_run(group, now) for group in groups]


def _by_name(page: Page) -> list[Run]:
    return sorted(page.runs, key=lambda run: run.name)


def labels_of(worker: Worker, measured: Measured, alone: bool) -> tuple[str, str]:
    """Name and operation of a row without the parts that all rows share, but never empty."""
    jobs = {one.job for one in (*worker.now, *worker.result)}
    parts = [worker.name] if not alone or not measured.job else []
    if measured.job and (len(jobs) > 1 or not parts):
        parts.append(measured.job)
    return " ".join(parts), measured.op


def _run(workers: list[Worker], now: float) -> RunRows:
    workers.sort(key=lambda worker: natural(worker.name))
    rows = [row for worker in workers for row in _rows(worker, now, alone=len(workers) == 1)]
    tools = sorted({worker.tool for worker in workers})
    of_tools = [[worker for worker in workers if worker.tool == tool] for tool in tools]
    totals = [_total(members, rows, alone=len(tools) == 1) for members in of_tools]
    counts = Counter(worker.state for worker in workers)
    return RunRows(
        name=workers[0].run,
        facts=tuple(_facts(workers, now)),
        states=tuple(sorted(counts.items(), key=lambda one: severity(one[0]))),
        totals=tuple(row for row in totals if row),
        rows=tuple(rows),
    )


def _total(workers: Sequence[Worker], rows: Sequence[ShownRow], alone: bool) -> ShownRow | None:
    """The total of the workers of one tool from their `rows`; None if there is nothing to add up."""
    measured = [one for worker in workers for one in worker.now if _counts(worker, one)]
    if len(measured) < 2 or len({(worker.unit, worker.in_bytes) for worker in workers}) > 1:
        return None
    if any(worker.whole_server for worker in workers):
        return None
    tool = workers[0].tool
    together = total(measured)
    late = sorted((row for row in rows if row.key[2] == tool and row.apart), key=_lag)
    return ShownRow(
        key=(workers[0].run, "", tool),
        name="all" if alone else f"all {tool}",
        measured=together,
        objective=_shared(worker.objective for worker in workers),
        apart=late[-1].apart if late else "",
        notes=(*_bandwidth(together, workers[0]), *_lost(workers)),
    )


def _lost(workers: Sequence[Worker]) -> Iterable[Note]:
    for word in dict.fromkeys(word for worker in workers for word in worker.lost):
        known = [worker.lost[word] for worker in workers if word in worker.lost]
        together = Loss(sum(one.count for one in known), sum(one.of for one in known))
        if known[0].bad and together.count:
            yield Note(together.text(word, None), bad=True)


def _counts(worker: Worker, one: Measured) -> bool:
    """Whether it is part of a total."""
    return not worker.observer and one.op not in worker.apart


def _lag(row: ShownRow) -> float:
    return abs((row.measured.time or 0.0) - (row.measured.quantiles_time or 0.0))


def _shared(values: Iterable[float | None]) -> float | None:
    """The value that all have; None if they differ."""
    different = set(values)
    return different.pop() if len(different) == 1 else None


def _facts(workers: Sequence[Worker], now: float) -> Iterable[str]:
    """What a run is, and its progress."""
    starts = [worker.start for worker in workers if worker.start is not None]
    ends = [one.start + one.duration for one in workers if one.active and one.start is not None and one.duration]
    if starts:
        yield figures.duration(max(0.0, now - min(starts)))
        if ends and max(ends) >= now:
            yield f"{figures.duration(max(ends) - now)} left"
        if warming_up := figures.warming_up(max(worker.warmup for worker in workers), min(starts), now):
            yield warming_up
    yield ", ".join(sorted({f"{worker.tool} {_version(worker)}".strip() for worker in workers}))
    if len(workers) == 1 and any(one.job for one in workers[0].now):  # its rows have the names of jobs
        yield workers[0].name
    objective = _shared(worker.objective for worker in workers)
    if objective is not None:
        yield f"objective {figures.latency(objective)}"


def _version(worker: Worker) -> str:
    """The version without the tool's name and the packager's additions."""
    return worker.tool_version.removeprefix(f"{worker.tool}-").split(" ")[0]


def _rows(worker: Worker, now: float, alone: bool) -> Iterable[ShownRow]:
    """A row for each measured operation; one row for a worker without any."""
    age = None if worker.last_report is None else max(0.0, now - worker.last_report)
    late = age is not None and age > 2 * (worker.report_interval or 1.0) + 1
    for number, measured in enumerate(worker.now or (Measured(),)):
        name, op = labels_of(worker, measured, alone)
        row = ShownRow(
            key=(worker.run, worker.name, worker.tool, measured.job, measured.op),
            name=name or worker.name,
            op=op,
            state=worker.state,
            reason=_reason(worker, measured, age),
            age=age,
            late=late,
            measured=measured,
            objective=worker.objective,
            apart=figures.apart(
                measured.time,
                worker.report_interval,
                measured.latency,
                measured.quantiles.get("0.99"),
                measured.quantiles_time,
            ),
        )
        yield row._replace(notes=tuple(_notes(row, worker, first=not number)))


def _reason(worker: Worker, measured: Measured, age: float | None) -> str:
    silent = worker.state == "stalled" and measured.rate is None
    return f"no report for {figures.duration(age)}" if silent and age is not None else worker.reason


def _notes(row: ShownRow, worker: Worker, first: bool) -> Iterable[Note]:
    """Remarks; those about the worker as a whole are attached to its first row."""
    measured = row.measured
    if row.objective is not None and (measured.latency or 0.0) > row.objective:
        yield Note(f"mean above the objective of {figures.latency(row.objective)}", bad=True)
    yield from _bandwidth(measured, worker)
    if measured.target_rate:
        aim = f"{figures.rate(measured.target_rate)} {worker.unit}"
        yield _target(aim, measured.rate, measured.target_rate)
    if measured.target_bandwidth:
        aim = _in_bytes(worker)(measured.target_bandwidth)
        yield _target(aim, measured.bandwidth, measured.target_bandwidth)
    if "0.999" in measured.quantiles:
        yield Note(f"p99.9 {figures.latency(measured.quantiles['0.999'])}")
    if first:
        for word, one in worker.lost.items():
            if one.count:
                yield Note(one.text(word, worker.measured_seconds), bad=one.bad)
        yield from map(Note, worker.notes)
        yield from (Note(warning.replace("_", " "), bad=True) for warning in worker.warnings)


def _target(aim: str, reached: float | None, target: float) -> Note:
    if reached is None:
        return Note(f"target {aim}")
    return Note(f"target {aim}: {reached / target:.0%}", bad=reached < _TARGET_REACHED * target)


def _bandwidth(measured: Measured, worker: Worker) -> Iterable[Note]:
    if measured.bandwidth is not None:
        yield Note(_in_bytes(worker)(measured.bandwidth))


def _in_bytes(worker: Worker) -> Callable[[float | None], str]:
    """The function that writes its bytes a second."""
    return figures.throughput(worker.unit) if worker.in_bytes else figures.bandwidth
