"""The standard dashboard of a tool that has none made by hand, from the roles of its families: what it does now, over
time and by worker, and what the runs came to."""

from collections.abc import Callable, Iterator

from grafana_foundation_sdk.models import common, dashboard

from benchwatch.metrics.samples import Family
from benchwatch.tools.api import Tool
from benchwatch.tools.roles import Lost, Roles, Unit

from . import benchmark, variables
from .board import Board, Row
from .look import RED, in_unit
from .panels import graph, heatmap, stat
from .queries import RUN, Query, alive, histogram, mean, mean_of, now, once, peak, percentiles, rate
from .tables import RUN_COMPARED, Column, table


def board(tool: Tool) -> Board:
    """The dashboard. A row's heading has its unit where the tool has several."""
    rows: list[Row] = []
    for roles in tool.roles:
        of = f" ({roles.unit.name})" if len({one.unit.name for one in tool.roles}) > 1 else ""
        seen = ", seen by the other side" if roles.observer else ""
        rows += [
            Row(f"Now{of}{seen}" if rows else "", list(_overview(tool, roles))),
            Row(f"Over time{of}{seen}", list(_course(tool, roles))),
            Row(f"Results{of}{seen}", [_results(tool, roles)]),
        ]
    return Board(
        uid=f"benchwatch-{tool.name}",
        description=f"{tool.name} by worker: throughput, latency, results.",
        variables=variables.standard(tool.name, newest=True),
        rows=rows,
    )


def _by(roles: Roles) -> str:
    return f"by ({', '.join(('worker', *roles.labels))})"


def _legend(roles: Roles) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in ("worker", *roles.labels))


def _selected(family: Family, more: str = "") -> str:
    return f"{family.name}{{{RUN}{more}}}"


def _counted(roles: Roles) -> str:
    """What is in a total of a family of rates."""
    return f',{roles.operation}!~"{"|".join(sorted(roles.apart))}"' if roles.apart else ""


def _unit(unit: Unit) -> str:
    return "bps" if unit.name == "bit/s" else "Bps" if unit.in_bytes else "short"


def _amount(roles: Roles) -> str:
    """The unit of a number of operations."""
    return "bytes" if roles.operations == "bytes" else "short"


def _title(roles: Roles) -> str:
    return "Throughput" if roles.unit.in_bytes else roles.unit.name


def _window(tool: Tool, roles: Roles, over: Callable[[str], str] = str) -> str:
    """Its quantiles; where those of several units are in one family, of those workers that have this one."""
    shared = sum(one.window is roles.window for one in tool.roles) > 1
    only = f" and on (run, worker) {over(_selected(roles.rate))}" if shared else ""
    return f"{over(_selected(roles.window))}{only}" if roles.window else ""


def _overview(tool: Tool, roles: Roles) -> Iterator[dashboard.Panel]:
    width = 24 // sum(one is not None for one in (roles.rate, roles.latency, roles.window, roles.total))
    yield stat(
        _title(roles),
        "Throughput of the last report, all workers together.",
        now(in_unit(roles.unit, f"sum({once(_selected(roles.rate, _counted(roles)))})"), roles.unit.name),
        unit=_unit(roles.unit),
        bad="0 while running: a total stall.",
        none=benchmark.NO_REPORT,
        size=(width, 4),
        steps=((None, "text"), (0, RED), (0.001, "text")),
    )
    if roles.latency:
        yield stat(
            "Mean latency",
            "Mean latency of the last report, the highest of the workers.",
            now(f"max({_selected(roles.latency)})", "mean"),
            unit="s",
            bad="above the objective, or rising at the same throughput.",
            none=benchmark.NO_LATENCY,
            size=(width, 4),
        )
    if roles.window:
        yield stat(
            "Percentiles",
            "Percentiles of the last report by quantile, the highest of the workers.",
            now(percentiles(f"max by (quantile) ({_window(tool, roles)})"), "{{quantile}}"),
            unit="s",
            bad="rising at the same throughput.",
            none=benchmark.NO_PERCENTILE,
            text_mode=common.BigValueTextMode.VALUE_AND_NAME,
            size=(width, 4),
        )
    if roles.total:
        yield stat(
            f"{'Bytes' if roles.unit.in_bytes else roles.operations.capitalize()} so far",
            "Total so far, all workers together.",
            now(f"sum({once(_selected(roles.total, _counted(roles)))})", roles.operations),
            unit="bytes" if roles.unit.in_bytes else "short",
            bad="does not grow while running.",
            none="not reported",
            size=(width, 4),
        )


