"""What the storage controller does for the chosen runs' vdisks: those of the log left, those of the data right.

Of more than ten, the ten with the highest latency: more lines can neither be read nor be asked for every second.
"""

from collections.abc import Callable, Sequence

from grafana_foundation_sdk.models import dashboard

from .panels import graph
from .queries import Query, lately, named, oplog_writes
from .variables import VDISK_ROLES

NO_CVM = "No page of a Nutanix CVM was read in this time range. To watch one, set nutanix.cvms in benchwatch.yaml"
CVM = 'cvm=~"$cvm"'


def highest(name: str, vdisks: str, *labels: str) -> str:
    """A figure of vdisks, from the page itself: of two exporters that read it the higher value."""
    return f"max by ({', '.join(('cvm', 'vdisk', *labels))}) (nutanix_vdisk_{name}{{{vdisks}}})"


def slowest(name: str, vdisks: str, *labels: str) -> str:
    """The same of a latency, the highest of the pages that were read in each step of a graph."""
    pages = lately(f"nutanix_vdisk_{name}_latency_seconds{{{vdisks}}}")
    return f"max by ({', '.join(('cvm', 'vdisk', *labels))}) ({pages})"


def _of(role: str, series: Callable[[str], str], legend: str) -> Query:
    """`series` is given the matchers of the vdisks."""
    by = f'{CVM},vdisk=~"${role}_vdisk"'
    return Query(named(series(by), by, VDISK_ROLES[role]), f"{{{{which}}}} {legend}".strip(), minimum_step="10s")


def _panel(
    role: str, what: str, shows: str, *queries: Query, unit: str, bad: str, log: bool = False, part: bool = True
) -> dashboard.Panel:
    made = graph(
        f"{role.capitalize()} vdisks: {what}",
        f"{shows} Shows the slowest ten; select others at the top.",
        *queries,
        unit=unit,
        bad=bad,
        none=NO_CVM,
        size=(12, 6),
        log=log,
        maximum=1 if part else None,
    )
    made.max_data_points = 120  # the pages are read every 10 s, and there may be many vdisks
    return made


def _latency(role: str) -> dashboard.Panel:
    return _panel(
        role,
        "front-end latency",
        "What the virtual machine sees, by direction: the average over the page's own short window, the highest in "
        "each step.",
        _of(role, lambda by: slowest("frontend", by, "op"), "{{op}}"),
        unit="s",
        bad="writes above some milliseconds: the oplog no longer absorbs them.",
        log=True,
        part=False,
    )


def _absorbed(role: str) -> dashboard.Panel:
    return _panel(
        role,
        "absorbed by the oplog",
        "Share of the written data that went to the oplog (Write Destination).",
        _of(role, oplog_writes, ""),
        unit="percentunit",
        bad="falls from 100 %: writes go straight to the extent store and wait for its disks.",
    )


def _random(role: str) -> dashboard.Panel:
    return _panel(
        role,
        "random share",
        "How random the operations were (Ops and Randomness), by direction.",
        _of(role, lambda by: highest("random_ratio", by, "op"), "{{op}}"),
        unit="percentunit",
        bad="flips within a run: another load than intended reaches the vdisk.",
    )


def _far(by: str) -> str:
    """By source; 0 without a source where nothing came from these and something from others."""
    every = f"nutanix_vdisk_read_source_ratio{{{by}"
    far = f'max by (cvm, vdisk, source) ({every},source=~".*(hdd|remote).*"}})'
    return f"{far} or on (cvm, vdisk) 0 * max by (cvm, vdisk) ({every}}})"


def _read_source(role: str) -> dashboard.Panel:
    made = _panel(
        role,
        "reads from HDD or remote",
        "Share of the data read that came from hard disks, and from another node (remote), as in the table Read "
        "Source.",
        _of(role, _far, "{{source}}"),
        unit="percentunit",
        bad="HDD above 0 once the data should be on SSD; remote: the VM or its vdisk is on another node than its data.",
    )
    assert made.field_config is not None
    made.field_config.defaults.no_value = "Nothing was read from these vdisks in this time range"
    return made


def vdisks() -> Sequence[dashboard.Panel]:
    """One measure a line."""
    return [made(role) for made in (_latency, _absorbed, _read_source, _random) for role in VDISK_ROLES]


def controller(size: tuple[int, int] = (12, 6)) -> Sequence[dashboard.Panel]:
    """Queues and oplog of the CVMs."""
    return [
        graph(
            "CVM queues",
            "Operations queued and admitted by queue of the CVM.",
            Query(
                f"max by (cvm, queue, state) (nutanix_stargate_queue_operations{{{CVM}}})",
                "{{cvm}} {{queue}} {{state}}",
            ),
            unit="short",
            bad="queued above 0 for longer than a poll: the CVM is saturated.",
            none=NO_CVM,
            size=size,
        ),
        graph(
            "Oplog fill",
            "Used part of the CVM's oplog, by store.",
            Query(f"max by (cvm, store) (nutanix_oplog_utilisation_ratio{{{CVM}}})", "{{cvm}} {{store}}"),
            unit="percentunit",
            bad="rises throughout the run: it drains more slowly than it fills; in the end, writes bypass it.",
            none="No page /oplog_flush_stats of a Nutanix CVM was read in this time range",
            size=size,
            maximum=1,
        ),
    ]
