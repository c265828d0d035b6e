"""Metrics of one worker of a run and of its streams, whatever its tool is."""

from collections.abc import Iterator

from ..metrics.samples import Family, Part, Sample
from ..settings.record import RunFile
from .phase import PHASES


def _gauge(name: str, text: str, *labels: str, part: Part = "runs", more: bool = False) -> Family:
    return Family(f"benchwatch_run_{name}", "gauge", text, labels, part, more)


def _counter(name: str, text: str, *labels: str) -> Family:
    return Family(f"benchwatch_stream_{name}_total", "counter", text, ("tool", *labels), "runs")


FAMILIES = (
    RUN_STATE := _gauge(
        "state",
        "1 for the worker's state, 0 for others; some time after the end only the state remains.",
        "state",
        part="live",
    ),
    RUN_REASON := _gauge("reason_info", "1; why a worker is in its state.", "reason", part="live"),
    RUN_LAST_REPORT := _gauge("last_report_timestamp_seconds", "When the tool last reported, Unix time.", part="live"),
    RUN_INFO := _gauge("info", "1; tool and version, with the labels of run.yaml.", "tool", "tool_version", more=True),
    RUN_PARAMETER := _gauge("parameter", "1; a parameter of the run.", "name", "value"),
    RUN_NOTE := _gauge(
        "note_info",
        "1; how the output was read: which of several runs in a file is shown, what was removed before each line.",
        "note",
    ),
    RUN_REPETITIONS := _gauge(
        "repetitions", "Runs in the worker's output, of which the last or a chosen one is shown; absent for one."
    ),
    RUN_START := _gauge("start_timestamp_seconds", "When the benchmark began, Unix time."),
    RUN_END := _gauge("end_timestamp_seconds", "When the benchmark ended, Unix time; absent while it runs."),
    RUN_INTERVAL := _gauge("report_interval_seconds", "The tool's reporting interval, as seen in its reports."),
    RUN_PLANNED := _gauge("planned_seconds", "Planned length of the run; absent if unknown, and after the end."),
    RUN_OBJECTIVE := _gauge("latency_objective_seconds", "Latency that the run should stay below."),
    RUN_WARMUP := _gauge(
        "warmup_seconds", "Warm-up that results leave out; absent without one. All other metrics cover the whole run."
    ),
    RUN_HOST := _gauge(
        "host_info",
        "1; the machine whose disks and processors the run uses (role server), and the benchmark's own (role client).",
        "host",
        "role",
    ),
    RUN_VM := _gauge("vm_info", "1; the VM that the run's server is, as named in nutanix_vdisk_info.", "host", "vm"),
    RUN_DISK := _gauge("disk_info", "1; role of a disk of the run's server in this run.", "host", "device", "role"),
    STREAM_BYTES := _counter("bytes", "Bytes read of the worker's output."),
    STREAM_RECORDS := _counter("records", "Records parsed: report lines, documents, transactions of a log."),
    STREAM_ERRORS := _counter("errors", "Lines or documents that cannot be parsed, by reason.", "reason"),
)

STATES = {phase: tuple(Sample(RUN_STATE, (name,), int(name == phase)) for name in PHASES) for phase in PHASES}


def places(record: RunFile, has_server: bool) -> Iterator[Sample]:
    """Where a run is; unknown places are left out. `has_server`: its tool is the client of a server."""
    if client := record.peer if has_server else record.client:
        yield Sample(RUN_HOST, (client, "client"), 1)
    if record.server:
        yield Sample(RUN_HOST, (record.server, "server"), 1)
    if record.virtual_machine:
        yield Sample(RUN_VM, (record.server, record.virtual_machine), 1)
    for device, role in record.roles.items():
        yield Sample(RUN_DISK, (record.server, device, role), 1)
