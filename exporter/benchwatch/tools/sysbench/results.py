"""What the final report says of a run, with those of the checkpoints before it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ...metrics.exposition import HistogramValue, Sample
from .metrics import LATENCY, NUMBERS, RESULT_LATENCY
from .summary import Bin, Entry

_RATES = ("tps", "iops", "bytes")


class Results:
    """Collects reports, each of what was done since the one before."""

    def __init__(self) -> None:
        self.figures: dict[str, float] = {}
        """Of the whole run by name, see `metrics.NUMBERS`; none before the last line of the final report."""
        self.quantiles: dict[str, float] = {}
        self._parts: list[dict[str, float]] = [{}]
        self._bins: Counter[float] = Counter()

    def add(self, entry: Entry) -> None:
        """Take in one entry of a report."""
        if isinstance(entry, Bin):
            self._bins[entry.upper] += entry.number
        elif entry.quantile:
            self.quantiles[entry.quantile] = entry.value
        else:
            self._parts[-1][entry.name] = entry.value

    def complete(self, checkpoint: bool) -> None:
        """That was its last line; if it was that of a checkpoint, there is more to come."""
        if checkpoint:
            self._parts.append({})
            return
        figures = self.figures = self._parts[-1] if len(self._parts) == 1 else _joined(self._parts)
        if len(self._parts) > 1:  # of those of the parts that of the whole does not follow
            self.quantiles.clear()
        events = figures["operations"] = figures.get("events", 0.0)
        if any(name.startswith(_RATES) for name in figures):  # its events have names of their own
            figures.pop("events", None)
        elif figures["time"]:
            figures["eps"] = events / figures["time"]
        if events:
            figures["latency_average"] = figures.get("latency_sum", 0.0) / events

    def samples(self) -> Iterator[Sample]:
        """As far as there are any; a latency of 0.00 is none."""
        for name, shown in NUMBERS.items():
            value = self.figures.get(name)
            if shown.result and value is not None and (value or not name.startswith("latency")):
                yield Sample(shown.result, shown.labels, value)
        if self.figures:
            yield from (Sample(RESULT_LATENCY, (label,), value) for label, value in self.quantiles.items() if value)
        if self.figures and self._bins:
            bounds = sorted(self._bins)
            counts = [sum(self._bins[bound] for bound in bounds[: place + 1]) for place in range(len(bounds))]
            texts = [*(f"{bound:.7g}" for bound in bounds), "+Inf"]
            yield Sample(
                LATENCY, (), HistogramValue(texts, [*counts, counts[-1]], self.figures.get("latency_sum", 0.0))
            )


def _joined(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """One report out of several: counts added up, rates weighted by time."""
    ends = [part["time"] for part in parts]
    lengths = [end - before for before, end in zip([0.0, *ends], ends, strict=False)]
    whole = {"time": ends[-1]}
    for name in parts[-1].keys() - whole.keys():
        values = [part.get(name, 0.0) for part in parts]
        if name.startswith(_RATES):
            whole[name] = sum(value * length for value, length in zip(values, lengths, strict=True)) / ends[-1]
        else:
            whole[name] = {"latency_min": min, "latency_max": max}.get(name, sum)(values)
    return whole
