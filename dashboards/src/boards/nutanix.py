"""Nutanix vdisks: what the virtual machine sees, what the oplog and the caches do, and how the CVM fares."""

from grafana_foundation_sdk.models import dashboard

from . import storage, variables
from .board import Board, Row
from .look import GREEN, ORANGE, RED
from .panels import BOTH, graph, heatmap, stat, text
from .queries import VDISK, Query, hdd_reads, named, now, oplog_writes
from .tables import Column, table

_NAME = "{{which}}"
_NO_DETAILS = (
    "No vdisk page was read in this time range. To read one, set nutanix.vdisks.include or the mapping in "
    "benchwatch.yaml"
)
_CVM = 'cvm=~"$cvm"'


def _vdisk(name: str, legend: str, *labels: str, more: str = "") -> Query:
    return Query(named(storage.highest(name, f"{VDISK}{more}", *labels), VDISK), f"{_NAME} {legend}".strip())


def _latency(name: str, legend: str, *labels: str) -> Query:
    return Query(named(storage.slowest(name, VDISK, *labels), VDISK), f"{_NAME} {legend}".strip())


def _overview() -> list[dashboard.Panel]:
    return [
        stat(
            "CVMs answering",
            "Whether the last poll read and recognised each CVM's main page.",
            now(f"max by (cvm) (nutanix_cvm_up{{{_CVM}}})", "{{cvm}}"),
            unit="bool_yes_no",
            bad="No: its numbers are kept for three poll intervals and then dropped.",
            none="none",
            size=(8, 3),
            text_mode=BOTH,
            steps=((None, RED), (1, GREEN)),
        ),
        stat(
            "Age of the page",
            "Time since the main page was last read.",
            now(f"max(time() - max by (cvm) (nutanix_cvm_last_success_timestamp_seconds{{{_CVM}}}))", "age"),
            unit="s",
            bad="above 30 s: three polls were missed.",
            none="none",
            size=(8, 3),
            steps=((None, GREEN), (30, ORANGE), (60, RED)),
            decimals=0,
        ),
        stat(
            "Front-end writes",
            "Write latency that the virtual machine sees, the highest of the selected vdisks.",
            now(f'max(nutanix_vdisk_frontend_latency_seconds{{{VDISK},op="write"}})', "write"),
            unit="s",
            bad="above some milliseconds.",
            none="none",
            size=(8, 3),
        ),
        stat(
            "Writes to the oplog",
            "Share of the writes that the oplog absorbed, the lowest of the selected vdisks.",
            now(f"min({oplog_writes(VDISK)})", "oplog"),
            unit="percentunit",
            bad="below 100 %: writes go straight to the extent store.",
            none="none",
            size=(8, 3),
            steps=((None, RED), (0.5, ORANGE), (0.9, GREEN)),
        ),
        stat(
            "Reads from HDD",
            "Share of the reads that came from hard disks, the highest of the selected vdisks.",
            now(f"max({hdd_reads(VDISK)})", "HDD"),
            unit="percentunit",
            bad="above 0 once the working set should be on SSD.",
            none="none",
            size=(8, 3),
            steps=((None, GREEN), (0.05, ORANGE), (0.3, RED)),
        ),
        stat(
            "QoS queue",
            "Operations that wait for admission, all queues of the CVMs.",
            now(f'sum(max by (cvm, queue) (nutanix_stargate_queue_operations{{{_CVM},state="queued"}}))', "queued"),
            unit="short",
            bad="above 0 for longer than a poll: the CVM is saturated.",
            none="none",
            size=(8, 3),
            steps=((None, GREEN), (1, ORANGE), (50, RED)),
        ),
    ]


