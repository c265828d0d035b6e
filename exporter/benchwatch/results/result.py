"""The result of one run: its state, its figures, and what speaks against them.

A run whose workers are of several tools (or units) has a result for each. Figures are those of `benchwatch compare`:
the whole run by the tool's own final report or, with a warm-up, the time after it; of a run that goes on or has no end,
what there is. What was not measured is absent.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..compare.changes import is_unsteady, shift_of
from ..compare.experiment import Experiment, faults_of
from ..compare.findings import Finding, about, stalled
from ..compare.measured import MeasuredRun, end_of, is_sum, measure, place_of
from ..compare.measures import THROUGHPUT, Measure, compared, rank, roles_for, rounded
from ..compare.statistics import FEWEST_BATCHES
from ..history.find import find_runs, find_worker, nothing_recognised, one_thing
from ..history.timeline import Timeline, timelines
from ..metrics.buckets import Buckets
from ..metrics.latencies import Group
from ..runs.run import Run
from ..settings.settings import RunsSettings
from ..values.names import label

_BUCKETS = Buckets(1)
"""Histograms of the page are of no use here: percentiles come from all bins."""
WORST_FIRST = ("failed", "stalled", "abandoned", "interrupted", "running")


class ObjectiveKept(NamedTuple):
    """How a run's latency (the mean, where its tool tells one) compares with its objective."""

    seconds: float
    """The objective."""
    group: Group
    """The one whose latency is the highest."""
    measure: Measure
    value: float
    above: int
    """Reports of that group whose latency is above the objective,"""
    reports: int
    """of how many."""

    @property
    def met(self) -> bool:
        """Whether the latency of the run is within the objective."""
        return rounded(self.value) <= self.seconds


class RunResult(NamedTuple):
    """What one run came to; of its workers those of one tool."""

    run: MeasuredRun
    state: str
    reason: str
    start: float | None
    """Unix seconds."""
    end: float | None
    """None while it has not ended."""
    labels: Mapping[str, str]
    findings: Sequence[Finding]

    @property
    def measured(self) -> bool:
        """Whether there is any figure."""
        return any(one is THROUGHPUT for _, one in self.run.figures)

    @property
    def version(self) -> str:
        """Of its tool, as the tool prints it; empty if it does not."""
        return self.run.parameters.get("tool_version", "").removeprefix(f"{self.run.tool}-")

    @property
    def seconds(self) -> float | None:
        """Length; that of an active run reaches to its last report."""
        last = self.run.last_report
        if self.run.seconds is not None or self.start is None or last is None or last < self.start:
            return self.run.seconds
        return last - self.start

    @property
    def groups(self) -> list[Group]:
        """Those with figures of their own, in the order of the tool; the one of the whole run is ()."""
        return list(dict.fromkeys(group for group, one in self.run.figures if not one.of_all))

    def measures(self, group: Group) -> list[Measure]:
        """What is known of a group, in order."""
        return sorted((one for of, one in self.run.figures if of == group), key=rank)

    @property
    def stalled(self) -> float | None:
        """Seconds in which nothing completed, or for which nothing was reported; None without reports."""
        found = [stalled(self.run, group) for group, _ in self.run.main()]
        known = [seconds for seconds in found if seconds is not None]
        return max(known) if known else None

    @property
    def steady(self) -> bool | None:
        """Whether the main measures stayed the same; None if there are too few reports to tell."""
        keys = list(self.run.main())
        courses = [self.run.courses.get(group) for group, _ in keys]
        if not keys or any(course is None or len(course.ends) < FEWEST_BATCHES for course in courses):
            return None
        return not any(is_unsteady(shift_of(self.run, group, one)) for group, one in keys)

    @property
    def operations(self) -> float | None:
        """How many of the workload were done, by the final report; None if it does not say."""
        family, apart = self.run.roles.result_operations, self.run.roles.apart
        each = [final[family.name] for final in self.run.finals if family and family.name in final]
        found = [value for one in each for group, value in one.items() if apart.isdisjoint(group[-1:])]
        return math.fsum(found) if each and len(each) == len(self.run.finals) else None

    @property
    def lost(self) -> dict[str, tuple[float, float]]:
        """By a word (failed, skipped ...): how many were not done as they should, and of how many (0: of none)."""
        each = {word: [lost.told(final) for final in self.run.finals] for word, lost in self.run.roles.lost.items()}
        known = {word: [one for one in told if one] for word, told in each.items() if told and all(told)}
        return {
            word: (math.fsum(one for one, _ in told), math.fsum(of for _, of in told)) for word, told in known.items()
        }

    @property
    def objective(self) -> ObjectiveKept | None:
        """How it kept its latency objective; None without one, or without a latency."""
        objectives = [one.runfile.latency_objective for one in self.run.timelines]
        seconds = min((one for one in objectives if one is not None), default=None)
        if seconds is None:
            return None
        kept = [self._kept(group, seconds) for group in self.groups if not is_sum(group)]
        return max((one for one in kept if one is not None), key=lambda one: one.value, default=None)

    def _kept(self, group: Group, seconds: float) -> ObjectiveKept | None:
        one = self.run.latency_of(group)
        if (group, one) not in self.run.figures:
            return None
        course = self.run.courses.get(group)
        above = reports = 0
        if course is not None and "latency" in course.totals:
            timed = course.totals["timed"]
            reports = int((timed > 0).sum())
            above = int((course.totals["latency"] > seconds * timed).sum())
        return ObjectiveKept(seconds, group, one, self.run.figures[group, one].value, above, reports)


