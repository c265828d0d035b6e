"""The results of one run: state, figures, and warnings about them.

A run has a result for each tool and unit, and for workers that followed each other (see
`compare.concurrent`). Figures are those of `benchwatch compare`: the whole run by the tool's own
final report or, with a warm-up, the time after it. An active run, or one without an end, has the
figures of its reports. What was not measured is absent.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..compare import concurrent
from ..compare.experiment import Experiment, faults_of
from ..compare.findings import Finding, findings
from ..compare.measured import MeasuredRun, end_of, is_sum, measure, place_of
from ..compare.measures import LATENCY_MEAN, LATENCY_P99, THROUGHPUT, Measure, compared, rounded
from ..compare.statistics import FEWEST_BATCHES
from ..compare.steadiness import is_steady, stalled
from ..history.find import find_runs, find_worker, nothing_recognised, one_thing
from ..history.replayed_run import timelines
from ..history.timeline import Timeline
from ..metrics.buckets import Buckets
from ..metrics.latencies import Group
from ..metrics.samples import Sample
from ..runs.observed_run import ObservedRun
from ..settings.settings import RunsSettings
from ..values.names import label

_BUCKETS = Buckets(1)
"""The page's histograms are not used here: percentiles come from all bins."""
WORST_FIRST = ("failed", "stalled", "abandoned", "interrupted", "running")


class ObjectiveKept(NamedTuple):
    """A run's latency (the mean, if its tool reports one) and its objective."""

    seconds: float
    """The objective."""
    group: Group
    """The group with the highest latency."""
    measure: Measure
    value: float
    above: int
    """Reports of that group with a latency above the objective."""
    reports: int
    """All reports of that group with a latency."""

    @property
    def met(self) -> bool:
        """Whether the latency of the run is within the objective."""
        return rounded(self.value) <= self.seconds


class RunResult(NamedTuple):
    """The result of the workers of one tool in a run."""

    run: MeasuredRun
    state: str
    reason: str
    start: float | None
    """Unix seconds."""
    end: float | None
    """None while it is active."""
    labels: Mapping[str, str]
    findings: Sequence[Finding]
    workers: Sequence[Timeline]

    @property
    def measured(self) -> bool:
        """Whether there is any figure."""
        return any(one is THROUGHPUT for _, one in self.run.figures)

    @property
    def version(self) -> str:
        """The tool's version as it prints it; empty if it prints none."""
        return self.run.parameters.get("tool_version", "").removeprefix(f"{self.run.tool}-")

    @property
    def seconds(self) -> float | None:
        """Length; that of an active run reaches to its last report."""
        last = self.run.last_report
        if self.run.seconds is not None or self.start is None or last is None or last < self.start:
            return self.run.seconds
        return last - self.start

    @property
    def main(self) -> tuple[float | None, float | None, float | None]:
        """Throughput, mean latency and p99 of everything together; None if one was not measured."""
        run = self.run
        each = [one.figures for one in run.timelines]
        if not run.left_out and self.state == "finished" and len(each) == 1:
            return each[0].throughput, each[0].latency, each[0].p99
        groups = [group for group, _ in run.watched()]
        if len(groups) != 1:
            return None, None, None
        found = (run.figures.get((groups[0], one)) for one in (THROUGHPUT, LATENCY_MEAN, LATENCY_P99))
        rate, mean, p99 = (None if one is None else one.value for one in found)
        return rate, mean, p99

    @property
    def groups(self) -> list[Group]:
        """Groups with figures of their own, in the tool's order; () stands for the whole run."""
        return list(dict.fromkeys(group for group, one in self.run.figures if not one.of_all))

    @property
    def stalled(self) -> float | None:
        """Seconds in which nothing completed, or for which nothing was reported; None without reports."""
        found = [stalled(self.run, group) for group, _ in self.run.watched()]
        known = [seconds for seconds in found if seconds is not None]
        return max(known) if known else None

    @property
    def steady(self) -> bool | None:
        """Whether the main measures kept their level; None with too few reports."""
        keys = list(self.run.watched())
        courses = [self.run.courses.get(group) for group, _ in keys]
        if not keys or any(course is None or len(course.ends) < FEWEST_BATCHES for course in courses):
            return None
        return all(is_steady(self.run, group, one) for group, one in keys)

    @property
    def further(self) -> list[str]:
        """Lines on what else the final reports have; empty before the last of them."""
        describe = self.run.roles.further
        if describe is None or not all(self.run.roles.result_rate.name in final for final in self.run.finals):
            return []
        whole = " (whole run)" if self.run.left_out else ""
        return [f"{line}{whole}" for line in describe(self.run.finals, self.run.parameters)]

    @property
    def operations(self) -> float | None:
        """How many operations of the workload completed, from the final report; None without one."""
        family, apart = self.run.roles.result_operations, self.run.roles.apart
        each = [final[family.name] for final in self.run.finals if family and family.name in final]
        found = [value for one in each for group, value in one.items() if apart.isdisjoint(group[-1:])]
        return math.fsum(found) if each and len(each) == len(self.run.finals) else None

    @property
    def lost(self) -> dict[str, tuple[float, float]]:
        """By word (failed, skipped ...): how many operations, and of how many (0 if they are no share of anything)."""
        found = {}
        for word, lost in self.run.roles.lost.items():
            known = [one for final in self.run.finals if (one := lost.told(final))]
            if known and len(known) == len(self.run.finals):
                found[word] = math.fsum(counted for counted, _ in known), math.fsum(of for _, of in known)
        return found

    @property
    def objective(self) -> ObjectiveKept | None:
        """Its latency against its objective; None if one of them is missing."""
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