def _front_end() -> list[dashboard.Panel]:
    return [
        graph(
            "Front-end latency",
            "What the virtual machine sees, by vdisk and direction: the average over the page's own short window, the "
            "highest in each step.",
            _latency("frontend", "{{op}}", "op"),
            unit="s",
            bad="writes above some milliseconds, or the log's vdisk rising with the data's bursts.",
            none=storage.NO_CVM,
            log=True,
        ),
        graph(
            "Front-end operations",
            "Operations a second as the virtual machine issues them.",
            _vdisk("frontend_ops_per_second", "{{op}}", "op"),
            unit="iops",
            bad="the log's writes vanish while the data's burst.",
            none=storage.NO_CVM,
        ),
        graph(
            "Front-end throughput",
            "Bytes a second as the virtual machine issues them.",
            _vdisk("frontend_bytes_per_second", "{{op}}", "op"),
            unit="Bps",
            bad="a plateau: a limit of the vdisk or of the network.",
            none=storage.NO_CVM,
        ),
        graph(
            "Outstanding and queue",
            "Operations in flight at the front end, and their average number over the page's window.",
            _vdisk("frontend_outstanding_ops", "{{op}}", "op"),
            _vdisk("frontend_queue_length", "queue"),
            unit="short",
            bad="above 24 or so sustained writes: sequential ones may then bypass the oplog.",
            none=storage.NO_CVM,
        ),
    ]


def _histogram(what: str, op: str) -> dashboard.Panel:
    metric, unit, which, bad = {
        "latency": ("frontend_latency", "s", "latency", "a second band above the main one."),
        "size": ("size", "bytes", "size", "not what the database writes (8 kB pages, 16 to 32 kB of log)."),
    }[what]
    return heatmap(
        f"{op.capitalize()} {what} distribution",
        f"{op.capitalize()}s of the selected vdisks by {which}, in the window of about 3 s of their detail pages.",
        Query(
            f'sum by (le) (max by (cvm, vdisk, le) (nutanix_vdisk_{metric}_window_ios{{{VDISK},op="{op}"}}))',
            "{{le}}",
            minimum_step="10s",
        ),
        unit=unit,
        bad=bad,
        none=_NO_DETAILS,
    )


def _pattern() -> list[dashboard.Panel]:
    return [
        graph(
            "Random share",
            "Random share of the operations over about 3 s (Ops and Randomness).",
            _vdisk("random_ratio", "{{op}}", "op"),
            unit="percentunit",
            bad="flips within a run: another load than intended reaches the vdisk.",
            none=_NO_DETAILS,
            maximum=1,
        ),
        graph(
            "Sequential share",
            "Sequential share of the operations over about 3 s: their pattern, not whether they bypass the oplog.",
            _vdisk("sequential_ratio", "{{op}}", "op"),
            unit="percentunit",
            bad="low on the log's vdisk: something else writes to it.",
            none=_NO_DETAILS,
            maximum=1,
        ),
    ]


def _destinations() -> list[dashboard.Panel]:
    return [
        graph(
            "Write destination",
            "Where the data of the last 3 s or so was written to.",
            _vdisk("write_destination_ratio", "{{destination}}", "destination"),
            unit="percentunit",
            bad="anything but oplog for random or small writes.",
            none=_NO_DETAILS,
            maximum=1,
        ),
        graph(
            "Read source",
            "Where the data read in the last 3 s or so came from.",
            _vdisk("read_source_ratio", "{{source}}", "source"),
            unit="percentunit",
            bad="estore_hdd, or a growing part of it: the working set has left SSD.",
            none=_NO_DETAILS,
            maximum=1,
        ),
        graph(
            "Oplog: not yet drained",
            "Data in the oplog that the extent store does not have yet.",
            _vdisk("oplog_bytes", ""),
            unit="bytes",
            bad="grows throughout the run: it drains more slowly than it fills, and will be full in the end.",
            none=storage.NO_CVM,
        ),
        graph(
            "Writes: front end, oplog, back end",
            "Writes a second at the front end, into the oplog, and behind it (the back end leaves "
            "out what the oplog absorbed).",
            _vdisk("frontend_ops_per_second", "front end", "op", more=',op="write"'),
            _vdisk("oplog_ops_per_second", "oplog"),
            _vdisk("backend_ops_per_second", "back end", "op", more=',op="write"'),
            unit="iops",
            bad="the oplog's line falls below the front end's.",
            none=storage.NO_CVM,
        ),
        graph(
            "Working set",
            "Data touched within the last 2 minutes and the last hour, by read, write and either.",
            _vdisk("working_set_bytes", "{{window}} {{op}}", "op", "window"),
            unit="bytes",
            bad="above the caches and the SSD tier that it shares.",
            none=_NO_DETAILS,
        ),
        graph(
            "Up-migrated extent groups",
            "Extent groups moved from HDD to SSD within the window.",
            _vdisk("extent_group_up_migrations", "{{window}}", "window"),
            unit="short",
            bad="above 0 in a run that should be warm: its first minutes were read from HDD.",
            none=_NO_DETAILS,
        ),
    ]


