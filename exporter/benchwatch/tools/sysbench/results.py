"""What the final report says about a run, including the reports of its checkpoints."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain

from ...metrics.samples import HistogramValue, Sample
from .metrics import LATENCY, RESULT_LATENCY, RESULTS, sample
from .summary import Bin, Entry

_RATES = ("tps", "eps", "iops", "bytes")
_OF_ALL: Mapping[str, Callable[[Iterable[float]], float]] = {"min": min, "max": max, "time": max}


class SysbenchResults:
    """Collects reports, each of which covers the time since the previous one."""

    def __init__(self) -> None:
        self.figures: dict[str, float] = {}
        """For the whole run, by the names of `metrics.RESULTS`; empty before the last line of the final report."""
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
        """Note the last line of a report; after that of a checkpoint, the run continues."""
        if checkpoint:
            self._parts.append({})
            return
        found = self.figures = _joined(self._parts) if self._parts[1:] else self._parts[0]
        if self._parts[1:]:  # the percentile of the whole does not follow from those of the parts
            self.quantiles.clear()
        most = found.get("max", math.inf)  # the middle of a bin may be above it
        self.quantiles = {quantile: min(seconds, most) for quantile, seconds in self.quantiles.items()}
        events = found["operations"] = found.get("events", 0.0)
        if "bytes_read" in found:
            found["bytes"] = found["bytes_read"] + found.get("bytes_write", 0.0)
        if not {"transactions", "bytes"}.isdisjoint(found):  # their events have names of their own
            found.pop("events", None)
        elif found.get("time"):
            found.setdefault("eps", events / found["time"])
        if events:
            found["mean"] = found.get("sum", 0.0) / events

    def samples(self) -> Iterator[Sample]:
        """The results, if there are any."""
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
    """One report for several: the sum of counts, the mean of rates, weighted by time."""
    ends = [part.get("time", 0.0) for part in parts]
    lengths = [end - before for before, end in zip([0.0, *ends], ends, strict=False)]
    whole: dict[str, float] = {}
    for name in dict.fromkeys(chain(*parts)):
        if name in _OF_ALL:
            whole[name] = _OF_ALL[name](part[name] for part in parts if name in part)
        elif name.startswith(_RATES) and ends[-1]:
            values = (part.get(name, 0.0) * length for part, length in zip(parts, lengths, strict=True))
            whole[name] = sum(values) / ends[-1]
        else:
            whole[name] = sum(part.get(name, 0.0) for part in parts)
    for rate, count in (("tps", "transactions"), ("eps", "events")):  # the parts are not exactly as long as they say
        if rate in whole and count in whole and ends[-1]:
            whole[rate] = whole[count] / ends[-1]
    return whole
