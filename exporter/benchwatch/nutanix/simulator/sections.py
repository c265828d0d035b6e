"""The tables of the pages, filled from the loads of vdisks.

Titles, labels and their order are those of public screenshots of 2015 (see `main_page` and `vdisk_page`).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from .load import KILOBYTE, LATENCY_EDGES, MEGABYTE, SIZE_EDGES, Bucket, Load, LoadStream, shared, total
from .page_html import BAR, Cell, Link, PageBar, PageColumn, PageDocument, PageSection

READ_SOURCES = ("Oplog", "Extent cache", "Cache DRAM", "Cache SSD", "Estore SSD", "Estore HDD", "Block Store", "Zeroes")
_WRITE_DESTINATIONS = ("Oplog", "Estore", "Block Store")
_DRAINED_KILOBYTES = 320
"""Size of a write that drains the oplog, approximately."""

_OVERVIEW = """\
Start time|{0.start}
Build version|el6-release-master-038d4c7d75cbc6ed21e64d357c94303350159807
Build last commit date|2015-05-30 14:14:03 -0700
Stargate handle|{0.address}:2009
iSCSI handle|{0.address}:3261
SVM id|{0.svm_id}
Incarnation id|{0.incarnation}
Highest allocated opid|{allocated}
Highest contiguous completed opid|{completed}
Content cache total hits(NonDedup)|{hits}
Content cache flash pagin pct(NonDedup)|0
Content cache total hits(Dedup)|0%
Content cache flash pagin pct(Dedup)|0%
Content cache memory usage|3220 MB
Content cache physical memory usage|3224 MB
Content cache flash usage|0 MB
QoS Queue (size/admitted)|{queued}/{admitted}
Oplog QoS queue (size/admitted)|{oplog_queued}/0
NFS Flush Queue (size/admitted)|0/0
NFS cache usage|0 MB"""


def _columns(header: str) -> tuple[PageColumn, ...]:
    """Columns separated by `|`; those of a group are `group: label, label`."""
    groups = (part.partition(": ") for part in header.split(" | "))
    return tuple(PageColumn(group, label) for group, _, labels in groups for label in labels.split(", "))


_CLUSTER_COLUMNS = _columns(f"SVM Id | IP:port | Incarnation | SSD-PCIe{2 * ' | SSD-SATA'}{4 * ' | DAS-SATA'}")
_FRONTEND_COLUMNS = _columns(
    "VDisk Name | Unstable data: KB, Ops/s, KB/s | Outstanding ops: Read, Write | Ops/s: Read, Write, Error"
    " | KB/s: Read, Write | Avg latency (usec): Read, Write | Avg op size | Avg outstanding | % busy"
)
_HOSTED_COLUMNS = _columns(
    "VDisk Id | VDisk Name | Usage (GB) | Dedup (GB) | Oplog: KB, Fragments, Ops/s, KB/s"
    " | Outstanding ops: Read, Write, Estore | Ops/s: Read, Write, Error, Random | KB/s: Read, Write"
    " | Avg latency (usec) | Avg op size | Avg qlen | % busy"
)
_HOSTED_NOTE = (
    "Space saved by deduplication is counted once per copy.<br>"
    '<a href="/oplog_flush_stats">Oplog flush statistics</a> <a href="/vdisk_stats">Stats for all VDisks</a>'
)


class Stargate(NamedTuple):
    """One CVM of the cluster, as its own and the others' pages show it."""

    address: str
    svm_id: str
    incarnation: str
    start: str
    disks: Sequence[str | None]


def overview(stargate: Stargate, **figures: int | str) -> PageSection:
    """The overview: highest allocated and completed operation, cache hits, operations queued and admitted."""
    lines = _OVERVIEW.format(stargate, **figures).splitlines()
    return PageSection("overview", "", (), tuple(tuple(line.split("|")) for line in lines))


def cluster_state(stargates: Iterable[Stargate]) -> PageSection:
    """The table of all CVMs and their disks."""
    rows = []
    for stargate in stargates:
        handle = f"{stargate.address}:2009"
        rows.append((stargate.svm_id, Link(handle, f"http://{handle}/"), stargate.incarnation, *stargate.disks))
    return PageSection("cluster_state", "Cluster State", _CLUSTER_COLUMNS, tuple(rows), heading="table")


