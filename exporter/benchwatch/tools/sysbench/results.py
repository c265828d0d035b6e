"""What the final report says of a run."""

from collections.abc import Iterator

from ...metrics.exposition import Family, HistogramValue, Sample
from . import metrics
from .summary import Bin, Figure

_RESULTS: dict[str, tuple[Family, tuple[str, ...]]] = {
    "tps": (metrics.RESULT_TPS, ()),
    "bandwidth": (metrics.RESULT_BANDWIDTH, ("",)),
    "bandwidth_read": (metrics.RESULT_BANDWIDTH, ("read",)),
    "bandwidth_write": (metrics.RESULT_BANDWIDTH, ("write",)),
    "iops_read": (metrics.RESULT_IOPS, ("read",)),
    "iops_write": (metrics.RESULT_IOPS, ("write",)),
    "iops_sync": (metrics.RESULT_IOPS, ("sync",)),
    "latency_average": (metrics.RESULT_LATENCY_AVERAGE, ()),
    "latency_min": (metrics.RESULT_LATENCY_MIN, ()),
    "latency_max": (metrics.RESULT_LATENCY_MAX, ()),
    "events": (metrics.RESULT_TRANSACTIONS, ()),
    "unfinished": (metrics.RESULT_UNFINISHED, ()),
}


class Results:
    """Collects the entries of one final report."""

    def __init__(self) -> None:
        self.figures: dict[str, float] = {}
        self.quantiles: dict[str, float] = {}
        self._bins: list[Bin] = []

    def add(self, entry: Figure | Bin) -> None:
        """Take in one entry."""
        if isinstance(entry, Bin):
            self._bins.append(entry)
        elif entry.name == "latency_quantile":
            self.quantiles = {entry.quantile: entry.value}
        else:
            self.figures[entry.name] = entry.value

    @property
    def length(self) -> float | None:
        """How long the run took, seconds."""
        return self.figures.get("length")

    @property
    def events_rate(self) -> float | None:
        """Events per second of a test that is neither of a database nor of bytes."""
        if not self.figures.keys().isdisjoint({"tps", "iops_read", "bandwidth"}):
            return None
        events, length = self.figures.get("events"), self.length
        return self.figures.get("eps", events / length if events is not None and length else None)

    def samples(self) -> Iterator[Sample]:
        """As far as there are any."""
        measured = bool(self.figures.get("events", 1))
        for name, (family, labels) in _RESULTS.items():
            if name in self.figures and (measured or not name.startswith("latency")):
                yield Sample(family, labels, self.figures[name])
        if (rate := self.events_rate) is not None:
            yield Sample(metrics.RESULT_EVENTS_RATE, (), rate)
        for quantile, seconds in self.quantiles.items() if measured else ():
            yield Sample(metrics.RESULT_LATENCY, (quantile,), seconds)
        if self._bins:
            yield Sample(metrics.LATENCY, (), self._histogram())

    def _histogram(self) -> HistogramValue:
        """Cumulative counts by the upper edges of the bins that are not empty."""
        bounds, counts, total = [], [], 0
        for upper, count in self._bins:
            total += count
            bounds.append(f"{upper:.7g}")
            counts.append(total)
        return HistogramValue((*bounds, "+Inf"), (*counts, total), self.figures.get("latency_sum", 0.0))
