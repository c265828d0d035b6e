"""Which document is fio's last, and how fio ended.

A final document does not say that it is final. The evidence, from stat.c and eta.c of 3.1 - 3.42 and recordings of nine
versions:
- `eta` is 0, or 2147483647 while `elapsed` is below 3 seconds; but it is also 0 in the last second before the end, and
  while fio lays out files. In a final document it is higher only if fio was interrupted before all jobs began; then a
  message says so.
- Every job is over: it has an error that ended it, or its measured `runtime` has reached runtime=, or without runtime=
  it has transferred the amount of size= and read what it must verify, or it has done exactly as many I/Os as
  number_ios= says for all loops (a job that has done more does not stop there: it is time_based, or verifies).
  A job is not over if it is time_based (printed since 3.39) and short of its runtime, or if less than 1.5 seconds of
  the runtime are left, which explains an eta of 0, or, without an eta, if it is short of its size.
- If that does not decide (a job ended at the end of its file, or by exitall, steadystate ...): the final document comes
  before the status interval is over. A document that comes on time counts as final when nothing follows it, as does the
  only document of a run below 3 seconds.

If a document was wrongly taken for final (for example, a verify phase follows runtime=), another one with more I/O
follows; the run then continues, and after that only silence marks its end.
"""

import os
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from .counters import BYTES, Counters
from .document import Job
from .jobs import amount, is_set, number_of_clones, runtime, seconds, size, verifies

Judgement = Literal["running", "perhaps", "over"]

_UNKNOWN_ETA = 2**31 - 1
_NO_ETA = -1
"""The `eta` of all documents if one of the jobs has no progress of its own (ioengine=cpuio)."""
_ETA_AFTER = 3
_TOLERANCE = 0.01
_LAST = 1.5
_NEARLY = 0.9
_OFF_SCHEDULE = 0.9
_STOPPED_BY_OTHERS = frozenset({"exitall", "exitall_on_error", "exit_what", "steadystate", "number_ios", "fill_device"})
_PASSED_OVER = frozenset({5, 84})
"""EIO and EILSEQ: continue_on_error counts these in total_err and ignores them; any other error ends the job."""


def judge(counters: Counters, gap: float | None, interval: float | None) -> Judgement:
    """Whether a document is the last one.

    `gap` is the time since the previous document, `interval` the status interval, seconds; None if not known.
    """
    if counters.document.of_clients:
        return "over"
    if counters.document.of_report:  # with --status-interval, another one may follow
        return "perhaps"
    jobs = counters.jobs
    if not jobs or any(job.eta not in ((0, _NO_ETA) if job.elapsed >= _ETA_AFTER else (_UNKNOWN_ETA,)) for job in jobs):
        return "running"
    if not (counters.numbers[:, BYTES].any() or any(job.runtime or job.error for job in jobs)):
        return "running"
    stopped, verdicts = False, []
    for verdict in judge_jobs(counters):
        if verdict is False and not stopped:
            # Jobs may have ended before they were over.
            stopped = any(_fatal_error(job) or not _STOPPED_BY_OTHERS.isdisjoint(job.options) for job in jobs)
            if not stopped:
                return "running"
        verdicts.append(verdict)
    if all(verdicts):
        return "over"
    if gap is None:
        return "over" if jobs[0].elapsed >= _ETA_AFTER and jobs[0].eta == 0 else "perhaps"
    return "over" if interval is not None and gap < _OFF_SCHEDULE * interval else "perhaps"


def judge_jobs(counters: Counters) -> Iterator[bool | None]:
    """For each job whether it is over; None if its numbers do not decide."""
    reported = Counter(job.label for job in counters.jobs)
    for job in counters.jobs:
        yield _is_over(job, number_of_clones(job.options) if reported[job.label] == 1 else 1)


def failure(counters: Counters) -> str:
    """Why the run failed according to its final document; empty if it did not."""
    return next((because(job.label, error) for job in counters.jobs if (error := _fatal_error(job))), "")


def because(job: str, error: int) -> str:
    """The clause for a job that ended with an error (an errno)."""
    return f"job {job}: error {error} ({os.strerror(error)})"


def _fatal_error(job: Job) -> int:
    """The number of the error that ended the job, 0 if none did."""
    passed_over = job.error in _PASSED_OVER or "ignore_error" in job.options
    return 0 if passed_over and job.total_err > 0 and job.error == job.first_error else job.error


def _is_over(job: Job, clones: int) -> bool | None:
    options = job.options
    if _fatal_error(job):
        return True
    directions = [each for each in (job.read, job.write, job.trim) if each]
    most = (size(options.get("number_ios", "")) or 0) * (size(options.get("loops", "")) or 1) * clones
    if most and sum(each.total_ios for each in directions) == most:
        return True
    eta_known = job.elapsed >= _ETA_AFTER and job.eta == 0
    limit = runtime(options)
    if limit is not None:
        left = limit - job.runtime / 1e3
        if left <= _TOLERANCE:
            ramp = seconds(options.get("ramp_time", "")) or 0.0
            return job.elapsed >= limit + ramp - 1
        if is_set(options, "time_based") or left < _LAST:
            return False
    whole = (amount(options) or 0) * clones
    done = sum(each.completed_bytes for each in directions)
    if whole and verifies(options) and job.write:
        whole += job.write.completed_bytes
    if limit is not None:
        return None if eta_known or done == whole else False
    if whole and done >= whole:
        return True
    return None if eta_known or done >= _NEARLY * whole else False
