"""A tool that exists in the tests alone: laps of two lanes, with one percentile and no mean, in a text of its own.

toy 1.0 starts at 1790000000
1790000001 left laps 100 p95 0.002500
result left laps 1000 rate 100 p95 0.002600
lost 3 0
"""

from collections.abc import Callable

from benchwatch.tools.kit import Families, TextTool, ToolFigure
from benchwatch.tools.roles import Unit

LANE, BOTH = ("lane",), ("lane", "quantile")
FIGURES = {  # help; name of the gauges, name of the counter
    "rate": ToolFigure("Laps", "laps_per_second", "laps", labels=LANE, rate=True, number="number"),
    "number": ToolFigure("Laps", result="laps", labels=LANE),
    "latency": ToolFigure("Time of a lap, seconds", live="lap_window_seconds", result="lap_seconds", labels=BOTH),
    "lost": ToolFigure("Failed laps", total="failed_laps", labels=LANE),
}
FAMILIES = Families("toy", FIGURES)
ROLES = FAMILIES.roles(
    Unit("laps/s"),
    "laps",
    labels=LANE,
    database=True,
    lost={"failed": FAMILIES.lost("lost", "rate", "lost", bad=True)},
    sources={"rate": "From the toy's own reports.", "window": "The toy's own percentile."},
)
TOY = TextTool(
    name="toy",
    families=FAMILIES,
    roles=[ROLES],
    banner=r"toy (?P<version>\S+) starts at (?P<begun>\d+)",
    reports=["<unix> <lane> laps <rate> p95 <latency.0.95:6>"],
    summary=["result <lane> laps <number> rate <rate> p95 <latency.0.95:6>", "lost <lost.left> <lost.right>"],
).tool(advice="--report gives", example="toy --report")


def output(
    seconds: int = 60,
    rate: Callable[[int], int] = lambda second: 100 + second % 3,
    *,
    start: int = 1_790_000_000,
    ended: bool = True,
) -> bytes:
    """What a toy prints; `rate` gives the laps of the left lane in each second, the right one does half of them."""
    left = [rate(second) for second in range(1, seconds + 1)]
    laps = [
        (start + second, lane, n) for second, n in enumerate(left, 1) for lane, n in (("left", n), ("right", n // 2))
    ]
    lines = [f"{time} {lane} laps {n} p95 {0.25 / left[time - start - 1]:.6f}" for time, lane, n in laps]
    p95 = 0.25 / sum(left) * seconds
    for lane, n in (("left", sum(left)), ("right", sum(one // 2 for one in left))):
        lines += [f"result {lane} laps {n} rate {n // seconds} p95 {p95:.6f}"] * ended
    return "\n".join([f"toy 1.0 starts at {start}", *lines, *["lost 3 0"] * ended]).encode() + b"\n"
