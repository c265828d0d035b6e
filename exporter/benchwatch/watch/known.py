"""What is known at a moment: what an exporter shows, and what a Prometheus says about it.

`benchwatch watch --once --json` prints it as JSON, schema 2: `runs` and `cvms` are those of the exporter's `/api/runs`
and `/api/cvms`; `alerts` is null without `--prometheus`, or if it cannot be read. Base units, Unix seconds; null: not
measured, or not known. Within a schema, keys may be added, but no key changes its meaning.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from ..model.cvm import Cvm
from ..model.run import Report, Run

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


class Alert(msgspec.Struct, frozen=True):
    """A firing alert. `since`: when its condition became true, Unix seconds."""

    name: str
    severity: str
    summary: str
    since: float
    labels: Mapping[str, str] = {}


class Slow(NamedTuple):
    """A time in which a run is, or was, slower than usual; Unix seconds."""

    begin: float
    end: float | None = None
    """None: it is still slow."""
    text: str = ""
    """Why, in a sentence; empty if that is not known."""
    latency: float | None = None
    """The usual mean latency to which the sentence compares, seconds."""
    host: str = ""
    busy: float | None = None
    """The part of its processors' time in which they work, if no sentence says that."""


class Judged(NamedTuple):
    """What a Prometheus says."""

    alerts: Sequence[Alert] | None = None
    """The firing alerts; None: not requested, or not known."""
    slow: Mapping[str, Slow] = {}
    """The last slow time of each run within ten minutes."""
    usual: Mapping[tuple[str, ...], float] = {}
    """Usual values by name, run, worker, job, operation, CVM and vdisk (see `usual_key`)."""
    problem: str = ""
    """Why something of this is missing."""


UNJUDGED = Judged()


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
    judged: Judged = UNJUDGED


def usual_key(
    name: str, run: str = "", worker: str = "", job: str = "", op: str = "", cvm: str = "", vdisk: str = ""
) -> tuple[str, ...]:
    """What identifies a usual value; `name` is that of the recorded series."""
    return name, run, worker, job, op, cvm, vdisk


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
