"""`benchwatch watch --once --json`: what an exporter shows, as JSON, schema 1.

Within a schema, keys may be added, but no key changes its meaning. Base units, Unix seconds; null: not known.

    schema, time, exporter
    workers[]   run, name, tool, tool_version, state, reason, last_report, report_interval, start, end, duration,
                objective, lost (by the tool's word: how many, of how many), warnings, remarks, warmup; now[] and
                result[]: job, op, rate, latency, quantiles (by quantile), bandwidth, target_rate, target_bandwidth,
                time, quantiles_time
    vdisks[]    cvm, vdisk, vm, disk, role, rates, latencies, random (by operation), oplog
    cvms[]      name, up, last_success
    alerts[]    name, severity, summary, since; null without --prometheus, or if it cannot be read
"""

import json
from typing import Any

from .model import ShownWorker
from .screen import ScreenMoment

SCHEMA = 1


def document(moment: ScreenMoment, exporter: str) -> str:
    """The JSON text."""
    page = moment.page
    content = {
        "schema": SCHEMA,
        "time": moment.now,
        "exporter": exporter,
        "workers": [_worker(worker) for worker in page.workers] if page else [],
        "vdisks": [vdisk._asdict() for vdisk in page.vdisks] if page else [],
        "cvms": [cvm._asdict() for cvm in page.cvms] if page else [],
        "alerts": None if moment.alerts is None else [alert._asdict() for alert in moment.alerts],
    }
    return json.dumps(content, indent=2) + "\n"


def _worker(worker: ShownWorker) -> dict[str, Any]:
    shown = worker._asdict()
    del shown["roles"]
    measured = {part: [one._asdict() for one in shown[part]] for part in ("now", "result")}
    return {**shown, **measured}
