"""Exporter health: is what the other dashboards show complete and in time, and what does the watching cost?"""

from grafana_foundation_sdk.models import dashboard

from . import benchmark, variables
from .board import Board, Row
from .look import GREEN, RED
from .queries import RUN, Query, now, one_of
from .strips import lanes, legend_only, strip
from .tables import Column, table

_NONE = "Nothing scraped in this time range: is the exporter running, and is it a target of Prometheus?"
_PROCESS = 'process_{}{{job="benchwatch-live"}}'


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
        lanes(
            "Whether each scrape was answered.",
            Query(
                "min by (job, instance) (min_over_time(up[$__interval]) or up)",
                "{{job}} {{instance}}",
                minimum_step="1s",
            ),
            bad="red: there is no data from that time, even if graphs draw lines through it.",
            none=_NONE,
            height=6,
            title="Targets",
            says={0: ("no answer", RED), 1: (legend_only("answered"), GREEN)},
        ),
        strip(
            "Scrapes",
            "How long Prometheus waited for an answer, the longest in each step.",
            Query(
                "max by (job, instance) (max_over_time(scrape_duration_seconds[$__interval]))", "{{job}} {{instance}}"
            ),
            unit="s",
            bad="near the interval (0.5 s for benchwatch-live): scrapes are lost.",
            none=_NONE,
            height=5,
            log=True,
            calcs=("max",),
        ),
        strip(
            "Age of data",
            "Time since the last report of each active worker.",
            Query(
                f"time() - max by (run, worker) (benchwatch_run_last_report_timestamp_seconds{{{RUN}}})"
                f' and on (run, worker) (benchwatch_run_state{{{RUN},state=~"running|stalled"}} == 1)',
                "{{run}} {{worker}}",
            ),
            unit="s",
            bad="above 3 report intervals: the benchmark hangs or its output does not arrive.",
            none=benchmark.NO_RUN,
            height=4,
        ),
        strip(
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
        strip(
            "CPU",
            "CPU seconds a second of the exporter; 1 is one CPU.",
            Query(f"rate({_PROCESS.format('cpu_seconds_total')}[$__rate_interval])", "{{instance}}"),
            unit="percentunit",
            bad="above 10 % beside a benchmark on the same machine: it disturbs what it watches.",
            none=_NONE,
        ),
        strip(
            "Memory",
            "Resident memory of the exporter.",
            Query(_PROCESS.format("resident_memory_bytes"), "{{instance}}"),
            unit="bytes",
            bad="grows without end.",
            none=_NONE,
            clock=True,
        ),
    ]


BOARD = Board(
    uid="benchwatch-exporter",
    description="Whether the other dashboards show complete and timely data, and what watching costs.",
    variables=variables.standard(),
    rows=[Row("", [*_faults(), *_scrapes()])],
)