class Subject(NamedTuple):
    """What one name stands for: a run, the repeats of an experiment, or the runs of a sweep."""

    name: str
    results: Sequence[RunResult]
    repeated: bool
    swept: bool = False
    without: Sequence[str] = ()
    """Runs of a series in which nothing is recognised."""


def read(paths: Iterable[Path], settings: RunsSettings, warmup: float | None = None) -> list[Subject]:
    """The results of the runs in files and folders, and of experiments by their name.

    `warmup`, seconds, overrides what the records say. Raises UserError for a path that does not exist, or that holds
    nothing which a tool has written.
    """
    found: list[tuple[Path, Subject]] = []
    for path in paths:
        runs = one_thing(path, settings)
        each = [(run, list(_results(run, warmup))) for run in find_runs(runs, settings, _BUCKETS)]
        without = [run.name for run, results in each if not results]
        each = [(run, results) for run, results in each if results]
        if not each:
            raise nothing_recognised([path])
        if runs != [path]:
            results = [one for _, several in each for one in several]
            swept = any((place := place_of(one.run)) is not None and place.of == path.name for one in results)
            found.append((path, Subject(label(path.name), results, not swept, swept, without)))
        else:
            found += [(path, Subject(run.name, results, False)) for run, results in each]
    taken = Counter(subject.name for _, subject in found)
    return [one if taken[one.name] == 1 else _with_its_path(one, path) for path, one in found]


def _with_its_path(subject: Subject, path: Path) -> Subject:
    """Named by its path, since another one has the same name."""
    folder = path if path.name != subject.name else path.parent
    each = [one._replace(run=one.run._replace(name=f"{label(folder)}/{one.run.name}")) for one in subject.results]
    return subject._replace(name=f"{label(folder)}/{subject.name}", results=each)


def read_worker(folder: Path, worker: str, settings: RunsSettings) -> list[RunResult]:
    """The result of one worker of the run in that folder; nothing if its output is not recognised."""
    return list(_results(find_worker(folder, worker, settings, _BUCKETS), None))


def _results(run: Run, warmup: float | None) -> Iterator[RunResult]:
    return results_of(timelines([run], _BUCKETS, families=compared(), latencies=True), warmup)


def results_of(own: Iterable[Timeline], warmup: float | None) -> Iterator[RunResult]:
    """The results of one run, whose workers are given, with their latencies: one for each tool and unit.

    `warmup`, seconds, overrides what the records say.
    """
    workers: dict[object, list[Timeline]] = {}
    for timeline in own:
        roles = roles_for(timeline)
        # Who only sees what another one counts belongs to that one.
        key = timeline.tool if roles.observer else (timeline.tool, roles.unit)
        workers.setdefault(key, []).append(timeline)
    for key in [key for key in workers if isinstance(key, str)]:
        other = next((one for one in workers if isinstance(one, tuple) and one[0] == key), None)
        if other is not None:
            workers[other] += workers.pop(key)
    for members in workers.values():
        yield _result(members, warmup)


def _result(workers: Sequence[Timeline], warmup: float | None) -> RunResult:
    left_out = float(max(worker.runfile.warmup for worker in workers) if warmup is None else warmup)
    run = measure(workers, left_out)
    worst = min(workers, key=lambda worker: (*WORST_FIRST, worker.phase).index(worker.phase))
    starts = [worker.start for worker in workers if worker.start is not None]
    return RunResult(
        run,
        worst.phase,
        worst.reason,
        min(starts, default=None),
        end_of(workers),
        {name: value for worker in workers for name, value in worker.runfile.labels.items()},
        about(Experiment(run.name, [run], faults_of(workers))),
    )
