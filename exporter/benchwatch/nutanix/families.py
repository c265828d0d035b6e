"""The metrics of CVMs; each series has the label `cvm`, the configured name of the CVM."""

from ..metrics.samples import Family, Kind

_declared: list[Family] = []


def _family(name: str, help_text: str, *labels: str, kind: Kind = "gauge") -> Family:
    _declared.append(Family(f"nutanix_{name}", kind, help_text, labels, "nutanix"))
    return _declared[-1]


CVM_UP = _family(
    "cvm_up",
    "1 if the last poll read and understood the CVM's main page, less than three poll intervals ago; else 0.",
)
CVM_POLL_DURATION = _family("cvm_poll_duration_seconds", "Time that the last poll of the CVM took, all pages together.")
CVM_LAST_SUCCESS = _family(
    "cvm_last_success_timestamp_seconds",
    "When the main page was last read: the age of the numbers below. They are dropped once they are three poll"
    " intervals old, whether polls fail or one is still waiting.",
)
CVM_PAGE_ERRORS = _family(
    "cvm_page_errors_total", "Pages that could not be read or used, by reason.", "page", "reason", kind="counter"
)
CVM_UNRECOGNISED_ROWS = _family(
    "cvm_unrecognised_rows_total",
    "Rows, columns, cells and tables of the pages that were left out because they were not understood or are beyond a"
    " bound (`max_vdisks`), summed over all polls; `benchwatch nutanix check` lists them.",
    "section",
    kind="counter",
)
CVM_UNMATCHED_ROWS = _family(
    "cvm_unmatched_rows_total",
    "Rows of the front-end view for which no row of Hosted VDisks has the same name or uuid, summed over all polls:"
    " their numbers are those of a vdisk of their own name.",
    kind="counter",
)

STARGATE_INFO = _family("stargate_info", "1; the Stargate process of the CVM.", "version", "svm_id", "incarnation")
STARGATE_START = _family("stargate_start_timestamp_seconds", "When the Stargate process started.")
STARGATE_QUEUE = _family(
    "stargate_queue_operations",
    "Operations queued and admitted, by queue (overview of the main page).",
    "queue",
    "state",
)
CACHE_HITS = _family("content_cache_hit_ratio", "Hits of the content cache, 0 to 1 (main page).", "kind")
CACHE_PAGEIN = _family("content_cache_flash_pagein_ratio", "Hits paged in from flash, 0 to 1 (main page).", "kind")
CACHE_BYTES = _family("content_cache_bytes", "Size of the content cache in use (main page).", "kind")
NFS_CACHE_BYTES = _family("nfs_cache_bytes", "Size of the NFS cache in use (main page).")
DISK_AVAILABLE = _family(
    "disk_available_bytes", "Free space of a disk of this CVM (Cluster State, in GB of 1024^3).", "disk", "tier"
)
DISK_SIZE = _family("disk_size_bytes", "Size of a disk of this CVM (Cluster State, in GB of 1024^3).", "disk", "tier")
OPLOG_UTILISATION = _family(
    "oplog_utilisation_ratio",
    "Used part of the CVM's oplog or LWS, 0 to 1 (row Total of /oplog_flush_stats).",
    "store",
)

VDISK_INFO = _family(
    "vdisk_info",
    "1; a vdisk hosted by the CVM. vm, disk and role are from the mapping.",
    "vdisk",
    "vdisk_uuid",
    "vdisk_name",
    "vm",
    "disk",
    "role",
)
VDISK_DETAILS_TIME = _family(
    "vdisk_details_timestamp_seconds", "When the vdisk's own page was last read: the age of its details.", "vdisk"
)

_FRONT = "as the virtual machine sees it (NFS Slave or NFS Worker)."
FRONTEND_OPS = _family("vdisk_frontend_ops_per_second", f"Operations per second, {_FRONT}", "vdisk", "op")
FRONTEND_BYTES = _family("vdisk_frontend_bytes_per_second", f"Throughput, {_FRONT}", "vdisk", "op")
FRONTEND_LATENCY = _family(
    "vdisk_frontend_latency_seconds",
    "Average latency as the virtual machine sees it: NFS Slave or NFS Worker; for a vdisk that is not there, the"
    " average of the histogram on its own page, over about 3 s. Absent when nothing completed.",
    "vdisk",
    "op",
)
FRONTEND_ERRORS = _family("vdisk_frontend_errors_per_second", f"Failed operations per second, {_FRONT}", "vdisk")
FRONTEND_OUTSTANDING = _family("vdisk_frontend_outstanding_ops", f"Operations under way, {_FRONT}", "vdisk", "op")
FRONTEND_OUTSTANDING_BYTES = _family(
    "vdisk_frontend_outstanding_bytes", f"Bytes of the operations under way, {_FRONT}", "vdisk", "op"
)
FRONTEND_QUEUE = _family("vdisk_frontend_queue_length", f"Average operations outstanding, {_FRONT}", "vdisk")
FRONTEND_BUSY = _family("vdisk_frontend_busy_ratio", f"Part of the time with operations under way, {_FRONT}", "vdisk")
FRONTEND_SIZE = _family("vdisk_frontend_operation_size_bytes", f"Average size of an operation, {_FRONT}", "vdisk")
UNSTABLE_BYTES = _family("vdisk_unstable_bytes", "Data written unstably over NFS and not yet committed.", "vdisk")
UNSTABLE_OPS = _family("vdisk_unstable_ops_per_second", "Unstable NFS writes per second.", "vdisk")
UNSTABLE_RATE = _family("vdisk_unstable_bytes_per_second", "Throughput of unstable NFS writes.", "vdisk")