def reported(timeline: Timeline) -> Iterator[Sample]:
    """Every number of a worker's final report."""
    prefix = f"{timeline.tool}_result_"
    return (one for one in timeline.final if one.family.name.startswith(prefix) and isinstance(one.value, int | float))


class Subject(NamedTuple):
    """What a name given by the user stands for: a run, the repeats of an experiment, or the runs of a sweep."""

    name: str
    results: Sequence[RunResult]
    repeated: bool
    swept: bool = False
    without: Sequence[str] = ()
    """Runs of a series in which nothing is recognised."""


def read(paths: Iterable[Path], settings: RunsSettings, warmup: float | None = None) -> list[Subject]:
    """The results of the runs in files and folders, and of experiments by name.

    `warmup`, seconds, overrides the records. Raises UserError for a path that does not exist, or that contains no
    output of a tool.
    """
    found: list[tuple[Path, Subject]] = []
    for path in paths:
        runs = one_thing(path, settings)
        each = [(run, list(of_run(run, warmup))) for run in find_runs(runs, settings, _BUCKETS)]
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
    """The subject, named by its path, because another one has the same name."""
    folder = path if path.name != subject.name else path.parent
    each = [one._replace(run=one.run._replace(name=f"{label(folder)}/{one.run.name}")) for one in subject.results]
    return subject._replace(name=f"{label(folder)}/{subject.name}", results=each)


def read_worker(folder: Path, worker: str, settings: RunsSettings, *, logs: bool = True) -> list[RunResult]:
    """The result of one worker of the run in that folder; empty if its output is not recognised.

    Without `logs`, it lacks what only they have, such as percentiles, and takes no longer for a long run.
    """
    return list(of_run(find_worker(folder, worker, settings, _BUCKETS, logs=logs)))


def of_run(run: ObservedRun, warmup: float | None = None) -> Iterator[RunResult]:
    """The results of a run that has not been read yet; `warmup`, seconds, overrides the records."""
    return results_of(timelines([run], _BUCKETS, families=compared(), latencies=True), warmup)


def results_of(own: Iterable[Timeline], warmup: float | None) -> Iterator[RunResult]:
    """The results of one run. `own` are its workers, with their latencies.

    `warmup`, seconds, overrides the records.
    """
    for one in concurrent.results(own):
        yield _result(one.workers, measure(one.workers, warmup, one.name))


def _result(workers: Sequence[Timeline], run: MeasuredRun) -> RunResult:
    worst = min(workers, key=lambda worker: (*WORST_FIRST, worker.phase).index(worker.phase))
    starts = [worker.start for worker in workers if worker.start is not None]
    return RunResult(
        run,
        worst.phase,
        worst.reason,
        min(starts, default=None),
        end_of(workers),
        {name: value for worker in workers for name, value in worker.runfile.labels.items()},
        findings([Experiment(run.name, [run], faults_of(workers))]),
        workers,
    )
