"""Where lines are cut, what lacks its end, what is not understood."""

import random

import pytest

from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.kit import ToolReport as SysbenchInterval
from benchwatch.tools.lines import LIMIT
from benchwatch.tools.sysbench import SYSBENCH

from .recordings import LINE, NAMES, data_of, misread, parse, read, text_of, values


@pytest.mark.parametrize("name", NAMES)
def test_pieces_make_no_difference(name: str) -> None:
    data = data_of(name)
    whole = parse(data)
    assert parse(data, range(1, len(data))) == whole
    dice = random.Random(name)
    assert parse(data, dice.sample(range(len(data)), min(20, len(data) - 1))) == whole


@pytest.mark.parametrize("line", ["rw-t8", "threads", "fileio-rate", "memory"])
def test_a_line_without_its_end_counts_once_it_has_all_its_decimals(line: str) -> None:
    text = next(each for each in text_of(line).splitlines() if each.startswith("[ 3s ]")).encode()
    for size in range(1, len(text)):
        parser = SYSBENCH.parser("text")
        assert parser.feed(text[:size]) == []
        assert parser.settle() == [], text[:size]
        assert parser.undated
    parser = SYSBENCH.parser("text")
    parser.feed(text)
    (found,) = parser.settle()
    assert isinstance(found, SysbenchInterval)
    assert found.time == 3
    assert not parser.undated
    assert parser.settle() == parser.feed(b"\n") == parser.close() == []
    assert parser.records == 1
    assert [record.where for record in parser.feed(b"what\n")] == ["line 2"]


def test_a_report_without_its_last_newline_is_complete() -> None:
    data = data_of("rw-t8").rstrip()
    assert values(read(data)[-1]) == values(read(data_of("rw-t8"))[-1])


@pytest.mark.parametrize(
    ("name", "torn"),
    [
        ("rw-t8", "    transactions:                        28"),
        ("rw-t8", "    total time:                          6.0"),
        ("rw-t8-histogram", "       1.791 |*                                        1"),
        ("rw-t8", "Number of threads: 8"),
        ("rw-rate-overload", "[ 3s ] queue length: 143"),
    ],
)
def test_a_cut_off_number_is_none(name: str, torn: str) -> None:
    text = text_of(name)
    assert torn in text
    data = text[: text.index(torn) + len(torn)].encode()
    *_, last = parse(data)
    assert isinstance(last, Misread)
    assert (last.reason, last.text) == ("truncated_line", torn)
    assert read(data)[-1].outcome == ""


@pytest.mark.parametrize("line", ["queue length: 7, concurrency: 2", "queue length: 7 concurrency: 2"])
def test_the_queue_of_a_fixed_rate_is_read_in_the_form_of_databases_and_in_that_of_the_other_tests(line: str) -> None:
    data = ("[ 1s ] thds: 1 eps: 197.68 lat (ms,99%): 92.42\n[ 1s ] " + line + "\n").encode()
    assert misread(data) == []
    assert values(read(data)[-1])["queue_length",] == 7


def test_what_is_no_line_of_sysbench_is_counted_and_named() -> None:
    data = ("+ date\n" + LINE.format(1, 50) + "[ 2s ] thds: 4 tps: many\nbye\n").encode()
    found = [record for record in parse(data) if isinstance(record, Misread)]
    assert [(record.reason, record.where) for record in found] == [
        ("other_text", "line 1"),
        ("interval_line", "line 3"),
        ("other_text", "line 4"),
    ]


def test_a_line_of_a_mebibyte_is_left_out() -> None:
    data = b"x" * (LIMIT + 1) + b"\n" + LINE.format(1, 50).encode()
    assert misread(data) == ["line_too_long"]
    assert values(read(data)[-1])["tps",] == 50


def test_numbers_that_no_run_can_have_are_not_read() -> None:
    assert misread(LINE.format("9" * 30, 50).encode()) == ["interval_line"]
    assert misread(LINE.format(1, "9" * 400).encode()) == ["interval_line"]


def test_a_tail_begun_in_mid_run_is_recognised_by_one_line() -> None:
    for name in ("rw-t8", "threads", "fileio-rate", "memory"):
        line = next(each for each in text_of(name).splitlines() if each.startswith("[ 3s ]"))
        assert SYSBENCH.recognise(f"57.10\n{line}\n".encode()) == "text"
    assert SYSBENCH.recognise(b"[ 3s ] something else\n") == ""
    assert SYSBENCH.recognise(b"starting sysbench 1 now\n") == ""


def test_the_next_run_in_one_stream_begins_with_its_banner() -> None:
    first, second = read(data_of("two-runs-appended-merged"))
    assert values(first)["transactions_total",] == 9320
    assert values(second)["transactions_total",] == 11278
    prepared = read(data_of("prepare-table10") + data_of("rw-t8"))
    assert [state.outcome for state in prepared] == ["", "finished"]
    failed_to_prepare = read(data_of("prepare-2tables") + data_of("rw-t8"))
    assert [state.outcome for state in failed_to_prepare] == ["failed", "finished"]
    killed = read(data_of("stdout-file-killed") + data_of("rw-t8"))
    assert values(killed[1]) == values(read(data_of("rw-t8"))[-1])
    assert not any(isinstance(record, Begin) for record in parse(data_of("rw-t8")))


def test_an_earlier_interval_begins_the_next_run_where_the_banners_were_left_out() -> None:
    lines = [line for line in text_of("rw-t8").splitlines(keepends=True) if line.startswith("[ ")]
    once = parse("".join(lines).encode())
    assert len(once) == len(lines)
    assert parse("".join(2 * lines).encode()) == [*once, Begin(), *once]


def test_moments_are_where_lines_end_and_grow() -> None:
    for name in NAMES:
        data = data_of(name)
        found = list(SYSBENCH.moments("text", data))
        assert all(moment.elapsed and data[moment.offset - 1 : moment.offset] == b"\n" for moment in found)
        assert [moment.offset for moment in found] == sorted({moment.offset for moment in found})
    found = list(SYSBENCH.moments("text", data_of("rw-t8")))
    assert [moment.time for moment in found] == [1, 2, 3, 4, 5, 6, 6.0513]
    of_last_run = list(SYSBENCH.moments("text", data_of("two-runs-appended-merged")))
    assert [moment.time for moment in of_last_run] == [1, 2, 3, 4, 4.538]
