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
    length = after.time - before.time
    found = {}
    for label, spent in after.spent.items():
        if earlier := before.spent.get(label):
            user, system = spent[0] - earlier[0], spent[1] - earlier[1]
            if min(user, system) > -_ROUNDING:
                found[label] = CpuUse(max(user, 0.0) / length, max(system, 0.0) / length)
    return found
