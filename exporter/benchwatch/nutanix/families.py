"""The metrics of CVMs; each series has the label `cvm`, the configured name of the CVM."""

from ..metrics.samples import Family, Kind

Series = tuple[Family, tuple[str, ...]]
"""What a number on a page becomes: a family, and the values of its labels, of a vdisk's those after `vdisk`."""

_declared: list[Family] = []


def _family(name: str, help_text: str, *labels: str, kind: Kind = "gauge") -> Family:
    _declared.append(Family(f"nutanix_{name}", kind, help_text, labels, "nutanix"))
    return _declared[-1]


def _of_vdisk(name: str, help_text: str, *labels: str) -> Family:
    return _family(f"vdisk_{name}", help_text, "vdisk", *labels)


CVM_UP = _family(
    "cvm_up", "1 if the last poll read the CVM's main page, less than three poll intervals ago; otherwise 0."
)
CVM_POLL_DURATION = _family("cvm_poll_duration_seconds", "Duration of the last poll, all pages.")
CVM_LAST_SUCCESS = _family(
    "cvm_last_success_timestamp_seconds",
    "When the main page was last read; its numbers disappear after three poll intervals.",
)
CVM_PAGE_ERRORS = _family(
    "cvm_page_errors_total", "Pages that cannot be read or used, by reason.", "page", "reason", kind="counter"
)
CVM_UNRECOGNISED_ROWS = _family(
    "cvm_unrecognised_rows_total",
    "Rows, columns, cells, tables left out: unknown, contradictory, too many. `benchwatch nutanix check` lists them.",
    "section",
    kind="counter",
)
CVM_UNMATCHED_ROWS = _family(
    "cvm_unmatched_rows_total",
    "Front-end rows whose name and uuid are not in Hosted VDisks; they count as vdisks of their own.",
    kind="counter",
)

STARGATE_INFO = _family("stargate_info", "1; the CVM's Stargate process.", "version", "svm_id", "incarnation")
STARGATE_START = _family("stargate_start_timestamp_seconds", "When Stargate started.")
STARGATE_QUEUE = _family("stargate_queue_operations", "Operations queued and admitted, by queue.", "queue", "state")
CACHE_HITS = _family("content_cache_hit_ratio", "Hits of the content cache.", "kind")
CACHE_PAGEIN = _family("content_cache_flash_pagein_ratio", "Hits paged in from flash.", "kind")
CACHE_BYTES = _family("content_cache_bytes", "Used content cache.", "kind")
NFS_CACHE_BYTES = _family("nfs_cache_bytes", "Used NFS cache.")
DISK_AVAILABLE = _family("disk_available_bytes", "Free space of a disk of this CVM.", "disk", "tier")
DISK_SIZE = _family("disk_size_bytes", "Size of a disk of this CVM.", "disk", "tier")
OPLOG_UTILISATION = _family(
    "oplog_utilisation_ratio", "Used share of the CVM's oplog or LWS (/oplog_flush_stats).", "store"
)

_OF_INFO = "1; a vdisk hosted by the CVM; vm, disk and role come from the mapping."
VDISK_INFO = _of_vdisk("info", _OF_INFO, "vdisk_uuid", "vdisk_name", "vm", "disk", "role")
VDISK_DETAILS_TIME = _of_vdisk("details_timestamp_seconds", "When the vdisk's own page was last read.")

_FRONT = "as the VM sees it."
FRONTEND_OPS = _of_vdisk("frontend_ops_per_second", f"Operations per second, {_FRONT}", "op")
FRONTEND_BYTES = _of_vdisk("frontend_bytes_per_second", f"Throughput, {_FRONT}", "op")
FRONTEND_LATENCY = _of_vdisk(
    "frontend_latency_seconds",
    "Average front-end latency; for a vdisk without a row, of its own page's histogram. Absent when nothing completed.",
    "op",
)
FRONTEND_ERRORS = _of_vdisk("frontend_errors_per_second", f"Failed operations per second, {_FRONT}")
FRONTEND_OUTSTANDING = _of_vdisk("frontend_outstanding_ops", f"Operations under way, {_FRONT}", "op")
FRONTEND_OUTSTANDING_BYTES = _of_vdisk(
    "frontend_outstanding_bytes", f"Bytes of the operations under way, {_FRONT}", "op"
)
FRONTEND_QUEUE = _of_vdisk("frontend_queue_length", f"Average operations outstanding, {_FRONT}")
FRONTEND_BUSY = _of_vdisk("frontend_busy_ratio", f"Share of the time with operations under way, {_FRONT}")
FRONTEND_SIZE = _of_vdisk("frontend_operation_size_bytes", f"Average size of an operation, {_FRONT}")
UNSTABLE_BYTES = _of_vdisk("unstable_bytes", "Unstable NFS writes not yet committed.")
UNSTABLE_OPS = _of_vdisk("unstable_ops_per_second", "Unstable NFS writes per second.")
UNSTABLE_RATE = _of_vdisk("unstable_bytes_per_second", "Throughput of unstable NFS writes.")

