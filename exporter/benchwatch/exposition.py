"""Families of metrics, and their rendering in the Prometheus text format 0.0.4.

https://prometheus.io/docs/instrumenting/exposition_formats/: per family `# HELP`, `# TYPE`, then its samples
`name{label="value"} number`; a histogram has cumulative `_bucket{le=...}`, `_sum` and `_count`, a summary `_sum` and
`_count`.

A scrape is short because what has not changed is not rendered again: every source (one worker of a run, one CVM)
carries a version, and its text is kept until the version moves; within a source the text before a sample's number is
kept for good.

A source that cannot be rendered loses its own samples, is counted and named in the log; the others are served.
"""

import logging
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple, Protocol

import msgspec

_log = logging.getLogger(__name__)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Part = Literal["live", "runs", "nutanix"]
"""What `collect[]=` selects: what changes during a run · information and results of runs · the CVMs."""
PARTS: tuple[Part, ...] = ("live", "runs", "nutanix")

_RESERVED = frozenset({"le", "quantile"})
_PLAIN = frozenset({"gauge", "counter"})
_ENCODER = msgspec.json.Encoder(enc_hook=float)

_NEVER = object()

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


RENDER_ERRORS = Family(
    "benchwatch_render_errors_total",
    "counter",
    "Times that a worker, a CVM or a part of the exporter could not be shown, by what of it was left out: its samples "
    "on this page, or its view on the landing page. The log names it.",
    ("of",),
)
FAMILIES = (RENDER_ERRORS,)


