"""The standard dashboard of a tool that has none made by hand, from the roles of its families: the head and the events
of Live, throughput and latency by worker, what was lost, and what the runs came to."""

from collections.abc import Iterator

from grafana_foundation_sdk.models import dashboard

from benchwatch.metrics.samples import Family
from benchwatch.tools.api import Tool
from benchwatch.tools.roles import Lost, Roles, Unit

from . import benchmark, column, variables
from .board import Board, Row
from .head import head
from .look import in_unit, override
from .panels import heatmap
from .queries import RUN, Query, histogram, mean, now, once, one_of, peak, percentiles, rate
from .strips import strip
from .tables import RUN_COMPARED, Column, table


def board(tool: Tool) -> Board:
    """The dashboard."""
    found = [roles for roles in tool.roles if roles.histogram and roles.histogram.part == "live"]
    return Board(
        uid=f"benchwatch-{tool.name}",
        description=f"{tool.name} by worker: throughput, latency, results.",
        variables=[*variables.standard(tool.name, newest=True), variables.host(hidden=True)],
        rows=[
            Row(
                "",
                [
                    head(4, [tool]),
                    column.events(3),
                    *(_rates(tool, roles) for roles in tool.roles),
                    *_latency(tool),
                    *_lost_strip(tool),
                    *(_distribution(tool, roles) for roles in found[:1]),
                    _results(tool),
                ],
            )
        ],
    )


def _legend(roles: Roles) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in ("run", "worker", *roles.labels))


def _by(roles: Roles) -> str:
    return ", ".join(("run", "worker", *roles.labels))


def _selected(family: Family, more: str = "") -> str:
    return f"{family.name}{{{RUN}{more}}}"


def _unit(unit: Unit) -> str:
    return "bps" if unit.name == "bit/s" else "Bps" if unit.in_bytes else "short"


def _rates(tool: Tool, roles: Roles) -> dashboard.Panel:
    by, whole = _by(roles), f"sum by (run) ({once(mean(_selected(roles.rate)))})"
    target = roles.target_rate and f"{_selected(roles.target_rate)} and on ({by}) {roles.rate.name}"
    wanted = [in_unit(roles.unit, f"max by ({by}) ({target})")] if target else []
    many = f"count by (run) ({_selected(roles.rate)}) > 1"
    total = Query(in_unit(roles.unit, f"{whole} and on (run) ({many})"), "{{run}} total")
    return strip(
        f"{roles.unit.name}{', other side' if roles.observer else ''}",
        "Throughput of each worker, the mean of the reports in each step"
        + ("; each is that of the whole server." if roles.whole_server else ", and of all together; target dashed."),
        Query(in_unit(roles.unit, f"max by ({by}) ({mean(_selected(roles.rate))})"), _legend(roles)),
        *([] if roles.whole_server else [total]),
        *(Query(one, f"{_legend(roles)} target") for one in wanted),
        unit=_unit(roles.unit),
        bad="one worker below the others, a saw-tooth, or 0: a total stall.",
        none=f"No report of {tool.name} in this unit in this time range",
        height=4,
        slow="1",
    )


def _latency(tool: Tool) -> Iterator[dashboard.Panel]:
    """Mean and percentiles of each worker; roles of several units may share a family."""
    means = {
        f"max by ({_by(one)}) ({peak(_selected(one.latency))})": f"{_legend(one)} mean"
        for one in tool.roles
        if one.latency
    }
    windows = {
        percentiles(
            f"max by ({_by(one)}, quantile) ({peak(_selected(one.window))})"
        ): f"{_legend(one)} {{{{quantile}}}}"
        for one in tool.roles
        if one.window
    }
    if means or windows:
        yield strip(
            "Latency",
            "Mean and percentiles of the reports of each worker, the highest in each step. A stall is a gap.",
            *(Query(expression, words) for expression, words in (means | windows).items()),
            Query(benchmark.OBJECTIVE.expression, benchmark.OBJECTIVE.legend),
            unit="s",
            bad="above the objective, one worker above the others, or rising at the same throughput.",
            none=f"No latency of {tool.name} in this time range",
            height=4,
            log=True,
            clock=True,
            slow="1",
        )


