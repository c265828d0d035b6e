"""One side of a comparison: a run, or the repeats of an experiment.

Runs that failed or have not ended cannot be compared; neither can runs of different tools.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from ..history.find import find_runs, one_thing
from ..history.replayed_run import timelines
from ..history.timeline import Timeline
from ..metrics.latencies import Group
from ..metrics.samples import Family
from ..settings.settings import RunsSettings
from ..tools.registry import names
from ..values.errors import FAILED, UserError
from ..values.names import label, natural
from .measures import compared
from .result import Result, results_of


class CannotCompare(UserError):
    """These runs cannot be compared; the message says which and why."""

    def __init__(self, message: str) -> None:
        super().__init__(message, FAILED)


class Experiment(NamedTuple):
    """One side of a comparison."""

    name: str
    runs: Sequence[Result]

    @property
    def faults(self) -> list[str]:
        """A sentence for each worker whose figures do not cover a whole run."""
        return faults_of(one for run in self.runs for one in run.workers)


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
    families: Collection[Family] = (),
) -> Side:
    """The runs of one side; `path` is what the user calls them, and each run is in some files, or in a folder.

    `warmup`, seconds, overrides the records. With `force`, runs that failed or have not ended are included. The runs
    have series of these `families` besides those that a comparison needs. Raises CannotCompare.
    """
    name = label(Path(path).name)
    parts: dict[str, list[Result]] = {}
    for files in runs:
        for one in _results(files, settings, warmup, {*compared(), *families}, force=force):
            swept = one.point
            point = swept.values.items() if swept and label(swept.of) == name else ()
            words = [
                *(f"{parameter}={value}" for parameter, value in point),
                one.name.removeprefix(one.run).removeprefix("/"),
            ]
            parts.setdefault(" ".join(filter(None, words)), []).append(one)
    tools = sorted({one.tool for members in parts.values() for one in members})
    if len(tools) > 1:
        raise CannotCompare(f"{path}: output of {' and '.join(tools)}; expected one tool, compare files instead")
    return {
        part: Experiment(f"{name}/{part}".rstrip("/") if len(runs) > 1 else members[0].name, members)
        for part, members in sorted(parts.items(), key=lambda item: natural(item[0]))
    }


def _results(
    files: Sequence[Path], settings: RunsSettings, warmup: float | None, families: Collection[Family], *, force: bool
) -> list[Result]:
    """The results of one run."""
    path = files[0]
    found = [run for run in find_runs(files, settings) if run.plans]
    if not found:
        raise CannotCompare(f"{path}: nothing recognised; expected output of {names()}")
    if len(found) > 1:
        some = ", ".join(run.name for run in found[:3])
        raise CannotCompare(f"{path}: {len(found)} runs ({some} ...); expected one, or the name of an experiment")
    every = list(results_of(timelines(found, families=families, latencies=True), warmup))
    measured = [one for one in every if one.measured]
    faults = faults_of(worker for one in every for worker in one.workers)
    if not measured:
        most = max(one.warmup for one in every)
        after = f" after the warm-up of {most:g} s" if most else ""
        why = f" ({'; '.join(faults)})" if faults else ""
        raise CannotCompare(f"{path}: nothing was measured{after}{why}; expected reports or a final report")
    if faults and not force:
        raise CannotCompare(f"{faults[0]}; expected a run that finished (--force compares it anyway)")
    return measured


def faults_of(workers: Iterable[Timeline]) -> list[str]:
    """A sentence for each worker whose figures do not cover a whole run."""
    return [_fault(worker) for worker in workers if worker.state != "finished"]


def _fault(worker: Timeline) -> str:
    who = worker.run if worker.name == worker.run else f"{worker.run}, worker {worker.name}"
    ends = {"failed": "failed", "interrupted": "was interrupted", "abandoned": "has no end"}
    reason = f": {worker.reason}" if worker.reason and worker.state in ends else ""
    return f"{who}: the run {ends.get(worker.state, 'is still active')}{reason}"


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


def distinctly_named(experiments: Sequence[Experiment], paths: Sequence[Path]) -> list[Experiment]:
    """The experiments. If two have the same name, all are named by their paths."""
    if len({each.name for each in experiments}) == len(experiments):
        return list(experiments)
    found = []
    for each, path in zip(experiments, paths, strict=True):
        runs = [replace(run, name=str(Path(label(path.parent)) / run.name)) for run in each.runs]
        found.append(Experiment(label(path / each.name.partition("/")[2]), runs))
    return found


def same_jobs(experiments: Sequence[Experiment]) -> list[Experiment]:
    """The experiments. If every run has a single job, their groups omit its name, which may differ."""
    runs = [run for each in experiments for run in each.runs]
    if any(len({group[:-1] for group, _ in run.figures if group[:-1]}) != 1 for run in runs):
        return list(experiments)
    return [Experiment(each.name, [_without_job(run) for run in each.runs]) for each in experiments]


def _without_job(run: Result) -> Result:
    return replace(
        run,
        figures={(_plain(group), one): figure for (group, one), figure in run.figures.items()},
        whole={(_plain(group), one): value for (group, one), value in run.whole.items()},
        courses={_plain(group): course for group, course in run.courses.items()},
        fixed_rate=frozenset(map(_plain, run.fixed_rate)),
        watched=tuple((_plain(group), one) for group, one in run.watched),
    )


def _plain(group: Group) -> Group:
    return (*("" for _ in group[:-1]), *group[-1:])