class HistogramValue(NamedTuple):
    """One histogram: `counts[i]` observations at or below `bounds[i]`, and the sum of all.

    Bounds are texts in base units, the last is +Inf.
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


class Source(Protocol):
    """Something that has samples: one worker of a run, one CVM, the exporter itself."""

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """Label pairs that all its samples carry."""

    @property
    def version(self) -> Hashable:
        """Differs from the last one whenever a sample may have changed."""

    def samples(self) -> Iterable[Sample]:
        """All present samples; what was not measured is left out."""


def number_texts(numbers: Sequence[float]) -> list[str]:
    """The shortest texts from which Prometheus reads the same numbers."""
    # A JSON encoder writes floats some twenty times faster than repr(); what JSON has no number for, it writes as null.
    texts = _ENCODER.encode(numbers).decode()[1:-1].split(",")
    if "null" in texts:
        special = {True: "+Inf", False: "-Inf"}
        for index, value in enumerate(numbers):
            if value - value != 0:
                texts[index] = "NaN" if value != value else special[value > 0]
    return texts


def escape(value: str) -> str:
    """A label value as it stands between the quotes; what is not UTF-8 is replaced."""
    if value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        return value
    clean = value.encode("utf-8", "replace").decode()
    return clean.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def header(family: Family) -> str:
    """The HELP and TYPE lines of a family, without the end of the last."""
    text = family.help.replace("\\", r"\\").replace("\n", r"\n")
    # The labels le and quantile are reserved for histograms and summaries; a gauge that has one goes without a type.
    kind = "untyped" if family.kind == "gauge" and not _RESERVED.isdisjoint(family.labels) else family.kind
    return f"# HELP {family.name} {text}\n# TYPE {family.name} {kind}"


class _Block:
    """The lines of one family of one source: what stands before each number, and the numbers."""

    __slots__ = ("numbers", "prefixes", "starts", "text")

    def __init__(self) -> None:
        self.prefixes: dict[tuple[object, ...], tuple[str, ...]] = {}
        self.starts: list[str] = []
        self.numbers: list[float] = []
        self.text = ""


class _Page:
    """The rendered text of one source, by family."""

    __slots__ = ("_version", "blocks", "fault")

    def __init__(self) -> None:
        self._version: Hashable = _NEVER
        self.blocks: dict[Family, _Block] = {}
        self.fault = ""
        """What went wrong at the last attempt: the name of the error."""

    def refresh(self, source: Source) -> None:
        """Render what changed. Raises whatever the source or its numbers do; then it has no text."""
        try:
            version = source.version
            if version == self._version:
                return
            self._version = version
            self._render(source)
        except Exception as error:
            self.fault = type(error).__name__
            self.blocks.clear()
            raise
        self.fault = ""

    def _render(self, source: Source) -> None:
        blocks = self.blocks
        for sample in source.samples():
            family, labels, value, more = sample
            block = blocks.get(family)
            if block is None:
                block = blocks[family] = _Block()
            prefixes = block.prefixes.get(labels + more if more else labels)
            if prefixes is None:
                prefixes = block.prefixes[labels + more] = _prefixes(source.labels, sample)
            block.starts += prefixes
            if family.kind in _PLAIN:
                block.numbers.append(value)  # type: ignore[arg-type]
            elif isinstance(value, HistogramValue):
                block.numbers += value.counts
                block.numbers += value.sum, value.counts[-1]
            elif isinstance(value, SummaryValue):
                block.numbers += value.sum, value.count
        texts = iter(number_texts([number for block in blocks.values() for number in block.numbers]))
        for family, block in list(blocks.items()):
            starts = block.starts
            if not starts:
                del blocks[family]
                continue
            block.text = "".join(chain.from_iterable(zip(starts, texts)))  # noqa: B905 (texts go on to the next block)
            if len(block.prefixes) > 2 * len(starts):  # most of its series are gone
                block.prefixes.clear()
            starts.clear()
            block.numbers.clear()


def _prefixes(common: tuple[tuple[str, str], ...], sample: Sample) -> tuple[str, ...]:
    """What stands before each number of a sample: one text, or one a line of a histogram or summary."""
    family, values, value, more = sample
    pairs = [*common, *zip(family.labels, values, strict=True), *more]
    inner = ",".join(f'{name}="{escape(text)}"' for name, text in pairs)
    braces = f"{{{inner}}}" if inner else ""
    start = f"\n{family.name}"
    if isinstance(value, HistogramValue):
        comma = "," if inner else ""
        buckets = (f'{start}_bucket{{{inner}{comma}le="{bound}"}} ' for bound in value.bounds)
        return (*buckets, f"{start}_sum{braces} ", f"{start}_count{braces} ")
    if isinstance(value, SummaryValue):
        return f"{start}_sum{braces} ", f"{start}_count{braces} "
    return (f"{start}{braces} ",)


class Exposition:
    """Renders sources, and keeps the text of those that have not changed since the last call.

    It is itself the source of its counters, up to the sources that precede it.
    """

    labels: tuple[tuple[str, str], ...] = ()

    def __init__(self) -> None:
        self._pages: dict[Source, _Page] = {}
        self._errors: Counter[str] = Counter(samples=0, view=0)
        self._named: set[tuple[str, str]] = set()

    @property
    def version(self) -> Hashable:
        """See Source."""
        return tuple(self._errors.values())

    def samples(self) -> Iterator[Sample]:
        """See Source."""
        for of, count in self._errors.items():
            yield Sample(RENDER_ERRORS, (of,), count)

    def render(self, sources: Iterable[Source], parts: Iterable[Part] = PARTS) -> str:
        """The families of `parts`, each with its HELP and TYPE once, in order of first appearance."""
        pages = {source: self._pages.get(source) or _Page() for source in sources}
        wanted = frozenset(parts)
        texts: dict[Family, list[str]] = {}
        for source, page in pages.items():
            try:
                page.refresh(source)
            except Exception as error:
                self.failed(source, "samples", error)
            for family, block in page.blocks.items():
                if family.part in wanted:
                    texts.setdefault(family, []).append(block.text)
        self._pages = pages
        return "".join(f"{header(family)}{''.join(bodies)}\n" for family, bodies in texts.items())

    def failed(self, source: Source, of: str, error: Exception) -> None:
        """Count that the samples or the view of a source are left out, and name it in the log, once."""
        self._errors[of] += 1
        name = ", ".join(f'{label}="{value}"' for label, value in source.labels) or type(source).__name__
        if (name, of) not in self._named:
            self._named.add((name, of))
            _log.error("the %s of %s cannot be shown: left out; please report this", of, name, exc_info=error)

    def fault(self, source: Source) -> str:
        """The name of the error for which the last page lacks the samples of a source; empty if it has them."""
        page = self._pages.get(source)
        return page.fault if page else ""
