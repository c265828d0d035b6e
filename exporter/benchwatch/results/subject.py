"""The results of one run: state, figures, and warnings about them.

A run has a result for each tool and unit, and for workers that followed each other (see
`compare.concurrent`). Figures are those of `benchwatch compare`: the whole run by the tool's own
final report or, with a warm-up, the time after it. An active run, or one without an end, has the
figures of its reports. What was not measured is absent.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ..compare.experiment import Experiment
from ..compare.findings import Finding, findings
from ..compare.measures import Measure, compared, rounded
from ..compare.result import Result, is_sum, results_of
from ..compare.statistics import FEWEST_BATCHES
from ..compare.steadiness import stalled, unsteady
from ..history.find import find_runs, find_worker, nothing_recognised, one_thing
from ..history.replayed_run import timelines
from ..metrics.latencies import Group
from ..runs.observed_run import ObservedRun
from ..settings.settings import RunsSettings
from ..values.forked import counted
from ..values.input_files import shown
from ..values.names import label


class ObjectiveKept(NamedTuple):
    """A run's latency (the mean, if its tool reports one) and its objective."""

    seconds: float
    """The objective."""
    group: Group
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


def longest_stall(result: Result) -> float | None:
    """Seconds in which nothing completed, or for which nothing was reported; None without reports."""
    found = [stalled(result, group) for group, _ in result.watched]
    known = [seconds for seconds in found if seconds is not None]
    return max(known) if known else None


def kept_level(result: Result) -> bool | None:
    """Whether the main measures kept their level; None with too few reports."""
    courses = [result.courses.get(group) for group, _ in result.watched]
    if not courses or any(course is None or len(course.ends) < FEWEST_BATCHES for course in courses):
        return None
    return not any(unsteady(result, group, one) for group, one in result.watched)


def findings_of(result: Result) -> list[Finding]:
    """The warnings about it."""
    return findings([Experiment(result.name, [result])])


def objective_of(result: Result) -> ObjectiveKept | None:
    """Its latency against its objective, in the group with the highest; None if one of them is missing."""
    found = []
    objective = result.objective
    if objective is None:
        return None
    for group in result.groups:
        measure = result.latencies[group]
        if is_sum(group) or (group, measure) not in result.figures:
            continue
        above = reports = 0
        course = result.courses.get(group)
        if course is not None and "latency" in course.totals:
            timed = course.totals["timed"]
            reports = int((timed > 0).sum())
            above = int((course.totals["latency"] > objective * timed).sum())
        value = result.figures[group, measure].value
        found.append(ObjectiveKept(objective, group, measure, value, above, reports))
    return max(found, key=lambda one: one.value, default=None)


class Subject(NamedTuple):
    """What a name given by the user stands for: a run, the repeats of an experiment, or the runs of a sweep."""

    name: str
    results: Sequence[Result]
    repeated: bool
    swept: bool = False
    without: Sequence[str] = ()
    """Runs of a series in which nothing is recognised."""


def read(
    paths: Iterable[Path],
    settings: RunsSettings,
    warmup: float | None = None,
    unreadable: list[str] | None = None,
) -> list[Subject]:
    """The results of the runs in files and folders, and of experiments by name; of a path that is given twice, once.

    `warmup`, seconds, overrides the records. Raises UserError for a path that does not exist, or that contains no
    output of a tool, and for a folder in it that cannot be read, unless `unreadable` takes its sentence.
    """
    found: list[tuple[Path, Subject]] = []
    asked = [(path, one_thing(path, settings)) for path in {path.resolve(): path for path in paths}.values()]
    opened = [find_runs(runs, settings, unreadable=unreadable) for _, runs in asked]
    every = [run for several in opened for run in several]
    measured = iter([*counted((of_run(run, warmup) for run in every), len(every), "runs read")])
    for (path, runs), several in zip(asked, opened, strict=True):
        each = [(run, next(measured)) for run in several]
        without = [run.name for run, results in each if not results]
        each = [(run, results) for run, results in each if results]
        if not each:
            raise nothing_recognised([path])
        if runs != [path]:
            results = [one for _, several in each for one in several]
            swept = any(one.point is not None and one.point.of == path.name for one in results)
            found.append((path, Subject(label(path.name), results, not swept, swept, without)))
        else:
            found += [(path, Subject(run.name, results, False)) for run, results in each]
    taken = Counter(subject.name for _, subject in found)
    return [one if taken[one.name] == 1 else _with_its_path(one, path) for path, one in found]


def _with_its_path(subject: Subject, path: Path) -> Subject:
    """The subject, named by its path, because another one has the same name."""
    is_its_own = path.is_file() or path.name == subject.name
    name = label(shown(path if is_its_own else path / subject.name))
    each = [replace(one, name=f"{name}{one.name.removeprefix(subject.name)}") for one in subject.results]
    return subject._replace(name=name, results=each)


def read_worker(folder: Path, worker: str, settings: RunsSettings, *, logs: bool = True) -> list[Result]:
    """The result of one worker of the run in that folder; empty if its output is not recognised.

    Without `logs`, it lacks what only they have, such as percentiles, and takes no longer for a long run.
    """
    return of_run(find_worker(folder, worker, settings, logs=logs))


def of_run(run: ObservedRun, warmup: float | None = None, *, course: bool = True) -> list[Result]:
    """The results of a run that has not been read yet; `warmup`, seconds, overrides the records.

    Unless `course`, reports are left out if the final report says all: figures have no intervals, and nothing says
    whether the run was steady. That takes a third of the time.
    """
    brief = not course and not warmup
    found = list(results_of(timelines([run], families=compared(), latencies=True, results=brief), warmup))
    if brief and any(one.state == "finished" and not one.measured for one in found):
        return of_run(run, warmup)  # only the reports say what it measured
    return found
