"""The pages with the numbers of the public screenshots of 2015; sections whose numbers are not known are left out."""

from .document import Cell, Link, PageBar, PageColumn, PageDocument, PageSection
from .sections import (
    LATENCY_RANGES,
    READ_SOURCES,
    TIERS,
    Stargate,
    cluster_state,
    frontend,
    histogram_columns,
    hosted,
    oplog_document,
    overview,
)

STARGATE = Stargate(
    "10.3.140.151",
    "7",
    "30986558",
    "20150618-11:12:52-GMT-0700",
    (
        None,
        "154 (188/209)",
        "153 (188/209)",
        "152 (477/862)",
        "151 (477/862)",
        "150 (477/862)",
        "149 (438/782)",
    ),
)
assert len(STARGATE.disks) == len(TIERS)

_OVERVIEW = {
    "Highest allocated opid": "38138394",
    "Highest contiguous completed opid": "36132415",
    "Content cache total hits(NonDedup)": "86.17%",
    "Content cache flash pagin pct(NonDedup)": "0",
    "Content cache total hits(Dedup)": "0%",
    "Content cache flash pagin pct(Dedup)": "0%",
    "Content cache memory usage": "3220 MB",
    "Content cache physical memory usage": "3224 MB",
    "Content cache flash usage": "0 MB",
    "QoS Queue (size/admitted)": "0/72",
    "Oplog QoS queue (size/admitted)": "0/0",
    "NFS Flush Queue (size/admitted)": "0/0",
    "NFS cache usage": "0 MB",
}

BUSY, IDLE = "31181823", "15432793"
_BUSY_NAME = "NFS:31181823 (1a8ef41c-ae3f-4293-a46e-49d7e6c1c907)"
_IDLE_NAME = "NFS:20581239 (a849adb6-3809-423e-a89c-dd2f02d665d6)"


def _cells(text: str) -> tuple[Cell, ...]:
    return tuple(cell or None for cell in text.split("|"))


MAIN = PageDocument(
    "Stargate",
    (
        overview(STARGATE, _OVERVIEW),
        cluster_state([STARGATE]),
        frontend([_cells(f"{_BUSY_NAME}|0|0|0|0|6|2192|986|0|8768|3944|104|2198|4096|1|82")]),
        hosted(
            (
                Link(vdisk, f"/vdisk_stats?vdisk_id={vdisk}"),
                *_cells(f"{name}|{numbers}"),
            )
            for vdisk, name, numbers in (
                (
                    BUSY,
                    _BUSY_NAME,
                    "2|0|198372|49593|990|3960|0, 0KB|0, 0KB|0|2192|1|0|2193|8768|320|46|4243|0|10",
                ),
                (IDLE, _IDLE_NAME, "0|0|0|0|0|0|0, 0KB|0, 0KB|0|0|0|0||0|0|0||0|0"),
            )
        ),
    ),
)


OPLOG = oplog_document((), 1638399)


def _histogram(vdisk: str, op: str, texts: tuple[str, ...]) -> PageSection:
    rows = []
    for label, text in zip((*LATENCY_RANGES, "Total"), texts, strict=True):
        numbers = _cells(text)
        ratio = int(str(numbers[2]).removesuffix("%")) / 100 if numbers[2] else 0
        rows.append((label, *numbers, PageBar(ratio)))
    title = f"Frontend {op} Latency"
    return PageSection(title.lower().replace(" ", "_"), f"VDisk {vdisk} {title}", histogram_columns(op), tuple(rows))


def vdisk_document(vdisk: str) -> PageDocument:
    """The page of a vdisk, as far as its numbers are known."""
    operations = (
        _cells("IOPS (kIO/s)|2|1|3"),
        _cells("IO Rate (MB/s)|9|4|13"),
        _cells("Random %|100|100|"),
        _cells("Sequential %|0|0|"),
    )
    read = ("286|6211|92%", "1362|371|6%", "2855|135|2%", "5433|6|0%", "||", "||", "||", "||", "401|6723|100%")
    write = ("||", "1724|167|6%", "3422|2098|72%", "6369|562|19%", "12297|88|3%", "23386|6|0%", "||", "||")
    sources = tuple(("Cache DRAM", "7", "75%") if name == "Cache DRAM" else (name, None, None) for name in READ_SOURCES)
    spans = (("Last 300 seconds", "0"), ("Last 3600 seconds", "18"), ("Last 86400 seconds", "18"))
    return PageDocument(
        f"VDisk {vdisk} Stats",
        (
            PageSection(
                "ops_and_randomness",
                f"VDisk {vdisk} Ops and Randomness",
                tuple(map(PageColumn, ("", "Read", "Write", "Total"))),
                operations,
            ),
            _histogram(vdisk, "Read", read),
            _histogram(vdisk, "Write", (*write, "4200|2921|100%")),
            PageSection(
                "read_source",
                f"VDisk {vdisk} Read Source",
                tuple(map(PageColumn, ("Source", "Data (MB/s)", "Percent"))),
                sources,
            ),
            PageSection("extent_group_up_migration", f"VDisk {vdisk} Extent Group Up-Migration", (), spans),
        ),
    )