_WINDOW = "in the last 3 s or so, cumulative over le."
FRONTEND_LATENCY_WINDOW = _of_vdisk(
    "frontend_latency_window_ios", f"Operations with a latency below le seconds {_WINDOW}", "op", "le"
)
SIZE_WINDOW = _of_vdisk("size_window_ios", f"Operations of le bytes or less {_WINDOW}", "op", "le")
_RANGE = "in the range up to le; absent without any."
FRONTEND_LATENCY_RANGE = _of_vdisk(
    "frontend_latency_range_seconds", f"Average latency of the operations {_RANGE}", "op", "le"
)
SIZE_RANGE = _of_vdisk("size_range_bytes", f"Average size of the operations {_RANGE}", "op", "le")

_BACK = "behind the oplog."
BACKEND_OPS = _of_vdisk("backend_ops_per_second", f"Operations per second {_BACK}", "op")
BACKEND_BYTES = _of_vdisk("backend_bytes_per_second", f"Throughput {_BACK}", "op")
BACKEND_LATENCY = _of_vdisk(
    "backend_latency_seconds",
    "Average latency behind the oplog, reads and writes together: not what the VM sees. Absent when nothing completed.",
)
BACKEND_ERRORS = _of_vdisk("backend_errors_per_second", f"Failed operations per second {_BACK}")
BACKEND_RANDOM = _of_vdisk("backend_random_ops_per_second", f"Random operations per second {_BACK}")
BACKEND_SIZE = _of_vdisk("backend_operation_size_bytes", f"Average size of an operation {_BACK}")
OUTSTANDING = _of_vdisk("outstanding_ops", "Operations under way.", "op")
OUTSTANDING_BYTES = _of_vdisk("outstanding_bytes", "Bytes of the operations under way.", "op")
QUEUE_LENGTH = _of_vdisk("queue_length", "Average length of the vdisk's queue.")
BUSY = _of_vdisk("busy_ratio", "Share of the time that the vdisk was busy.")
USAGE = _of_vdisk("usage_bytes", "Space that the vdisk takes, in whole GB.")
DEDUP = _of_vdisk("dedup_bytes", "Deduplicated data, in whole GB.")
OPLOG_BYTES = _of_vdisk("oplog_bytes", "Undrained data in the oplog.")
OPLOG_FRAGMENTS = _of_vdisk("oplog_fragments", "Undrained fragments in the oplog.")
OPLOG_OPS = _of_vdisk("oplog_ops_per_second", "Writes per second absorbed by the oplog.")
OPLOG_RATE = _of_vdisk("oplog_bytes_per_second", "Throughput into the oplog.")

RANDOM = _of_vdisk("random_ratio", "Random share of the operations, over 3 s.", "op")
SEQUENTIAL = _of_vdisk(
    "sequential_ratio",
    "Sequential share of the operations, over 3 s: their pattern, not whether they bypass the oplog.",
    "op",
)
READ_SOURCE_RATIO = _of_vdisk("read_source_ratio", "Share of the data read from this source, over 3 s.", "source")
READ_SOURCE_BYTES = _of_vdisk(
    "read_source_bytes_per_second", "Data read from this source, over 3 s, in whole MB/s.", "source"
)
WRITE_DESTINATION_RATIO = _of_vdisk(
    "write_destination_ratio", "Share of the data written to this destination, over 3 s.", "destination"
)
WRITE_DESTINATION_BYTES = _of_vdisk(
    "write_destination_bytes_per_second", "Data written to this destination, over 3 s, in whole MB/s.", "destination"
)
WORKING_SET = _of_vdisk(
    "working_set_bytes", "Data touched within the window, by read, write or either (union).", "op", "window"
)
UP_MIGRATIONS = _of_vdisk(
    "extent_group_up_migrations", "Extent groups moved from HDD to SSD within the window.", "window"
)

FAMILIES = tuple(_declared)
