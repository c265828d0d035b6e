"""Writes series and their times in the OpenMetrics text format 1.0, for `promtool tsdb create-blocks-from openmetrics`.

https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md: the families follow each other, each
with one `# TYPE` and one `# HELP`; in a family, the metrics follow each other; in a metric, the points follow in the
order of their times, with all buckets of a point together. The time in Unix seconds follows the number. The family of a
counter has its samples' name without `_total`. The last line is `# EOF`.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from typing import BinaryIO, NamedTuple

import numpy as np

from ..history.timeline import Pairs, Series
from ..metrics.rendering import escape, number_texts
from ..metrics.samples import Family

_POINTS = 1024
"""Points of a metric that are written at a time."""
_EXACT = 2.0**53


class WrittenText(NamedTuple):
    """The number of samples written, and the times of the first and last one in Unix seconds."""

    samples: int
    first: float
    last: float


def write(series: Iterable[Series], labels: Callable[[Family, Pairs], Pairs], file: BinaryIO) -> WrittenText:
    """Writes series to a file. `labels` makes a series' final labels from its family and own labels. Raises OSError."""
    families: dict[Family, list[Series]] = {}
    for one in series:
        families.setdefault(one.family, []).append(one)
    for family, members in families.items():
        file.write(_header(family).encode())
        for one in members:
            for text in _points(one, labels(family, one.labels)):
                file.write(text.encode())
    file.write(b"# EOF\n")
    everything = list(chain.from_iterable(families.values()))
    return WrittenText(
        sum(one.values.size for one in everything),
        min((float(one.times[0]) for one in everything), default=0.0),
        max((float(one.times[-1]) for one in everything), default=0.0),
    )


def _header(family: Family) -> str:
    name = family.name.removesuffix("_total") if family.kind == "counter" else family.name
    return f"# TYPE {name} {family.kind}\n# HELP {name} {escape(family.help)}\n"


def _points(metric: Series, labels: Pairs) -> Iterator[str]:
    """The lines of one metric."""
    times, values = metric.times, metric.values
    suffixes = [""] if values.ndim == 1 else ["_sum", "_count"]
    if metric.bounds and np.isnan(values[:, -2]).any():  # the sum is unknown
        values, suffixes = values[:, :-2], []
    heads = list(_heads(metric, labels, suffixes))
    for begin in range(0, len(times), _POINTS):
        numbers = values[begin : begin + _POINTS].ravel()
        whole = (numbers == np.floor(numbers)).all() and (np.abs(numbers) < _EXACT).all()
        texts = number_texts(numbers.astype(np.int64).tolist() if whole else numbers.tolist())
        ends = chain.from_iterable(repeat(f" {time:.3f}\n", len(heads)) for time in times[begin : begin + _POINTS])
        yield "".join(chain.from_iterable(zip(heads * (len(texts) // len(heads)), texts, ends, strict=True)))


def _heads(metric: Series, labels: Pairs, suffixes: Iterable[str]) -> Iterator[str]:
    """The text before each number of a point; `suffixes` are those of the names after the buckets."""
    inner = ",".join(f'{name}="{escape(value)}"' for name, value in labels)
    name = metric.family.name
    for bound in metric.bounds:
        yield f'{name}_bucket{{{inner},le="{bound}"}} '
    for suffix in suffixes:
        yield f"{name}{suffix}{{{inner}}} "
