"""Exporter health: is what the other dashboards show complete and in time, and what does the watching cost?"""

from grafana_foundation_sdk.models import dashboard

from . import benchmark, variables
from .board import Board, Row
from .look import GREEN, ORANGE, RED
from .panels import BOTH, NAME, graph, stat, timeline
from .queries import EXPORTER_JOBS, RUN, Query, now, one_of, rate
from .tables import Column, table

_NONE = "Nothing scraped in this time range: is the exporter running, and is it a target of Prometheus?"
_PROCESS = 'process_{}{{job="benchwatch-live"}}'
_EXPORTERS = "benchwatch_build_info"


def _overview() -> list[dashboard.Panel]:
    return [
        stat(
            "Targets up",
            "Share of the scraped targets that answer.",
            now(f"avg(up{{{EXPORTER_JOBS}}})", "exporter"),
            now('avg(up{job="node"})', "node"),
            unit="percentunit",
            bad="below 100 %.",
            none="none",
            size=(8, 4),
            text_mode=BOTH,
            steps=((None, RED), (1, GREEN)),
        ),
        stat(
            "Version",
            "The exporter's version and the Python it runs on.",
            now("max by (version, python) (benchwatch_build_info)", "{{version}} on Python {{python}}"),
            unit="none",
            bad="not the one that you installed.",
            none="none",
            size=(8, 4),
            text_mode=NAME,
        ),
        stat(
            "Runs known",
            "Active and finished runs.",
            now('sum(benchwatch_runs{phase="on"})', "active"),
            now('sum(benchwatch_runs{phase="ended"})', "ended"),
            unit="short",
            bad="one of your runs is missing: see the errors below.",
            none="none",
            size=(8, 4),
            text_mode=BOTH,
        ),
        stat(
            "Errors",
            "Parse errors (lines and documents), and unusable files and folders, since the exporter started. Text of "
            "other programs, and files of no benchmark, are none.",
            now(
                f'sum(benchwatch_stream_errors_total{{{RUN},reason!="other_text"}}) or 0 * max({_EXPORTERS})',
                "in streams",
            ),
            now(f'sum(benchwatch_watch_errors_total{{reason!="unrecognised"}}) or 0 * max({_EXPORTERS})', "of files"),
            unit="short",
            bad="above 0: the figures of a run are incomplete. What could not be used lists files and folders, Parse "
            "errors lists streams.",
            none="not counted",
            size=(12, 4),
            text_mode=BOTH,
            steps=((None, GREEN), (1, ORANGE)),
        ),
        stat(
            "Up for",
            "Time since the exporter started.",
            now(f"time() - {_PROCESS.format('start_time_seconds')}", "{{instance}}"),
            unit="dtdurations",
            bad="shorter than you expect: it was restarted (nothing is lost).",
            none="none",
            size=(12, 4),
            text_mode=BOTH,
        ),
    ]


_ACTIVE = f'and on (run, worker) (benchwatch_run_state{{{RUN},state=~"running|stalled"}} == 1)'
_HOSTS = f"max by (run, host) (benchwatch_run_host_info {_ACTIVE})"
_DISKS = f"max by (run, host, device, role) (benchwatch_run_disk_info {_ACTIVE})"
_ASTRAY = {
    "no target of the job node has this label host": f'{_HOSTS} unless on (host) up{{job="node"}}',
    "the job node has no such device of this host": (
        f"max by (run, host, device) ({_DISKS}) and on (host) node_disk_writes_completed_total"
        " unless on (host, device) node_disk_writes_completed_total"
    ),
    "the run's workers give this device two roles": f"count by (run, host, device) ({_DISKS}) > 1",
    "the mapping has no listed vdisk of this VM": (
        f"max by (run, host, vm) (benchwatch_run_vm_info {_ACTIVE}) and on () nutanix_vdisk_info{{vm!=''}}"
        " unless on (vm) nutanix_vdisk_info"
    ),
    "layers are recorded for the first eight runs of a machine only": (
        'max by (run, host) (worker:benchwatch_run_host_info:any{run=~"$run"})'
        " unless on (run, host) host_run:benchwatch_run_state:watched"
    ),
}
"""What is missing of the chosen active runs, and those of which it is."""


def _faults() -> list[dashboard.Panel]:
    return [
        table(
            "What could not be used",
            "Files, folders, and lines of the configuration or of a run.yaml, each with the sentence of the exporter's "
            "log: the newest 20 of each exporter since it started.",
            now("max by (instance, reason, sentence) (benchwatch_watch_error_timestamp_seconds) * 1000"),
            columns=[
                Column("Value", "When", "dateTimeAsIso", width=150),
                Column("reason", "Reason", width=100),
                Column("sentence", "What, where, and what was expected"),
                Column("instance", "Exporter", width=150),
            ],
            bad="any line: what it names is missing from the other dashboards. It stays here until the exporter "
            "restarts.",
            none="Everything could be used",
            size=(14, 6),
            sort=("When", "down"),
        ),
        table(
            "Names that match nothing",
            "Hosts, devices and VMs of active runs for which Prometheus has no series under that name, so the "
            "dashboards cannot join them with the run.",
            now(one_of("what", _ASTRAY)),
            columns=[
                Column("run", "Run", width=180),
                Column("host", "Host", width=80),
                Column("device", "Device", width=70),
                Column("vm", "VM", width=70),
                Column("what", "What is wrong"),
            ],
            bad="any line: correct the name in run.yaml, the exporter's configuration or prometheus/targets.",
            none="All names of active runs lead to something",
            size=(10, 6),
        ),
    ]


