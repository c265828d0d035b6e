"""Runs read as the offline commands read them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchwatch.history.find import find_runs
from benchwatch.history.replayed_run import timelines
from benchwatch.history.timeline import Timeline
from benchwatch.metrics.buckets import Buckets
from benchwatch.settings.settings import RunsSettings


def read_timelines(paths: Iterable[Path], **options: Any) -> list[Timeline]:
    """The workers of the runs in these files and folders; for the options see history.timeline.timelines."""
    buckets = Buckets()
    return list(timelines(find_runs(paths, RunsSettings(), buckets), **options))
