"""The series of a finished or growing run, at the times of its own reports: what the live page showed.

Names, labels and values are those of the page, because the same code makes them (see `replay`). A series has a sample
at each report of the streams that change it. Its time is that of the report, which is the end of its interval: a gauge
from progress lines has a sample per line, a quantile has one per closed second of the transaction log. Information
about a run (part "runs") has a sample when it changes. While a gauge is not on the page, because the run has stalled or
ended, it has no samples. If a file holds several runs, the timeline is that of the last one; without `hold`, it has no
samples from before that run, nor from a log that an earlier run left behind. Times are whole milliseconds, as in
Prometheus.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metrics.latencies import Group, Latencies
from ..metrics.samples import Family, Sample
from ..model.run import Worker
from ..settings.record import RunFile
from ..tools.roles import Roles

Floats = NDArray[np.float64]
Pairs = tuple[tuple[str, str], ...]


class Series(NamedTuple):
    """One metric over time."""

    family: Family
    labels: Pairs
    """All labels, including run and worker."""
    times: Floats
    """Unix seconds, strictly increasing."""
    values: Floats
    """Shape (times,). Of a summary (times, 2): sum and count. Of a histogram (times, bounds + 2): the counts up to each
    bound, then sum and count."""
    bounds: Sequence[str] = ()
    """Of a histogram, as HistogramValue has them."""

    def after(self, moment: float) -> "Series":
        """The part after that moment."""
        later = self.times > moment
        return self._replace(times=self.times[later], values=self.values[later])


class Timeline(Worker, frozen=True, kw_only=True, eq=False):
    """One worker of one run, with its series. Its main figures are those of the whole run if it has ended."""

    runfile: RunFile
    roles: Roles
    """The roles of its tool's families."""
    final: Sequence[Sample]
    """What the page showed at the end: results, counters, information."""
    series: Sequence[Series]
    by_file_time: bool = False
    """Whether its times come from modification times of files, because the output has none."""
    copied: bool = False
    """Whether these times say nothing, because the files are copies."""
    latencies: Mapping[Group, Latencies] = {}
    """All latencies by group, time and bin, if requested; empty if the tool wrote none."""

    @property
    def span(self) -> tuple[float, float] | None:
        """See Worker; None if its times say nothing."""
        return None if self.copied else super().span

    def get(self, family: Family | None, **labels: str) -> list[Series]:
        """The series of a family with these labels; none if the family is None."""
        wanted = set(labels.items())
        return [series for series in self.series if series.family is family and wanted <= set(series.labels)]
