"""One side of a comparison: a run, or the repeats of an experiment.

Runs that failed or have not ended cannot be compared; neither can runs of different tools.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..history.find import find_runs, one_thing
from ..history.replayed_run import timelines
from ..history.timeline import Timeline
from ..metrics.buckets import Buckets
from ..metrics.latencies import Group
from ..metrics.samples import Family
from ..settings.settings import RunsSettings
from ..tools.registry import names
from ..values.errors import FAILED, UserError
from ..values.names import label, natural
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
"""What one name stands for, by part: usually one experiment, whose part has no name. Workers that followed each other
are parts by their names, and so are the points of a sweep by what they vary (`clients=4`)."""


def load(path: Path, settings: RunsSettings, warmup: float | None, force: bool) -> Side:
    """What a path names: see side. Raises CannotCompare; ConfigError for a path that does not exist."""
    return side(str(path), [[one] for one in one_thing(path, settings)], settings, warmup, force=force)


def side(
    path: str,
    runs: Sequence[Sequence[Path]],
    settings: RunsSettings,
    warmup: float | None = None,
    *,
    force: bool,
    families: Collection[Family] | None = None,
) -> Side:
    """The runs of one side; `path` is what the user calls them, and each run is in some files, or in a folder.

    `warmup`, seconds, overrides the records; if a run's records disagree, the longest applies. With `force`, runs that
    failed or have not ended are included. `families` have their series (default: those that a comparison needs).
    Raises CannotCompare.
    """
    forced: list[str] = []
    name = label(Path(path).name)
    parts: dict[str, list[Result]] = {}
    for one in runs:
        for part, found in _run(one, settings, warmup, forced, compared() if families is None else families).items():
            parts.setdefault(" ".join(filter(None, (_point(found, name), part))), []).append(found)
    if forced and not force:
        raise CannotCompare(f"{forced[0]}; expected a run that finished (--force compares it anyway)")
    tools = sorted({run.tool for members in parts.values() for run in members})
    if len(tools) > 1:
        raise CannotCompare(f"{path}: runs of {' and '.join(tools)}; expected runs of one tool")
    return {
        part: Experiment(
            f"{name}{f'/{part}' if part else ''}" if len(runs) > 1 else members[0].name,
            members,
            faults_of(worker for run in members for worker in run.timelines),
        )
        for part, members in sorted(parts.items(), key=lambda item: natural(item[0]))
    }


def _point(run: Result, sweep: str) -> str:
    """The values of what that sweep varies; empty for a run that is no point of it."""
    swept = run.timelines[0].runfile.sweep
    if swept is None or label(swept.of) != sweep:
        return ""
    return " ".join(f"{name}={value}" for name, value in swept.values.items())


def pairs(sides: Sequence[Side]) -> tuple[list[list[Experiment]], list[str]]:
    """What is compared: one experiment of each side, by the names of their workers if a side has several.

    Also the names of those that not every side has. Raises CannotCompare if nothing is left.
    """
    if all(len(side) == 1 for side in sides):
        return [[one for side in sides for one in side.values()]], []
    common = [part for part in sides[0] if all(part in side for side in sides)]
    if not common:
        each = "; ".join(", ".join(one.name for one in side.values()) for side in sides)
        text = "nothing to compare: no worker or point of one side has the name of one of the other"
        raise CannotCompare(f"{text} ({each}); compare their files instead")
    left = [one.name for side in sides for part, one in side.items() if part not in common]
    return [[side[part] for side in sides] for part in common], left


def _run(
    files: Sequence[Path],
    settings: RunsSettings,
    warmup: float | None,
    forced: list[str],
    families: Collection[Family],
) -> dict[str, Result]:
    """The results of one run by part (see `concurrent`)."""
    path = files[0]
    found = [run for run in find_runs(files, settings, _BUCKETS) if run.plans]
    if not found:
        raise CannotCompare(f"{path}: nothing recognised; expected output of {names()}")
    if len(found) > 1:
        some = ", ".join(run.name for run in found[:3])
        raise CannotCompare(f"{path}: {len(found)} runs ({some} ...); expected one, or the name of an experiment")
    workers = list(timelines(found, _BUCKETS, families=families, latencies=True))
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
    return [_fault(timeline) for timeline in timelines if timeline.state != "finished"]


def _fault(timeline: Timeline) -> str:
    who = timeline.run if timeline.name == timeline.run else f"{timeline.run}, worker {timeline.name}"
    reason = f": {timeline.reason}" if timeline.reason else ""
    ends = {"failed": "failed", "interrupted": "was interrupted", "abandoned": "has no end"}
    if timeline.state in ends:
        return f"{who}: the run {ends[timeline.state]}{reason}"
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
