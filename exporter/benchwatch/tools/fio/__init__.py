"""fio: JSON documents (best with `--output-format=json+ --status-interval=1`) among its other output."""

import re

from ..api import Kind, Tool
from ..roles import Roles, Unit
from . import command, metrics
from .framing import START, VERSION, moments
from .parser import FioParser, StoredParser, stored_moments
from .state import FioState
from .text import is_fio
from .windows import DocumentBins

_ALONE = re.compile(rb'^"fio version"', re.MULTILINE)
_STORED = re.compile(rb"^\s*(?:\{\s*\"|\[\s*[\[{])", re.MULTILINE)

_DIFFERENCES = "Differences between fio's documents."
_ROLES = Roles(
    unit=Unit("IOPS"),
    operations="I/Os",
    rate=metrics.IOPS,
    result_rate=metrics.RESULT_IOPS,
    labels=("job", "op"),
    apart=frozenset({"sync", "verify"}),
    idle=frozenset({"sync"}),
    latency=metrics.LATENCY_AVERAGE,
    latency_max=metrics.LATENCY_MAX,
    window=metrics.LATENCY_WINDOW,
    histogram=metrics.COMPLETION_LATENCY,
    bandwidth=metrics.BANDWIDTH,
    total=metrics.IOS,
    target_rate=metrics.TARGET_IOPS,
    objective=0.001,
    target_bandwidth=metrics.TARGET_BANDWIDTH,
    result_latency=metrics.RESULT_LATENCY_AVERAGE,
    result_quantile=metrics.RESULT_LATENCY,
    result_bandwidth=metrics.RESULT_BANDWIDTH,
    result_operations=metrics.IOS,
    fixed_rate=(metrics.TARGET_IOPS, metrics.TARGET_BANDWIDTH),
    warnings=metrics.JOB_WARNING,
    doubtful={metrics.VERIFIED_AMONG_READS: "read"},
    jobs=metrics.JOB_INFO,
    cpu=metrics.JOB_CPU,
    sources={
        metrics.IOPS: _DIFFERENCES,
        metrics.BANDWIDTH: _DIFFERENCES,
        metrics.LATENCY_AVERAGE: "Completion latency, from differences between fio's documents.",
        metrics.LATENCY_WINDOW: "Completion latency of all I/Os between two documents of fio, from json+ bins; within "
        "0.8 %.",
        metrics.COMPLETION_LATENCY: "Completion latency of all I/Os, from fio's exact json+ bins.",
    },
)
_WARNINGS = {
    "rwmixread_with_rate_iops": "rwmixread has no effect with rate_iops: reads and writes have a rate of their own",
    "rate_poisson": "rate_process=poisson draws the times of I/Os at random: single seconds miss the rate by about "
    "the square root of their I/Os",
    "rate_poisson_sizes": "with rate_process=poisson, rate= counts every I/O as the smallest block size: the bandwidth "
    "is above the rate",
    "sync_engine_iodepth": "iodepth above 1 has no effect with a synchronous engine, which has one I/O in flight",
    "libaio_without_direct": "libaio was used without direct=1: its buffered I/O is synchronous",
    "gtod_reduce_no_latency": "fio was told not to measure latencies",
    "verify_reads_among_reads": "fio counts the reads of verify= as reads of the workload, and they cannot be "
    "separated",
}


def _recognise(head: bytes) -> str:
    """The kind: "text", which is standard output or error, the --output file, or all in one; "stored"; or empty.

    Lines count from their beginning, so output after a prefix is not recognised.
    """
    if START.search(head) or _ALONE.search(head):
        return "text"
    if VERSION.search(head):
        return "stored" if _STORED.search(head) else ""
    lines = re.split(r"[\r\n]+", head.decode("utf-8", "replace"))
    return "text" if is_fio(lines) else ""


FIO = Tool(
    name="fio",
    families=metrics.FAMILIES,
    roles=(_ROLES,),
    kinds={
        "text": Kind(FioParser, moments, piecewise=True, bins=DocumentBins),
        "stored": Kind(StoredParser, stored_moments, bins=DocumentBins),
    },
    recognise=_recognise,
    state=FioState,
    time_limit=re.compile(r"(?:^|\s)--runtime[= ](\S+)"),
    warnings=_WARNINGS,
    advice="--output-format=json+ --status-interval=1 gives",
    launcher=command.read,
    example="fio --output-format=json+ --status-interval=1 --eta=never job.fio",
)
