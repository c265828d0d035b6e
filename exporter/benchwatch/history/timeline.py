"""The series of a finished or growing run, at the times of its own reports: what the live page showed.

Names, labels and values are those of the page, because the same code makes them (see `replay`). A series has a sample
at each report of the streams that change it. Its time is that of the report, which is the end of its interval: a gauge
from progress lines has a sample per line, a quantile has one per closed second of the transaction log. Information
about a run (part "runs") has a sample when it changes. While a gauge is not on the page, because the run has stalled or
ended, it has no samples. If a file holds several runs, the timeline is that of the last one; without `hold`, it has no
samples from before that run, nor from a log that an earlier run left behind. Times are whole milliseconds, as in
Prometheus.
"""

import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..metrics.buckets import Buckets
from ..metrics.latencies import Group, Latencies
from ..metrics.samples import Family, Part, Sample
from ..runs.observed_run import ObservedRun
from ..settings.record import RunFile
from ..tools.api import Figures
from .ledger import Ledger
from .replay import Replay, Step
from .series import Series

NOT_MEASURED = Figures(None, None, None, None)


@dataclass(frozen=True)
class Timeline:
    """One worker of one run."""

    run: str
    worker: str
    tool: str
    tool_version: str
    """As printed by the tool; empty if it prints none."""
    start: float | None
    """When the benchmark began, Unix seconds."""
    end: float | None
    """When it ended, Unix seconds; None if it has not."""
    phase: str
    """Its phase at the end; see phase.PHASES."""
    reason: str
    """The reason for that state, one clause; empty if there is none."""
    runfile: RunFile
    parameters: Mapping[str, str]
    """The settings that the tool prints, extended and overridden by the run's records."""
    final: Sequence[Sample]
    """What the page showed at the end: results, counters, information."""
    series: Sequence[Series]
    by_file_time: bool = False
    """Whether its times come from modification times of files, because the output has none."""
    copied: bool = False
    """Whether these times say nothing, because the files are copies."""
    figures: Figures = NOT_MEASURED
    """The main figures that the page showed at the end, of the whole run if it finished."""
    latencies: Mapping[Group, Latencies] = field(default_factory=dict)
    """All latencies by group, time and bin, if requested; empty if the tool wrote none."""

    @property
    def span(self) -> tuple[float, float] | None:
        """When it ran, Unix seconds; the end of an active one is infinite. None if nothing says when."""
        if self.start is None or self.copied:
            return None
        return self.start, math.inf if self.end is None else max(self.start, self.end)

    def get(self, family: Family | None, **labels: str) -> list[Series]:
        """The series of a family with these labels; none if the family is None."""
        wanted = set(labels.items())
        return [series for series in self.series if series.family is family and wanted <= set(series.labels)]


def timelines(
    runs: Iterable[ObservedRun],
    buckets: Buckets,
    *,
    families: Collection[Family] | None = None,
    hold: Mapping[Part, float] | None = None,
    now: float | None = None,
    latencies: bool = False,
) -> Iterator[Timeline]:
    """The timeline of each worker of these runs (see find_runs).

    `families` (of tools) limits the series to these families. `hold` says for each part after how many seconds an
    unchanged value is repeated, as by scrapes, until it leaves the page. `now` is the Unix time up to which a run
    without an end is judged (default: the present). With `latencies`, latencies are gathered in the same pass. Raises
    ConfigError for a path that cannot be read.
    """
    until = time.time() if now is None else now
    for run in runs:
        for worker in run.plans:
            yield _timeline(Replay(run, worker, buckets, until, latencies), families, hold)


def _timeline(replay: Replay, families: Collection[Family] | None, hold: Mapping[Part, float] | None) -> Timeline:
    book = Book(replay, families, hold)
    for step in replay.steps(idle=hold is not None):
        book.enter(step)
    return book.timeline()


class Book:
    """Records what a replay shows."""

    def __init__(
        self, replay: Replay, families: Collection[Family] | None = None, hold: Mapping[Part, float] | None = None
    ) -> None:
        self._replay = replay
        self._families = families
        self._hold = hold
        self._ledger = Ledger(families, hold)
        self._run = 0
        self._has_text = False  # logs without a text belong to the last run
        self._silent = True
        self.reports = 0
        """Steps so far."""

    def enter(self, step: Step) -> None:
        """Record the page after a step of the replay."""
        self.reports += 1
        worker = self._replay.worker
        if self._run != worker.output.reruns and self._hold is None:
            self._run = worker.output.reruns
            self._ledger = Ledger(self._families, None) if self._has_text else self._ledger
        page = worker.samples() if self._families is None else worker.state.samples(worker.current)
        self._ledger.enter(step.time, step.kinds, page)
        self._has_text |= not all(worker.tool.kinds[kind].is_log for kind in step.kinds)
        self._silent = not step.kinds

    def timeline(self) -> Timeline:
        """Everything recorded so far."""
        worker = self._replay.worker
        series = list(self._ledger.series(worker.labels))
        if worker.state.left_behind and worker.start is not None and self._hold is None:
            series = [later for one in series if len((later := one.after(worker.start)).times)]
        final = list(worker.samples())
        if self._silent:  # the counters of an abandoned run leave the page
            shown = {(sample.family, sample.labels) for sample in final}
            every = worker.state.samples(current=False)
            final += (one for one in every if one.family.kind != "gauge" and (one.family, one.labels) not in shown)
        return Timeline(
            worker.run,
            worker.name,
            worker.tool.name,
            worker.state.tool_version,
            worker.start,
            worker.end if worker.ended else None,
            worker.phase,
            worker.reason,
            worker.runfile,
            worker.parameters,
            final,
            series,
            self._replay.by_file_time,
            self._replay.copied,
            worker.figures,
            self._replay.latencies,
        )
