"""The tables of the pages, filled from the loads of vdisks.

Titles, labels and their order are those of public screenshots of 2015 (see `main_page` and `vdisk_page`).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from .load import KILOBYTE, LATENCY_EDGES, MEGABYTE, SIZE_EDGES, Bucket, Load, LoadStream, shared, total
from .page_html import BAR, Cell, Link, PageBar, PageColumn, PageDocument, PageSection

READ_SOURCES = (
    "Oplog",
    "Extent cache",
    "Cache DRAM",
    "Cache SSD",
    "Estore SSD",
    "Estore HDD",
    "Block Store",
    "Zeroes",
)
WRITE_DESTINATIONS = ("Oplog", "Estore", "Block Store")
TIERS = ("SSD-PCIe", "SSD-SATA", "SSD-SATA", "DAS-SATA", "DAS-SATA", "DAS-SATA", "DAS-SATA")

FRONTEND_COLUMNS = (
    PageColumn("VDisk Name"),
    *(PageColumn("Unstable data", label) for label in ("KB", "Ops/s", "KB/s")),
    *(PageColumn("Outstanding ops", label) for label in ("Read", "Write")),
    *(PageColumn("Ops/s", label) for label in ("Read", "Write", "Error")),
    *(PageColumn("KB/s", label) for label in ("Read", "Write")),
    *(PageColumn("Avg latency (usec)", label) for label in ("Read", "Write")),
    PageColumn("Avg op size"),
    PageColumn("Avg outstanding"),
    PageColumn("% busy"),
)
HOSTED_COLUMNS = (
    PageColumn("VDisk Id"),
    PageColumn("VDisk Name"),
    PageColumn("Usage (GB)"),
    PageColumn("Dedup (GB)"),
    *(PageColumn("Oplog", label) for label in ("KB", "Fragments", "Ops/s", "KB/s")),
    *(PageColumn("Outstanding ops", label) for label in ("Read", "Write", "Estore")),
    *(PageColumn("Ops/s", label) for label in ("Read", "Write", "Error", "Random")),
    *(PageColumn("KB/s", label) for label in ("Read", "Write")),
    PageColumn("Avg latency (usec)"),
    PageColumn("Avg op size"),
    PageColumn("Avg qlen"),
    PageColumn("% busy"),
)
HOSTED_NOTE = (
    "Space saved by deduplication is counted once per copy.<br>"
    '<a href="/oplog_flush_stats">Oplog flush statistics</a> <a href="/vdisk_stats">Stats for all VDisks</a>'
)
_DRAINED_KILOBYTES = 320
"""Size of a write that drains the oplog, approximately."""


class Stargate(NamedTuple):
    """One CVM of the cluster, as its own and the others' pages show it."""

    address: str
    svm_id: str
    incarnation: str
    start: str
    disks: Sequence[str | None]


def overview(
    stargate: Stargate, opids: tuple[int, int], hits: str, queue: tuple[int, int], oplog_queued: int = 0
) -> PageSection:
    """The overview: highest allocated and completed operation, cache hits, operations queued and admitted."""
    rows = {
        "Start time": stargate.start,
        "Build version": "el6-release-master-038d4c7d75cbc6ed21e64d357c94303350159807",
        "Build last commit date": "2015-05-30 14:14:03 -0700",
        "Stargate handle": f"{stargate.address}:2009",
        "iSCSI handle": f"{stargate.address}:3261",
        "SVM id": stargate.svm_id,
        "Incarnation id": stargate.incarnation,
        "Highest allocated opid": str(opids[0]),
        "Highest contiguous completed opid": str(opids[1]),
        "Content cache total hits(NonDedup)": hits,
        "Content cache flash pagin pct(NonDedup)": "0",
        "Content cache total hits(Dedup)": "0%",
        "Content cache flash pagin pct(Dedup)": "0%",
        "Content cache memory usage": "3220 MB",
        "Content cache physical memory usage": "3224 MB",
        "Content cache flash usage": "0 MB",
        "QoS Queue (size/admitted)": f"{queue[0]}/{queue[1]}",
        "Oplog QoS queue (size/admitted)": f"{oplog_queued}/0",
        "NFS Flush Queue (size/admitted)": "0/0",
        "NFS cache usage": "0 MB",
    }
    return PageSection("overview", "", (), tuple(rows.items()))


