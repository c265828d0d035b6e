"""The tables of the pages, filled from the loads of vdisks.

Their titles, labels and order are those of public screenshots of 2015 (`main_page`, `vdisk_page`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from .document import BAR, Cell, Link, PageBar, PageColumn, PageDocument, PageSection
from .load import Bucket, Load, LoadStream, shared, total

LATENCY_RANGES = (
    "0 <= x < 1 ms",
    "1 ms <= x < 2 ms",
    "2 ms <= x < 5 ms",
    "5 ms <= x < 10 ms",
    "10 ms <= x < 20 ms",
    "20 ms <= x < 50 ms",
    "50 ms <= x < 100 ms",
    "100 ms <= x < inf",
)
SIZE_RANGES = (
    "0 <= x < 4 kB",
    "4 kB <= x < 8 kB",
    "8 kB <= x < 16 kB",
    "16 kB <= x < 32 kB",
    "32 kB <= x < 64 kB",
    "64 kB <= x < 512 kB",
    "512 kB <= x < 1 MB",
    "1 MB <= x < inf",
)
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


class SimulatedVdisk(NamedTuple):
    """What a vdisk is called."""

    id: str
    name: str


class Stargate(NamedTuple):
    """One CVM of the cluster, as its own and the others' pages show it."""

    address: str
    svm_id: str
    incarnation: str
    start: str
    disks: Sequence[str | None]


def overview(stargate: Stargate, rows: Mapping[str, str]) -> PageSection:
    """The overview; `rows` are those that change, by label."""
    known = {
        "Start time": stargate.start,
        "Build version": "el6-release-master-038d4c7d75cbc6ed21e64d357c94303350159807",
        "Build last commit date": "2015-05-30 14:14:03 -0700",
        "Stargate handle": f"{stargate.address}:2009",
        "iSCSI handle": f"{stargate.address}:3261",
        "SVM id": stargate.svm_id,
        "Incarnation id": stargate.incarnation,
    }
    return PageSection("overview", "", (), tuple({**known, **rows}.items()))


def cluster_state(stargates: Iterable[Stargate]) -> PageSection:
    """The table of all CVMs and their disks."""
    columns = (PageColumn("SVM Id"), PageColumn("IP:port"), PageColumn("Incarnation"), *map(PageColumn, TIERS))
    rows = []
    for stargate in stargates:
        handle = f"{stargate.address}:2009"
        own_page = Link(handle, f"http://{handle}/")
        rows.append((stargate.svm_id, own_page, stargate.incarnation, *stargate.disks))
    return PageSection("cluster_state", "Cluster State", columns, tuple(rows), heading="table")


def frontend(rows: Iterable[tuple[Cell, ...]]) -> PageSection:
    """The front-end view of these rows."""
    return PageSection("nfs", "NFS Slave", FRONTEND_COLUMNS, tuple(rows), heading="table")


def hosted(rows: Iterable[tuple[Cell, ...]]) -> PageSection:
    """The back-end view of these rows."""
    return PageSection("hosted_vdisks", "Hosted VDisks", HOSTED_COLUMNS, tuple(rows), HOSTED_NOTE, "table")


def frontend_row(vdisk: SimulatedVdisk, load: Load) -> tuple[Cell, ...]:
    """What the virtual machine sees of a vdisk."""
    read, write = load.read, load.write
    waiting = [_outstanding(stream.rate, stream.average_latency) for stream in (read, write)]
    rates = [read.rate, write.rate, 0, read.kilobytes, write.kilobytes]
    numbers = [0, 0, 0, *map(round, waiting), *rates, read.average_latency, write.average_latency]
    size = _mean_size(read.rate + write.rate, read.kilobytes + write.kilobytes)
    return (vdisk.name, *map(str, numbers), size, str(round(sum(waiting))), str(_busy(sum(waiting))))


