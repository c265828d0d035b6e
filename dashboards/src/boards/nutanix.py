"""Nutanix vdisks: what the virtual machine sees, what the oplog and the caches do, and how the CVM fares."""

from grafana_foundation_sdk.models import dashboard

from . import storage, variables
from .board import Board, Row
from .look import ORANGE, PURPLE, RED, override
from .panels import heatmap, text
from .queries import VDISK, Query, hdd_reads, named, now, oplog_writes
from .storage import CVM
from .strips import strip
from .tables import Column, table

_NAME = "{{which}}"
_ROLES = [
    override("byRegexp", f"/ {role}$/", color={"mode": "shades", "fixedColor": color})
    for role, color in (("log", PURPLE), ("data", ORANGE))
]
_NO_DETAILS = (
    "No vdisk page was read in this time range. To read one, set nutanix.vdisks.include or the mapping in "
    "benchwatch.yaml"
)


def _vdisk(name: str, legend: str, *labels: str) -> Query:
    """From the page, which is read every 10 s."""
    return Query(named(storage.highest(name, VDISK, *labels), VDISK), f"{_NAME} {legend}".strip(), minimum_step="10s")


def _latency(name: str, legend: str, *labels: str) -> Query:
    return Query(named(storage.slowest(name, VDISK, *labels), VDISK), f"{_NAME} {legend}".strip(), minimum_step="10s")


def _table() -> dashboard.Panel:
    def of(op: str) -> str:
        return f'max by (cvm, vdisk) (nutanix_vdisk_frontend_latency_seconds{{{VDISK},op="{op}"}})'

    shown = (
        of("write"),
        of("read"),
        oplog_writes(VDISK),
        hdd_reads(VDISK),
        storage.highest("random_ratio", VDISK),
        f"sum by (cvm, vdisk) ({storage.highest('frontend_ops_per_second', VDISK, 'op')})",
        storage.highest("frontend_queue_length", VDISK),
        storage.highest("oplog_bytes", VDISK),
    )
    latency = ((None, "text"), (0.005, ORANGE), (0.02, RED))
    oplog, far = ((None, RED), (0.5, ORANGE), (0.9, "text")), ((None, "text"), (0.05, ORANGE), (0.3, RED))
    return table(
        "",
        "A line for each vdisk, the slowest first, as its page was last read; with VM, disk and role of the mapping.",
        *(now(named(one, VDISK)) for one in shown),
        columns=[
            Column("which", "Vdisk"),
            Column("cvm", "CVM", width=110),
            Column("vdisk", "Number", width=90),
            Column("Value #A", "Write latency", "s", steps=latency, as_text=True),
            Column("Value #B", "Read latency", "s", steps=latency, as_text=True),
            Column("Value #C", "To the oplog", "percentunit", steps=oplog, as_text=True),
            Column("Value #D", "From HDD", "percentunit", steps=far, as_text=True),
            Column("Value #E", "Random", "percentunit"),
            Column("Value #F", "Operations", "iops"),
            Column("Value #G", "Queue", "short"),
            Column("Value #H", "Oplog, not drained", "bytes"),
        ],
        bad="write latency above some milliseconds, or less than 100 % to the oplog.",
        none="No vdisk is known at the end of this time range. To watch a CVM: nutanix.cvms in benchwatch.yaml",
        size=(24, 5),
        sort=("Write latency", "down"),
    )


