"""What `watch` shows at a moment: the workers and CVMs of an exporter, and the alerts of a Prometheus."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from ..model.cvm import Cvm, Vdisk
from ..model.run import Report, Run, Worker

Past = Mapping[tuple[str, str], Sequence[Report]]
"""The reports of workers, by run and worker."""


class Page(NamedTuple):
    """What an exporter shows."""

    runs: tuple[Run, ...] = ()
    cvms: tuple[Cvm, ...] = ()

    @property
    def workers(self) -> list[Worker]:
        """The workers of all runs."""
        return [worker for run in self.runs for worker in run.workers]

    @property
    def vdisks(self) -> list[Vdisk]:
        """The vdisks of all CVMs."""
        return [vdisk for cvm in self.cvms for vdisk in cvm.vdisks]


class Alert(Struct, frozen=True):
    """A firing alert. `since`: when its condition became true, Unix seconds."""

    name: str
    severity: str
    summary: str
    since: float
