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


class WorkerRow(NamedTuple):
    """One line: a worker, one operation of it, or the total of several, which is a worker without name and state."""

    worker: Worker
    measured: Measured
    name: str
    op: str = ""
    age: float | None = None
    """Seconds since the tool last reported."""
    apart: str = ""
    """How far apart the times of its percentiles and its mean are; empty if they are close."""
    notes: tuple[Note, ...] = ()

    @property
    def key(self) -> Key:
        """See Key."""
        return self.worker.run, self.worker.name, self.worker.tool, self.measured.job, self.measured.op

    @property
    def name_length(self) -> int:
        """Characters of its name with the operation."""
        return len(self.name) + bool(self.op) + len(self.op)

    @property
    def late(self) -> bool:
        """Whether a report is overdue."""
        return self.age is not None and self.age > 2 * (self.worker.report_interval or 1.0) + 1

    @property
    def reason(self) -> str:
        """The reason for its state, if known."""
        silent = self.worker.state == "stalled" and self.measured.rate is None and self.age is not None
        return f"no report for {figures.duration(self.age)}" if silent else self.worker.reason


class RunRows(NamedTuple):
    """An active run, or as much of it as has room."""

    name: str
    facts: tuple[str, ...]
    states: tuple[tuple[str, int], ...]
    """How many workers are in each state, worst first."""
    totals: tuple[WorkerRow, ...]
    rows: tuple[WorkerRow, ...]
    verdict: tuple[str, ...] = ()
    """Why it is slower than usual, in lines of the screen; empty if it is not, or if that is not known."""
    hidden: int = 0
    """How many rows have no room."""


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
    runs = sorted((run for run in page.runs if run.active), key=lambda run: run.name)
    runs.sort(key=lambda run: max((one.state == "stalled", one.start or 0.0) for one in run.workers), reverse=True)
    return [_run(run, now) for run in runs]


def labels_of(worker: Worker, measured: Measured, alone: bool) -> tuple[str, str]:
    """Name and operation of a row without the parts that all rows share, but never empty."""
    jobs = {one.job for one in (*worker.now, *worker.result)}
    parts = [worker.name] if not alone or not measured.job else []
    if measured.job and (len(jobs) > 1 or not parts):
        parts.append(measured.job)
    return " ".join(parts), measured.op


def _run(run: Run, now: float) -> RunRows:
    workers = sorted(run.workers, key=lambda worker: natural(worker.name))
    rows = [row for worker in workers for row in _rows(worker, now, alone=len(workers) == 1)]
    tools = sorted({worker.tool for worker in workers})
    totals = [_total([row for row in rows if row.worker.tool == tool], alone=len(tools) == 1) for tool in tools]
    counts = Counter(worker.state for worker in workers)
    return RunRows(
        run.name,
        tuple(_facts(workers, now)),
        tuple(sorted(counts.items(), key=lambda one: severity(one[0]))),
        tuple(row for row in totals if row),
        tuple(rows),
    )


def _total(rows: Sequence[WorkerRow], alone: bool) -> WorkerRow | None:
    """The total of the workers of one tool; None if there is nothing to add up."""
    counted = [row for row in rows if not row.worker.observer and row.op not in row.worker.apart]
    workers = list({row.worker.name: row.worker for row in rows}.values())
    first = workers[0]
    measured = [row.measured for row in counted if row.worker.now]
    if len(measured) < 2 or first.whole_server or len({(worker.unit, worker.in_bytes) for worker in workers}) > 1:
        return None
    together = total(measured)
    lags = [(abs((row.measured.time or 0.0) - (row.measured.quantiles_time or 0.0)), row.apart) for row in rows]
    _, apart = max((lag for lag in lags if lag[1]), default=(0.0, ""))
    return WorkerRow(
        Worker(first.run, "", first.tool, "", objective=_shared(worker.objective for worker in workers)),
        together,
        "all" if alone else f"all {first.tool}",
        apart=apart,
        notes=(*_bandwidth(together, first), *_lost(workers)),
    )


def _lost(workers: Sequence[Worker]) -> Iterable[Note]:
    for word in dict.fromkeys(word for worker in workers for word in worker.lost):
        known = [worker.lost[word] for worker in workers if word in worker.lost]
        together = Loss(sum(one.count for one in known), sum(one.of for one in known))
        if known[0].bad and together.count:
            yield Note(together.text(word, None), bad=True)


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


def _rows(worker: Worker, now: float, alone: bool) -> Iterable[WorkerRow]:
    """A row for each measured operation; one row for a worker without any."""
    age = None if worker.last_report is None else max(0.0, now - worker.last_report)
    for number, one in enumerate(worker.now or (Measured(),)):
        name, op = labels_of(worker, one, alone)
        p99 = one.quantiles.get("0.99")
        apart = figures.apart(one.time, worker.report_interval, one.latency, p99, one.quantiles_time)
        notes = tuple(_notes(worker, one, first=not number))
        yield WorkerRow(worker, one, name or worker.name, op, age, apart, notes)


def _notes(worker: Worker, measured: Measured, first: bool) -> Iterable[Note]:
    """Remarks; those about the worker as a whole are attached to its first row."""
    if worker.objective is not None and (measured.latency or 0.0) > worker.objective:
        yield Note(f"mean above the objective of {figures.latency(worker.objective)}", bad=True)
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
