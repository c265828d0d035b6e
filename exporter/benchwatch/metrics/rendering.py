"""The text of one source: samples in the Prometheus text format 0.0.4, without HELP and TYPE, kept until they change.

https://prometheus.io/docs/instrumenting/exposition_formats/: a sample is `name{label="value"} number`; a histogram has
cumulative `_bucket{le=...}`, `_sum` and `_count`, a summary `_sum` and `_count`.

The text before a sample's number is kept, and the text of a histogram until the source returns another object.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import isnan
from operator import add
from zlib import crc32

import msgspec

from .limits import Limits
from .samples import Family, HistogramValue, Sample, SampleColumn, Source, SummaryValue

_RESERVED = frozenset({"le", "quantile"})
_PLAIN = frozenset({"gauge", "counter"})
_ENCODER = msgspec.json.Encoder(enc_hook=float)


def number_texts(numbers: Sequence[float]) -> list[str]:
    """The shortest texts from which Prometheus reads the same numbers."""
    # A JSON encoder writes floats some twenty times as fast as repr(); it writes NaN and infinity as null.
    encoded = _ENCODER.encode(numbers)
    texts = encoded.decode()[1:-1].split(",")
    if b"null" in encoded:
        special = {True: "+Inf", False: "-Inf"}
        for index, value in enumerate(numbers):
            if value - value != 0:
                texts[index] = "NaN" if value != value else special[value > 0]
    return texts


def escape(value: str) -> str:
    """A label value as it is written between quotes; characters that are not UTF-8 are replaced."""
    if value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        return value
    clean = value.encode("utf-8", "replace").decode()
    return clean.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def header(family: Family) -> str:
    """The HELP and TYPE lines of a family, without the end of the last."""
    text = family.help.replace("\\", r"\\").replace("\n", r"\n")
    # The labels le and quantile are reserved for histograms and summaries; a gauge that has one is untyped.
    kind = "untyped" if family.kind == "gauge" and not _RESERVED.isdisjoint(family.labels) else family.kind
    return f"# HELP {family.name} {text}\n# TYPE {family.name} {kind}"


_Key = tuple[Family, tuple[object, ...]]
"""A sample's family and labels."""
_Lines = tuple[list[str], list[float]]
"""The lines of a family: the text before each number, and the numbers; for histograms their texts, without numbers."""


