"""The transaction log: exact against a plain reading, whatever the pieces and the damage."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.tools.api import Misread
from benchwatch.tools.pgbench import PGBENCH
from benchwatch.tools.pgbench.transactions import Transactions

from .recordings import LOGS, TRANSACTION_LOGS, parse


class Whole(NamedTuple):
    """All that the records of one file say."""

    rows: list[tuple[int, int, int]]
    skipped: int
    failed: int
    extra: list[int]
    lines: int
    size: int
    begin: float | None
    end: float
    missing: int
    misread: list[Misread]


def whole(records: list[Any]) -> Whole:
    pieces = [record for record in records if isinstance(record, Transactions)]
    rows = [
        row
        for piece in pieces
        for row in zip(piece.latency.tolist(), piece.script.tolist(), piece.second.tolist(), strict=True)
    ]
    filled = [piece for piece in pieces if piece.lines]
    return Whole(
        rows,
        sum(piece.skipped for piece in pieces),
        sum(piece.failed for piece in pieces),
        sorted(value for piece in pieces for value in piece.extra.tolist()),
        sum(piece.lines for piece in pieces),
        sum(piece.size for piece in pieces),
        next((piece.begin for piece in pieces if piece.begin is not None), None),
        max((piece.end for piece in filled), default=0),
        sum(piece.missing for piece in pieces),
        [record for record in records if isinstance(record, Misread)],
    )


def plainly(data: bytes) -> Whole:
    """The same by the plainest reading there is; only whole lines of digits, from 2001 to 2096, and the five words."""
    rows, extras, lines, size, words = [], [], 0, 0, []
    edges = []
    fields = 0
    for line in data.decode("latin-1").split("\n")[:-1]:
        parts = line.split(" ")
        if not re.fullmatch(
            r"\d+ \d+ (\d{1,12}|skipped|failed|serialization|deadlock|other) "
            r"(\d{1,2}|1[01]\d|12[0-7]) [1-3]\d{9} \d{1,6}( \d{1,12}){0,2}",
            line,
        ):
            continue
        fields = fields or len(parts)
        if len(parts) != fields:
            continue
        lines += 1
        size += len(line) + 1
        time = int(parts[4]) + int(parts[5]) / 1e6
        edges.append((time - (int(parts[2]) / 1e6 if parts[2].isdigit() else 0), time))
        if parts[2].isdigit():
            rows.append((int(parts[2]), int(parts[3]), int(parts[4])))
        else:
            words.append(parts[2])
        if len(parts) > 6 and parts[2] != "skipped":
            extras.append(int(parts[-1]))
    return Whole(
        rows,
        words.count("skipped"),
        len(words) - words.count("skipped"),
        sorted(extras),
        lines,
        size,
        edges[0][0] if edges else None,
        max((end for _, end in edges), default=0),
        0,
        [],
    )


def same(found: Whole, expected: Whole) -> bool:
    return found[:8] == expected[:8]


LINE = "0 1 1724 0 1795168289 380657\n"


@pytest.mark.parametrize("path", TRANSACTION_LOGS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_each_recording_is_read_exactly(path: Path) -> None:
    data = path.read_bytes()
    found = whole(parse("log", data))
    assert same(found, plainly(data))
    assert found.lines == data.count(b"\n")
    torn = data.rpartition(b"\n")[2]
    assert [(record.reason, record.text) for record in found.misread] == (
        [("truncated_line", torn.decode())] if torn else []
    )


@settings(max_examples=60)
@given(st.sampled_from(TRANSACTION_LOGS), st.lists(st.integers(0, 40_000), max_size=30))
def test_chunk_borders_do_not_matter(path: Path, cuts: list[int]) -> None:
    data = path.read_bytes()[:40_000]
    assert whole(parse("log", data, [min(cut, len(data)) for cut in cuts])) == whole(parse("log", data))


def test_byte_after_byte_gives_the_same() -> None:
    path = next(path for path in TRANSACTION_LOGS if "txlog-failures-detailed" in str(path))
    data = path.read_bytes()
    assert whole(parse("log", data, range(1, len(data)))) == whole(parse("log", data))


@settings(max_examples=150)
@given(
    st.sampled_from([path for path in TRANSACTION_LOGS if path.stat().st_size > 10_000]),
    st.lists(st.tuples(st.integers(0, 12_000), st.text("0123456789 \n-xs\r", max_size=9)), min_size=1, max_size=8),
    st.lists(st.integers(0, 12_000), max_size=5),
)
def test_damage_costs_only_the_damaged_lines(path: Path, damage: list[tuple[int, str]], cuts: list[int]) -> None:
    data = bytearray(path.read_bytes()[:12_000])
    for position, piece in damage:
        data[position : position + len(piece)] = piece.encode()
    cuts = [min(cut, len(data)) for cut in cuts]
    # A step back within one second is not looked for.
    found, uncut = (whole(parse("log", bytes(data), each)) for each in (cuts, []))
    # Windows' line ends are understood here and not by the plain reading.
    assert same(found, plainly(bytes(data).replace(b"\r\n", b"\n"))._replace(size=found.size))
    assert found == uncut


@settings(max_examples=80)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 99_999),
            st.integers(0, 10**12 - 1) | st.integers(0, 999),
            st.integers(0, 127) | st.just(0),
            st.integers(1_000_000_000, 3_999_999_999) | st.integers(1_795_168_289, 1_795_168_291),
            st.integers(0, 999_999),
        ),
        min_size=1,
        max_size=50,
    )
)
def test_numbers_of_any_length_are_exact(lines: list[tuple[int, int, int, int, int]]) -> None:
    text = "".join(f"{client} 7 {time} {script} {second} {micro}\n" for client, time, script, second, micro in lines)
    found = whole(parse("log", text.encode()))
    assert found.rows == [(time, script, second) for _, time, script, second, _ in lines]
    assert found.misread == []


def test_microseconds_are_not_padded() -> None:
    found = whole(parse("log", b"3 2 4271 0 1795168343 3622\n1 2 10 0 1795168343 48431\n"))
    assert found.begin == pytest.approx(1795168343.003622 - 0.004271, abs=1e-6)
    assert found.end == 1795168343.048431


def test_skipped_and_failed_transactions_have_no_latency() -> None:
    text = (
        "0 1 skipped 0 1795168160 732124 0 0\n0 2 2313 0 1795168160 733687 748 1\n0 3 failed 1 1795168160 733700 7 2\n"
        "0 4 serialization 0 1795168160 733800 7 2\n0 5 deadlock 0 1795168160 733900 7 2\n"
        "0 6 other 0 1795168160 734000 7 0\n"  # 19
    )
    found = whole(parse("log", text.encode()))
    assert found.rows == [(2313, 0, 1795168160)]
    assert (found.skipped, found.failed, found.lines) == (1, 4, 6)
    assert found.extra == [0, 1, 2, 2, 2]


@pytest.mark.parametrize(
    "line", ["0 failed 5 0 1795168289 5", "0 1 0000000000005 0 1795168289 5", "0 1 9000000000000 0 1795168289 5"]
)
def test_line_that_is_almost_one_is_misread_beside_words(line: str) -> None:
    found = whole(parse("log", f"{LINE}0 2 skipped 0 1795168289 5\n{line}\n0 3 failed 0 1795168289 5\n".encode()))
    assert (found.rows, found.skipped, found.failed) == ([(1724, 0, 1795168289)], 1, 1)
    assert found.misread == [Misread("log_line", "line 3", line)]


def test_lines_of_another_length_than_the_first_are_not_understood() -> None:
    records = parse("log", f"{LINE}0 2 5 0 1795168289 380700 12\n{LINE}".encode())
    found = whole(records)
    assert found.lines == 2
    assert found.misread == [Misread("log_line", "line 2", "0 2 5 0 1795168289 380700 12")]


@pytest.mark.parametrize(
    "line",
    [
        " 1 1724 0 1795168289 380657",
        "0  1724 0 1795168289 380657",
        "0 1 1724 0 1795168289 ",
        "0 1 1724 0 1795168289 1380657",
        "0 1 1724 10000 1795168289 380657",
        "0 1 1234567890123 0 1795168289 380657",
        "0 1 1724 0 795168289 380657",
        "0 1 1724 0 11795168289 380657",
        "0 1 -5 0 1795168289 380657",
        "0 1 1724 0 1795168289",
        "0\t1\t1724\t0\t1795168289\t380657",
    ],
)
@pytest.mark.parametrize("place", [0, 700, 1999])
def test_line_that_is_almost_one_is_misread_among_good_ones(line: str, place: int) -> None:
    lines = [LINE] * 2000
    lines[place] = line + "\n"
    found = whole(parse("log", "".join(lines).encode()))
    assert found.rows == [(1724, 0, 1795168289)] * 1999
    assert found.misread == [Misread("log_line", f"line {place + 1}", line)]


def test_foreign_text_and_empty_lines_do_not_hide_their_neighbours() -> None:
    lines = [LINE] * 3000
    lines[1500] = "no such file or directory\n"
    lines[2000] = "\n"
    found = whole(parse("log", "".join(lines).encode()))
    assert found.lines == 2998
    assert found.misread == [Misread("log_line", "line 1501", "no such file or directory")]


def test_hole_of_nul_bytes_is_passed_over() -> None:
    found = whole(parse("log", b"\0" * 3_000_000 + LINE.encode()))
    assert (found.lines, found.misread) == (1, [])


def test_line_that_never_ends_is_dropped() -> None:
    found = whole(parse("log", b"1" * 3_000_000 + b"\n" + LINE.encode(), range(0, 3_000_000, 4096)))
    assert found.lines == 1
    assert [(record.reason, record.where) for record in found.misread] == [("line_too_long", "line 1")]


@pytest.mark.parametrize(
    ("numbers", "missing"),
    [
        ([(0, 0), (1, 0), (0, 1), (1, 1), (1, 2)], 0),  # up to 10
        ([(0, 1), (1, 1), (0, 2), (1, 2), (1, 3)], 0),  # 11+
        ([(0, 0), (0, 0), (0, 0), (0, 1)], 0),  # 9.6: skipped transactions take no number
        ([(1, 79), (0, 3), (1, 81)], 78 + 2 + 1),
    ],
)
def test_gaps_in_the_numbers_of_transactions_are_counted(numbers: list[tuple[int, int]], missing: int) -> None:
    text = "".join(f"{client} {number} 100 0 1795168289 1\n" for client, number in numbers)
    assert whole(parse("log", text.encode())).missing == missing


def test_only_the_first_lines_are_examined_for_gaps() -> None:
    cuts: Iterable[int]
    text = "".join(f"0 {number} 100 0 1795168289 1\n" for number in [*range(1, 4097), *range(9000, 9100)]).encode()
    for cuts in ([], range(0, len(text), 1000)):
        records = parse("log", text, cuts)
        assert sum(record.examined for record in records) == 4096
        assert whole(records).missing == 0


def test_kind_of_log_is_recognised() -> None:
    for path in LOGS:
        expected = "log aggregate" if path.parent.name.startswith("agglog") else "log"
        assert PGBENCH.recognise(path.read_bytes()[:4096]) == expected, path
    assert PGBENCH.recognise(b"123 0 1795168289 48431\n" + LINE.encode()) == "log"
    assert PGBENCH.recognise(LINE.encode()[:-1]) == ""


def test_counts_of_records_are_counts_of_lines() -> None:
    parser = PGBENCH.parser("log")
    parser.feed(LINE.encode() * 10_000 + b"rubbish\n")
    assert parser.records == 10_000


def test_arrays_are_whole_numbers() -> None:
    record = next(record for record in parse("log", LINE.encode()) if record.lines)
    assert record.latency.dtype == record.script.dtype == record.second.dtype == np.int64


@pytest.mark.parametrize("second", ["9795168190", "4000000000", "0000000000", "0999999999"])
def test_a_time_that_no_run_can_have_is_misread_in_digits_and_among_words(second: str) -> None:
    good, bad = "0 1 500 0 1795168190 5\n", f"0 2 500 0 {second} 5"
    for text in (good + bad + "\n" + good, "0 1 skipped 0 1795168190 5\n" + bad + "\n" + good):
        records = parse("log", text.encode())
        assert [record for record in records if isinstance(record, Misread)] == [Misread("log_line", "line 2", bad)]
        assert sum(record.lines for record in records if not isinstance(record, Misread)) == 2


@pytest.mark.parametrize("words", [b"", b"0 9 skipped 0 1795168160 7\n"])
def test_where_the_clock_was_set_back_the_last_transaction_is_the_latest(words: bytes) -> None:
    before = [b"0 %d 500 0 %d 415032\n" % (number, 1795168490 + number) for number in range(9)]
    after = [b"0 %d 500 0 %d 931672\n" % (number, 1795168150 + number) for number in range(9, 20)]
    data = b"".join([*before, words, *after])
    for cuts in ([], [len(b"".join(before))], range(1, len(data), 7)):
        pieces = [record for record in parse("log", data, cuts) if isinstance(record, Transactions)]
        assert max(piece.end for piece in pieces if piece.lines) == 1795168498.415032


def test_the_end_is_the_latest_time_within_its_second_too_wherever_the_chunks_end() -> None:
    data = b"".join(b"0 %d 500 0 1795168490 %d\n" % number for number in ((1, 100_000), (2, 900_000), (3, 200_000)))
    for cuts in ([], [len(data) * 2 // 3]):
        pieces = [record for record in parse("log", data, cuts) if isinstance(record, Transactions)]
        assert max(piece.end for piece in pieces) == 1795168490.9


@pytest.mark.parametrize("size", [5_000, 9_000, 100_000, 1_000_000])
def test_a_long_line_of_something_else_costs_only_itself(size: int) -> None:
    line, long = b"0 1 500 0 1795168490 415032\n", b"x" * size + b"\n"
    for data in (line * 9 + long, long + line * 9, line * 4 + long + line * 5, line * 9 + long + long):
        found = whole(parse("log", data))
        assert (found.lines, [one.reason for one in found.misread]) == (9, ["log_line"] * data.count(long))


@pytest.mark.parametrize("lines", [1, 600])
def test_a_script_that_pgbench_cannot_have_is_misread(lines: int) -> None:
    records = parse(
        "log", b"".join(b"0 %d 900 127 1795168289 7\n0 %d 900 128 1795168289 8\n" % (n, n) for n in range(lines))
    )
    found = whole(records)
    assert found.rows == [(900, 127, 1795168289)] * lines
    assert [reason for reason, *_ in found.misread] == ["log_line"] * lines