def cluster_state(stargates: Iterable[Stargate]) -> PageSection:
    """The table of all CVMs and their disks."""
    rows = []
    for stargate in stargates:
        handle = f"{stargate.address}:2009"
        own_page = Link(handle, f"http://{handle}/")
        rows.append((stargate.svm_id, own_page, stargate.incarnation, *stargate.disks))
    columns = map(PageColumn, ("SVM Id", "IP:port", "Incarnation", *TIERS))
    return PageSection("cluster_state", "Cluster State", tuple(columns), tuple(rows), heading="table")


def frontend(rows: Iterable[tuple[Cell, ...]]) -> PageSection:
    """The front-end view with these rows."""
    return PageSection("nfs", "NFS Slave", FRONTEND_COLUMNS, tuple(rows), heading="table")


def hosted(rows: Iterable[tuple[Cell, ...]]) -> PageSection:
    """The back-end view with these rows."""
    return PageSection("hosted_vdisks", "Hosted VDisks", HOSTED_COLUMNS, tuple(rows), HOSTED_NOTE, "table")


def frontend_row(name: str, load: Load) -> tuple[Cell, ...]:
    """The load of a vdisk as the virtual machine sees it."""
    read, write = load.read, load.write
    waiting = [_outstanding(stream.rate, stream.average_latency) for stream in (read, write)]
    rates = [read.rate, write.rate, 0, read.kilobytes, write.kilobytes]
    numbers = [0, 0, 0, *map(round, waiting), *rates, read.average_latency, write.average_latency]
    size = _mean_size(read.rate + write.rate, read.kilobytes + write.kilobytes)
    return (name, *map(str, numbers), size, str(round(sum(waiting))), str(_busy(sum(waiting))))


def vdisk_link(vdisk: str) -> Link:
    """A link to the page of a vdisk."""
    return Link(vdisk, f"/vdisk_stats?vdisk_id={vdisk}")