def _scrapes() -> list[dashboard.Panel]:
    return [
        timeline(
            "Targets",
            "Whether each scrape was answered.",
            Query(
                "min by (job, instance) (min_over_time(up[$__interval]) or up)",
                "{{job}} {{instance}}",
                minimum_step="1s",
            ),
            bad="red: there is no data from that time, even if graphs draw lines through it.",
            none=_NONE,
            size=(12, 7),
            steps=((None, RED), (1, GREEN)),
        ),
        graph(
            "Scrape duration",
            "How long Prometheus waited for an answer, the longest in each step.",
            Query(
                "max by (job, instance) (max_over_time(scrape_duration_seconds[$__interval]))", "{{job}} {{instance}}"
            ),
            unit="s",
            bad="near the interval (0.5 s for benchwatch-live): scrapes are lost.",
            none=_NONE,
            size=(12, 7),
            log=True,
        ),
        graph(
            "Samples per scrape",
            "Samples in each answer.",
            Query(
                "max by (job, instance) (max_over_time(scrape_samples_scraped[$__interval]))", "{{job}} {{instance}}"
            ),
            unit="short",
            bad="grows without end: too many runs stay in memory (runs.keep), or benchmark parameters change all the "
            "time.",
            none=_NONE,
        ),
        graph(
            "Rendering",
            "Mean time to render and compress an answer: total seconds divided by the number of answers.",
            Query(
                f"{rate('benchwatch_scrape_duration_seconds_sum')} / "
                f"({rate('benchwatch_scrape_duration_seconds_count')} > 0)",
                "{{job}} {{instance}}",
            ),
            unit="s",
            bad="tens of milliseconds and more.",
            none=_NONE,
        ),
    ]


def _streams() -> list[dashboard.Panel]:
    # These are of the part `runs`, scraped every 10 s.
    return [
        graph(
            "Read",
            "Bytes of the benchmarks' output read per second, by worker.",
            Query(
                f"sum by (run, worker) ({rate(f'benchwatch_stream_bytes_total{{{RUN}}}')}) > 0",
                "{{run}} {{worker}}",
                minimum_step="10s",
            ),
            unit="Bps",
            bad="no line for an active worker: its output does not arrive.",
            none=benchmark.NO_RUN,
        ),
        graph(
            "Records parsed",
            "Records (report lines, documents, transactions) a second, by worker.",
            Query(
                f"sum by (run, worker) ({rate(f'benchwatch_stream_records_total{{{RUN}}}')}) > 0",
                "{{run}} {{worker}}",
                minimum_step="10s",
            ),
            unit="ops",
            bad="no line while bytes are read.",
            none=benchmark.NO_RUN,
        ),
        graph(
            "Age of the data",
            "Time since the last report of each active worker.",
            Query(
                f"time() - max by (run, worker) (benchwatch_run_last_report_timestamp_seconds{{{RUN}}})"
                f' and on (run, worker) (benchwatch_run_state{{{RUN},state=~"running|stalled"}} == 1)',
                "{{run}} {{worker}}",
            ),
            unit="s",
            bad="above 3 report intervals.",
            none=benchmark.NO_RUN,
        ),
        graph(
            "Parse errors",
            "Lines and documents that could not be parsed so far, by reason; other_text is harmless.",
            Query(
                f"sum by (run, worker, reason) (benchwatch_stream_errors_total{{{RUN}}})",
                "{{run}} {{worker}} {{reason}}",
            ),
            unit="short",
            bad="grows.",
            none="No parse errors in this time range",
        ),
        graph(
            "Pushes",
            "Bytes a second received from pushes (left) and active pushes (right).",
            Query(f"sum({rate('benchwatch_push_bytes_total')})", "bytes"),
            Query("sum(benchwatch_push_active)", "active"),
            unit="Bps",
            bad="active, but no bytes: the sender hangs.",
            none=_NONE,
            right=("active", "short", None),
        ),
        graph(
            "Ended pushes",
            "Pushes that ended so far, by HTTP status.",
            Query("sum by (code) (benchwatch_push_requests_total)", "HTTP {{code}}"),
            unit="short",
            bad="401 or 403: no access; 409: the name is in use; 499: the connection broke.",
            none=_NONE,
        ),
    ]


def _cost() -> list[dashboard.Panel]:
    return [
        graph(
            "CPU of the exporter",
            "CPU seconds a second; 1 is one CPU.",
            Query(f"rate({_PROCESS.format('cpu_seconds_total')}[$__rate_interval])", "{{instance}}"),
            unit="percentunit",
            bad="above 10 % beside a benchmark on the same machine: it disturbs what it watches.",
            none=_NONE,
            size=(8, 7),
        ),
        graph(
            "Memory of the exporter",
            "Resident memory.",
            Query(_PROCESS.format("resident_memory_bytes"), "{{instance}}"),
            unit="bytes",
            bad="grows without end.",
            none=_NONE,
            size=(8, 7),
        ),
        graph(
            "Open files of the exporter",
            "Open file descriptors.",
            Query(_PROCESS.format("open_fds"), "{{instance}}"),
            unit="short",
            bad="near the limit of the process (`process_max_fds`).",
            none=_NONE,
            size=(8, 7),
        ),
    ]


BOARD = Board(
    uid="benchwatch-exporter",
    description="Whether the other dashboards show complete and timely data, and what watching costs.",
    variables=variables.standard(),
    rows=[
        Row("", _overview()),
        Row("Names and files", _faults()),
        Row("Scrapes", _scrapes()),
        Row("Streams", _streams()),
        Row("Cost", _cost()),
    ],
)
