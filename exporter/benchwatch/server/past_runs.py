"""The figures of runs that have left memory, for the overview: read from their files while somebody looks at it.

One run is read at a time, in a thread and in turn with the pages of runs; all of them take a tenth of a processor, the
most recently changed first. Larger runs are left to their own pages.
"""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from ..history.find import read_runs
from ..model.run import Report, Run
from ..runs.place import RunPlace
from ..runs.watcher import Runs
from ..runs.worker_model import shown
from ..settings.settings import RunsSettings
from .chores import in_turn

_log = logging.getLogger("benchwatch.server")

MOST_RUNS = 2000
MOST_BYTES = 16 * 1024**2
"""Of the files of a run."""
KEPT = 30.0
"""Seconds after the last request for which reading goes on."""
_SHARE = 0.1
_REPORTS = 60
"""Of a worker, that are kept for the chart of its course."""


class PastRuns:
    """The watched runs that are not in memory. `reading` is held while files are read."""

    def __init__(self, watched: Runs, settings: RunsSettings, reading: asyncio.Lock) -> None:
        self._watched = watched
        self._settings = settings
        self._reading = reading
        self._known: dict[str, Run] = {}
        self._asked = 0.0
        self._task: asyncio.Task[None] | None = None

    def known(self) -> Mapping[str, Run]:
        """Those that have been read, by name; reads on if there are others. One that is present is read anew later."""
        absent = self._absent()
        self._known = {name: run for name, run in self._known.items() if name in absent}
        self._asked = time.monotonic()
        if self._task is None and len(self._known) < min(len(absent), MOST_RUNS):
            self._task = asyncio.create_task(self._read_on())
        return self._known

    def _absent(self) -> list[str]:
        present = {worker.run for worker in self._watched.workers}
        return [name for name in self._watched.names if name not in present]

    async def _read_on(self) -> None:
        try:
            while time.monotonic() - self._asked < KEPT:
                name = next((one for one in self._absent()[:MOST_RUNS] if one not in self._known), None)
                if name is None:
                    return
                places = self._watched.places(name)
                self._known[name], cost = await in_turn(self._reading, partial(self._read, name, places))
                await asyncio.sleep(cost * (1 / _SHARE - 1))
        finally:
            self._task = None

    def _read(self, name: str, places: Sequence[RunPlace]) -> Run:
        """The run; it has no workers if it is too large."""
        try:
            files = [place.folder / file for place in places for file in place.files]
            if sum(file.stat().st_size for file in files) > MOST_BYTES:
                return Run(name)
            paths = [path for place in places for path in place.paths]
            found = read_runs(paths, self._settings)
            workers = [shown(worker) for run in found for worker in run.workers]
        except Exception as error:  # a run that cannot be read, or a fault of ours, must not affect the others
            _log.debug("run %s cannot be read for the overview: %s", name, error)
            workers = []
        return Run(name, tuple(replace(one, parameters={}, reports=_some(one.reports)) for one in workers))


def _some(reports: Sequence[Report]) -> tuple[Report, ...]:
    return tuple(reports[:: max(1, -(-len(reports) // _REPORTS))])
