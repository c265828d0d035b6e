"""All metric families, by the part of the page to which they belong; the source of docs/metrics.md."""

from collections.abc import Iterator, Sequence

from ..metrics import exposition
from ..metrics.samples import Family
from ..nutanix import metrics as nutanix
from ..runs import families as worker_metrics
from ..runs import watcher as runs
from ..tools.registry import TOOLS
from . import connections, process
from . import ingest as push


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
