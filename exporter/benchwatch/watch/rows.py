"""The rows of a page: a run, its totals, a line for each worker or each operation of its jobs.

Totals cover what was measured, except operations that are counted separately, such as syncs: rates add up, and the mean
latency is weighted by them. Percentiles of several workers cannot be combined, so a total has only the highest latency.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..model.run import Measured, Run, Worker
from ..values import numbers as figures
from ..values.names import natural
from .known import UNJUDGED, Judged, Page, Slow, usual_key
from .sources import LATENCY, RATE

_TARGET_REACHED = 0.95
"""Share of a target from which on it counts as reached: rates of single windows are slightly off."""
STATES = {
    "failed": ("✗", "bold red"),
    "stalled": ("■", "bold red"),
    "abandoned": ("✗", "red"),
    "interrupted": ("◌", "yellow"),
    "unknown": ("?", "yellow"),
    "running": ("●", "green"),
    "finished": ("✓", "cyan"),
}
"""Mark and style of a state, the worst first."""


class Note(NamedTuple):
    """A remark on a run or a row; `bad`: something to look at."""

    text: str
    bad: bool = False


class Row(NamedTuple):
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
    usual: Measured = Measured()
    """Its usual rate and mean latency, where they are known."""

    @property
    def key(self) -> tuple[str, ...]:
        """What identifies it from one page to the next."""
        return self.worker.run, self.worker.name, self.worker.tool, self.measured.job, self.measured.op

    @property
    def label(self) -> str:
        """Its name and operation."""
        return f"{self.name} {self.op}".strip()


class ActiveRun(NamedTuple):
    """An active run with all its workers."""

    name: str
    facts: tuple[Note, ...]
    states: tuple[tuple[str, int], ...]
    """How many workers are in each state, worst first."""
    totals: tuple[Row, ...]
    rows: tuple[Row, ...]
    slow: Slow | None = None
    """Its last slow time."""

    @property
    def charted(self) -> tuple[Row, ...]:
        """What has a chart: its totals or, where it has none, its rows."""
        return self.totals or self.rows

    @property
    def slowness(self) -> int:
        """How slow it is: 0 if it is not, 1 from the usual on, 2 from twice as slow on, 3 from four times on ..."""
        ratios = [1.0]
        for row in self.charted if self.is_slow else ():
            now, usual = row.measured, row.usual
            ratios += [now.latency / usual.latency] if now.latency and usual.latency else []
            ratios += [usual.rate / now.rate] if now.rate and usual.rate else []
        return 1 + int(math.log2(max(ratios))) if self.is_slow else 0

    @property
    def is_slow(self) -> bool:
        """Whether it is slow now."""
        return self.slow is not None and self.slow.end is None


def severity(state: str) -> int:
    """The rank of a state, 0 for the worst; a state that only a newer exporter has ranks as unknown."""
    return list(STATES).index(state if state in STATES else "unknown")


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


def active_runs(page: Page, now: float, judged: Judged = UNJUDGED) -> list[ActiveRun]:
    """Active runs, the slowest first, then those that were slow, stalled ones, the most recent; `now`: Unix seconds."""
    active = sorted((run for run in page.runs if run.active), key=lambda run: run.name)

    def rank(run: ActiveRun) -> tuple[int, bool, bool, float]:
        begun = max(row.worker.start or 0.0 for row in run.rows)
        return -run.slowness, run.slow is None, "stalled" not in dict(run.states), -begun

    return sorted((_run(run, now, judged) for run in active), key=rank)


def labels_of(worker: Worker, measured: Measured, alone: bool) -> tuple[str, str]:
    """Name and operation of a row without the parts that all rows share, but never empty."""
    jobs = {one.job for one in (*worker.now, *worker.result)}
    parts = [worker.name] if not alone or not measured.job else []
    if measured.job and (len(jobs) > 1 or not parts):
        parts.append(measured.job)
    return " ".join(parts), measured.op


def _run(run: Run, now: float, judged: Judged) -> ActiveRun:
    workers = sorted(run.workers, key=lambda worker: natural(worker.name))
    rows = [row for worker in workers for row in _rows(worker, now, len(workers) == 1, judged.usual)]
    of_tools: dict[str, list[Row]] = {worker.tool: [] for worker in sorted(workers, key=lambda worker: worker.tool)}
    for row in rows:
        of_tools[row.worker.tool].append(row)
    totals = [whole for one in of_tools.values() if (whole := _total(one, len(of_tools) == 1))]
    slow = judged.slow.get(run.name)
    facts = tuple(_facts(run, rows, now, slow))
    charted = totals or rows
    if slow and slow.latency is not None and len(charted) == 1:  # the same usual latency as in the sentence
        charted[0] = charted[0]._replace(usual=Measured(rate=charted[0].usual.rate, latency=slow.latency))
    counts = Counter(worker.state for worker in workers)
    states = sorted(counts.items(), key=lambda one: severity(one[0]))
    return ActiveRun(run.name, facts, tuple(states), tuple(totals), tuple(rows), slow)


def _rows(worker: Worker, now: float, alone: bool, usual: Mapping[tuple[str, ...], float]) -> Iterable[Row]:
    """A row for each measured operation; one row for a worker without any."""
    age = None if worker.last_report is None else max(0.0, now - worker.last_report)
    for number, one in enumerate(worker.now or (Measured(),)):
        name, op = labels_of(worker, one, alone)
        p99 = one.quantiles.get("0.99")
        apart = figures.apart(one.time, worker.report_interval, one.latency, p99, one.quantiles_time)
        where = (worker.run, worker.name, one.job, one.op)
        as_usual = Measured(rate=usual.get(usual_key(RATE, *where)), latency=usual.get(usual_key(LATENCY, *where)))
        notes = tuple(_notes(worker, one, first=not number))
        yield Row(worker, one, name or worker.name, op, age, apart, notes, as_usual)


def _total(rows: Sequence[Row], alone: bool) -> Row | None:
    """The total of the workers of one tool; None if there is nothing to add up."""
    first = rows[0].worker
    kinds = {(row.worker.unit, row.worker.in_bytes) for row in rows}
    measured = [row for row in rows if row.worker.now and not row.worker.observer]
    counted = [row for row in measured if row.op not in row.worker.apart]
    if len(counted) < 2 or first.whole_server or len(kinds) > 1:
        return None
    together = total([row.measured for row in counted])
    usual = [row.usual for row in counted]
    lags = [(abs((row.measured.time or 0.0) - (row.measured.quantiles_time or 0.0)), row.apart) for row in rows]
    _, apart = max((lag for lag in lags if lag[1]), default=(0.0, ""))
    objectives = {row.worker.objective for row in rows}
    objective = first.objective if len(objectives) == 1 else None
    return Row(
        Worker(first.run, "", first.tool, "", unit=first.unit, objective=objective),
        together,
        "all" if alone else f"all {first.tool}",
        apart=apart,
        notes=tuple(_bandwidth(together, first)),
        usual=total(usual) if all(one.rate is not None for one in usual) else Measured(),
    )


def _facts(run: Run, rows: Sequence[Row], now: float, slow: Slow | None) -> Iterable[Note]:
    """What a run is, its progress, and its objective."""
    workers = run.workers
    if slow and slow.busy is not None:
        yield Note(f"processors of {slow.host} {slow.busy:.0%} busy")
    if run.start is not None:
        yield Note(figures.duration(max(0.0, now - run.start)))
        if run.planned_end is not None and run.planned_end >= now:
            yield Note(f"{figures.duration(run.planned_end - now)} left")
        if warming_up := figures.warming_up(max(worker.warmup for worker in workers), run.start, now):
            yield Note(warming_up)
    # The version without the tool's name and the packager's additions.
    versions = {(one.tool, one.tool_version.removeprefix(f"{one.tool}-").split(" ")[0]) for one in workers}
    yield Note(", ".join(sorted(" ".join(filter(None, version)) for version in versions)))
    if len(workers) == 1 and any(one.job for one in workers[0].now):  # its rows have the names of jobs
        yield Note(workers[0].name)
    in_sentence = slow and slow.end is None and slow.text and any(one.objective for one in workers)
    if not in_sentence:
        yield from _objective(workers, rows)


def _objective(workers: Sequence[Worker], rows: Sequence[Row]) -> Iterable[Note]:
    """The objective that all workers share, and whether the highest mean latency meets it."""
    objectives = {worker.objective for worker in workers}
    if len(objectives) > 1:
        return
    (objective,) = objectives
    if objective is None:
        yield Note("no objective")
        return
    said = f"mean objective {figures.latency(objective)}"
    highest = max((row.measured.latency for row in rows if row.measured.latency is not None), default=None)
    if highest is None:
        yield Note(said)
    elif highest > objective:
        yield Note(f"{said}: missed at {figures.latency(highest)}", bad=True)
    else:
        yield Note(f"{said}: met")


def _notes(worker: Worker, measured: Measured, first: bool) -> Iterable[Note]:
    """Remarks; those about the worker as a whole are attached to its first row."""
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
