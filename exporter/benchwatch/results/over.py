"""`--over NAME`: runs that exist already, as the points of a sweep over one or two of their parameters.

A value comes from --from-path, otherwise from the output and the records, otherwise from the path: a name and a number
(clients16, iodepth=4, bs-64k), or the layouts of fio-plot: a folder named as a block size, `<rw>-<iodepth>-<numjobs>`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from msgspec.structs import replace

from ..compare import concurrent
from ..history.timeline import Timeline
from ..settings.record import MOST_PARAMETERS, SweepPoint
from ..values.errors import FAILED, UserError
from ..values.suggestion import did_you_mean

_NAMES = ("clients", "threads", "jobs", "iodepth", "numjobs", "scale", "bs", "vus", "warehouses", "parallel")
_PAIR = re.compile(rf"(?<![a-z])({'|'.join(_NAMES)})[=_-]?(\d+[km]?)(?![a-z0-9])", re.IGNORECASE)
_BLOCK = re.compile(r"\d+[kKmM]")
_FIO_PLOT = re.compile(r"((?:rand)?(?:read|write|rw))-(\d+)-(\d+)")
_FIELD = re.compile(r"\\{([A-Za-z_]\w*)\\}")


def template(text: str) -> re.Pattern[str]:
    """The pattern of --from-path, such as {bs}/{rw}-{iodepth}; it fits the end of a path without suffixes.

    Raises ValueError unless it has fields, each once.
    """
    inner = _FIELD.sub(lambda found: f"(?P<{found[1]}>[^/]+?)", re.escape(text))
    try:
        found = re.compile(rf"(?:^|.*/){inner}(?:\.[^/\d][^/]*)?")
    except re.error as error:
        raise ValueError(f"expected each field once, got {text!r}") from error
    if not found.groupindex:
        raise ValueError(f"expected fields such as {{bs}}/{{rw}}-{{iodepth}}, got {text!r}")
    return found


def from_path(path: Path) -> Mapping[str, str]:
    """The pairs that are recognised in a path; what is nearer to its end counts."""
    found: dict[str, str] = {}
    for part in (*path.parts[:-1], path.name.partition(".")[0]):
        if _BLOCK.fullmatch(part):
            found["bs"] = part
        if layout := _FIO_PLOT.fullmatch(part):
            found |= zip(("rw", "iodepth", "numjobs"), layout.groups(), strict=True)
        found |= {name.lower(): value for name, value in _PAIR.findall(part)}
    return found


def points(
    timelines: Iterable[Timeline],
    paths: Mapping[tuple[str, str], Path],
    names: Sequence[str],
    pattern: re.Pattern[str] | None,
    left_out: list[str],
) -> Iterator[Timeline]:
    """The workers, each result of theirs a run of its own: a point over these parameters, of a sweep of their names.

    `paths` are the files by run and worker. The names of results without such parameters are added to `left_out`.
    Raises UserError if there are too many names, or no points.
    """
    if len(names) > MOST_PARAMETERS or len(set(names)) < len(names):
        raise UserError(f"--over: expected one or two different parameters, got {', '.join(names)}")
    known: set[str] = set()
    any_found = False
    for _, members in groupby(timelines, key=lambda timeline: timeline.run):
        results = concurrent.results(members)
        several = len(dict(results)) < len(results)  # of different tools
        for name, workers in results:
            name = f"{name}/{workers[0].name}" if several else name
            values = _values(workers[0], paths[workers[0].run, workers[0].name], pattern)
            known |= values.keys()
            if not values.keys() >= set(names):
                left_out.append(name)
                continue
            any_found = True
            at = SweepPoint(of=sweep_name(names), point={one: values[one] for one in names})
            yield from (replace(one, run=name, runfile=replace(one.runfile, sweep=at)) for one in workers)
    if not any_found:
        words = sorted(known)
        meant = next((end for one in names if one not in known and (end := did_you_mean(one, words))), "")
        end = meant or f"; expected one or two of {', '.join(words)}"
        raise UserError(f"--over {' '.join(names)}: no run has such parameters{end}", FAILED)


def sweep_name(names: Sequence[str]) -> str:
    """What the sweep is called."""
    return f"over {' and '.join(names)}"


def _values(worker: Timeline, path: Path, pattern: re.Pattern[str] | None) -> Mapping[str, str]:
    fits = pattern.fullmatch(path.as_posix()) if pattern else None
    return {**from_path(path), **worker.parameters, **(fits.groupdict() if fits else {})}
