"""Prints docs/metrics.md: all metric families that the code declares, by the part of the exporter they belong to."""

import re
from collections.abc import Iterator, Sequence

from benchwatch.metrics import exposition
from benchwatch.metrics.samples import Family
from benchwatch.nutanix import families as nutanix
from benchwatch.runs import watcher as runs
from benchwatch.runs import worker_families as worker_metrics
from benchwatch.server import processes
from benchwatch.server.ingest import Pushes
from benchwatch.server.own_metrics import DISK_INFO, OwnMetrics
from benchwatch.tools.registry import TOOLS
from benchwatch.why import exported

_INTRODUCTION = """\
# Metrics

Generated from the code by `scripts/document-metrics`. Names in `_total` are counters, others gauges unless stated.
Part: what `/metrics?collect[]=` selects. What a new version may change: [contract.md](contract.md).

A tool's gauges are those of its last report (fio: of the time between two documents); its counters begin with the run
and end at its final report; `_result_` is of the whole run. After a semicolon: the same figure in the part `runs`. In
parentheses: the tool's word. Latencies are absent when nothing completed. All series of runs and tools carry `run` and
`worker`, those of Nutanix `cvm`.
"""


def sections() -> Sequence[tuple[str, Sequence[Family]]]:
    """Title and families of each section."""
    return (
        (
            "The exporter",
            (
                *own_families(),
                *runs.FAMILIES,
                DISK_INFO,
                *processes.FAMILIES,
                *exposition.FAMILIES,
            ),
        ),
        ("Runs", worker_metrics.FAMILIES),
        *((tool.name, tuple(tool.families)) for tool in TOOLS),
        ("Why a run is slow", exported.FAMILIES),
        ("Nutanix", tuple(nutanix.FAMILIES)),
    )


def own_families() -> Iterator[Family]:
    """The metrics of the exporter about itself, as prometheus_client exposes them."""
    own = OwnMetrics()
    Pushes(own)
    endings = {"counter": "_total", "info": "_info"}
    for metric in own.registry.collect():
        kind = "gauge" if metric.type == "info" else metric.type
        labels = tuple(metric.samples[0].labels)
        yield Family(f"{metric.name}{endings.get(metric.type, '')}", kind, metric.documentation, labels)


def markdown() -> str:
    """The reference of all metrics, as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield from _INTRODUCTION.splitlines()
    for title, families in sections():
        yield from ("", f"## {title}")
        figures = _figures(families)
        for part in dict.fromkeys(family.part for family, *_ in figures):
            yield from ("", f"Part `{part}`:", "")
            yield from (_line(figure) for figure in figures if figure[0].part == part)


def _figures(families: Sequence[Family]) -> list[list[Family]]:
    """Families that export the same figure: of its last report, since the start, and of the whole run."""
    figures: dict[object, list[Family]] = {}
    for family in families:
        figures.setdefault((_help(family), family.labels, family.kind == "histogram"), []).append(family)
    return list(figures.values())


def _line(figure: Sequence[Family]) -> str:
    first = figure[0]
    labels = ",".join([*first.labels, "..."] if first.more_labels else first.labels)
    kind = "" if first.kind in ("gauge", "counter") else f" ({first.kind})"
    names = [", ".join(f"`{one.name}`" for one in figure if (one.part == first.part) is same) for same in (True, False)]
    return f"- {'; '.join(filter(None, names))}{f' `{{{labels}}}`' if labels else ''}{kind}: {_help(first)}"


def _help(family: Family) -> str:
    """What a family is, without what its kind and name say."""
    return re.sub(r"( per second)?, (last (report|interval|window)|since the start|whole run)\.$", ".", family.help)


if __name__ == "__main__":
    print(markdown(), end="")
