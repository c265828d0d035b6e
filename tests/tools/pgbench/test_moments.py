from collections.abc import Sequence

import pytest

from benchwatch.tools.api import Moment
from benchwatch.tools.pgbench import PGBENCH

LINE = "progress: {} s, 50.0 tps, lat 4.000 ms stddev 2.000\n"
REPORT = """transaction type: <builtin: select only>
scaling factor: 1
query mode: simple
number of clients: 1
number of threads: 1
duration: 10 s
number of transactions actually processed: 500
latency average = 20.000 ms
initial connection time = 250.000 ms
tps = 50.000000 (without initial connection time)
"""


def moments(kind: str, text: str) -> Sequence[Moment]:
    return list(PGBENCH.moments(kind, text.encode()))


@pytest.mark.parametrize(
    ("time", "seconds", "elapsed"), [("5.0", 5.0, True), ("1795000000.125", 1795000000.125, False)]
)
def test_a_progress_line_is_written_at_its_time(time: str, seconds: float, elapsed: bool) -> None:
    text = "starting vacuum...end.\n" + LINE.format(time)
    assert moments("text", text + "progress: 6.0 s, 5") == [Moment(len(text), seconds, elapsed)]


def test_the_final_report_is_written_when_the_run_is_as_old_as_it_says() -> None:
    text = LINE.format("5.0") + REPORT
    assert moments("text", text)[1:] == [Moment(len(text), 10.25, elapsed=True, final=True)]
    assert moments("text", LINE.format("5.0") + REPORT[:-30]) == [Moment(len(LINE.format("5.0")), 5.0, elapsed=True)]


def test_an_earlier_run_in_seconds_is_not_dated() -> None:
    earlier, later = LINE.format("5.0") + REPORT, LINE.format("1.0")
    assert moments("text", earlier + later) == [Moment(len(earlier + later), 1.0, elapsed=True)]


def log(*times: str) -> str:
    return "".join(f"0 {number} 1000 0 {time.replace('.', ' ')}\n" for number, time in enumerate(times, 1))


def test_a_log_is_cut_at_the_seconds() -> None:
    first, second, last = log("1795000000.5", "1795000000.999999"), log("1795000001.0"), log("1795000002.25")
    assert moments("log", first + second + last) == [
        Moment(len(first), 1795000001),
        Moment(len(first + second), 1795000002),
        Moment(len(first + second + last), 1795000002.000025),
    ]


def test_a_second_in_which_nothing_completed_is_told_twice_at_most() -> None:
    first, last = log("1795000000.5"), log("1795000009.5")
    assert [moment.time for moment in moments("log", first + last)] == [
        1795000001,
        1795000002,
        1795000003,
        1795000009.000005,
    ]


def test_a_log_of_many_lines_is_cut_where_a_line_by_line_search_cuts_it() -> None:
    times = [f"{1795000000 + row // 977}.{row % 977}" for row in range(20_000)]
    text = log(*times)
    found = moments("log", text)
    begins = {second: text.index(f" {second} ") for second in range(1795000001, 1795000021)}
    assert [moment.offset for moment in found[:-1]] == [text.rindex("\n", 0, at) + 1 for at in begins.values()]
    assert found[-1].offset == len(text)


@pytest.mark.parametrize("text", ["", "no log\n", "0 1 1000 0 1795000000"])
def test_a_log_without_a_line_has_no_moment(text: str) -> None:
    assert moments("log", text) == []


def test_an_interval_of_an_aggregated_log_is_whole_when_the_next_begins() -> None:
    lines = [f"{start} 5 1 1 1 1\n" for start in (1795000000, 1795000005, 1795000015)]
    ends = [len("".join(lines[:count])) for count in (1, 2, 3)]
    assert moments("log aggregate", "".join(lines)) == [
        Moment(ends[0], 1795000005),
        Moment(ends[1], 1795000015),
        Moment(ends[2], 1795000025),
    ]


def test_a_line_that_only_looks_like_one_of_the_next_second_hides_nothing() -> None:
    line = "0 {} 1000 0 {} 500000\n"
    text = "".join(line.format(number, 1795000000 + number) for number in range(3)) + "torn 1795000003 x\n"
    assert moments("log", text)[-1] == Moment(len(text), 1795000002.5)


@pytest.mark.parametrize("end", ["", "torn", "torn\n"])
def test_nul_bytes_before_the_only_line_are_no_part_of_it(end: str) -> None:
    text = "0 1 695 0 1795170\n\0\0001 1 988 0 1795170203 206182\n" + end
    assert moments("log", text) == [Moment(len(text), 1795170203.206182)]
