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
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from mmap import mmap
from typing import Any, NamedTuple

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.limits import Limits
from benchwatch.metrics.samples import Family, Part, Sample
from benchwatch.tools.api import HISTORY, Figures, Kind, Misread, Moment, Outcome, Report, Times, Tool, Written
from benchwatch.tools.roles import Lost as LostRole
from benchwatch.tools.roles import Roles, Unit


def _family(name: str, *labels: str, part: Part = "live") -> Family:
    return Family(
        f"toy_{name}", "counter" if name.endswith("_total") else "gauge", f"Of the toy: {name}.", labels, part
    )


RATE = _family("laps_per_second", "lane")
WINDOW = _family("lap_window_seconds", "lane", "quantile")
LAPS = _family("laps_total", "lane")
FAILED = _family("failed_laps_total", "lane")
RESULT_RATE = _family("result_laps_per_second", "lane", part="runs")
RESULT_QUANTILE = _family("result_lap_seconds", "lane", "quantile", part="runs")
RESULT_LAPS = _family("result_laps", "lane", part="runs")

_REPORT = re.compile(r"(\d+) (\w+) laps (\d+) p95 ([\d.]+)")
_RESULT = re.compile(r"result (\w+) laps (\d+) rate (\d+) p95 ([\d.]+)")


class Start(NamedTuple):
    time: float


class Lane(NamedTuple):
    time: float
    lane: str
    laps: int
    p95: float


class Result(NamedTuple):
    lane: str
    laps: int
    rate: float
    p95: float


class Lost(NamedTuple):
    laps: int


class ToyParser:
    """Reads one stream, line by line."""

    def __init__(self) -> None:
        self.records = 0
        self._rest = b""

    @property
    def undated(self) -> bool:
        return False

    def feed(self, data: bytes) -> Sequence[Any]:
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [record for line in lines if (record := self._read(line)) is not None]

    def settle(self) -> Sequence[Any]:
        return ()

    def close(self) -> Sequence[Any]:
        return self.feed(b"\n") if self._rest else ()

    def _read(self, line: bytes) -> object:
        text = line.decode()
        record: object
        if text.startswith("toy 1.0 starts at "):
            record = Start(float(text.split()[-1]))
        elif found := _REPORT.fullmatch(text):
            record = Lane(float(found[1]), found[2], int(found[3]), float(found[4]))
        elif found := _RESULT.fullmatch(text):
            record = Result(found[1], int(found[2]), float(found[3]), float(found[4]))
        elif text.startswith("lost "):
            record = Lost(int(text.split()[-1]))
        else:
            return Misread("line", "toy", text) if text else None
        self.records += 1
        return record


def moments(data: bytes | mmap) -> Iterator[Moment]:
    """Each report, at the end of its line."""
    for found in re.finditer(rb"(?m)^(\d+) .*\n", data):
        yield Moment(found.end(), float(found[1]))


class ToyState:
    """What is known of one toy."""

    report_interval = 1.0
    reason = ""
    idle_reports = 0

    def __init__(self) -> None:
        self.version = 0
        self.tool_version = ""
        self.start: float | None = None
        self.last_report: float | None = None
        self.history: deque[Report] = deque(maxlen=HISTORY)
        self.reporting: set[str] = set()
        self.left_behind = ()
        self._lanes: dict[str, Lane] = {}
        self._laps: dict[str, int] = {}
        self._results: dict[str, Result] = {}
        self._lost: int | None = None

    @property
    def end(self) -> float | None:
        return self.last_report if self._results else None

    @property
    def outcome(self) -> Outcome:
        return "finished" if self._results else ""

    def apply(self, record: Any, stream: str, arrived: float) -> None:
        self.version += 1
        if isinstance(record, Start):
            self.start, self.tool_version = record.time, "1.0"
        elif isinstance(record, Lane):
            self.reporting.add(stream)
            self._lanes[record.lane], self.last_report = record, record.time
            self._laps[record.lane] = self._laps.get(record.lane, 0) + record.laps
            self.history.append(Report(record.time, sum(lane.laps for lane in self._lanes.values()), None))
        elif isinstance(record, Result):
            self._results[record.lane] = record
        elif isinstance(record, Lost):
            self._lost = record.laps

    def written(self, stream: str, times: Written) -> None:
        """Its reports are dated."""

    def over(self) -> None:
        """Nothing follows from a silence."""

    def tick(self, now: float) -> None:
        """Nothing waits."""

    def reached(self, time: float) -> None:
        """Nothing waits."""

    def parameters(self) -> Mapping[str, str]:
        return {"lanes": str(len(self._lanes))} if self._lanes else {}

    def figures(self) -> Figures:
        of = self._results or self._lanes
        rate = sum(one.rate if isinstance(one, Result) else one.laps for one in of.values())
        return Figures(rate if of else None, None, None, sum(self._laps.values()))

    def times(self) -> Times:
        return Times()

    def samples(self, current: bool) -> Iterator[Sample]:
        for name, lane in self._lanes.items() if current else ():
            yield Sample(RATE, (name,), lane.laps)
            yield Sample(WINDOW, (name, "0.95"), lane.p95)
        for name, laps in self._laps.items():
            yield Sample(LAPS, (name,), laps)
        for name, result in self._results.items():
            yield Sample(RESULT_RATE, (name,), result.rate)
            yield Sample(RESULT_QUANTILE, (name, "0.95"), result.p95)
            yield Sample(RESULT_LAPS, (name,), result.laps)
        if self._lost is not None:
            yield from (Sample(FAILED, (lane,), self._lost * (lane == "left")) for lane in self._laps)


def _state(buckets: Buckets, limits: Limits) -> ToyState:
    return ToyState()


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
    kinds={"text": Kind(ToyParser, moments)},
    recognise=lambda head: "text" if head.startswith(b"toy 1.0 ") else "",
    new_state=_state,
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
