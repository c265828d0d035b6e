"""The comparison of runs in the browser: what `benchwatch compare` prints, and the plots of all sides over each other.

    /compare?base=sync-on&other=sync-off    names of runs, of repeated experiments, or of sweeps
    /compare?run=sync-off&run=sync-on       what is ticked on the landing page: the last one, the oldest, is the base

Runs are read from their files, so it does not matter how long ago they ended; one that failed or is still active is
compared with a warning. Reading takes place in a thread, one comparison at a time and in turn with the pages of runs.
What was compared is kept for a minute, for everybody who has its address.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from ..compare.comparison import compare
from ..compare.comparison_view import blocks
from ..compare.experiment import Experiment, Side, pairs, side
from ..compare.measures import compared
from ..history.find import repeats
from ..plots.benchmark import over_time
from ..plots.benchmark import shown as drawn_families
from ..plots.run_view import views
from ..plots.section import Section, attempted_section, rendered
from ..runs.watcher import Runs
from ..settings.settings import RunsSettings
from ..show.as_html import html
from ..values.errors import UserError
from ..values.printable import in_html
from . import cells
from .assets import RUN_STYLE, document
from .catalogue import Query
from .chores import in_turn, shown

KEPT = 60.0
"""Seconds for which a comparison is kept."""
MOST_SIDES = 8
MOST_RUNS = 100
MOST_BYTES = 4 * 1024**3
"""Of the files of all runs."""
_MOST_WAITING = 4
_FIRST = 2.0
"""Seconds that a request waits for the comparison; after that its page asks again."""
_CONFIDENCE = 0.95
_ALLOWANCE = 0.05
"""The defaults of `benchwatch compare`."""


class Asked(NamedTuple):
    """The sides of a comparison; their names are as in the address."""

    base: str
    others: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Those of all sides, the base first."""
        return self.base, *self.others

    @property
    def address(self) -> str:
        """Where the comparison is, beside the landing page."""
        return "compare?" + urlencode({"base": self.base, "other": self.others}, doseq=True, errors="replace")


class ComparisonPages:
    """The comparisons of watched runs. `reading` is held while files are read."""

    def __init__(self, watched: Runs, settings: RunsSettings, reading: asyncio.Lock) -> None:
        self._watched = watched
        self._settings = settings
        self._reading = reading
        self._made: dict[tuple[str, ...], asyncio.Task[str]] = {}

    async def page(self, asked: Asked) -> str:
        """The page of a comparison; while it is made, one that asks again."""
        task = self._made.get(asked.names)
        if task is None:
            if sum(not one.done() for one in self._made.values()) >= _MOST_WAITING:
                busy = "Other comparisons are running: this page will try again"
                return self._page(asked, cells.note(busy), seconds=5)
            task = self._made[asked.names] = asyncio.create_task(self._compare(asked))
            later = asyncio.get_running_loop().call_later
            task.add_done_callback(lambda _: later(KEPT, self._made.pop, asked.names, None))
        await asyncio.wait({task}, timeout=_FIRST)
        if not task.done():
            return self._page(asked, "<p>Reading the runs …</p>", seconds=1)
        return self._page(asked, task.result())

    def _page(self, asked: Asked, main: str, *, seconds: int = 0) -> str:
        """`seconds` is when the page asks again; 0: it is complete."""
        title = f"{', '.join(asked.others)} against {asked.base}" if asked.others else "Compare"
        links = ", ".join(map(self._link, filter(None, asked.names)))
        for other in asked.others:
            turned = Asked(other, tuple(asked.base if one == other else one for one in asked.others))
            links += f' · <a href="{in_html(turned.address)}">use {in_html(other)} as the base</a>'
        return document(
            f"{title} · benchwatch",
            RUN_STYLE,
            f'<a href="./">benchwatch</a><h1>{in_html(title)}</h1>',
            f'<p class="soft">{links}</p><div id="comparison" data-seconds="{seconds}">{main}</div>',
            '<a href="./">All runs</a>A gap means that nothing was measured; it is never drawn as zero.',
            refresh=seconds,
            draws="./",
        )

    def _link(self, name: str) -> str:
        """To the page of a run, or to the runs of an experiment on the landing page."""
        if self._watched.places(name):
            return cells.run_link(name)
        return f'<a href="./{in_html(Query(q=name, open=(name,)).address)}">{in_html(name)}</a>'

    async def _compare(self, asked: Asked) -> str:
        known = {name: [place.paths for place in self._watched.places(name)] for name in asked.names}
        html, _ = await in_turn(self._reading, partial(shown, partial(self._compared, asked, known)))
        return html

    def _compared(self, asked: Asked, known: Mapping[str, list[list[Path]]]) -> str:
        files = {name: found or self._repeats(name) for name, found in known.items()}
        _check(asked, files)
        families = compared() | drawn_families()
        sides = [side(name, files[name], self._settings, force=True, families=families) for name in asked.names]
        return "".join(map(rendered, _sections(asked, sides)))

    def _repeats(self, name: str) -> list[list[Path]]:
        """The runs of the experiment or sweep of that name, from their records."""
        if not name or Path(name).name != name:
            return []
        roots = self._watched.roots.paths
        return [[path] for root in roots for path in repeats(root / name, self._settings, tolerant=True)]


def _check(asked: Asked, files: Mapping[str, Sequence[Sequence[Path]]]) -> None:
    """Raises UserError if something is missing, given twice or too large to be compared here."""
    if not asked.base or not asked.others:
        raise UserError("compare: expected a base and another side: tick at least two runs on the overview")
    if len(asked.names) > MOST_SIDES:
        raise UserError(f"compare: {len(asked.names)} sides; expected at most {MOST_SIDES}")
    for name, runs in files.items():
        if not runs:
            raise UserError(f"{name}: no such run; expected the name of a run, of a repeated experiment or of a sweep")
    each = [path for runs in files.values() for run in runs for path in run]
    if len(set(each)) < len(each) or len(files) < len(asked.names):
        raise UserError("compare: the same run was given twice; expected different ones")
    number = sum(map(len, files.values()))
    if number > MOST_RUNS:
        raise UserError(f"compare: {number} runs; expected at most {MOST_RUNS}: use benchwatch compare for more")
    size = sum(one.stat().st_size for path in each for one in (path.iterdir() if path.is_dir() else [path]))
    if size > MOST_BYTES:
        limit = f"at most {MOST_BYTES >> 30} GiB: use benchwatch compare for more"
        raise UserError(f"compare: the runs have {size / 2**30:.1f} GiB; expected {limit}")


def _sections(asked: Asked, sides: Sequence[Side]) -> Iterator[Section]:
    each, left = pairs(sides)
    confidence = 1 - (1 - _CONFIDENCE) / len(each)  # of each, so that it holds for all together
    found = [compare(base, others, confidence=confidence, allowance=_ALLOWANCE, vary=()) for base, *others in each]
    notes = [f"not compared: {', '.join(left)}: not every side has workers or points of these names"] if left else []
    every = [list(blocks(one)) for one in found]
    if len(each) == len(asked.others) == 1:
        del every[0][0]  # its heading is the title of the page
    yield Section("What changed", html="".join(map(html, every)), notes=notes)
    yield from attempted_section("Over time", lambda: _plots([one for pair in each for one in pair]))


def _plots(sides: Sequence[Experiment]) -> Iterator[Section]:
    """The repeats of an experiment are one line, in a band."""
    of_side = {worker.run: one.name for one in sides for run in one.runs for worker in run.timelines}
    timelines = [worker for one in sides for run in one.runs for worker in run.timelines]
    return over_time(views(timelines, None, of_side))
