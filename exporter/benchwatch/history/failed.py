"""Failed starts: benchmarks that ended before they measured anything, and whose name another start may take."""

from pathlib import Path

from ..metrics.buckets import Buckets
from ..settings.record import SUFFIX, load_runfile
from ..settings.settings import RunsSettings
from ..values.errors import UserError
from .find import find_worker

_GREETING = 1024
"""Bytes that a tool may print on standard output before it measures anything; results are longer."""


def failed_start(folder: Path, worker: str) -> str | None:
    """How a benchmark that measured nothing ended; None if it may have measured something, or may still run."""
    try:
        record = load_runfile(folder / f"{worker}{SUFFIX}", RunsSettings())
        if not record.exit_code:
            return None
        found = find_worker(folder, worker, RunsSettings(), Buckets(1)).workers
        output = folder / f"{worker}.out"
        said = output.stat().st_size if output.exists() else 0
    except (UserError, OSError):
        return None
    measured = any(worker.state.figures().operations or worker.state.history for worker in found)
    if measured or said > (_GREETING if found else 0):
        return None
    return next((worker.reason for worker in found if worker.reason), f"exit code {record.exit_code}")
