"""One side of a comparison: a run, or the repeats of an experiment.

Runs that failed or have not ended cannot be compared; neither can runs of different tools.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..history.find import find_runs, one_thing
from ..history.replayed_run import timelines
from ..history.timeline import Timeline
from ..metrics.buckets import Buckets
from ..metrics.latencies import Group
from ..settings.settings import RunsSettings
from ..tools.registry import names
from ..values.errors import FAILED, UserError
from ..values.names import label
from . import concurrent
from .measured import Result, measure
from .measures import THROUGHPUT, compared

_BUCKETS = Buckets(1)
"""The page's histograms are not used here: percentiles come from all bins."""


class CannotCompare(UserError):
    """These runs cannot be compared; the message says which and why."""

    def __init__(self, message: str) -> None:
        super().__init__(message, FAILED)


class Experiment(NamedTuple):
    """One side of a comparison."""

    name: str
    runs: Sequence[Result]
    forced: Sequence[str]
    """The faults of runs that were included with --force."""


Side = Mapping[str, Experiment]
"""What one path names: usually one experiment; workers that followed each other, by their names."""


def load(path: Path, settings: RunsSettings, warmup: float | None, force: bool) -> Side:
    """The run in a file or folder, or the runs of an experiment.

    `warmup`, seconds, overrides the records; if a run's records disagree, the longest applies. With `force`, runs that
    failed or have not ended are included. Raises CannotCompare; ConfigError for a path that does not exist.
    """
    forced: list[str] = []
    each = [_run(one, settings, warmup, forced) for one in one_thing(path, settings)]
    runs = [run for parts in each for run in parts.values()]
    if forced and not force:
        raise CannotCompare(f"{forced[0]}; expected a run that finished (--force compares it anyway)")
    first = [worker.runfile for worker in runs[0].timelines]
    if not path.exists() and any(one.sweep is not None and one.sweep.of == path.name for one in first):
        point = path.with_name(next((one.repeat_of for one in first if one.repeat_of), runs[0].name))
        raise CannotCompare(
            f"{path}: a sweep, which benchwatch show reads; expected runs or points of it, such as {point}"
        )
    tools = sorted({run.tool for run in runs})
    if len(tools) > 1:
        raise CannotCompare(f"{path}: runs of {' and '.join(tools)}; expected runs of one tool")
    found = {}
    for part in dict.fromkeys(part for parts in each for part in parts):
        own = [parts[part] for parts in each if part in parts]
        name = f"{label(path.name)}{f'/{part}' if part else ''}"
        faults = faults_of(worker for run in own for worker in run.timelines)
        found[part] = Experiment(name if len(each) > 1 else own[0].name, own, faults)
    return found


def pairs(sides: Sequence[Side]) -> tuple[list[list[Experiment]], list[str]]:
    """What is compared: one experiment of each side, by the names of their workers if a side has several.

    Also the names of those that not every side has. Raises CannotCompare if nothing is left.
    """
    if all(len(side) == 1 for side in sides):
        return [[one for side in sides for one in side.values()]], []
    common = [part for part in sides[0] if all(part in side for side in sides)]
    if not common:
        each = "; ".join(", ".join(one.name for one in side.values()) for side in sides)
        text = "nothing to compare: no worker of one run has the name of one of the other"
        raise CannotCompare(f"{text} ({each}); compare their files instead")
    left = [one.name for side in sides for part, one in side.items() if part not in common]
    return [[side[part] for side in sides] for part in common], left


def _run(path: Path, settings: RunsSettings, warmup: float | None, forced: list[str]) -> dict[str, Result]:
    """The results of one run by part (see `concurrent`)."""
    found = [run for run in find_runs([path], settings, _BUCKETS) if run.plans]
    if not found:
        raise CannotCompare(f"{path}: nothing recognised; expected output of {names()}")
    if len(found) > 1:
        some = ", ".join(run.name for run in found[:3])
        raise CannotCompare(f"{path}: {len(found)} runs ({some} ...); expected one, or the name of an experiment")
    workers = list(timelines(found, _BUCKETS, families=compared(), latencies=True))
    tools = sorted({worker.tool for worker in workers})
    if len(tools) > 1:
        raise CannotCompare(f"{path}: workers of {' and '.join(tools)}; expected one tool, compare their files instead")
    faults = faults_of(workers)
    forced += faults
    every = {
        part: measure(members, warmup, concurrent.name_of(part, members))
        for part, members in concurrent.results(workers)
    }
    measured = {part: run for part, run in every.items() if any(one is THROUGHPUT for _, one in run.figures)}
    if not measured:
        most = max(run.warmup for run in every.values())
        after = f" after the warm-up of {most:g} s" if most else ""
        why = f" ({'; '.join(faults)})" if faults else ""
        raise CannotCompare(f"{path}: nothing was measured{after}{why}; expected reports or a final report")
    return measured


def faults_of(timelines: Iterable[Timeline]) -> list[str]:
    """A sentence for each worker whose figures do not cover a whole run."""
    return [_fault(timeline) for timeline in timelines if timeline.phase != "finished"]


def _fault(timeline: Timeline) -> str:
    who = timeline.run if timeline.worker == timeline.run else f"{timeline.run}, worker {timeline.worker}"
    reason = f": {timeline.reason}" if timeline.reason else ""
    ends = {"failed": "failed", "interrupted": "was interrupted", "abandoned": "has no end"}
    if timeline.phase in ends:
        return f"{who}: the run {ends[timeline.phase]}{reason}"
    return f"{who}: the run is still active"


def same_jobs(experiments: Sequence[Experiment]) -> list[Experiment]:
    """The experiments. If every run has a single job, their groups omit its name, which may differ."""
    runs = [run for each in experiments for run in each.runs]
    if any(len({group[:-1] for group, _ in run.figures if group[:-1]}) != 1 for run in runs):
        return list(experiments)
    return [each._replace(runs=[_without_job(run) for run in each.runs]) for each in experiments]


def distinctly_named(experiments: Sequence[Experiment], paths: Sequence[Path]) -> list[Experiment]:
    """The experiments. If two have the same name, all are named by their paths."""
    if len({each.name for each in experiments}) == len(experiments):
        return list(experiments)
    found = []
    for each, path in zip(experiments, paths, strict=True):
        runs = [run._replace(name=str(Path(label(path.parent)) / run.name)) for run in each.runs]
        part = each.name.partition("/")[2]
        found.append(each._replace(name=label(path / part), runs=runs))
    return found


def _without_job(run: Result) -> Result:
    return run._replace(
        figures={(_plain(group), one): figure for (group, one), figure in run.figures.items()},
        whole={(_plain(group), one): value for (group, one), value in run.whole.items()},
        courses={_plain(group): course for group, course in run.courses.items()},
        fixed_rate=frozenset(map(_plain, run.fixed_rate)),
        doubtful=frozenset(map(_plain, run.doubtful)),
    )


def _plain(group: Group) -> Group:
    return (*("" for _ in group[:-1]), *group[-1:])