def hosted_row(vdisk: str, name: str, load: Load) -> tuple[Cell, ...]:
    """The part of a vdisk's load that reaches the store: reads, writes past the oplog, and writes that drain it."""
    into_oplog = round(load.write.rate * load.oplog_share)
    past = load.write.rate - into_oplog
    drains = load.drain_kilobytes // _DRAINED_KILOBYTES
    writes = past + drains
    write_kilobytes = past * load.write.average_size // KILOBYTE + drains * _DRAINED_KILOBYTES
    operations = load.read.rate + writes
    latency = load.read.average_latency * 2 // 5 if load.backend_latency is None else int(load.backend_latency)
    latency = latency if operations else 0
    random = round(load.read.rate * load.read.random + past * load.write.random)
    waiting = _outstanding(operations, latency)
    oplog = (load.oplog_kilobytes, load.oplog_fragments, into_oplog, into_oplog * load.write.average_size // KILOBYTE)
    return (
        vdisk_link(vdisk),
        name,
        *map(str, (load.usage_gigabytes, 0, *oplog)),
        *("0, 0KB", "0, 0KB", "0"),
        *map(str, (load.read.rate, writes, 0)),
        str(random) if operations else None,
        *map(str, (load.read.kilobytes, write_kilobytes, latency)),
        _mean_size(operations, load.read.kilobytes + write_kilobytes),
        *map(str, (round(waiting), _busy(waiting))),
    )


def vdisk_document(vdisk: str, load: Load) -> PageDocument:
    """The page of one vdisk."""
    read, write = load.read, load.write
    into_oplog = {"Oplog": load.oplog_share, "Estore": 1 - load.oplog_share}
    sections = (
        operations(vdisk, read, write),
        latencies(vdisk, "Read", read.latency_buckets()),
        latencies(vdisk, "Write", write.latency_buckets()),
        _sizes(vdisk, "Read", read.size_buckets()),
        _sizes(vdisk, "Write", write.size_buckets()),
        _working_set(vdisk, load.working_set),
        _shares(vdisk, "Read Source", READ_SOURCES, load.read_source, read.kilobytes),
        _shares(vdisk, "Write Destination", WRITE_DESTINATIONS, into_oplog, write.kilobytes),
        up_migrations(vdisk, load.up_migrations),
    )
    return PageDocument(f"VDisk {vdisk} Stats", sections)


def oplog_document(rows: Iterable[tuple[str, int, int]], capacity_kilobytes: int) -> PageDocument:
    """The page of the oplog's flushing: a row of (vdisk, KB in the oplog, fragments) per vdisk, and the totals."""
    vdisks = list(rows)
    used = sum(kilobytes for _, kilobytes, _ in vdisks)
    percent = f"{100 * used / capacity_kilobytes:.1f}"
    body = [(name, str(kilobytes), str(fragments), None, None, None, None) for name, kilobytes, fragments in vdisks]
    totals = ("Total", str(used), str(capacity_kilobytes), percent, "0", str(capacity_kilobytes), "0.0")
    return PageDocument("Oplog flush statistics", (PageSection("oplog_flush_stats", "", (), (*body, totals)),))


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
    rows: tuple[tuple[Cell, ...], ...] = (
        ("IOPS (kIO/s)", *map(str, rates), str(sum(rates))),
        ("IO Rate (MB/s)", *map(str, megabytes), str(sum(megabytes))),
        ("Random %", *map(str, random), None),
        ("Sequential %", *map(str, sequential), None),
    )
    return vdisk_section(vdisk, "Ops and Randomness", ("", "Read", "Write", "Total"), rows)


def latencies(vdisk: str, op: str, buckets: Sequence[Bucket]) -> PageSection:
    """The histogram of latencies, a bucket per range of LATENCY_EDGES."""
    edges = ["0", *(f"{int(edge) // 1000} ms" for edge in LATENCY_EDGES[1:-1]), "inf"]
    return _histogram(vdisk, f"Frontend {op} Latency", op, edges, buckets)


def _sizes(vdisk: str, op: str, buckets: Sequence[Bucket]) -> PageSection:
    kilobytes = [f"{int(edge) // KILOBYTE} kB" if edge < MEGABYTE else "1 MB" for edge in SIZE_EDGES[1:-1]]
    return _histogram(vdisk, f"{op} Size Distribution", op, ["0", *kilobytes, "inf"], buckets)


def _histogram(vdisk: str, title: str, op: str, edges: Sequence[str], buckets: Sequence[Bucket]) -> PageSection:
    everything = total(buckets)
    ranges = [f"{low} <= x < {high}" for low, high in pairwise(edges)]
    rows: list[tuple[Cell, ...]] = []
    for label, bucket in zip((*ranges, "Total"), (*buckets, everything), strict=True):
        if bucket.operations:
            ratio = bucket.operations / everything.operations
            percent = f"{round(100 * ratio)}%"
            rows.append((label, str(bucket.average), str(bucket.operations), percent, PageBar(ratio)))
        else:
            rows.append((label, None, None, None, PageBar(0)))
    labels = ("Latency Range", "Average Bucket Latency", f"Number of {op} IOs", f"Percent of {op} IOs", BAR)
    return vdisk_section(vdisk, title, labels, rows)


def _working_set(vdisk: str, sizes: Mapping[str, tuple[int, int]]) -> PageSection:
    rows = ((f"{op} WSS (MB)", *map(str, sizes.get(op, (0, 0)))) for op in ("Read", "Write", "Union"))
    return vdisk_section(vdisk, "Working Set Sizes", ("", "2 min", "1 hr"), rows)


def _shares(vdisk: str, title: str, names: Sequence[str], shares: Mapping[str, float], kilobytes: int) -> PageSection:
    labels = list(dict.fromkeys((*names, *shares)))
    parts = [shares.get(name, 0) for name in labels]
    rows: list[tuple[Cell, ...]] = []
    for label, percent, part in zip(labels, shared(100, parts), shared(kilobytes, parts), strict=True):
        some = bool(part and kilobytes)
        rows.append((label, str(part // 1024), f"{percent}%") if some else (label, None, None))
    rows.append(("Total", str(kilobytes // 1024), "100%") if kilobytes else ("Total", None, None))
    return vdisk_section(vdisk, title, (title.split()[1], "Data (MB/s)", "Percent"), rows)


def up_migrations(vdisk: str, counts: tuple[int, int, int]) -> PageSection:
    """The extent groups that moved up within 5 minutes, 1 hour and 1 day."""
    spans = zip((300, 3600, 86400), counts, strict=True)
    rows = ((f"Last {span} seconds", str(count)) for span, count in spans)
    return vdisk_section(vdisk, "Extent Group Up-Migration", (), rows)


def _outstanding(rate: int, latency: float) -> float:
    """Average number of operations under way: rate times latency (microseconds)."""
    return rate * latency / 1e6


def _busy(outstanding: float) -> int:
    return min(100, round(100 * outstanding / (1 + outstanding)))


def _mean_size(operations: int, kilobytes: int) -> str | None:
    return str(kilobytes * KILOBYTE // operations) if operations else None
