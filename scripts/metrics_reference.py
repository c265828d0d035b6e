"""Prints docs/metrics.md: all metric families that the code declares, by the part of the exporter they belong to."""

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


def sections() -> Sequence[tuple[str, str, Sequence[Family]]]:
    """Title, labels that all series of the section carry, and the families."""
    return (
        (
            "The exporter",
            "",
            (
                *own_families(),
                *runs.FAMILIES,
                DISK_INFO,
                *processes.FAMILIES,
                *exposition.FAMILIES,
            ),
        ),
        ("Runs", "run, worker", worker_metrics.FAMILIES),
        *((tool.name, "run, worker", tuple(tool.families)) for tool in TOOLS),
        ("Why a run is slow", "", exported.FAMILIES),
        ("Nutanix", "cvm", tuple(nutanix.FAMILIES)),
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
    yield "# Metrics"
    yield ""
    yield "Generated from the code by `scripts/document-metrics`. Names in `_total` are counters, others gauges unless"
    yield "stated. Part: what `/metrics?collect[]=` selects. What a new version may change: [contract.md](contract.md)."
    yield ""
    yield "pgbench's last interval is that of its last report, fio's last window the time between two documents."
    yield "Latencies are absent when nothing completed."
    yield "Counters of a run never run ahead of its tool, and end at its final report. In parentheses: the tool's word."
    for title, labels, families in sections():
        common = f" Every series carries `{labels.replace(', ', '`, `')}`." if labels else ""
        yield from ("", f"## {title}", "", f"{len(families)} families.{common}")
        for part in dict.fromkeys(family.part for family in families):
            yield from ("", f"Part `{part}`:", "")
            yield from (_line(family) for family in families if family.part == part)


def _line(family: Family) -> str:
    labels = ",".join([*family.labels, "..."] if family.more_labels else family.labels)
    kind = "" if family.kind in ("gauge", "counter") else f" ({family.kind})"
    return f"- `{family.name}`{f' `{{{labels}}}`' if labels else ''}{kind}: {family.help}"


if __name__ == "__main__":
    print(markdown(), end="")
