"""fio: rates against their targets, latency and its distribution, by job and direction."""

from grafana_foundation_sdk.models import dashboard

from . import benchmark, variables
from .board import Board, Row
from .look import GREEN, OPERATIONS, ORANGE, RED
from .panels import BOTH, graph, heatmap, stat
from .queries import FIO, Query, histogram, mean, now, once, peak, rate
from .tables import RUN_COMPARED, Column, table

_JOB = "{{worker}} {{job}} {{op}}"
_BY = "by (worker, job, op)"  # of several runs the highest
_OPS = {operation: color for operation, (_, color) in OPERATIONS.items()}


def _overview() -> list[dashboard.Panel]:
    warnings = f"count(max by (run, worker, job, warning) (fio_job_warning{{{FIO}}}))"
    return [
        stat(
            "IOPS",
            "I/Os completed a second in the last window, all jobs together.",
            now(f"sum by (op) ({once(f'fio_iops{{{FIO}}}')})", "{{op}}"),
            unit="iops",
            bad="0 while running.",
            none=benchmark.NO_REPORT,
            size=(6, 4),
            text_mode=BOTH,
            fixed=_OPS,
        ),
        stat(
            "Bandwidth",
            "Bytes completed a second in the last window, all jobs together.",
            now(f"sum by (op) ({once(f'fio_bandwidth_bytes_per_second{{{FIO}}}')})", "{{op}}"),
            unit="Bps",
            bad="0 while running.",
            none=benchmark.NO_REPORT,
            size=(6, 4),
            text_mode=BOTH,
            fixed=_OPS,
        ),
        stat(
            "Mean latency",
            "Mean completion latency in the last window, the highest of the jobs.",
            now(f"max by (op) (fio_latency_average_seconds{{{FIO}}})", "{{op}}"),
            unit="s",
            bad="above the objective.",
            none=benchmark.NO_LATENCY,
            size=(6, 4),
            text_mode=BOTH,
            fixed=_OPS,
        ),
        stat(
            "p99",
            "99th percentile of the completion latency in the last window, the highest of the jobs.",
            now(f'max by (op) (fio_latency_window_seconds{{{FIO},quantile="0.99"}})', "{{op}}"),
            unit="s",
            bad="many times the mean.",
            none=benchmark.NO_PERCENTILE,
            size=(6, 4),
            text_mode=BOTH,
            fixed=_OPS,
        ),
        stat(
            "Of the target",
            "Achieved rate divided by target rate, the lowest of the jobs with a target (rate_iops=).",
            now(f"min(fio_iops{{{FIO}}} / fio_target_iops{{{FIO}}})", "of the target"),
            unit="percentunit",
            bad="below 95 %: the device does not reach the rate, and fio's latency excludes waiting I/Os.",
            none="no rate with a target now",
            size=(8, 3),
            steps=((None, "text"), (0, RED), (0.95, GREEN)),
            decimals=1,
        ),
        stat(
            "Errors",
            "Jobs that ended with an error, and I/Os that were short or dropped.",
            now(f"sum(max by (run, worker, job) (fio_job_error{{{FIO}}}) > bool 0)", "jobs"),
            now(
                f"sum(max by (run, worker, job, op) (fio_short_ios_total{{{FIO}}} + fio_dropped_ios_total{{{FIO}}}))",
                "I/Os",
            ),
            unit="short",
            bad="above 0.",
            none="not counted",
            size=(8, 3),
            text_mode=BOTH,
            steps=((None, GREEN), (1, RED)),
        ),
        stat(
            "Warnings",
            "Combinations of options that give the numbers an unexpected meaning; the table Warnings names them.",
            now(
                f"{warnings} or 0 * count(fio_job_info{{{FIO}}})",
                "warnings",
            ),
            unit="short",
            bad="above 0.",
            none="not counted",
            size=(8, 3),
            steps=((None, GREEN), (1, ORANGE)),
        ),
    ]