def _back_end() -> list[dashboard.Panel]:
    return [
        graph(
            "Back-end latency",
            "Average of reads and writes together behind the oplog, the highest in each step: not what the virtual "
            "machine sees.",
            _latency("backend", ""),
            unit="s",
            bad="rises while the front end's does not yet: the oplog still hides it.",
            none=storage.NO_CVM,
            size=(8, 7),
            log=True,
        ),
        graph(
            "Back-end outstanding",
            "Operations in flight behind the front end.",
            _vdisk("outstanding_ops", "{{op}}", "op"),
            unit="short",
            bad="grows.",
            none=storage.NO_CVM,
            size=(8, 7),
        ),
        graph(
            "Busy",
            "Share of the time in which the vdisk was busy, at the front end, as the page prints it: also above 100 %.",
            _vdisk("frontend_busy_ratio", ""),
            unit="percentunit",
            bad="near 100 % with few operations: each takes long.",
            none=storage.NO_CVM,
            size=(8, 7),
        ),
    ]


def _named_vdisks() -> str:
    """Each once: of two exporters that know a vdisk the one with a mapping counts."""
    by = "group by (cvm, vdisk, vdisk_name, vm, disk, role)"
    mapped = " or ".join(f'{by} (nutanix_vdisk_info{{{_CVM},{label}!=""}})' for label in ("vm", "role"))
    return f"{mapped} or on (cvm, vdisk) {by} (nutanix_vdisk_info{{{_CVM}}})"


def _controller() -> list[dashboard.Panel]:
    def disks(what: str) -> str:
        return f"sum by (cvm, tier) (max by (cvm, disk, tier) (nutanix_disk_{what}_bytes{{{_CVM}}}))"

    return [
        *storage.controller((12, 6)),
        graph(
            "Content cache hits",
            "Hits of the content cache.",
            Query(f"max by (cvm, kind) (nutanix_content_cache_hit_ratio{{{_CVM}}})", "{{cvm}} {{kind}}"),
            unit="percentunit",
            bad="falls while the working set is the same: another load takes the cache.",
            none=storage.NO_CVM,
            size=(8, 7),
            maximum=1,
        ),
        graph(
            "Free space by tier",
            "Free share of the disks of each tier.",
            Query(f"{disks('available')} / {disks('size')}", "{{cvm}} {{tier}}"),
            unit="percentunit",
            bad="SSD below 25 %: data is moved down while the benchmark runs.",
            none=storage.NO_CVM,
            size=(8, 7),
            maximum=1,
        ),
        graph(
            "Poll duration",
            "Time that the last poll of the CVM took, all pages together.",
            Query(f"max by (cvm) (nutanix_cvm_poll_duration_seconds{{{_CVM}}})", "{{cvm}}"),
            unit="s",
            bad="near the poll interval: read fewer detail pages.",
            none=storage.NO_CVM,
            size=(12, 6),
        ),
        table(
            "Vdisks",
            "The vdisks that the CVMs host, with their entries in the mapping.",
            now(_named_vdisks()),
            columns=[
                Column("cvm", "CVM", width=90),
                Column("vdisk", "Vdisk", width=90),
                Column("role", "Role", width=80),
                Column("vm", "VM", width=80),
                Column("disk", "Disk", width=80),
                Column("vdisk_name", "Name"),
            ],
            bad="no role: alerts and the live dashboard cannot tell log from data.",
            none="No vdisk is known at the end of this time range. To watch a CVM: nutanix.cvms in benchwatch.yaml",
            size=(12, 6),
            sort=("Role", "down"),
        ),
    ]


def _now(name: str, role: str, *labels: str) -> Query:
    """A figure of the vdisks of a role, at the end of the time range."""
    by = f'{_CVM},vdisk=~"${role}_vdisk"'
    return now(named(storage.highest(name, by, *labels), by, variables.VDISK_ROLES[role]))


