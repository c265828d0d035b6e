"""CPU time of the jobs between two documents.

fio prints `usr_cpu` and `sys_cpu` as percent of `job_runtime` (summed over the jobs of a group), both since the
start, so their product is CPU time; its difference over the time between the documents is how many CPUs the job used.
"""

from collections.abc import Mapping
from typing import NamedTuple

from .snapshot import FioSnapshot

_ROUNDING = 0.002
"""Seconds by which CPU time may seem to go back, as fio rounds it."""


class CpuUse(NamedTuple):
    """CPU seconds a second, of all processes of a job."""

    user: float
    system: float


def difference(before: FioSnapshot, after: FioSnapshot) -> Mapping[str, CpuUse]:
    """The CPU use of each job, by label; without those whose figures are missing (before 3.8) or were reset."""
    earlier, length = _spent(before), after.time - before.time
    found = {}
    for label, spent in _spent(after).items():
        if label in earlier:
            user, system = spent[0] - earlier[label][0], spent[1] - earlier[label][1]
            if min(user, system) > -_ROUNDING:
                found[label] = CpuUse(max(user, 0.0) / length, max(system, 0.0) / length)
    return found


def _spent(snapshot: FioSnapshot) -> Mapping[str, tuple[float, float]]:
    """CPU seconds in user and system mode since the start."""
    spent: dict[str, tuple[float, float]] = {}
    unknown = set()
    for job, label in zip(snapshot.jobs, snapshot.labels, strict=True):
        if job.job_runtime < 0 or job.usr_cpu is None or job.sys_cpu is None:
            unknown.add(label)
            continue
        seconds = job.job_runtime / 1e5
        user, system = spent.get(label, (0.0, 0.0))
        spent[label] = user + job.usr_cpu * seconds, system + job.sys_cpu * seconds
    return {label: times for label, times in spent.items() if label not in unknown}