def _rates() -> list[dashboard.Panel]:
    return [
        graph(
            "IOPS by job",
            "I/Os completed a second: the mean of the windows in each step; the dashed line is the rate that "
            "rate_iops= allows.",
            Query(f"max {_BY} ({mean(f'fio_iops{{{FIO}}}')})", _JOB),
            Query(f"max {_BY} (fio_target_iops{{{FIO}}} and on (run, worker, job, op) fio_iops)", f"{_JOB} target"),
            unit="iops",
            bad="below its target, or a gap: fio reports nothing while one of its workers hangs.",
            none=benchmark.NO_RUN,
        ),
        graph(
            "Bandwidth by job",
            "Bytes completed a second: the mean of the windows in each step; the dashed line is the rate that rate= "
            "allows.",
            Query(f"max {_BY} ({mean(f'fio_bandwidth_bytes_per_second{{{FIO}}}')})", _JOB),
            Query(
                f"max {_BY} (fio_target_bandwidth_bytes_per_second{{{FIO}}} and on (run, worker, job, op) fio_iops)",
                f"{_JOB} target",
            ),
            unit="Bps",
            bad="a plateau below what the device can do.",
            none=benchmark.NO_RUN,
        ),
        graph(
            "Achieved / target",
            "Achieved rate divided by the rate that rate_iops= allows.",
            Query(f"max {_BY} ({mean(f'fio_iops{{{FIO}}}')} / fio_target_iops{{{FIO}}})", _JOB),
            unit="percentunit",
            bad="below 100 %: the latency excludes waiting I/Os (coordinated omission).",
            none="No report of a job with a target (rate_iops=) in this time range",
        ),
        graph(
            "Short and dropped I/Os",
            "I/Os a second that transferred less than requested, or were dropped.",
            Query(f"max {_BY} ({rate(f'fio_short_ios_total{{{FIO}}}')})", f"short {_JOB}"),
            Query(f"max {_BY} ({rate(f'fio_dropped_ios_total{{{FIO}}}')})", f"dropped {_JOB}"),
            unit="iops",
            bad="above 0: the rates include I/Os that failed to do their work.",
            none=benchmark.NO_RUN,
        ),
    ]


def _quantile(quantile: str) -> Query:
    series = f'fio_latency_window_seconds{{{FIO},quantile="{quantile}"}}'
    return Query(f"max {_BY} ({peak(series)})", _JOB)


def _latency() -> list[dashboard.Panel]:
    def percentile(title: str, quantile: str, bad: str) -> dashboard.Panel:
        return graph(
            title,
            "Completion latency of each window (exact bins, within 0.8 %), the highest in each step.",
            _quantile(quantile),
            unit="s",
            bad=bad,
            none=benchmark.NO_RUN,
            size=(8, 8),
            log=True,
        )

    def distribution(op: str) -> dashboard.Panel:
        return heatmap(
            f"Completion latency distribution: {op}s",
            f"{op.capitalize()}s per second by latency, over time; darker means more. "
            "From the bins of --output-format=json+. Documents more than 4 s apart appear as columns with gaps "
            "between them.",
            Query(histogram(f'fio_completion_latency_seconds_bucket{{{FIO},op="{op}"}}'), "{{le}}"),
            unit="s",
            bad="a second band above the main one: some I/Os miss a cache or wait in a queue.",
            none=f"No distribution of {op}s in this time range: fio --output-format=json+ provides it",
        )

    return [
        graph(
            "Mean and highest",
            "Mean completion latency and the slowest I/O of each window, the highest in each step.",
            Query(f"max {_BY} ({peak(f'fio_latency_average_seconds{{{FIO}}}')})", f"mean {_JOB}"),
            Query(f"max {_BY} ({peak(f'fio_latency_max_seconds{{{FIO}}}')})", f"max {_JOB}"),
            Query(
                f'min(benchwatch_run_latency_objective_seconds{{run=~"$run",worker=~"$worker"}} and on (run, worker) '
                f"fio_latency_average_seconds{{{FIO}}})",
                "objective",
            ),
            unit="s",
            bad="the mean is above the dashed objective.",
            none=benchmark.NO_RUN,
            size=(8, 8),
            log=True,
        ),
        percentile("Median", "0.5", "steps: a cache, a tier or the path to the data has changed."),
        percentile("99th percentile", "0.99", "writes to a log device above 1 ms."),
        distribution("read"),
        distribution("write"),
    ]


