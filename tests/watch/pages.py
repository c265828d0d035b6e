"""Pages of made-up workers, and screens as a terminal would show them."""

import io
from collections.abc import Sequence

from rich.console import Console, Group
from rich.text import Text

from benchwatch.model.run import Loss, Measured, Run, Worker
from benchwatch.watch.known import Judged, Known, Page
from benchwatch.watch.screen import Screen

NOW = 1_790_000_000.0
URL = "http://127.0.0.1:19777"


def pgbench(
    name: str,
    rate: float | None = 1000.0,
    latency: float | None = 0.002,
    *,
    run: str = "test1",
    state: str = "running",
    reason: str = "",
    age: float = 0.5,
    quantiles: dict[str, float] | None = None,
    result: tuple[Measured, ...] = (),
    start: float = NOW - 65,
    end: float | None = None,
    objective: float | None = None,
    lost: dict[str, Loss] | None = None,
) -> Worker:
    return Worker(
        run=run,
        name=name,
        tool="pgbench",
        tool_version="15.18 (Debian)",
        unit="TPS",
        state=state,
        reason=reason,
        last_report=NOW - age,
        report_interval=1.0,
        start=start,
        end=end,
        duration=600.0,
        objective=objective,
        now=() if result else (Measured(rate=rate, latency=latency, quantiles=quantiles or {}),),
        result=result,
        lost=lost or {},
        warnings=(),
    )


def screen_of(*moments: Known, prometheus: str = "") -> Screen:
    screen = Screen(URL, prometheus)
    for moment in moments:
        screen.show(moment)
    return screen


def page(*workers: Worker, **more: object) -> Page:
    names = dict.fromkeys(worker.run for worker in workers)
    runs = tuple(Run(name, tuple(one for one in workers if one.run == name)) for name in names)
    return Page(runs, **more)  # type: ignore[arg-type]


def moment(*workers: Worker, now: float = NOW, judged: Judged | None = None, problem: str = "") -> Known:
    return Known(now, page(*workers), now, problem, judged=judged or Judged())


def rendered(lines: Sequence[Text], width: int, height: int, *, styles: bool = False) -> list[str]:
    """What a terminal of that size is sent, line by line, which must have room for it."""
    console = Console(
        width=width, height=height, record=True, file=io.StringIO(), force_terminal=True, color_system="standard"
    )
    console.print(Group(*lines), end="")
    shown = console.export_text(styles=styles).removesuffix("\n").split("\n")
    if not styles:
        assert len(shown) <= height
        assert max(map(len, shown)) <= width
    return shown


def shown(screen: Screen, width: int = 80, height: int = 24) -> list[str]:
    return [line.rstrip() for line in rendered(screen.lines(width, height), width, height)]


def row(lines: Sequence[str], start: str) -> str:
    """The line whose name begins so."""
    (found,) = [line for line in lines if line[2:].startswith(start)]
    return found
