"""A tool that exists in the tests alone: laps of two lanes, with one percentile and no mean, in a text of its own.

toy 1.0 starts at 1790000000
1790000001 left laps 100 p95 0.0025
1790000001 right laps 50 p95 0.0030
...
result left laps 1000 rate 100 p95 0.0026
result right laps 500 rate 50 p95 0.0031
lost 3
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from benchwatch.metrics.samples import Sample
from benchwatch.tools.api import Figures, Kind, Report, Tool
from benchwatch.tools.beginning import ElapsedState
from benchwatch.tools.declarations import family, samples
from benchwatch.tools.lines import LineParser, recognise_lines
from benchwatch.tools.roles import Lost as LostRole
from benchwatch.tools.roles import Roles, Unit

RATE = family("toy_laps_per_second", "Of the toy: laps_per_second.", "lane")
WINDOW = family("toy_lap_window_seconds", "Of the toy: lap_window_seconds.", "lane", "quantile")
LAPS = family("toy_laps_total", "Of the toy: laps_total.", "lane")
FAILED = family("toy_failed_laps_total", "Of the toy: failed_laps_total.", "lane")
RESULT_RATE = family("toy_result_laps_per_second", "Of the toy: result_laps_per_second.", "lane")
RESULT_QUANTILE = family("toy_result_lap_seconds", "Of the toy: result_lap_seconds.", "lane", "quantile")
RESULT_LAPS = family("toy_result_laps", "Of the toy: result_laps.", "lane")

_START = re.compile(r"toy (\S+) starts at (\d+)")
_REPORT = re.compile(r"(\d+) (\w+) laps (\d+) p95 ([\d.]+)")
_RESULT = re.compile(r"result (\w+) laps (\d+) rate (\d+) p95 ([\d.]+)")
_LOST = re.compile(r"lost (\d+)")


class Start(NamedTuple):
    begun: float
    version: str


class Lane(NamedTuple):
    time: float
    """Seconds since the start, like the times of other tools."""
    lane: str
    figures: Mapping[str, float]


class Result(NamedTuple):
    lane: str
    figures: Mapping[str, float]


class Lost(NamedTuple):
    laps: int


class ToyParser(LineParser):
    """Reads one stream."""

    _DATED = (Start, Lane)
    _TORN = (Lane, Result, Lost)
    _begun = 0.0

    def _read(self, text: str) -> Sequence[Any] | None:
        if found := _START.fullmatch(text):
            self._begun = float(found[2])
            return [Start(self._begun, found[1])]
        if found := _REPORT.fullmatch(text):
            figures = {"rate": int(found[3]), "p95": float(found[4])}
            return [Lane(float(found[1]) - self._begun, found[2], figures)]
        if found := _RESULT.fullmatch(text):
            return [Result(found[1], {"laps": int(found[2]), "rate": int(found[3]), "p95": float(found[4])})]
        return [Lost(int(found[1]))] if (found := _LOST.fullmatch(text)) else None


class ToyState(ElapsedState):
    """What is known of one toy."""

    def __init__(self) -> None:
        super().__init__()
        self._interval = 1.0
        self._lanes: dict[str, Mapping[str, float]] = {}
        self._laps: dict[str, float] = {}
        self._results: dict[str, Mapping[str, float]] = {}
        self._lost: int | None = None

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        super().apply(record, stream, arrived)
        match record:
            case Start():
                self._begun, self.tool_version = record.begun, record.version
            case Lane(time, lane, figures):
                self.reporting.add(stream)
                self._elapsed[stream] = time
                self._lanes[lane] = figures
                self._laps[lane] = self._laps.get(lane, 0) + figures["rate"]
                self._parameters["lanes"] = str(len(self._lanes))
                self._reports.append(Report(time, sum(each["rate"] for each in self._lanes.values()), None))
            case Result(lane, figures):
                self._results[lane], self._complete = figures, True
            case Lost(laps):
                self._lost = laps

    def figures(self) -> Figures:
        rates = [each["rate"] for each in (self._results or self._lanes).values()]
        return Figures(sum(rates) if rates else None, None, None, int(sum(self._laps.values())))

    def samples(self, current: bool) -> Iterator[Sample]:
        for lane, figures in self._lanes.items() if current else ():
            yield from samples({"rate": RATE, "p95": WINDOW}, figures, lane, "0.95")
        yield from (Sample(LAPS, (lane,), laps) for lane, laps in self._laps.items())
        for lane, figures in self._results.items():
            yield from samples(
                {"rate": RESULT_RATE, "p95": RESULT_QUANTILE, "laps": RESULT_LAPS}, figures, lane, "0.95"
            )
        if self._lost is not None:
            yield from (Sample(FAILED, (lane,), self._lost * (lane == "left")) for lane in self._laps)


TOY = Tool(
    name="toy",
    families=(RATE, WINDOW, LAPS, FAILED, RESULT_RATE, RESULT_QUANTILE, RESULT_LAPS),
    roles=(
        Roles(
            unit=Unit("laps/s"),
            operations="laps",
            labels=("lane",),
            rate=RATE,
            database=True,
            window=WINDOW,
            total=LAPS,
            lost={"failed": LostRole(FAILED, of=(LAPS, FAILED), bad=True)},
            result_rate=RESULT_RATE,
            result_quantile=RESULT_QUANTILE,
            result_operations=RESULT_LAPS,
            sources={RATE: "From the toy's own reports.", WINDOW: "The toy's own percentile."},
        ),
    ),
    kinds={"text": Kind(ToyParser)},
    recognise=recognise_lines(_START.match),
    new_state=lambda *_: ToyState(),
    advice="--report gives",
    example="toy --report",
)


def output(
    seconds: int = 60,
    rate: Callable[[int], int] = lambda second: 100 + second % 3,
    *,
    start: int = 1_790_000_000,
    ended: bool = True,
) -> bytes:
    """What a toy prints; `rate` gives the laps of the left lane in each second, the right one does half of them."""
    lines = [f"toy 1.0 starts at {start}"]
    left = [rate(second) for second in range(1, seconds + 1)]
    for second, laps in enumerate(left, 1):
        p95 = 0.25 / laps
        lines += [
            f"{start + second} left laps {laps} p95 {p95:.6f}",
            f"{start + second} right laps {laps // 2} p95 {p95:.6f}",
        ]
    if ended:
        whole = sum(left)
        lines += [
            f"result left laps {whole} rate {whole // seconds} p95 {25 / whole * seconds / 100:.6f}",
            f"result right laps {whole // 2} rate {whole // 2 // seconds} p95 {25 / whole * seconds / 100:.6f}",
            "lost 3",
        ]
    return "\n".join(lines).encode() + b"\n"
