"""`benchwatch watch --once --json`: what an exporter shows, as JSON, schema 2.

`runs` and `cvms` are those of the exporter's `/api/runs` and `/api/cvms`; `alerts` is null without
`--prometheus`, or if it cannot be read. Base units, Unix seconds; null: not measured, or not known.
Within a schema, keys may be added, but no key changes its meaning.
"""

import msgspec

from ..model.cvm import Cvm
from ..model.run import Run
from .screen import ScreenMoment
from .watched import Alert

SCHEMA = 2


class WatchDocument(msgspec.Struct):
    """The document."""

    schema: int
    time: float
    exporter: str
    runs: tuple[Run, ...]
    cvms: tuple[Cvm, ...]
    alerts: tuple[Alert, ...] | None


def document(moment: ScreenMoment, exporter: str) -> str:
    """The JSON text."""
    page = moment.page
    runs, cvms = (page.runs, page.cvms) if page else ((), ())
    alerts = None if moment.alerts is None else tuple(moment.alerts)
    found = WatchDocument(SCHEMA, moment.now, exporter, runs, cvms, alerts)
    return msgspec.json.format(msgspec.json.encode(found)).decode() + "\n"
