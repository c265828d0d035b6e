"""Metrics of one worker of a run and of its streams, whatever its tool is."""

from ..metrics.rendering import BEYOND_LIMIT
from ..metrics.samples import Family

RUN_INFO = Family(
    "benchwatch_run_info",
    "gauge",
    "The benchmark tool of a worker and its version, with the labels of the run's run.yaml; always 1.",
    ("tool", "tool_version"),
    "runs",
    more_labels=True,
)
RUN_PARAMETER = Family(
    "benchwatch_run_parameter",
    "gauge",
    "One parameter of the run, as the tool or the run's run.yaml names it; none without a value; always 1.",
    ("name", "value"),
    "runs",
)
RUN_STATE = Family(
    "benchwatch_run_state",
    "gauge",
    "1 for the worker's present state, 0 for the others; a while after the end only the present one is left.",
    ("state",),
)
RUN_REASON = Family(
    "benchwatch_run_reason_info",
    "gauge",
    "Why a worker is in its state, in one clause (an error that the tool printed, cut to 200 characters); always 1.",
    ("reason",),
)
RUN_NOTE = Family(
    "benchwatch_run_note_info",
    "gauge",
    "What to know of how a worker's output was read: which of several runs in one file is shown, and what was left out "
    "before each line; always 1.",
    ("note",),
    "runs",
)
RUN_REPETITIONS = Family(
    "benchwatch_run_repetitions",
    "gauge",
    "Runs of the tool in the worker's output, one after the other, of which one is shown (the last, unless another was "
    "chosen); absent where there is only one.",
    part="runs",
)
RUN_START = Family(
    "benchwatch_run_start_timestamp_seconds",
    "gauge",
    "When the benchmark began, Unix time in seconds, from the tool's own times.",
    part="runs",
)
RUN_END = Family(
    "benchwatch_run_end_timestamp_seconds",
    "gauge",
    "When the benchmark ended, Unix time in seconds; absent while it runs.",
    part="runs",
)
RUN_LAST_REPORT = Family(
    "benchwatch_run_last_report_timestamp_seconds",
    "gauge",
    "When the tool last reported, Unix time in seconds: the age of the data is now minus this.",
)
RUN_INTERVAL = Family(
    "benchwatch_run_report_interval_seconds",
    "gauge",
    "The tool's own reporting interval, seconds, as seen in its reports.",
    part="runs",
)
RUN_WARMUP = Family(
    "benchwatch_run_warmup_seconds",
    "gauge",
    "Seconds from the start on that comparisons and reports leave out, from the run's record; absent without a "
    "warm-up. All other metrics are of the whole run.",
    part="runs",
)
RUN_OBJECTIVE = Family(
    "benchwatch_run_latency_objective_seconds",
    "gauge",
    "Latency that the run should stay below, seconds, from its run.yaml or the configuration.",
    part="runs",
)
RUN_HOST = Family(
    "benchwatch_run_host_info",
    "gauge",
    "The machine whose disks and processors the run uses (role server), and that of the benchmark itself where it "
    "works on a server, be it the same machine or another (role client), as far as they are known; always 1.",
    ("host", "role"),
    "runs",
)
RUN_VM = Family(
    "benchwatch_run_vm_info",
    "gauge",
    "The virtual machine that the run's host (role server) is, as nutanix_vdisk_info calls it: the host's name, unless "
    "run.yaml or the configuration gives another; always 1.",
    ("host", "vm"),
    "runs",
)
RUN_DISK = Family(
    "benchwatch_run_disk_info",
    "gauge",
    "Role of a disk of the run's host (role server) in this run (data, log ...), by the device's name in "
    "node_exporter: from its run.yaml, else as `benchwatch run` found it; always 1.",
    ("host", "device", "role"),
    "runs",
)
STREAM_BYTES = Family(
    "benchwatch_stream_bytes_total", "counter", "Bytes read of the worker's output.", ("tool",), "runs"
)
STREAM_RECORDS = Family(
    "benchwatch_stream_records_total",
    "counter",
    "Records understood in the worker's output: report lines, documents, transactions of a log.",
    ("tool",),
    "runs",
)
STREAM_ERRORS = Family(
    "benchwatch_stream_errors_total",
    "counter",
    "Lines or documents of the worker's output that were not understood, by reason.",
    ("tool", "reason"),
    "runs",
)
FAMILIES = (
    RUN_STATE,
    RUN_REASON,
    RUN_LAST_REPORT,
    RUN_INFO,
    RUN_PARAMETER,
    RUN_NOTE,
    RUN_REPETITIONS,
    RUN_START,
    RUN_END,
    RUN_INTERVAL,
    RUN_OBJECTIVE,
    RUN_WARMUP,
    RUN_HOST,
    RUN_VM,
    RUN_DISK,
    STREAM_BYTES,
    STREAM_RECORDS,
    STREAM_ERRORS,
    BEYOND_LIMIT,
)