def frontend(rows: Iterable[tuple[Cell, ...]]) -> PageSection:
    """The front-end view with these rows."""
    return PageSection("nfs", "NFS Slave", _FRONTEND_COLUMNS, tuple(rows), heading="table")


def hosted(rows: Iterable[tuple[Cell, ...]]) -> PageSection:
    """The back-end view with these rows."""
    return PageSection("hosted_vdisks", "Hosted VDisks", _HOSTED_COLUMNS, tuple(rows), _HOSTED_NOTE, "table")


def frontend_row(name: str, load: Load) -> tuple[Cell, ...]:
    """The load of a vdisk as the virtual machine sees it."""
    read, write = load.read, load.write
    reads, writes = (_outstanding(stream.rate, stream.average_latency) for stream in (read, write))
    operations = (round(reads), round(writes), read.rate, write.rate, 0)
    throughput = (read.kilobytes, write.kilobytes, read.average_latency, write.average_latency)
    size = _mean_size(read.rate + write.rate, read.kilobytes + write.kilobytes)
    return _row(name, 0, 0, 0, *operations, *throughput, size, round(reads + writes), _busy(reads + writes))


def hosted_row(vdisk: str, name: str, load: Load) -> tuple[Cell, ...]:
    """The part of a vdisk's load that reaches the store: reads, writes past the oplog, and writes that drain it."""
    read, write = load.read, load.write
    into_oplog = round(write.rate * load.oplog_share)
    past = write.rate - into_oplog
    drains = load.drain_kilobytes // _DRAINED_KILOBYTES
    operations = read.rate + past + drains
    kilobytes = past * write.average_size // KILOBYTE + drains * _DRAINED_KILOBYTES
    latency = read.average_latency * 2 // 5 if load.backend_latency is None else int(load.backend_latency)
    latency = latency if operations else 0
    random = round(read.rate * read.random + past * write.random) if operations else None
    waiting = _outstanding(operations, latency)
    oplog = (load.oplog_kilobytes, load.oplog_fragments, into_oplog, into_oplog * write.average_size // KILOBYTE)
    rates = (read.rate, past + drains, 0, random, read.kilobytes, kilobytes)
    averages = (latency, _mean_size(operations, read.kilobytes + kilobytes), round(waiting), _busy(waiting))
    under_way = ("0, 0KB", "0, 0KB", 0)
    return _row(vdisk_link(vdisk), name, load.usage_gigabytes, 0, *oplog, *under_way, *rates, *averages)


def vdisk_link(vdisk: str) -> Link:
    """A link to the page of a vdisk."""
    return Link(vdisk, f"/vdisk_stats?vdisk_id={vdisk}")


def vdisk_document(vdisk: str, load: Load) -> PageDocument:
    """The page of one vdisk."""
    read, write = load.read, load.write
    into_oplog = {"Oplog": load.oplog_share, "Estore": 1 - load.oplog_share}
    working_set = (_row(f"{op} WSS (MB)", *load.working_set.get(op, (0, 0))) for op in ("Read", "Write", "Union"))
    sections = (
        operations(vdisk, read, write),
        latencies(vdisk, "Read", read.latency_buckets()),
        latencies(vdisk, "Write", write.latency_buckets()),
        _sizes(vdisk, "Read", read.size_buckets()),
        _sizes(vdisk, "Write", write.size_buckets()),
        vdisk_section(vdisk, "Working Set Sizes", ("", "2 min", "1 hr"), working_set),
        _shares(vdisk, "Read Source", READ_SOURCES, load.read_source, read.kilobytes),
        _shares(vdisk, "Write Destination", _WRITE_DESTINATIONS, into_oplog, write.kilobytes),
        up_migrations(vdisk, load.up_migrations),
    )
    return PageDocument(f"VDisk {vdisk} Stats", sections)


def oplog_document(rows: Iterable[tuple[str, int, int]], capacity_kilobytes: int) -> PageDocument:
    """The page of the oplog's flushing: a row of (vdisk, KB in the oplog, fragments) per vdisk, and the totals."""
    vdisks = list(rows)
    used = sum(kilobytes for _, kilobytes, _ in vdisks)
    percent = f"{100 * used / capacity_kilobytes:.1f}"
    totals = _row("Total", used, capacity_kilobytes, percent, 0, capacity_kilobytes, "0.0")
    body = (*(_row(*row, None, None, None, None) for row in vdisks), totals)
    return PageDocument("Oplog flush statistics", (PageSection("oplog_flush_stats", "", (), body),))


def vdisk_section(vdisk: str, title: str, labels: Iterable[str], rows: Iterable[tuple[Cell, ...]]) -> PageSection:
    """A table of a vdisk's page."""
    key = title.lower().replace(" ", "_").replace("-", "_")
    return PageSection(key, f"VDisk {vdisk} {title}", tuple(map(PageColumn, labels)), tuple(rows))


def operations(vdisk: str, read: LoadStream, write: LoadStream) -> PageSection:
    """Rates in thousands and the pattern of reads and writes."""
    streams = (read, write)
    rates = [round(stream.rate / 1000) for stream in streams]
    megabytes = [round(stream.kilobytes / 1024) for stream in streams]
    random = [round(100 * stream.random) if stream.rate else 0 for stream in streams]
    sequential = [100 - percent if stream.rate else 0 for percent, stream in zip(random, streams, strict=True)]
    rows = (
        _row("IOPS (kIO/s)", *rates, sum(rates)),
        _row("IO Rate (MB/s)", *megabytes, sum(megabytes)),
        _row("Random %", *random, None),
        _row("Sequential %", *sequential, None),
    )
    return vdisk_section(vdisk, "Ops and Randomness", ("", "Read", "Write", "Total"), rows)


def latencies(vdisk: str, op: str, buckets: Sequence[Bucket]) -> PageSection:
    """The histogram of latencies, a bucket per range of LATENCY_EDGES."""
    edges = [f"{int(edge) // 1000} ms" for edge in LATENCY_EDGES[1:-1]]
    return _histogram(vdisk, f"Frontend {op} Latency", op, edges, buckets)


def _sizes(vdisk: str, op: str, buckets: Sequence[Bucket]) -> PageSection:
    edges = [f"{int(edge) // KILOBYTE} kB" if edge < MEGABYTE else "1 MB" for edge in SIZE_EDGES[1:-1]]
    return _histogram(vdisk, f"{op} Size Distribution", op, edges, buckets)


def _histogram(vdisk: str, title: str, op: str, edges: Sequence[str], buckets: Sequence[Bucket]) -> PageSection:
    everything = total(buckets)
    ranges = [f"{low} <= x < {high}" for low, high in pairwise(("0", *edges, "inf"))]
    rows = []
    for label, bucket in zip((*ranges, "Total"), (*buckets, everything), strict=True):
        ratio = bucket.operations / everything.operations if bucket.operations else 0
        numbers = (bucket.average, bucket.operations, f"{round(100 * ratio)}%") if bucket.operations else (None,) * 3
        rows.append((*_row(label, *numbers), PageBar(ratio)))
    labels = ("Latency Range", "Average Bucket Latency", f"Number of {op} IOs", f"Percent of {op} IOs", BAR)
    return vdisk_section(vdisk, title, labels, rows)


def _shares(vdisk: str, title: str, names: Sequence[str], shares: Mapping[str, float], kilobytes: int) -> PageSection:
    labels = list(dict.fromkeys((*names, *shares)))
    parts = [shares.get(name, 0) for name in labels]
    rows = []
    for label, percent, part in zip(labels, shared(100, parts), shared(kilobytes, parts), strict=True):
        rows.append(_row(label, *((part // 1024, f"{percent}%") if part and kilobytes else (None, None))))
    rows.append(_row("Total", *((kilobytes // 1024, "100%") if kilobytes else (None, None))))
    return vdisk_section(vdisk, title, (title.split()[1], "Data (MB/s)", "Percent"), rows)


def up_migrations(vdisk: str, counts: tuple[int, int, int]) -> PageSection:
    """The extent groups that moved up within 5 minutes, 1 hour and 1 day."""
    spans = zip((300, 3600, 86400), counts, strict=True)
    return vdisk_section(vdisk, "Extent Group Up-Migration", (), (_row(f"Last {s} seconds", n) for s, n in spans))


def _row(*values: Cell | int) -> tuple[Cell, ...]:
    return tuple(str(value) if isinstance(value, int) else value for value in values)


def _outstanding(rate: int, latency: float) -> float:
    """Average number of operations under way: rate times latency (microseconds)."""
    return rate * latency / 1e6


def _busy(outstanding: float) -> int:
    return min(100, round(100 * outstanding / (1 + outstanding)))


def _mean_size(operations: int, kilobytes: int) -> int | None:
    return kilobytes * KILOBYTE // operations if operations else None
