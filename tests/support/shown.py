"""Recorded output as plain data, as the exporter would show it at its last change."""

from pathlib import Path

from benchwatch.history.find import read_runs
from benchwatch.metrics.buckets import Buckets
from benchwatch.model.run import Worker
from benchwatch.runs.worker_model import shown
from benchwatch.settings.settings import RunsSettings


def shown_workers(*paths: Path) -> list[Worker]:
    """The workers of the runs in these files and folders."""
    runs = read_runs(paths, RunsSettings(), Buckets())
    return [shown(worker) for run in runs for worker in run.workers]
