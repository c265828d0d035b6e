"""The series of a finished or growing run, at the times of its own reports: what the live page showed.

Names, labels and values are those of the page: the same code makes them (see `replay`). A series has a sample at each
report of the streams that have moved it, at the report's own time, which is the end of its interval: a gauge that a
progress line sets has one a progress line, a quantile one a closed second of the transaction log. What is known of a
run (part "runs") has one when it changes. A gauge that the page no longer shows, since the run stalled or ended, has no
samples there. Times are whole milliseconds, as in Prometheus.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..metrics.buckets import Buckets
from ..metrics.exposition import Family, Part, Sample
from ..metrics.latencies import Group, Latencies
from ..runs.run import Run
from ..settings.record import RunFile
from ..settings.settings import RunsSettings
from .find import find_runs
from .ledger import Ledger
from .replay import Replay
from .series import Series


@dataclass(frozen=True)
class Timeline:
    """One worker of one run."""

    run: str
    worker: str
    tool: str
    tool_version: str
    """As the tool prints it; empty if it does not."""
    start: float | None
    """When the benchmark began, Unix seconds."""
    end: float | None
    """When it ended, Unix seconds; None while it has not."""
    phase: str
    """Its state at the end: see worker.STATES."""
    reason: str
    """The reason for that state, one clause; empty if there is none."""
    runfile: RunFile
    parameters: Mapping[str, str]
    """What the tool says of its settings, and what the run's records add."""
    final: Sequence[Sample]
    """What the page showed at the end: results, counters, information."""
    series: Sequence[Series]
    by_file_time: bool = False
    """Whether its times come from the modification times of its files, because the output has none."""
    latencies: Mapping[Group, Latencies] = field(default_factory=dict)
    """Every latency by group, time and bin, if that was asked for; nothing where its tool wrote none."""

    def get(self, family: Family | None, **labels: str) -> list[Series]:
        """The series of a family whose labels have these values; none without a family."""
        wanted = set(labels.items())
        return [series for series in self.series if series.family is family and wanted <= set(series.labels)]


def read_timelines(
    paths: Iterable[Path],
    settings: RunsSettings,
    buckets: Buckets,
    *,
    families: Collection[Family] | None = None,
    hold: Mapping[Part, float] | None = None,
    now: float | None = None,
    latencies: bool = False,
) -> list[Timeline]:
    """The workers of the runs in these files and folders (see offline.find_runs).

    With `families` only the series of these. With `hold` a value that stays the same is
    repeated after so many seconds, as scrapes do, until the page no longer shows it. `now` is the Unix time up to which
    a run without an end is judged; by default the present. With `latencies` these are gathered in the same pass. Raises
    ConfigError for a path that cannot be read.
    """
    runs = find_runs(paths, settings, buckets)
    return list(timelines(runs, buckets, families=families, hold=hold, now=now, latencies=latencies))


def timelines(
    runs: Iterable[Run],
    buckets: Buckets,
    *,
    families: Collection[Family] | None = None,
    hold: Mapping[Part, float] | None = None,
    now: float | None = None,
    latencies: bool = False,
) -> Iterator[Timeline]:
    """The same, one worker after the other, of runs that offline.find_runs has found."""
    until = time.time() if now is None else now
    for run in runs:
        for worker in run.plans:
            yield _timeline(Replay(run, worker, buckets, until, latencies), families, hold)


def _timeline(replay: Replay, families: Collection[Family] | None, hold: Mapping[Part, float] | None) -> Timeline:
    ledger = Ledger(families, hold)
    final: list[Sample] = []
    for step in replay.steps(idle=hold is not None):
        before, final = final, list(replay.worker.samples())
        ledger.enter(step.time, step.kinds, final)
        if not step.kinds:  # the counters of an abandoned run leave the page
            shown = {(sample.family, sample.labels) for sample in final}
            final += (one for one in before if one.family.kind != "gauge" and (one.family, one.labels) not in shown)
    worker = replay.worker
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
        list(ledger.series(worker.labels)),
        replay.by_file_time,
        replay.latencies,
    )
