"""A page of metrics in the Prometheus text format 0.0.4: for each family `# HELP`, `# TYPE`, and its samples.

A scrape is fast because only changes are rendered: every source (one worker of a run, one CVM) has a version, and its
text is kept until the version changes.

A source that cannot be rendered loses only its own samples, and is counted and named in the log. The same applies to
the last sources if the page is full.
"""

import logging
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

from .limits import DEFAULT, Limits
from .rendering import SourceText, header
from .samples import PARTS, Family, Part, Sample, Source

_log = logging.getLogger(__name__)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

RENDER_ERRORS = Family(
    "benchwatch_render_errors_total",
    "counter",
    "Workers, CVMs or parts that could not be rendered, by what was left out: samples or view. The log names them.",
    ("of",),
)
SERIES = Family("benchwatch_series", "gauge", "Series of runs and CVMs on this page, all parts.")
SERIES_LEFT_OUT = Family(
    "benchwatch_series_left_out",
    "gauge",
    "Series left out because the page reached runs.limits.series.",
)
WORKERS_LEFT_OUT = Family(
    "benchwatch_workers_left_out",
    "gauge",
    "Workers and CVMs left out because the page reached runs.limits.series, ended ones first. The log names them.",
)
ACTIVE_LEFT_OUT = Family(
    "benchwatch_active_workers_left_out",
    "gauge",
    "Those of benchwatch_workers_left_out that have not ended: no graph or alert sees them.",
)
VALUES_CUT = Family(
    "benchwatch_label_values_cut_total",
    "counter",
    "Label values cut at runs.limits.value_length; a checksum of the whole ends them.",
)
FAMILIES = (RENDER_ERRORS, SERIES, SERIES_LEFT_OUT, WORKERS_LEFT_OUT, ACTIVE_LEFT_OUT, VALUES_CUT)


class Exposition:
    """Renders sources, and keeps the text of those that have not changed since the last call.

    It is itself a source: of counts of the other sources on the page.
    """

    labels: tuple[tuple[str, str], ...] = ()

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self._limits = limits
        self._pages: dict[Source, SourceText] = {}
        self._errors: Counter[str] = Counter(samples=0, view=0)
        self._numbers = {SERIES: 0, SERIES_LEFT_OUT: 0, WORKERS_LEFT_OUT: 0, ACTIVE_LEFT_OUT: 0, VALUES_CUT: 0}
        self._named: set[tuple[str, str]] = set()

    @property
    def version(self) -> Hashable:
        """See Source."""
        return *self._errors.values(), *self._numbers.values()

    def samples(self) -> Iterator[Sample]:
        """See Source."""
        for of, count in self._errors.items():
            yield Sample(RENDER_ERRORS, (of,), count)
        for family, number in self._numbers.items():
            yield Sample(family, (), number)

    def render(
        self,
        sources: Iterable[Source],
        parts: Iterable[Part] = PARTS,
        rank: Callable[[Source], Any] | None = None,
    ) -> str:
        """The families of `parts`, each with its HELP and TYPE once, in order of first appearance.

        If the page has no room for all sources, those with the highest `rank` are left out, without `rank` the last.
        """
        pages = {source: self._pages.get(source) or SourceText(self._limits) for source in sources}
        own = pages.pop(self, None)
        room = self._limits.series
        for source in sorted(pages, key=rank) if rank else pages:
            page, cut = pages[source], pages[source].cut
            if not page.left_out or page.series <= room:
                try:
                    page.refresh(source)
                except Exception as error:
                    self.failed(source, "samples", error)
            page.left_out = page.series > room
            if page.left_out:
                page.forget()
                if self._is_new(source, "series"):
                    _log.warning("%s: %s", _name(source), page.remark())
            else:
                room -= page.series
            self._numbers[VALUES_CUT] += page.cut - cut
        left_out = {source: page.series for source, page in pages.items() if page.left_out}
        self._numbers[SERIES] = self._limits.series - room
        self._numbers[SERIES_LEFT_OUT], self._numbers[WORKERS_LEFT_OUT] = sum(left_out.values()), len(left_out)
        self._numbers[ACTIVE_LEFT_OUT] = sum(not getattr(source, "ended", False) for source in left_out)
        if own:
            own.refresh(self)
            pages[self] = own
        self._pages = pages
        wanted = frozenset(parts)
        texts: dict[Family, list[str]] = {}
        for page in pages.values():
            for family, text in page.texts.items():
                if family.part in wanted:
                    texts.setdefault(family, []).append(text)
        pieces: list[str] = []
        for family, bodies in texts.items():
            pieces += header(family), *bodies, "\n"
        return "".join(pieces)

    def failed(self, source: Source, of: str, error: Exception) -> None:
        """Count that the samples or the view of a source are left out, and name it in the log, once."""
        self._errors[of] += 1
        if self._is_new(source, of):
            text = "the %s of %s cannot be shown: left out; please report this"
            _log.error(text, of, _name(source), exc_info=error)

    def remark(self, source: Source) -> str:
        """Which samples of a source the last page lacks and why, one clause; empty if it has all."""
        page = self._pages.get(source)
        return page.remark() if page else ""

    def _is_new(self, source: Source, of: str) -> bool:
        """Whether the log does not yet say of this source what is left out."""
        before = len(self._named)
        self._named.add((_name(source), of))
        return len(self._named) > before


def _name(source: Source) -> str:
    return ", ".join(f'{label}="{value}"' for label, value in source.labels) or type(source).__name__
