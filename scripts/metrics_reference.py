"""Prints docs/metrics.md: all metric families that the code declares, by the part of the exporter they belong to."""

from collections.abc import Iterator, Sequence

from benchwatch.metrics import exposition
from benchwatch.metrics.samples import Family
from benchwatch.nutanix import cvm_metrics as nutanix
from benchwatch.runs import watcher as runs
from benchwatch.runs import worker_families as worker_metrics
from benchwatch.server import connections, process
from benchwatch.server import ingest as push
from benchwatch.tools.registry import TOOLS


def sections() -> Sequence[tuple[str, str, Sequence[Family]]]:
    """Title, labels that all series of the section carry, and the families."""
    return (
        (
            "The exporter",
            "",
            (
                *process.FAMILIES,
                *connections.FAMILIES,
                *push.FAMILIES,
                *runs.FAMILIES,
                process.DISK_INFO,
                *exposition.FAMILIES,
            ),
        ),
        ("Runs", "run, worker", worker_metrics.FAMILIES),
        *((tool.name, "run, worker", tuple(tool.families)) for tool in TOOLS),
        ("Nutanix", "cvm", tuple(nutanix.FAMILIES)),
    )


def markdown() -> str:
    """The reference of all metrics, as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Metrics"
    yield ""
    yield "Generated from the code by `scripts/document-metrics`. *Part* is what `/metrics?collect[]=` selects."
    yield "What a new version may change, and what it may not: [contract.md](contract.md)."
    for title, labels, families in sections():
        common = f" Every series carries `{labels.replace(', ', '`, `')}`." if labels else ""
        yield from ("", f"## {title}", "", f"{len(families)} families.{common}", "")
        yield from ("| name | type | part | further labels | meaning |", "|---|---|---|---|---|")
        for family in families:
            names = [f"`{name}`" for name in family.labels]
            further = ", ".join([*names, "..."] if family.more_labels else names)
            meaning = family.help.replace("|", "\\|")
            yield f"| `{family.name}` | {family.kind} | {family.part} | {further} | {meaning} |"


if __name__ == "__main__":
    print(markdown(), end="")
