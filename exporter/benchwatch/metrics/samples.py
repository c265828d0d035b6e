"""Families of metrics and their samples, as sources give them: a worker of a run, a CVM, the exporter itself."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

Part = Literal["live", "runs", "nutanix"]
"""What `collect[]=` selects: what changes during a run · information and results of runs · the CVMs."""
PARTS: tuple[Part, ...] = ("live", "runs", "nutanix")

Kind = Literal["gauge", "counter", "histogram", "summary"]


@dataclass(frozen=True, slots=True, eq=False)
class Family:
    """One metric family; declared once, at the top of the module that feeds it.

    `labels` are those beyond the source's own (`run` and `worker`, or `cvm`). `help` is a sentence with unit, source
    field and window. With `more_labels` a sample may carry further labels (see `Sample`).
    """

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    part: Part = "live"
    more_labels: bool = False


class HistogramValue(NamedTuple):
    """One histogram: `counts[i]` observations at or below `bounds[i]`, and the sum of all, NaN if it is unknown.

    Bounds are texts in base units, the last is +Inf. An unknown sum is not exported, as one NaN would make the sum of
    all series NaN; nor is the count then, as OpenMetrics demands both or none: the last bucket has it.
    """

    bounds: Sequence[str]
    counts: Sequence[int]
    sum: float


class SummaryValue(NamedTuple):
    """A summary without quantiles: the number of observations and their sum, in base units."""

    count: int  # type: ignore[assignment]  # the format's own name hides tuple.count
    sum: float


class Sample(NamedTuple):
    """One number of one family. `labels` holds the values of `family.labels`, in that order.

    Where the family has `more_labels`, `more` holds further (name, value) pairs.
    """

    family: Family
    labels: tuple[str, ...]
    value: float | HistogramValue | SummaryValue
    more: tuple[tuple[str, str], ...] = ()


class SampleColumn(NamedTuple):
    """Samples of one family, of kind gauge or counter and without limits, as a table has them: labels, numbers."""

    family: Family
    labels: Sequence[tuple[str, ...]]
    numbers: Sequence[float]


class Source(Protocol):
    """Something that has samples: one worker of a run, one CVM, the exporter itself."""

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Label pairs that all its samples carry."""

    @property
    def version(self) -> Hashable:
        """Differs from the last one whenever a sample may have changed."""

    def samples(self) -> Iterable[Sample | SampleColumn]:
        """All present samples; what was not measured is left out."""