def _vdisks() -> list[dashboard.Panel]:
    def ratio(label: str, shows: str, *queries: Query, bad: str, height: int = 2) -> dashboard.Panel:
        return strip(
            label,
            shows,
            *queries,
            unit="percentunit",
            bad=bad,
            none=_NO_DETAILS,
            height=height,
            maximum=1.1,
            slow=_WHERE,
            overrides=_ROLES,
        )

    return [
        strip(
            "Front end",
            "What the virtual machine sees, by vdisk and direction: the average over the page's own short window, the "
            "highest in each step.",
            _latency("frontend", "{{op}}", "op"),
            unit="s",
            bad="writes above some milliseconds, or the log's vdisk rising with the data's bursts.",
            none=storage.NO_CVM,
            height=4,
            log=True,
            slow=_WHERE,
        ),
        ratio(
            "Oplog",
            "Share of the written data that went to the oplog (Write Destination).",
            Query(named(oplog_writes(VDISK), VDISK), _NAME, minimum_step="10s"),
            bad="falls from 100 %: writes go straight to the extent store and wait for its disks.",
        ),
        ratio(
            "HDD",
            "Share of the data read that came from hard disks (Read Source).",
            Query(named(hdd_reads(VDISK), VDISK), _NAME, minimum_step="10s"),
            bad="above 0 once the data should be on SSD: the working set has left it.",
        ),
        ratio(
            "Random",
            "Random share of the operations over about 3 s (Ops and Randomness), by direction.",
            _vdisk("random_ratio", "{{op}}", "op"),
            bad="flips within a run: another load than intended reaches the vdisk.",
            height=3,
        ),
        strip(
            "Operations",
            "Operations a second as the virtual machine issues them.",
            _vdisk("frontend_ops_per_second", "{{op}}", "op"),
            unit="iops",
            bad="the log's writes vanish while the data's burst.",
            none=storage.NO_CVM,
            height=4,
            slow=_WHERE,
        ),
        strip(
            "Queue",
            "Average number of operations in flight at the front end over the page's window.",
            _vdisk("frontend_queue_length", ""),
            unit="short",
            bad="above 24 or so sustained writes: sequential ones may then bypass the oplog.",
            none=storage.NO_CVM,
            height=2,
            overrides=_ROLES,
            slow=_WHERE,
        ),
        strip(
            "In oplog",
            "Data in the oplog that the extent store does not have yet.",
            _vdisk("oplog_bytes", ""),
            unit="bytes",
            bad="grows throughout the run: it drains more slowly than it fills, and will be full in the end.",
            none=storage.NO_CVM,
            height=2,
            overrides=_ROLES,
            slow=_WHERE,
        ),
        strip(
            "Back end",
            "Average latency of reads and writes together behind the oplog, the highest in each step: not what the "
            "virtual machine sees.",
            _latency("backend", ""),
            unit="s",
            bad="rises while the front end's does not yet: the oplog still hides it.",
            none=storage.NO_CVM,
            log=True,
            overrides=_ROLES,
            slow=_WHERE,
        ),
        *storage.controller(),
        heatmap(
            "Write latency distribution",
            "Writes of the selected vdisks by latency, in the window of about 3 s of their detail pages.",
            Query(
                "sum by (le) (max by (cvm, vdisk, le) "
                f'(nutanix_vdisk_frontend_latency_window_ios{{{VDISK},op="write"}}))',
                "{{le}}",
                minimum_step="10s",
            ),
            unit="s",
            bad="a second band above the main one.",
            none=_NO_DETAILS,
            size=(24, 7),
        ),
    ]


_WHERE = f"nutanix_cvm_up{{{CVM}}}"
_HELP = """\
No numbers above? Then the exporter reads no CVM; everything else works without one. To add one, put this into
`benchwatch.yaml`:
`nutanix: {cvms: [{name: cvm-a, url: "http://127.0.0.1:12009"}]}`,
reached through `ssh -L 12009:127.0.0.1:2009 nutanix@<cvm>`.
`benchwatch nutanix check http://127.0.0.1:12009` says what benchwatch recognises on its pages.
The exporter reads three pages only, every 10 s at most. Latency distributions,
randomness, read source and write destination need a detail page of the vdisk:
name it in `nutanix.vdisks.include` or in `nutanix.mapping`.
"""

BOARD = Board(
    uid="benchwatch-nutanix",
    description="Nutanix vdisks and their CVM during a benchmark, from the pages on port 2009, read every 10 s.",
    variables=[*variables.standard(newest=True, hidden=True), variables.cvm(), variables.vdisk()],
    rows=[
        Row("", [_table(), *_vdisks()]),
        Row("", [text("How to add a CVM", _HELP, shows="How to add a CVM and the details of a vdisk.", size=(24, 4))]),
    ],
)