def _pages(role: str) -> list[dashboard.Panel]:
    """The tables of a vdisk's page, and its line of the main page, as they were at the end of the time range."""
    which = Column("which", "Vdisk")
    when = "Shows the page at the end of the time range; move the range to step through time."
    operation = Column("op", "Operation", width=90)
    title = f"{role.capitalize()} vdisks"

    def page(
        what: str, shows: str, columns: list[Column], *queries: Query, bad: str, height: int = 7
    ) -> dashboard.Panel:
        letters = [f"Value #{letter}" for letter in "ABCDEFGH"] if len(queries) > 1 else ["Value"]
        values = iter(letters)
        placed = [column if column.field else column._replace(field=next(values)) for column in columns]
        return table(
            f"{title}: {what}",
            f"{shows} {when}",
            *queries,
            columns=placed,
            bad=bad,
            none="No page was read at the end of this time range",
            size=(12, height),
            sort=("Vdisk", "up"),
        )

    main = (
        ("frontend_ops_per_second", "Ops/s", "iops"),
        ("frontend_bytes_per_second", "Throughput", "Bps"),
        ("frontend_latency_seconds", "Latency", "s"),
        ("frontend_outstanding_ops", "Outstanding", "short"),
        ("backend_ops_per_second", "Back-end ops/s", "iops"),
        ("random_ratio", "Random", "percentunit"),
    )
    ranges = {
        "latency": ("frontend_latency", "s", "Below", "seconds"),
        "size": ("size", "bytes", "Up to", "bytes"),
    }
    made = [
        page(
            "operations",
            "Front end, back end and pattern.",
            [which, operation, *(Column("", heading, unit) for _, heading, unit in main)],
            *(_now(name, role, "op") for name, _, _ in main),
            bad="latency of writes above some milliseconds.",
            height=5,
        )
    ]
    for what, (metric, unit, below, suffix) in ranges.items():
        made.append(
            page(
                what,
                f"Operations by {what}: how many had at most this (cumulative), and the average of those of the range.",
                [
                    which,
                    operation,
                    Column("le", below, unit, width=90),
                    Column("", "Operations", "none", decimals=0),
                    Column("", "Average of the range", unit),
                ],
                _now(f"{metric}_window_ios", role, "op", "le"),
                _now(f"{metric}_range_{suffix}", role, "op", "le"),
                bad="operations far beyond the range of the others.",
            )
        )
    sources = (("read_source", "source"), ("write_destination", "destination"))
    for metric, label in sources:
        made.append(
            page(
                metric.replace("_", " "),
                "Share of the data, and bytes a second (in whole MB/s).",
                [
                    which,
                    Column(label, label.capitalize()),
                    Column("", "Share", "percentunit"),
                    Column("", "Data", "Bps"),
                ],
                *(_now(f"{metric}_{unit}", role, label) for unit in ("ratio", "bytes_per_second")),
                bad="reads from HDD or from another node; writes to anything but the oplog.",
                height=5,
            )
        )
    return made


def _side_by_side() -> list[dashboard.Panel]:
    """The log's tables left, the data's right."""
    return [panel for pair in zip(_pages("log"), _pages("data"), strict=True) for panel in pair]


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
    variables=[*variables.standard(), variables.cvm(), variables.vdisk(), *variables.vdisks_by_role()],
    rows=[
        Row("", _overview()),
        Row("Front end: what the virtual machine sees", _front_end()),
        Row(  # closed at first: a heatmap without data has no words but "No data"
            "Latency and size",
            [_histogram(what, op) for what in ("latency", "size") for op in ("read", "write")],
            collapsed=True,
        ),
        Row("Pattern", _pattern()),
        Row("Oplog, read source, working set", _destinations()),
        Row("Back end", _back_end()),
        Row("The CVM", _controller()),
        Row("The pages at the end of the time range: log left, data right", _side_by_side(), collapsed=True),
        Row("", [text("How to add a CVM", _HELP, shows="How to add a CVM and the details of a vdisk.", size=(24, 4))]),
    ],
)
