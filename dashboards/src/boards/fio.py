"""fio: rates against their targets, latency and its distribution, by job and direction."""

from grafana_foundation_sdk.models import dashboard

from benchwatch.tools.registry import TOOLS

from . import benchmark, column, variables
from .board import Board, Row
from .head import head
from .panels import heatmap
from .queries import FIO, Query, histogram, mean, now, peak, rate
from .strips import strip
from .tables import RUN_COMPARED, Column, table

_TOOLS = [tool for tool in TOOLS if tool.name == "fio"]
_JOB = "{{run}} {{worker}} {{job}} {{op}}"
_BY = "by (run, worker, job, op)"


def _target(name: str) -> Query:
    """While there is a rate to compare it with."""
    return Query(f"max {_BY} (fio_target_{name}{{{FIO}}} and on (run, worker, job, op) fio_iops)", f"{_JOB} target")


def _course() -> list[dashboard.Panel]:
    p99 = f'fio_latency_window_seconds{{{FIO},quantile="0.99"}}'
    return [
        strip(
            "IOPS",
            "I/Os completed a second: the mean of the windows in each step; dashed the rate that rate_iops= allows.",
            Query(f"max {_BY} ({mean(f'fio_iops{{{FIO}}}')})", _JOB),
            _target("iops"),
            unit="iops",
            bad="below its target: the latency excludes waiting I/Os (coordinated omission). A gap: a worker hangs.",
            none=benchmark.NO_RUN,
            height=4,
            slow="1",
        ),
        strip(
            "Bandwidth",
            "Bytes completed a second: the mean of the windows in each step; dashed the rate that rate= allows.",
            Query(f"max {_BY} ({mean(f'fio_bandwidth_bytes_per_second{{{FIO}}}')})", _JOB),
            _target("bandwidth_bytes_per_second"),
            unit="Bps",
            bad="a plateau below what the device can do.",
            none=benchmark.NO_RUN,
            slow="1",
        ),
        strip(
            "Mean latency",
            "Mean completion latency of each window, the highest in each step, and the objective.",
            Query(f"max {_BY} ({peak(f'fio_latency_average_seconds{{{FIO}}}')})", _JOB),
            Query(benchmark.OBJECTIVE.expression, benchmark.OBJECTIVE.legend),
            unit="s",
            bad="above the objective.",
            none=benchmark.NO_RUN,
            log=True,
            slow="1",
        ),
        strip(
            "p99",
            "99th percentile of the completion latency of each window (exact bins, within 0.8 %), the highest in each "
            "step.",
            Query(f"max {_BY} ({peak(p99)})", _JOB),
            unit="s",
            bad="writes to a log device above 1 ms.",
            none=benchmark.NO_RUN,
            log=True,
            clock=True,
            slow="1",
        ),
        *(
            heatmap(
                f"Completion latency of {op}s",
                f"{op.capitalize()}s per second by latency, over time; darker means more. From the bins of "
                "--output-format=json+. Documents more than 4 s apart appear as columns with gaps between them.",
                Query(histogram(f'fio_completion_latency_seconds_bucket{{{FIO},op="{op}"}}'), "{{le}}"),
                unit="s",
                bad="a second band above the main one: some I/Os miss a cache or wait in a queue.",
                none=f"No distribution of {op}s in this time range: fio --output-format=json+ provides it",
                size=(12, 8),
            )
            for op in ("read", "write")
        ),
    ]


def _worker(result: str, more: str = "") -> str:
    """A result of each worker; of several exporters that know it one counts."""
    return f"max by (run, worker, job, op) (fio_result_{result}{{{FIO}{more}}})"


def _results() -> list[dashboard.Panel]:
    return [
        table(
            "Results",
            "The final documents of a run's finished fios, of the whole run, with the warm-up. Rates are summed, "
            "the mean latency is weighted by I/Os; of the workers' percentiles, the highest is shown.",
            now(f"sum by (run, job, op) ({_worker('iops')})"),
            now(f"sum by (run, job, op) ({_worker('bandwidth_bytes_per_second')})"),
            now(
                f"sum by (run, job, op) ({_worker('latency_average_seconds')} * {_worker('iops')})\n"
                f"/ sum by (run, job, op) ({_worker('iops')})"
            ),
            *(
                now(f'max by (run, job, op) (fio_result_latency_seconds{{{FIO},quantile="{q}"}})')
                for q in ("0.99", "1")
            ),
            now(f"count by (run, job, op) ({_worker('iops')})"),
            columns=[
                RUN_COMPARED,
                Column("job", "Job"),
                Column("op", "Direction", width=90),
                Column("Value #A", "IOPS", "iops"),
                Column("Value #B", "Bandwidth", "Bps"),
                Column("Value #C", "Mean", "s"),
                Column("Value #D", "Highest p99", "s"),
                Column("Value #E", "Highest", "s"),
                Column("Value #F", "Workers", "short"),
            ],
            bad="fewer workers than the run has: the others have no final document.",
            none="No result of fio at the end of this time range",
            size=(24, 7),
            sort=("Run", "down"),
        ),
    ]


def _more() -> list[dashboard.Panel]:
    options = ("rw", "bs", "iodepth", "numjobs", "ioengine", "direct", "filename")
    return [
        strip(
            "Lost",
            "I/Os a second that transferred less than requested, or were dropped, and jobs that ended with an error.",
            Query(f"max {_BY} ({rate(f'fio_short_ios_total{{{FIO}}}')}) > 0", f"{_JOB} short"),
            Query(f"max {_BY} ({rate(f'fio_dropped_ios_total{{{FIO}}}')}) > 0", f"{_JOB} dropped"),
            Query(
                f"max by (run, worker, job) (fio_job_error{{{FIO}}} > bool 0) > 0", "{{run}} {{worker}} {{job}} error"
            ),
            unit="short",
            bad="above 0: the rates include I/Os that failed to do their work.",
            none="No I/O was short or dropped, and no job ended with an error in this time range",
            height=2,
            clock=True,
        ),
        table(
            "Jobs",
            "The options of each job as fio prints them back.",
            now(f"group by (run, worker, job, {', '.join(options)}) (fio_job_info{{{FIO}}})"),
            columns=[Column("run", "Run"), Column("job", "Job"), *(Column(name, name) for name in options)],
            bad="direct is not 1: fio measures the page cache; iodepth has no effect with a synchronous engine.",
            none="No job of fio is known at the end of this time range",
            size=(16, 7),
            sort=("Run", "down"),
        ),
        table(
            "Warnings",
            "Combinations of options that give the numbers an unexpected meaning.",
            now(f"group by (run, job, warning) (fio_job_warning{{{FIO}}})"),
            columns=[Column("run", "Run"), Column("job", "Job"), Column("warning", "Warning")],
            bad="any line.",
            none="No warning at the end of this time range",
            size=(8, 7),
        ),
    ]


BOARD = Board(
    uid="benchwatch-fio",
    description="fio by job and direction: rates against their targets, latency and its distribution, results.",
    variables=[*variables.standard("fio", newest=True), variables.job(), variables.host(hidden=True)],
    rows=[
        Row("", [head(4, _TOOLS), column.events(3), *_course(), *_results()]),
        Row("Jobs, warnings and what was lost", _more(), collapsed=True),
    ],
)
