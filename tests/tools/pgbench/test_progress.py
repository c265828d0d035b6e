"""The progress line of every version."""

import re

import pytest

from benchwatch.tools.api import Misread
from benchwatch.tools.pgbench.progress import Progress

from .recordings import TEXTS, parse, text_records


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (  # 9.4
            "progress: 1.0 s, 8886.6 tps, lat 0.447 ms stddev 0.190",
            Progress(time=1.0, epoch=False, tps=8886.6, latency=0.000447, stddev=0.00019),
        ),
        (  # 9.4 -R
            "progress: 1.0 s, 421.0 tps, lat 0.670 ms stddev 0.760, lag 0.119 ms",
            Progress(1.0, False, 421.0, 0.00067, 0.00076, lag=0.000119),
        ),
        (  # 9.5 - 14 -R -L
            "progress: 3.0 s, 496.3 tps, lat 0.420 ms stddev 0.455, lag 0.107 ms, 1 skipped",
            Progress(3.0, False, 496.3, 0.00042, 0.000455, lag=0.000107, skipped=1),
        ),
        (  # 9.6+ --progress-timestamp
            "progress: 1795168139.483 s, 32482.3 tps, lat 0.061 ms stddev 0.043",
            Progress(1795168139.483, True, 32482.3, 0.000061, 0.000043),
        ),
        (  # 15+
            "progress: 2.0 s, 6.0 tps, lat 836.657 ms stddev 373.624, 3 failed",
            Progress(2.0, False, 6.0, 0.836657, 0.373624, failed=3),
        ),
        (  # 15+ --max-tries
            "progress: 1.0 s, 2510.0 tps, lat 1.058 ms stddev 1.606, 1384 failed, 2408 retried, 4208 retries",
            Progress(1.0, False, 2510.0, 0.001058, 0.001606, failed=1384, retried=2408, retries=4208),
        ),
        (  # 15+ with everything
            "progress: 1.0 s, 103.0 tps, lat 1.134 ms stddev 0.391, 0 failed, lag 0.161 ms, 2 skipped"
            ", 3 retried, 4 retries",
            Progress(1.0, False, 103.0, 0.001134, 0.000391, 0, 0.000161, 2, 3, 4),
        ),
        (  # a total stall, 9.4 - 10
            "progress: 1.0 s, 0.0 tps, lat -nan ms stddev -nan, lag -nan ms, 0 skipped",
            Progress(1.0, False, 0.0, None, None, skipped=0),
        ),
        (  # a total stall, 11+
            "progress: 3.0 s, 0.0 tps, lat 0.000 ms stddev 0.000, 1 failed, lag 0.000 ms",
            Progress(3.0, False, 0.0, None, None, failed=1),
        ),
        (  # one transaction, up to 11
            "progress: 6.0 s, 1.0 tps, lat 2502.597 ms stddev -nan",
            Progress(6.0, False, 1.0, 2.502597, None),
        ),
        (  # one transaction, 12+
            "progress: 5.0 s, 1.0 tps, lat 3006.633 ms stddev NaN, 0 failed",
            Progress(5.0, False, 1.0, 3.006633, None, failed=0),
        ),
        (  # two transactions in a minute: the rate rounds to zero
            "progress: 60.0 s, 0.0 tps, lat 31000.000 ms stddev 0.500, 0 failed",
            Progress(60.0, False, 0.0, 31.0, 0.0005, failed=0),
        ),
    ],
)
def test_line_of_each_version(line: str, expected: Progress) -> None:
    assert text_records(line + "\n") == [expected]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.name))
def test_every_whole_progress_line_is_used_once(path: object) -> None:
    data = path.read_bytes()  # type: ignore[attr-defined]
    lines = re.findall(rb"^progress.*\n", data, re.MULTILINE)
    assert sum(isinstance(record, Progress) for record in parse("text", data)) == len(lines)


def test_stall_is_idle_and_a_rate_that_rounds_to_zero_is_not() -> None:
    stall, slow = text_records(
        "progress: 1.0 s, 0.0 tps, lat 0.000 ms stddev 0.000\nprogress: 61.0 s, 0.0 tps, lat 900.000 ms stddev 0.000\n"
    )
    assert stall.idle
    assert not slow.idle


def test_text_of_others_before_and_after_does_not_matter() -> None:
    line = "progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.500, 0 failed"
    expected = Progress(1.0, False, 10.0, 0.001, 0.0005, failed=0)
    for text in (f"2026-11-20T10:00:01Z db1 {line}", f"{line}some words", f"pgbench:{line}pgbench: client 1 receiving"):
        assert [record for record in text_records(text + "\n") if isinstance(record, Progress)] == [expected]


def test_two_progress_lines_in_one_line_are_both_used() -> None:
    first = "progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.049"
    second = "progress: 2.0 s, 11.0 tps, lat 1.000 ms stddev 0.050"
    assert [record.tps for record in text_records(first + second + "\n")] == [10.0, 11.0]


def test_message_in_the_middle_cuts_the_line_short_and_no_more() -> None:
    records = text_records(
        "progress: 1.0 s, 103.0 tps, lat 1.134 ms stddev 0.391, 5 failedpgbench: client 1 receiving\n, lag 0.161 ms\n"
    )
    assert records == [
        Progress(1.0, False, 103.0, 0.001134, 0.000391, failed=5),
        Misread("other_text", "line 2", ", lag 0.161 ms"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "progress: 1.0 s, 26",
        "progress: 1.0 s, inf tps, lat 0.000 ms stddev 0.000",
        "progress: " + "9" * 5000 + ".0 s, 1.0 tps, lat 0.000 ms stddev 0.000",
        "progress: 1.0 s, 1,0 tps, lat 0,100 ms stddev 0,000",
    ],
)
def test_line_that_begins_like_one_and_is_none_is_misread(line: str) -> None:
    (record,) = text_records(line + "\n")
    assert isinstance(record, Misread)
    assert record.reason == "progress_line"
    assert record.where == "line 1"


def test_rate_of_a_single_thread_is_not_taken_for_that_of_the_run() -> None:
    (record,) = text_records("progress 0: 1.0 s, 421.0 tps, lat 0.670 ms stddev 0.760\n")
    assert record == Misread("progress_line", "line 1", "progress 0: 1.0 s, 421.0 tps, lat 0.670 ms stddev 0.760")


@pytest.mark.parametrize(
    "line",
    [
        "progress: 123456789.0 s, 10.0 tps, lat 1.000 ms stddev 0.500",
        "progress: 9795168190.000 s, 10.0 tps, lat 1.000 ms stddev 0.500",
        "progress: 5.000 s, 10.0 tps, lat 1.000 ms stddev 0.500",
        "progress: 1.0 s, 1234567890.0 tps, lat 1.000 ms stddev 0.500",
        "progress: 1.0 s, 10.0 tps, lat 12345678901.000 ms stddev 0.500",
    ],
)
def test_a_number_that_no_run_can_have_is_misread(line: str) -> None:
    assert text_records(f"{line}\n") == [Misread("progress_line", "line 1", line)]
