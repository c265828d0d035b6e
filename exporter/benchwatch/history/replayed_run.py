"""Runs that are replayed: once, or further and further while they grow."""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping

from ..metrics.buckets import Buckets
from ..metrics.samples import Family, Part
from ..runs.files import Rewritten, statuses
from ..runs.observed_run import ObservedRun
from ..runs.place import RunPlace
from ..settings.record import SUFFIX
from ..settings.settings import RunsSettings
from ..values.errors import ConfigError, UserError
from .find import open_run
from .replay import Replay
from .timeline import Timeline

MOST_REPORTS = 500_000
"""Of a worker: six days of one a second. Each takes some 300 bytes of memory as long as the run is followed."""
_ATTEMPTS = 5
"""How often a file is read that is rewritten meanwhile."""


def timelines(
    runs: Iterable[ObservedRun],
    *,
    families: Collection[Family] | None = None,
    hold: Mapping[Part, float] | None = None,
    now: float | None = None,
    latencies: bool = False,
    results: bool = False,
) -> Iterator[Timeline]:
    """The timeline of each worker of these runs (see find_runs).

    `families` (of tools) limits the series to these families. `hold` says for each part after how many seconds an
    unchanged value is repeated, as by scrapes, until it leaves the page. `now` is the Unix time up to which a run
    without an end is judged (default: the present). With `latencies`, latencies are gathered in the same pass. With
    `results`, a run of one worker whose final report says all has no series. Raises ConfigError for a path that cannot
    be read.
    """
    until = time.time() if now is None else now
    for run in runs:
        for name in run.plans:
            for attempt in range(1, _ATTEMPTS + 1):
                replay = Replay(run, name, families=families, hold=hold, gather=latencies)
                try:
                    if not (results and len(run.plans) == 1 and replay.has_result(run.files, until)):
                        for _ in replay.play(run.files, until, complete=True):
                            pass
                    break
                except Rewritten:
                    if attempt == _ATTEMPTS:
                        raise ConfigError(f"{run.folder}: {name} is rewritten while it is read: try again") from None
                except OSError as error:
                    sentence = f"{error.filename}: cannot be read: {error.strerror}; expected output of a benchmark"
                    raise ConfigError(sentence) from error
            yield replay.timeline()


class ReplayedRun:
    """A run that is replayed as it grows: the timelines of all its workers, at the cost of reading what is new.

    It is replayed once more from the beginning when it has ended, because it is then complete.
    """

    def __init__(self, settings: RunsSettings, buckets: Buckets, families: Collection[Family]) -> None:
        self.timelines: list[Timeline] = []
        """Those of the last complete look."""
        self.size = 0
        """Size of its files in bytes."""
        self.stopping = False
        """Set to stop reading at once."""
        self._settings = settings
        self._buckets = buckets
        self._families = families
        self._seen: object = None
        self._shape: object = None
        self._replays: list[Replay] = []
        self._too_long = ""

    @property
    def read(self) -> int:
        """Bytes read so far."""
        return sum(replay.length for replay in self._replays)

    def look(self, place: RunPlace, now: float) -> bool:
        """Read what is new in the files of the run, which is always in the same place; returns whether anything is.

        Raises OSError or ConfigError if a file cannot be read, UserError if a worker has more than MOST_REPORTS.
        """
        if self._too_long:
            raise UserError(self._too_long)
        files = statuses(place.folder, place.files)
        complete = place.complete
        if self._seen == (seen := (files, complete)):
            return False
        self.size = sum(status.size for status in files.values())
        records = {name: status for name, status in files.items() if name.endswith(SUFFIX)}
        shape = {name: status.identity for name, status in files.items()}, records, complete
        if shape != self._shape:
            run = open_run(place._replace(files=files), self._settings, self._buckets)
            self._replays = [Replay(run, name, families=self._families, gather=True) for name in run.plans]
        self._shape = None  # until everything is read
        try:
            for replay in self._replays:
                name = replay.worker.name
                for reports in replay.play(files, now, complete=complete is None or name in complete):
                    if reports > MOST_REPORTS:
                        self._replays, self.timelines = [], []
                        where = "too many for a live page; `benchwatch report` draws them"
                        self._too_long = f"{name} has more than {MOST_REPORTS:,} reports: {where}"
                        raise UserError(self._too_long)
                    if self.stopping:
                        return False
        except Rewritten:
            return False
        self._shape, self._seen = shape, seen
        self.timelines = [replay.timeline() for replay in self._replays]
        return True
