"""What the final report says about a run, including the reports of its checkpoints."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from ...metrics.samples import HistogramValue, Sample
from .metrics import LATENCY, RESULT_LATENCY, RESULTS, sample
from .summary import Bin, Entry

_RATES = ("tps", "eps", "iops", "bytes")


class SysbenchResults:
    """Collects reports, each of what was done since the one before."""

    def __init__(self) -> None:
        self.figures: dict[str, float] = {}
        """Of the whole run by name, see `metrics.RESULTS`; none before the last line of the final report."""
        self.quantiles: dict[str, float] = {}
        self._parts: list[dict[str, float]] = [{}]
        self._bins: Counter[float] = Counter()

    def add(self, entry: Entry) -> None:
        """Apply one entry of a report; a latency of 0.00 means none."""
        if isinstance(entry, Bin):
            self._bins[entry.upper] += entry.number
        elif entry.quantile and entry.value:
            self.quantiles[entry.quantile] = entry.value
        elif entry.value or entry.name not in ("latency", "min", "max"):
            self._parts[-1][entry.name] = entry.value

    def complete(self, checkpoint: bool) -> None:
        """That was its last line; if it was that of a checkpoint, there is more to come."""
        if checkpoint:
            self._parts.append({})
            return
        found = self.figures = _joined(self._parts) if self._parts[1:] else self._parts[0]
        if self._parts[1:]:  # of those of the parts that of the whole does not follow
            self.quantiles.clear()
        most = found.get("max", math.inf)  # the middle of a bin may be above it
        self.quantiles = {quantile: min(seconds, most) for quantile, seconds in self.quantiles.items()}
        events = found["operations"] = found.get("events", 0.0)
        if "bytes_read" in found:
            found["bytes"] = found["bytes_read"] + found.get("bytes_write", 0.0)
        if not {"transactions", "bytes"}.isdisjoint(found):  # whose events have names of their own
            found.pop("events", None)
        elif found.get("time"):
            found.setdefault("eps", events / found["time"])
        if events:
            found["mean"] = found.get("sum", 0.0) / events

    def samples(self) -> Iterator[Sample]:
        """As far as there are any."""
        for name, value in self.figures.items():
            yield from sample(RESULTS, name, value)
        for quantile, seconds in self.quantiles.items() if self.figures else ():
            yield Sample(RESULT_LATENCY, (quantile,), seconds)
        if self._bins and self.figures:
            bounds = sorted(self._bins)
            counts = list(accumulate(self._bins[bound] for bound in bounds))
            texts = [*(f"{bound:.7g}" for bound in bounds), "+Inf"]
            yield Sample(LATENCY, (), HistogramValue(texts, [*counts, counts[-1]], self.figures.get("sum", 0.0)))


def _joined(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """One report out of several: counts added up, rates weighted by time."""
    ends = [part.get("time", 0.0) for part in parts]
    lengths = [end - before for before, end in zip([0.0, *ends], ends, strict=False)]
    whole: dict[str, float] = {}
    for name in parts[-1]:
        values = [part.get(name, 0.0) for part in parts]
        if name.startswith(_RATES) and ends[-1]:
            whole[name] = sum(value * length for value, length in zip(values, lengths, strict=True)) / ends[-1]
        else:
            whole[name] = {"min": min, "max": max, "time": max}.get(name, sum)(values)
    for rate, count in (("tps", "transactions"), ("eps", "events")):  # the parts are not exactly as long as they say
        if rate in whole and count in whole and ends[-1]:
            whole[rate] = whole[count] / ends[-1]
    return whole
