"""Metrics of one worker of a run and of its streams, whatever its tool is, and their samples."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..metrics.samples import Family, Sample
from .phase import PHASES

if TYPE_CHECKING:
    from .observer import Observer

_REASON_LENGTH = 200

RUN_INFO = Family(
    "benchwatch_run_info",
    "gauge",
    "1; tool and version, with the labels of run.yaml.",
    ("tool", "tool_version"),
    "runs",
    more_labels=True,
)
RUN_PARAMETER = Family(
    "benchwatch_run_parameter",
    "gauge",
    "1; a parameter of the run.",
    ("name", "value"),
    "runs",
)
RUN_STATE = Family(
    "benchwatch_run_state",
    "gauge",
    "1 for the worker's state, 0 for others; some time after the end only the state remains.",
    ("state",),
)
RUN_REASON = Family(
    "benchwatch_run_reason_info",
    "gauge",
    "1; why a worker is in its state.",
    ("reason",),
)
RUN_NOTE = Family(
    "benchwatch_run_note_info",
    "gauge",
    "1; how the output was read: which of several runs in a file is shown, what was removed before each line.",
    ("note",),
    "runs",
)
RUN_REPETITIONS = Family(
    "benchwatch_run_repetitions",
    "gauge",
    "Runs in the worker's output, of which the last or a chosen one is shown; absent for one.",
    part="runs",
)
RUN_START = Family(
    "benchwatch_run_start_timestamp_seconds",
    "gauge",
    "When the benchmark began, Unix time.",
    part="runs",
)
RUN_END = Family(
    "benchwatch_run_end_timestamp_seconds",
    "gauge",
    "When the benchmark ended, Unix time; absent while it runs.",
    part="runs",
)
RUN_LAST_REPORT = Family(
    "benchwatch_run_last_report_timestamp_seconds",
    "gauge",
    "When the tool last reported, Unix time.",
)
RUN_INTERVAL = Family(
    "benchwatch_run_report_interval_seconds",
    "gauge",
    "The tool's reporting interval, as seen in its reports.",
    part="runs",
)
RUN_WARMUP = Family(
    "benchwatch_run_warmup_seconds",
    "gauge",
    "Warm-up that results leave out; absent without one. All other metrics cover the whole run.",
    part="runs",
)
RUN_PLANNED = Family(
    "benchwatch_run_planned_seconds",
    "gauge",
    "How long the benchmark will run from its start, as planned; absent if that is not known, and after the end.",
    part="runs",
)
RUN_OBJECTIVE = Family(
    "benchwatch_run_latency_objective_seconds",
    "gauge",
    "Latency that the run should stay below.",
    part="runs",
)
RUN_HOST = Family(
    "benchwatch_run_host_info",
    "gauge",
    "1; the machine whose disks and processors the run uses (role server), and the benchmark's own (role client).",
    ("host", "role"),
    "runs",
)
RUN_VM = Family(
    "benchwatch_run_vm_info",
    "gauge",
    "1; the VM that the run's server is, as named in nutanix_vdisk_info.",
    ("host", "vm"),
    "runs",
)
RUN_DISK = Family(
    "benchwatch_run_disk_info",
    "gauge",
    "1; role of a disk of the run's server in this run.",
    ("host", "device", "role"),
    "runs",
)
STREAM_BYTES = Family(
    "benchwatch_stream_bytes_total", "counter", "Bytes read of the worker's output.", ("tool",), "runs"
)
STREAM_RECORDS = Family(
    "benchwatch_stream_records_total",
    "counter",
    "Records parsed: report lines, documents, transactions of a log.",
    ("tool",),
    "runs",
)
STREAM_ERRORS = Family(
    "benchwatch_stream_errors_total",
    "counter",
    "Lines or documents that cannot be parsed, by reason.",
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
    RUN_PLANNED,
    RUN_OBJECTIVE,
    RUN_WARMUP,
    RUN_HOST,
    RUN_VM,
    RUN_DISK,
    STREAM_BYTES,
    STREAM_RECORDS,
    STREAM_ERRORS,
)

_STATES = {phase: tuple(Sample(RUN_STATE, (name,), int(name == phase)) for name in PHASES) for phase in PHASES}


def samples_of(worker: "Observer", own: Iterable[Sample]) -> Iterator[Sample]:
    """Everything that is known of a worker, with its tool's `own` samples; see samples.Source."""
    state, tool, live = worker.state, worker.tool.name, worker.kept_live
    yield from _STATES[worker.phase] if live else (Sample(RUN_STATE, (worker.phase,), 1),)
    if worker.reason:
        yield Sample(RUN_REASON, (worker.reason[:_REASON_LENGTH],), 1)
    labels = tuple(sorted(worker.runfile.labels.items()))
    yield Sample(RUN_INFO, (tool, state.tool_version), 1, labels)
    for parameter in worker.parameters.items():
        yield Sample(RUN_PARAMETER, parameter, 1)
    for note in worker.notes:
        yield Sample(RUN_NOTE, (note,), 1)
    if (repetitions := worker.repetition[1]) > 1:
        yield Sample(RUN_REPETITIONS, (), repetitions)
    yield from _places(worker)
    for family, moment in (
        (RUN_START, worker.start),
        (RUN_END, worker.end if worker.ended else None),
        (RUN_LAST_REPORT, state.last_report if live else None),
        (RUN_INTERVAL, state.report_interval),
        (RUN_PLANNED, None if worker.ended else worker.planned),
        (RUN_OBJECTIVE, worker.objective),
        (RUN_WARMUP, worker.runfile.warmup or None),
    ):
        if moment is not None:
            yield Sample(family, (), moment)
    yield Sample(STREAM_BYTES, (tool,), worker.size)
    yield Sample(STREAM_RECORDS, (tool,), sum(one.parser.records for one in worker.streams))
    for reason in dict.fromkeys(reason for one in worker.streams for reason in one.errors):
        count = sum(one.errors[reason] for one in worker.streams)
        yield Sample(STREAM_ERRORS, (tool, reason), count)
    yield from own if live else (one for one in own if one.family.part == "runs")


def _places(worker: "Observer") -> Iterator[Sample]:
    """Where the run is; unknown places are left out."""
    record = worker.runfile
    client = record.peer if worker.tool.has_server else record.client
    if client:
        yield Sample(RUN_HOST, (client, "client"), 1)
    if record.server:
        yield Sample(RUN_HOST, (record.server, "server"), 1)
    if record.virtual_machine:
        yield Sample(RUN_VM, (record.server, record.virtual_machine), 1)
    for device, role in record.roles.items():
        yield Sample(RUN_DISK, (record.server, device, role), 1)