def hosted_row(vdisk: SimulatedVdisk, load: Load) -> tuple[Cell, ...]:
    """What of a vdisk's load reaches the store: reads, writes past the oplog, and what the oplog drains."""
    into_oplog = round(load.write.rate * load.oplog_share)
    past = load.write.rate - into_oplog
    drains = load.drain_kilobytes // 320  # a drained write is about this large
    writes = past + drains
    write_kilobytes = past * load.write.average_size // 1024 + drains * 320
    operations = load.read.rate + writes
    latency = load.read.average_latency * 2 // 5 if load.backend_latency is None else int(load.backend_latency)
    latency = latency if operations else 0
    random = round(load.read.rate * load.read.random + past * load.write.random)
    fragment = max(load.write.average_size // 1024, 1)
    waiting = _outstanding(operations, latency)
    cells = (
        Link(vdisk.id, f"/vdisk_stats?vdisk_id={vdisk.id}"),
        vdisk.name,
        *map(str, (load.usage_gigabytes, 0)),
        *map(str, (load.oplog_kilobytes, load.oplog_kilobytes // fragment, into_oplog)),
        str(into_oplog * load.write.average_size // 1024),
        *("0, 0KB", "0, 0KB", "0"),
        *map(str, (load.read.rate, writes, 0)),
        str(random) if operations else None,
        *map(str, (load.read.kilobytes, write_kilobytes, latency)),
        _mean_size(operations, load.read.kilobytes + write_kilobytes),
        *map(str, (round(waiting), _busy(waiting))),
    )
    return cells


def vdisk_document(vdisk: str, load: Load) -> PageDocument:
    """The page of one vdisk."""
    read, write = load.read, load.write
    sections = (
        _operations(read, write),
        _histogram("Frontend Read Latency", "Read", LATENCY_RANGES, read.latency_buckets()),
        _histogram("Frontend Write Latency", "Write", LATENCY_RANGES, write.latency_buckets()),
        _histogram("Read Size Distribution", "Read", SIZE_RANGES, read.size_buckets()),
        _histogram("Write Size Distribution", "Write", SIZE_RANGES, write.size_buckets()),
        _working_set(load.working_set),
        _shares("Read Source", "Source", READ_SOURCES, load.read_source, read.kilobytes),
        _shares(
            "Write Destination",
            "Destination",
            WRITE_DESTINATIONS,
            {"Oplog": load.oplog_share, "Estore": 1 - load.oplog_share},
            write.kilobytes,
        ),
        PageSection(
            "extent_group_up_migration",
            "Extent Group Up-Migration",
            (),
            tuple(
                (f"Last {span} seconds", str(count))
                for span, count in zip((300, 3600, 86400), load.up_migrations, strict=True)
            ),
        ),
    )
    titled = (_titled(section, vdisk) for section in sections)
    return PageDocument(f"VDisk {vdisk} Stats", tuple(titled))


def oplog_document(rows: Iterable[tuple[str, int, int]], capacity_kilobytes: int) -> PageDocument:
    """The page of the oplog's flushing: (vdisk, KB in the oplog, fragments) a row, and the row of totals."""
    vdisks = list(rows)
    used = sum(kilobytes for _, kilobytes, _ in vdisks)
    percent = f"{100 * used / capacity_kilobytes:.1f}"
    body = [(name, str(kilobytes), str(fragments), None, None, None, None) for name, kilobytes, fragments in vdisks]
    totals = ("Total", str(used), str(capacity_kilobytes), percent, "0", str(capacity_kilobytes), "0.0")
    return PageDocument("Oplog flush statistics", (PageSection("oplog_flush_stats", "", (), (*body, totals)),))


def _titled(section: PageSection, vdisk: str) -> PageSection:
    return PageSection(section.key, f"VDisk {vdisk} {section.title}", section.columns, section.rows)


def _operations(read: LoadStream, write: LoadStream) -> PageSection:
    rates = [round(stream.rate / 1000) for stream in (read, write)]
    megabytes = [round(stream.kilobytes / 1024) for stream in (read, write)]
    random = [round(100 * stream.random) if stream.rate else 0 for stream in (read, write)]
    sequential = [100 - percent if stream.rate else 0 for percent, stream in zip(random, (read, write), strict=True)]
    rows: tuple[tuple[Cell, ...], ...] = (
        ("IOPS (kIO/s)", *map(str, rates), str(sum(rates))),
        ("IO Rate (MB/s)", *map(str, megabytes), str(sum(megabytes))),
        ("Random %", *map(str, random), None),
        ("Sequential %", *map(str, sequential), None),
    )
    columns = (PageColumn(""), PageColumn("Read"), PageColumn("Write"), PageColumn("Total"))
    return PageSection("ops_and_randomness", "Ops and Randomness", columns, rows)


def histogram_columns(op: str) -> tuple[PageColumn, ...]:
    """The header of a histogram of reads or writes."""
    return (
        PageColumn("Latency Range"),
        PageColumn("Average Bucket Latency"),
        PageColumn(f"Number of {op} IOs"),
        PageColumn(f"Percent of {op} IOs"),
        PageColumn(BAR),
    )


def _histogram(title: str, op: str, ranges: Sequence[str], buckets: Sequence[Bucket]) -> PageSection:
    everything = total(buckets)
    rows = [
        _bucket_row(label, bucket, everything.operations)
        for label, bucket in zip((*ranges, "Total"), (*buckets, everything), strict=True)
    ]
    return PageSection(title.lower().replace(" ", "_"), title, histogram_columns(op), tuple(rows))


def _bucket_row(label: str, bucket: Bucket, operations: int) -> tuple[Cell, ...]:
    if not bucket.operations:
        return (label, None, None, None, PageBar(0))
    ratio = bucket.operations / operations
    return (label, str(bucket.average), str(bucket.operations), f"{round(100 * ratio)}%", PageBar(ratio))


def _working_set(sizes: Mapping[str, tuple[int, int]]) -> PageSection:
    rows = []
    for op in ("Read", "Write", "Union"):
        short, long = sizes.get(op, (0, 0))
        rows.append((f"{op} WSS (MB)", str(short), str(long)))
    columns = (PageColumn(""), PageColumn("2 min"), PageColumn("1 hr"))
    return PageSection("working_set_sizes", "Working Set Sizes", columns, tuple(rows))


def _shares(title: str, head: str, names: Sequence[str], shares: Mapping[str, float], kilobytes: int) -> PageSection:
    labels = list(dict.fromkeys((*names, *shares)))
    parts = [shares.get(name, 0) for name in labels]
    rows: list[tuple[Cell, ...]] = []
    for label, percent, part in zip(labels, shared(100, parts), shared(kilobytes, parts), strict=True):
        some = bool(part and kilobytes)
        rows.append((label, str(part // 1024), f"{percent}%") if some else (label, None, None))
    rows.append(("Total", str(kilobytes // 1024), "100%") if kilobytes else ("Total", None, None))
    columns = (PageColumn(head), PageColumn("Data (MB/s)"), PageColumn("Percent"))
    return PageSection(title.lower().replace(" ", "_"), title, columns, tuple(rows))


def _outstanding(rate: int, latency: float) -> float:
    """Operations under way on average: rate times latency (microseconds)."""
    return rate * latency / 1e6


def _busy(outstanding: float) -> int:
    return min(100, round(100 * outstanding / (1 + outstanding)))


def _mean_size(operations: int, kilobytes: int) -> str | None:
    return str(kilobytes * 1024 // operations) if operations else None
