"""Series as CSV: a record for each report of a worker, a column for each metric; docs/metrics.md explains the metrics.

The times are those of the series with the most samples. Samples of other series, such as the percentiles of a
transaction log, are in the record nearest to them, or in one of their own if none is within half an interval. Of
histograms and summaries, sum and count are given.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from ..metrics.rendering import escape
from ..show.as_csv import Value, records
from .timeline import Floats, Series, Timeline

_OWN = frozenset({"run", "worker"})


def table(timelines: Iterable[Timeline]) -> str:
    """The text. `time` is in Unix seconds; `elapsed_seconds` since the start, empty if that is unknown."""
    return records(row for timeline in timelines for row in _rows(timeline))


def _rows(timeline: Timeline) -> Iterator[Mapping[str, Value]]:
    base = max((one.times for one in timeline.series), key=len, default=None)
    if base is None:
        return
    found: dict[float, dict[str, Value]] = {float(time): {} for time in base}
    for series in timeline.series:
        moments = _nearest(series.times, base)
        for column, values in _columns(series):
            for moment, value in zip(moments, values.tolist(), strict=True):
                found.setdefault(moment, {})[column] = int(value) if value.is_integer() else value
    start = timeline.start
    for moment in sorted(found):
        elapsed = None if start is None else round(moment - start, 3)
        yield {
            "run": timeline.run,
            "worker": timeline.name,
            "time": round(moment, 3),
            "elapsed_seconds": elapsed,
            **found[moment],
        }


def _nearest(times: Floats, base: Floats) -> list[float]:
    """The moment of `base` that is nearest to each time; the time itself if none is within half an interval."""
    limit = float(np.median(np.diff(base))) / 2 if len(base) > 1 else 0.5
    after = np.searchsorted(base, times)
    before, later = base[np.maximum(after - 1, 0)], base[np.minimum(after, len(base) - 1)]
    near = np.where(np.abs(times - before) <= np.abs(later - times), before, later)
    return [float(moment) for moment in np.where(np.abs(near - times) <= limit, near, times)]


def _columns(series: Series) -> Iterator[tuple[str, Floats]]:
    """The name of each column as in the exposition, without the labels run and worker; and its values."""
    labels = ",".join(f'{name}="{escape(value)}"' for name, value in series.labels if name not in _OWN)
    shown = f"{{{labels}}}" if labels else ""
    if series.values.ndim == 1:
        yield f"{series.family.name}{shown}", series.values
        return
    yield f"{series.family.name}_sum{shown}", series.values[:, -2]
    yield f"{series.family.name}_count{shown}", series.values[:, -1]