def _distribution(tool: Tool, roles: Roles) -> dashboard.Panel:
    assert roles.histogram is not None
    return heatmap(
        "Latency distribution",
        f"{roles.operations.capitalize()} per second by latency; {tool.advice} it.",
        Query(histogram(f"{roles.histogram.name}_bucket{{{RUN}}}")),
        unit="s",
        bad="a second band above the first.",
        none=benchmark.NO_RUN,
        size=(24, 7),
    )


def _lost_strip(tool: Tool) -> Iterator[dashboard.Panel]:
    lost = [(word, one) for roles in tool.roles for word, one in roles.lost.items()]
    if not lost:
        return
    asked = {
        _lost(one, _of_side(tool, roles, one)): f"{{{{run}}}} {{{{worker}}}} {word}"
        for roles in tool.roles
        for word, one in roles.lost.items()
    }
    words = " and ".join(dict.fromkeys(word for word, _ in lost))
    shares = "|".join(dict.fromkeys(word for word, one in lost if one.of))
    rates = list(dict.fromkeys(word for word, one in lost if not one.of))
    yield strip(
        "Lost",
        f"Operations that failed or had to be repeated: {', '.join([f'{word} a second' for word in rates])}"
        f"{', ' if rates and shares else ''}{f'{shares} as a part of all' if shares else ''}.",
        *(Query(expression, words_) for expression, words_ in asked.items()),
        unit="short" if rates else "percentunit",
        bad="above 0.",
        none=f"No {words} were counted in this time range",
        overrides=[override("byRegexp", f"/({shares})$/", unit="percentunit", custom__axisPlacement="hidden")]
        if rates and shares
        else [],
    )


def _of_side(tool: Tool, roles: Roles, lost: Lost) -> str:
    """A matcher of workers in PromQL: of a counter that several roles have, those workers that have this role."""
    shared = sum(lost in one.lost.values() for one in tool.roles) > 1
    return f" and on (run, worker) {_selected(roles.rate)}" if shared else ""


def _lost(lost: Lost, side: str) -> str:
    """A second; where they are a part, of those operations that were counted beside them."""
    counted = f"sum by (run, worker) ({once(rate(_selected(lost.counter)))}{side})"
    if not lost.of:
        return counted
    by = ", ".join(("run", "worker", *lost.counter.labels))
    parts = one_of("of", {str(n): once(rate(_selected(one))) for n, one in enumerate(lost.of)})
    whole = f"({parts}) and on ({by}) {_selected(lost.counter)}"
    return f"{counted} / (sum by (run, worker) ({whole}) > 0)"


def _results(tool: Tool) -> dashboard.Panel:
    """One table: a column for each family of the final reports."""
    found: dict[tuple[str, str], tuple[Roles, str, str]] = {}
    for roles in tool.roles:
        title = roles.unit.name
        for family, more, heading, unit in (
            (roles.result_rate, "", f"{title}, other side" if roles.observer else title, _unit(roles.unit)),
            (roles.result_bandwidth, "", "Bandwidth", "Bps"),
            (roles.result_latency, "", "Mean latency", "s"),
            *(
                (roles.result_quantile, f',quantile="{q}"', title, "s")
                for q, title in (("0.95", "p95"), ("0.99", "p99"))
            ),
            *(
                (one.result, "", word.capitalize(), "percentunit" if one.of else "short")
                for word, one in roles.lost.items()
            ),
        ):
            if family:
                found.setdefault((family.name, more), (roles, heading, unit))
    labels = list(dict.fromkeys(label for roles in tool.roles for label in roles.labels))
    return table(
        "Results",
        f"The final report of each finished {tool.name}, of the whole run, including the warm-up.",
        *(
            now(in_unit(roles.unit, one) if name == roles.result_rate.name else one)
            for (name, more), (roles, _, _) in found.items()
            if (one := f"max by ({_by(roles)}) ({name}{{{RUN}{more}}})")
        ),
        columns=[
            RUN_COMPARED,
            Column("worker", "Worker"),
            *(Column(label, label.capitalize()) for label in labels),
            *(
                Column(f"Value #{chr(ord('A') + place)}" if len(found) > 1 else "Value", heading, unit)
                for place, (_, heading, unit) in enumerate(found.values())
            ),
        ],
        bad="a run that is missing here has no final report: it runs, failed or was interrupted.",
        none=f"No result of {tool.name} at the end of this time range",
        size=(24, 7),
        sort=("Run", "down"),
    )