class SourceText:
    """The rendered text of one source, by family, within the limits."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._version: Hashable = None  # None: there is no text
        self._prefixes: dict[_Key, tuple[str, ...]] = {}
        self._histograms: dict[_Key, tuple[HistogramValue, str]] = {}  # the last of each, and its text
        # By family and place among its columns: the last labels, and the texts before the numbers.
        self._columns: dict[tuple[Family, int], tuple[Sequence[tuple[str, ...]], list[str]]] = {}
        self.texts: dict[Family, str] = {}
        self.series = 0
        """How many it has; if it is left out, how many it had when it was last rendered."""
        self.left_out = False
        """Whether the page had no room for it."""
        self.cut = 0
        """Label values that were cut so far."""
        self.fault = ""
        """The name of the error at the last attempt."""

    def refresh(self, source: Source) -> None:
        """Render what changed. Raises any exception of the source; then there is no text until it changes."""
        before, self._version = self._version, None
        try:
            self._version = source.version
            if self._version != before:
                self._render(source)
                self.fault = ""
        except Exception as error:
            failed = self._version
            self.forget()
            self._version, self.series, self.fault = failed, 0, type(error).__name__
            raise

    def forget(self) -> None:
        """Free the text."""
        self._version = None
        for known in (self.texts, self._prefixes, self._histograms, self._columns):
            known.clear()

    def _render(self, source: Source) -> None:
        self.series = 0
        lines: dict[Family, _Lines] = {}
        columns: Counter[Family] = Counter()
        for sample in source.samples():
            of_family = lines.get(sample[0])
            if of_family is None:
                of_family = lines[sample[0]] = [], []
            starts, numbers = of_family
            if isinstance(sample, SampleColumn):
                starts += self._starts(source, sample, columns[sample.family])
                numbers += sample.numbers
                columns[sample.family] += 1
                continue
            family, labels, value, more = sample
            key = family, labels + more if more else labels
            prefixes = self._prefixes.get(key)
            if prefixes is None:
                prefixes = self._prefixes[key] = self._new_prefixes(source, sample)
            if family.kind in _PLAIN:
                starts += prefixes
                numbers.append(value)  # type: ignore[arg-type]
            elif isinstance(value, HistogramValue):
                kept = self._histograms.get(key)
                if kept is None or kept[0] is not value:
                    kept = self._histograms[key] = value, _histogram(prefixes, value)
                starts.append(kept[1])
                self.series += len(value.bounds) + 2
            elif isinstance(value, SummaryValue):
                starts += prefixes
                numbers += value.sum, value.count
        self._write(lines)

    def _starts(self, source: Source, column: SampleColumn, place: int) -> list[str]:
        """The texts before the numbers of a column; `place` is its place among the columns of its family."""
        family, labels, _ = column
        known, starts = self._columns.get((family, place), ((), []))
        if known != labels:
            starts = []
            for row in labels:
                prefixes = self._prefixes.get((family, row))
                if prefixes is None:
                    prefixes = self._prefixes[family, row] = self._new_prefixes(source, Sample(family, row, 0))
                starts += prefixes
            self._columns[family, place] = labels, starts
        return starts

    def _write(self, lines: Mapping[Family, _Lines]) -> None:
        """Make the text of each family from its lines."""
        flat = [number for _, numbers in lines.values() for number in numbers]
        written = iter(number_texts(flat))
        self.series += len(flat)
        self.texts.clear()
        for family, (starts, numbers) in lines.items():
            if starts:
                pieces = chain.from_iterable(zip(starts, written)) if numbers else starts  # noqa: B905 (the rest goes on)
                self.texts[family] = "".join(pieces)
        if len(self._prefixes) > 2 * self.series:  # most of its series are gone
            self._prefixes.clear()
            self._histograms.clear()
            self._columns.clear()

    def _new_prefixes(self, source: Source, sample: Sample) -> tuple[str, ...]:
        family, labels, value, more = sample
        length = self._limits.value_length
        if any(len(text) > length for text in (*labels, *(text for _, text in more))):
            labels = tuple(self._shortened(text) for text in labels)
            more = tuple((name, self._shortened(text)) for name, text in more)
        return _prefixes(source.labels, Sample(family, labels, value, more))

    def _shortened(self, text: str) -> str:
        if len(text) <= self._limits.value_length:
            return text
        self.cut += 1
        return f"{text[: self._limits.value_length - 9]}…{crc32(text.encode('utf-8', 'replace')):08x}"

    def remark(self) -> str:
        """Which samples the page lacks and why, one clause; empty if it has all."""
        if self.fault:
            return f"its samples are left out of /metrics: {self.fault}; the log says more"
        if self.left_out:
            return f"not on /metrics: the page has reached runs.limits.series ({self._limits.series})"
        return ""


def _prefixes(common: tuple[tuple[str, str], ...], sample: Sample) -> tuple[str, ...]:
    """The text before each number of a sample; for a histogram, before the bounds of buckets, the sum and the count."""
    family, values, value, more = sample
    pairs = [*common, *zip(family.labels, values, strict=True), *more]
    inner = ",".join(f'{name}="{escape(text)}"' for name, text in pairs)
    braces = f"{{{inner}}}" if inner else ""
    start = f"\n{family.name}"
    if isinstance(value, HistogramValue):
        comma = "," if inner else ""
        return f'{start}_bucket{{{inner}{comma}le="', f"{start}_sum{braces} ", f"{start}_count{braces} "
    if isinstance(value, SummaryValue):
        return f"{start}_sum{braces} ", f"{start}_count{braces} "
    return (f"{start}{braces} ",)


def _histogram(prefixes: tuple[str, ...], value: HistogramValue) -> str:
    """The text of a histogram."""
    bucket, total, count = prefixes
    *counts, added, number = number_texts([*value.counts, value.sum, value.counts[-1]])
    buckets = bucket.join(map(add, _ends_of_buckets(tuple(value.bounds)), counts))
    return f"{bucket}{buckets}" + ("" if isnan(value.sum) else f"{total}{added}{count}{number}")


@lru_cache
def _ends_of_buckets(bounds: tuple[str, ...]) -> Sequence[str]:
    """The text between the labels of each bucket and its number."""
    return [f'{bound}"}} ' for bound in bounds]