def _inside() -> list[dashboard.Panel]:
    submission = "fio_submission_latency_seconds"
    return [
        graph(
            "Submission latency",
            "Mean time to submit an I/O to the kernel: total seconds divided by the number of I/Os.",
            Query(
                f"sum {_BY} ({rate(f'{submission}_sum{{{FIO}}}')}) / (sum {_BY} "
                f"({rate(f'{submission}_count{{{FIO}}}')}) > 0)",
                _JOB,
            ),
            unit="s",
            bad="near the completion latency: submission blocks (no direct I/O, or the device's queue is full).",
            none="Nothing measured in this time range: only asynchronous engines have it",
            size=(8, 7),
            log=True,
        ),
        graph(
            "CPU of the jobs",
            "CPU seconds a second of the job's processes; 1 is one CPU.",
            Query(f"max by (worker, job, mode) ({peak(f'fio_job_cpu_ratio{{{FIO}}}')})", "{{worker}} {{job}} {{mode}}"),
            unit="percentunit",
            bad="near 100 % for each clone: fio measures the processor, not the device.",
            none=benchmark.NO_RUN,
            size=(8, 7),
        ),
        graph(
            "Busy disks",
            "Share of the time since fio began in which a disk was busy, with anyone's I/O.",
            Query('max by (worker, disk) (fio_disk_util_ratio{run=~"$run",worker=~"$worker"})', "{{worker}} {{disk}}"),
            unit="percentunit",
            bad="a disk that should be idle. 100 % alone means little on an SSD or a virtual disk.",
            none="No disk_util of fio in this time range",
            size=(8, 7),
            maximum=1,
        ),
    ]


def _worker(result: str, more: str = "") -> str:
    """A result of each worker; of several exporters that know it one counts."""
    return f"max by (run, worker, job, op) (fio_result_{result}{{{FIO}{more}}})"


def _results() -> list[dashboard.Panel]:
    def result(name: str, more: str = "") -> Query:
        return now(_worker(name, more))

    options = ("rw", "bs", "iodepth", "numjobs", "ioengine", "direct", "filename")
    return [
        table(
            "Results",
            "The final document of each finished fio, by job and direction. It covers the whole run, including the "
            "warm-up.",
            result("iops"),
            result("bandwidth_bytes_per_second"),
            result("latency_average_seconds"),
            *(result("latency_seconds", f',quantile="{quantile}"') for quantile in ("0.5", "0.99", "0.999", "1")),
            columns=[
                RUN_COMPARED,
                Column("worker", "Worker"),
                Column("job", "Job"),
                Column("op", "Direction", width=90),
                Column("Value #A", "IOPS", "iops"),
                Column("Value #B", "Bandwidth", "Bps"),
                Column("Value #C", "Mean", "s"),
                Column("Value #D", "p50", "s"),
                Column("Value #E", "p99", "s"),
                Column("Value #F", "p99.9", "s"),
                Column("Value #G", "Highest", "s"),
            ],
            bad="a run that is missing here has no final document: it runs, failed or was interrupted.",
            none="No result of fio at the end of this time range",
            size=(24, 8),
            sort=("Run", "down"),
        ),
        table(
            "Results of all workers",
            "The same with the workers of a run together: rates are summed, the mean latency is weighted by I/Os. "
            "Percentiles of several workers cannot be combined, so the highest is shown.",
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
    variables=[*variables.standard("fio", newest=True), variables.job()],
    rows=[
        Row("", _overview()),
        Row("Rates", _rates()),
        Row("Completion latency", _latency()),
        Row("Submission, processors, disks", _inside()),
        Row("Results and jobs", _results()),
    ],
)
