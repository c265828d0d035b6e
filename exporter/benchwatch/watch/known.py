"""What is known at a moment: what an exporter shows, and what a Prometheus says about it.

`benchwatch watch --once --json` prints it as JSON, schema 2: `runs` and `cvms` are those of the exporter's `/api/runs`
and `/api/cvms`; `alerts` is null without `--prometheus`, or if it cannot be read. Base units, Unix seconds; null: not
measured, or not known. Within a schema, keys may be added, but no key changes its meaning.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from ..model.cvm import Cvm, Vdisk
from ..model.run import Report, Run, Worker

SCHEMA = 2
Past = Mapping[tuple[str, str], Sequence[Report]]
"""The reports of workers, by run and worker."""


class Page(NamedTuple):
    """What an exporter shows."""

    runs: tuple[Run, ...] = ()
    cvms: tuple[Cvm, ...] = ()
    past: Past = {}
    """The reports of workers of active runs from before these were first seen."""
    clock_ahead: float = 0.0
    """How many seconds this machine's clock is ahead of the exporter's."""

    @property
    def workers(self) -> list[Worker]:
        """The workers of all runs."""
        return [worker for run in self.runs for worker in run.workers]

    @property
    def vdisks(self) -> list[Vdisk]:
        """The vdisks of all CVMs."""
        return [vdisk for cvm in self.cvms for vdisk in cvm.vdisks]


class Alert(msgspec.Struct, frozen=True):
    """A firing alert. `since`: when its condition became true, Unix seconds."""

    name: str
    severity: str
    summary: str
    since: float


class Judged(NamedTuple):
    """What a Prometheus says."""

    alerts: Sequence[Alert] | None = None
    """The firing alerts; None: not requested, or not known."""
    verdicts: Mapping[str, str] = {}
    """A sentence for each run that is slower than usual."""
    problem: str = ""
    """Why there are no alerts, or no verdicts."""


class Known(NamedTuple):
    """Everything that is known at a moment. `now` and `read_at` are Unix seconds of the exporter's clock."""

    now: float
    page: Page | None = None
    """The last that was read; None: none yet."""
    read_at: float | None = None
    problem: str = ""
    """Why the exporter's numbers are not available; empty if they are."""
    advice: str = ""
    """What to check in that case."""
    judged: Judged = Judged()


def document(moment: Known, exporter: str) -> str:
    """The JSON text."""
    page = moment.page or Page()
    found = {
        "schema": SCHEMA,
        "time": moment.now,
        "exporter": exporter,
        "runs": page.runs,
        "cvms": page.cvms,
        "alerts": moment.judged.alerts,
    }
    return msgspec.json.format(msgspec.json.encode(found)).decode() + "\n"
