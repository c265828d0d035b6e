"""What could not be used: counts of all, and the newest sentences."""

import logging

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.exposition import Exposition
from benchwatch.runs.watcher import Runs
from benchwatch.settings.settings import RunsSettings


def lines(runs: Runs) -> list[str]:
    text = Exposition().render([runs], ("live", "runs"))
    return [line for line in text.splitlines() if line.startswith("benchwatch_watch_error")]


def test_the_newest_sentences_are_on_the_page_and_all_are_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    runs = Runs([], RunsSettings(), Buckets(1))
    assert lines(runs) == []
    for number in range(25):
        runs.faults.say("mapping", f"vdisk {number} is nowhere")
    runs.faults.say("mapping", "vdisk 5 is nowhere")
    runs.faults.say("disk", "x" * 1000)
    counted = [line for line in lines(runs) if line.startswith("benchwatch_watch_errors_total")]
    assert counted == [
        'benchwatch_watch_errors_total{reason="mapping"} 26',
        'benchwatch_watch_errors_total{reason="disk"} 1',
    ]
    shown = [line.partition('sentence="')[2].partition('"')[0] for line in lines(runs)[2:]]
    numbers = [*range(7, 25), 5]
    assert shown == [*(f"vdisk {number} is nowhere" for number in numbers), "x" * 300]
    assert len(caplog.records) == 27


def test_a_fault_of_ours_has_its_first_traceback_in_the_log_and_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    runs = Runs([], RunsSettings(), Buckets(1))
    for number in range(3):
        runs.faults.say("internal", f"run {number} cannot be read on", ValueError("no"))
    assert [(record.levelno, bool(record.exc_info)) for record in caplog.records] == [(logging.WARNING, True)]
    assert 'benchwatch_watch_errors_total{reason="internal"} 3' in lines(runs)