def _course(tool: Tool, roles: Roles) -> Iterator[dashboard.Panel]:
    none = f"No report of a run of {tool.name} in this time range"
    together = once(alive(_selected(roles.rate, _counted(roles))))
    yield graph(
        f"{_title(roles)} by worker",
        "Throughput: the mean of the reports in each step.",
        Query(in_unit(roles.unit, f"max {_by(roles)} ({mean(_selected(roles.rate))})"), _legend(roles)),
        *_target(roles),
        unit=_unit(roles.unit),
        bad="one worker below the others, or all of them down together.",
        none=none,
    )
    yield graph(
        f"Total {'throughput' if roles.unit.in_bytes else roles.unit.name}",
        "All workers of a run together.",
        Query(in_unit(roles.unit, mean_of(f"sum by (run) ({together})")), "{{run}}"),
        unit=_unit(roles.unit),
        bad="drops to 0, or a saw-tooth.",
        none=none,
    )
    if roles.bandwidth:
        yield graph(
            "Bandwidth by worker",
            "Bytes a second: the mean of the reports in each step.",
            Query(f"max {_by(roles)} ({mean(_selected(roles.bandwidth))})", _legend(roles)),
            unit="Bps",
            bad="at the limit of a device or of the network.",
            none=none,
        )
    if roles.latency:
        yield graph(
            "Mean latency by worker",
            "Mean latency of the reports, the highest in each step.",
            Query(f"max {_by(roles)} ({peak(_selected(roles.latency))})", _legend(roles)),
            unit="s",
            bad="above the objective. Absent while nothing completes: a stall is a gap here.",
            none=none,
            log=True,
        )
    if roles.window:
        yield graph(
            "Percentiles by worker",
            "Percentiles of the reports, the highest in each step.",
            Query(
                percentiles(f"max by (worker, quantile) ({_window(tool, roles, peak)})"),
                "{{worker}} {{quantile}}",
            ),
            unit="s",
            bad="one worker above the others.",
            none=none,
            log=True,
        )
    # One that comes with the final report has no course to draw.
    if roles.histogram and roles.histogram.part == "live":
        yield heatmap(
            "Latency distribution",
            f"{roles.operations.capitalize()} per second by latency; {tool.advice} it.",
            Query(histogram(f"{roles.histogram.name}_bucket{{{RUN}}}")),
            unit="s",
            bad="a second band above the first.",
            none=none,
        )
    if roles.lost:
        words = " and ".join(roles.lost)
        shares = "|".join(word for word, lost in roles.lost.items() if lost.of)
        rates = [word for word, lost in roles.lost.items() if not lost.of]
        yield graph(
            words.capitalize(),
            f"Operations that failed or had to be repeated: {', '.join([f'{word} a second' for word in rates])}"
            f"{', ' if rates and shares else ''}{f'{shares} as a part of all' if shares else ''}.",
            *(
                Query(_lost(lost, _of_side(tool, roles, lost)), f"{{{{worker}}}} {word}")
                for word, lost in roles.lost.items()
            ),
            unit="short" if rates else "percentunit",
            bad="above 0.",
            none=f"No {words} were counted in this time range",
            right=(f"/({shares})$/", "percentunit", 1) if rates and shares else None,
        )


def _target(roles: Roles) -> Iterator[Query]:
    """The rate that was asked for, while there is one to be compared with it."""
    if roles.target_rate:
        group = ", ".join(("run", "worker", *roles.labels))
        target = f"{_selected(roles.target_rate)} and on ({group}) {roles.rate.name}"
        yield Query(in_unit(roles.unit, f"max {_by(roles)} ({target})"), f"{_legend(roles)} target")


def _of_side(tool: Tool, roles: Roles, lost: Lost) -> str:
    """A matcher of workers in PromQL: of a counter that several roles have, those workers that have this role."""
    shared = sum(lost in one.lost.values() for one in tool.roles) > 1
    return f" and on (run, worker) {_selected(roles.rate)}" if shared else ""


def _lost(lost: Lost, side: str) -> str:
    """A second; where they are a part, of those operations that were counted beside them."""
    counted = f"sum by (worker) ({once(rate(_selected(lost.counter)))}{side})"
    if not lost.of:
        return counted
    by = ", ".join(("run", "worker", *lost.counter.labels))
    parts = [f'label_replace({once(rate(_selected(one)))}, "of", "{n}", "", "")' for n, one in enumerate(lost.of)]
    whole = f"({' or '.join(parts)}) and on ({by}) {_selected(lost.counter)}"
    return f"{counted} / (sum by (worker) ({whole}) > 0)"


def _results(tool: Tool, roles: Roles) -> dashboard.Panel:
    every: list[tuple[Family | None, str, str, str]] = [
        (roles.result_rate, "", _title(roles), _unit(roles.unit)),
        (roles.result_bandwidth, "", "Bandwidth", "Bps"),
        (roles.result_latency, "", "Mean latency", "s"),
        *((roles.result_quantile, f',quantile="{q}"', title, "s") for q, title in (("0.95", "p95"), ("0.99", "p99"))),
        (None if roles.result_operations is roles.total else roles.result_operations, "", "Total", _amount(roles)),
        *(
            (lost.result, "", word.capitalize(), "percentunit" if lost.of else "short")
            for word, lost in roles.lost.items()
        ),
    ]
    found = [(family, more, title, unit) for family, more, title, unit in every if family]
    names = [f"Value #{letter}" for letter in "ABCDEFGH"] if len(found) > 1 else ["Value"]
    by = ", ".join(("run", "worker", *roles.labels))
    only = f" and on ({by}) {_selected(roles.result_rate)}"  # what has another unit may be in the same family
    return table(
        "Results",
        f"The final report of each finished {tool.name}, of the whole run, including the warm-up.",
        *(
            now(
                in_unit(roles.unit, f"max by ({by}) ({_selected(family, more)})")
                if family is roles.result_rate
                else f"max by ({by}) ({_selected(family, more)}{only})"
            )
            for family, more, *_ in found
        ),
        columns=[
            RUN_COMPARED,
            Column("worker", "Worker"),
            *(Column(label, label.capitalize()) for label in roles.labels),
            *(Column(name, title, unit) for name, (_, _, title, unit) in zip(names, found, strict=False)),
        ],
        bad="a run that is missing here has no final report: it runs, failed or was interrupted.",
        none=f"No result of {tool.name} at the end of this time range",
        sort=("Run", "down"),
    )