_WINDOW = "in the page's trailing window of about 3 s, cumulative over le; a gauge: it goes down."
FRONTEND_LATENCY_WINDOW = _family(
    "vdisk_frontend_latency_window_ios", f"Operations with a latency below le seconds {_WINDOW}", "vdisk", "op", "le"
)
SIZE_WINDOW = _family("vdisk_size_window_ios", f"Operations of a size below le bytes {_WINDOW}", "vdisk", "op", "le")
_RANGE = "in the range that ends at le, as the page has it; absent for a range without any."
FRONTEND_LATENCY_RANGE = _family(
    "vdisk_frontend_latency_range_seconds", f"Average latency of the operations {_RANGE}", "vdisk", "op", "le"
)
SIZE_RANGE = _family("vdisk_size_range_bytes", f"Average size of the operations {_RANGE}", "vdisk", "op", "le")

_BACK = "(Hosted VDisks: leaves out writes that the oplog absorbed)."
BACKEND_OPS = _family("vdisk_backend_ops_per_second", f"Operations per second behind the oplog {_BACK}", "vdisk", "op")
BACKEND_BYTES = _family("vdisk_backend_bytes_per_second", f"Throughput behind the oplog {_BACK}", "vdisk", "op")
BACKEND_LATENCY = _family(
    "vdisk_backend_latency_seconds",
    "Average latency of reads and writes together behind the oplog (Hosted VDisks): not what the virtual machine sees."
    " Absent when nothing completed.",
    "vdisk",
)
BACKEND_ERRORS = _family("vdisk_backend_errors_per_second", f"Failed operations per second {_BACK}", "vdisk")
BACKEND_RANDOM = _family("vdisk_backend_random_ops_per_second", f"Random operations per second {_BACK}", "vdisk")
BACKEND_SIZE = _family("vdisk_backend_operation_size_bytes", f"Average size of an operation {_BACK}", "vdisk")
OUTSTANDING = _family("vdisk_outstanding_ops", "Operations under way (Hosted VDisks).", "vdisk", "op")
OUTSTANDING_BYTES = _family(
    "vdisk_outstanding_bytes", "Bytes of the operations under way (Hosted VDisks).", "vdisk", "op"
)
QUEUE_LENGTH = _family("vdisk_queue_length", "Average length of the vdisk's queue (Hosted VDisks).", "vdisk")
BUSY = _family("vdisk_busy_ratio", "Part of the time the vdisk was busy (Hosted VDisks).", "vdisk")
USAGE = _family("vdisk_usage_bytes", "Space the vdisk takes (Hosted VDisks, in whole GB).", "vdisk")
DEDUP = _family("vdisk_dedup_bytes", "Deduplicated data of the vdisk (Hosted VDisks, in whole GB).", "vdisk")
OPLOG_BYTES = _family("vdisk_oplog_bytes", "Data in the oplog, not yet drained (Hosted VDisks).", "vdisk")
OPLOG_FRAGMENTS = _family("vdisk_oplog_fragments", "Fragments in the oplog, not yet drained (Hosted VDisks).", "vdisk")
OPLOG_OPS = _family("vdisk_oplog_ops_per_second", "Writes per second absorbed by the oplog (Hosted VDisks).", "vdisk")
OPLOG_RATE = _family("vdisk_oplog_bytes_per_second", "Throughput into the oplog (Hosted VDisks).", "vdisk")

RANDOM = _family(
    "vdisk_random_ratio", "Random part of the operations, 0 to 1, over about 3 s (Ops and Randomness).", "vdisk", "op"
)
SEQUENTIAL = _family(
    "vdisk_sequential_ratio",
    "Sequential part of the operations, 0 to 1, over about 3 s (Ops and Randomness): their pattern, not whether they"
    " bypass the oplog.",
    "vdisk",
    "op",
)
READ_SOURCE_RATIO = _family(
    "vdisk_read_source_ratio",
    "Part of the data read that came from this source, 0 to 1, over about 3 s (Read Source).",
    "vdisk",
    "source",
)
READ_SOURCE_BYTES = _family(
    "vdisk_read_source_bytes_per_second",
    "Data read from this source, over about 3 s (Read Source, in whole MB/s).",
    "vdisk",
    "source",
)
WRITE_DESTINATION_RATIO = _family(
    "vdisk_write_destination_ratio",
    "Part of the data written that went to this destination, 0 to 1, over about 3 s (Write Destination).",
    "vdisk",
    "destination",
)
WRITE_DESTINATION_BYTES = _family(
    "vdisk_write_destination_bytes_per_second",
    "Data written to this destination, over about 3 s (Write Destination, in whole MB/s).",
    "vdisk",
    "destination",
)
WORKING_SET = _family(
    "vdisk_working_set_bytes",
    "Data touched within the window, by read, write or either (union) (Working Set Sizes).",
    "vdisk",
    "op",
    "window",
)
UP_MIGRATIONS = _family(
    "vdisk_extent_group_up_migrations",
    "Extent groups moved from HDD to SSD within the window (Extent Group Up-Migration).",
    "vdisk",
    "window",
)

FAMILIES = tuple(_declared)
