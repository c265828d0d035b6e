"""Text in any mixture: chunk borders, damage, several runs in one stream, errors."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.lines import LIMIT
from benchwatch.tools.pgbench import PGBENCH
from benchwatch.tools.pgbench.lifecycle import Banner, LifecycleEvent
from benchwatch.tools.pgbench.progress import Progress

from .recordings import ROOT, TEXTS, parse, read, state_of, streams, text_records

ALL_TEXT = b"".join(path.read_bytes() for path in TEXTS if path.stat().st_size < 10_000)
LINE = "progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.500\n"
REPORT = (
    "transaction type: a.sql\nnumber of transactions actually processed: 10\n"
    "tps = 10.0 (without initial connection time)\n"
)


def typed(records: list[Any]) -> list[tuple[str, Any]]:
    """Records with their types, for a named tuple equals any other of the same values."""
    return [(type(record).__name__, record) for record in records]


def begins(*texts: str) -> int:
    return sum(isinstance(record, Begin) for record in text_records("".join(texts)))


@settings(max_examples=60)
@given(st.lists(st.integers(0, len(ALL_TEXT)), max_size=40))
def test_chunk_borders_do_not_matter(cuts: list[int]) -> None:
    assert typed(parse("text", ALL_TEXT, cuts)) == typed(parse("text", ALL_TEXT))


@pytest.mark.parametrize(
    "name", ["merged-appended-15.18.log", "serial-maxtries3-detailed-15.18.out", "init-partitions-18.6.err"]
)
def test_byte_after_byte_gives_the_same(name: str) -> None:
    data = (ROOT / name).read_bytes()
    assert typed(parse("text", data, range(1, len(data)))) == typed(parse("text", data))


@settings(max_examples=150)
@given(
    st.sampled_from([path for path in TEXTS if path.stat().st_size]),
    st.lists(st.tuples(st.integers(0, 3000), st.binary(max_size=12)), min_size=1, max_size=6),
)
def test_damaged_text_raises_nothing(path: Any, damage: list[tuple[int, bytes]]) -> None:
    data = bytearray(path.read_bytes())
    for position, piece in damage:
        data[position : position + len(piece)] = piece
    read({"damaged": b"progress: 1.0 s, \n" + bytes(data)})


@settings(max_examples=100)
@given(st.binary(max_size=300))
def test_any_bytes_raise_nothing(data: bytes) -> None:
    for kind in ("text", "log", "log aggregate"):
        parse(kind, data)


def test_last_line_without_its_end_waits_for_it_or_for_the_end_of_the_stream() -> None:
    parser = PGBENCH.parser("text")
    assert parser.feed(LINE[:-1].encode()) == []
    assert parser.feed(b"\n") == [Progress(1.0, False, 10.0, 0.001, 0.0005)]
    parser.feed(LINE[:-1].encode())
    assert parser.close() == [Progress(1.0, False, 10.0, 0.001, 0.0005)]
    assert parser.close() == []
    assert parser.records == 2


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n\n"])
def test_other_line_ends_are_understood(end: str) -> None:
    assert [
        record.time
        for record in text_records(LINE.replace("\n", end) + LINE.replace("1.0 s", "2.0 s").replace("\n", end))
    ] == [1, 2]


def test_bytes_that_are_no_text_do_no_harm() -> None:
    records = parse(
        "text", b"\0" * 70_000 + LINE.encode() + b"\xff\xfe\x00\x01 \xc3\n" + LINE.replace("1.0 s", "2.0 s").encode()
    )
    assert [type(record) for record in records] == [Progress, Misread, Progress]


def test_line_that_never_ends_is_dropped_once_and_takes_no_memory() -> None:
    parser = PGBENCH.parser("text")
    records = [record for _ in range(40) for record in parser.feed(b"x" * 100_000)]
    assert [(record.reason, record.where) for record in records] == [("line_too_long", "line 1")]
    assert parser.feed(b"x\n" + LINE.encode()) == [Progress(1.0, False, 10.0, 0.001, 0.0005)]


def test_longest_line_is_the_same_in_any_pieces() -> None:
    for length, reason in ((LIMIT, "other_text"), (LIMIT + 1, "line_too_long")):
        data = b"y" * length + b"\n" + LINE.encode()
        for cuts in ([], [5, length - 1], [length], [length + 1], range(0, len(data), 65536)):
            first, second = parse("text", data, cuts)
            assert (first.reason, first.where) == (reason, "line 1")
            assert isinstance(second, Progress)


def test_text_without_figures_is_known_and_other_text_is_counted() -> None:
    known = (
        'NOTICE:  table "pgbench_accounts" does not exist, skipping\nWARNING:  terminating connection\n'
        "pgbench: client 0 receiving\nclient 0 sending SELECT 1;\nLINE 1: SELECT nosuchcol\n               ^\n"
        "DETAIL:  Reason code\nHINT:  The transaction might succeed if retried.\n"
        "\tIs the server running on that host and accepting TCP/IP connections?\n"
        "pghost: h pgport: 1 nclients: 1 nxacts: 3 dbName: bench\n"
    )
    assert text_records(known) == []
    assert text_records("+ sleep 5\n") == [Misread("other_text", "line 1", "+ sleep 5")]


@pytest.mark.parametrize(
    "name", [path.name for path in TEXTS if path.name.startswith(("init-", "tpcb-", "rate-lat", "debug-d"))]
)
def test_every_line_of_a_clean_run_is_understood(name: str) -> None:
    assert [record for record in parse("text", (ROOT / name).read_bytes()) if isinstance(record, Misread)] == []


@pytest.mark.parametrize(
    ("line", "banner"),
    [
        ("pgbench (15.18)", Banner("15.18", "")),
        ("pgbench (15.18 (Debian 15.18-0+deb12u1))", Banner("15.18 (Debian 15.18-0+deb12u1)", "")),
        ("pgbench (18.6, server 15.18 (Debian 15.18-0+deb12u1))", Banner("18.6", "15.18 (Debian 15.18-0+deb12u1)")),
        ("pgbench (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", Banner("15.18 (Debian 15.18-0+deb12u1)", None)),
    ],
)
def test_version(line: str, banner: Any) -> None:
    assert typed(text_records(line + "\n")) == typed([banner])


def test_four_runs_in_one_file_begin_three_times() -> None:
    states = read(streams("merged-appended-15.18"))
    assert [state.outcome for state in states] == ["finished", "finished", "", "finished"]
    assert [len(state.history) for state in states] == [2, 1, 1, 2]
    assert [state.parameters().get("clients") for state in states] == ["2", "2", None, "2"]


def test_another_run_begins() -> None:
    banner, vacuum, init = "pgbench (15.18)\n", "starting vacuum...end.\n", "dropping old tables...\n"
    refused = 'pgbench: fatal: could not count number of branches: ERROR:  relation "x" does not exist\n'
    later = LINE.replace("1.0 s", "2.0 s")
    epoch = LINE.replace("1.0 s", "1795168139.483 s")
    assert begins(banner, vacuum, LINE, later, REPORT) == 0
    assert begins(banner, banner) == 1
    for run in (LINE, REPORT, LINE + REPORT, refused):
        assert [begins(run, start) for start in (banner, vacuum)] == [1, 1]
    assert begins(LINE, init) == begins(refused, init) == begins(REPORT, init, LINE) == 1
    assert begins(later, LINE) == 1
    assert begins(LINE, epoch) == begins(epoch, LINE) == 1
    assert begins(REPORT, LINE) == begins(REPORT, REPORT) == begins(refused, REPORT) == 1
    assert begins(REPORT, refused, refused) == 1
    assert begins(REPORT, "pgbench: error: client 3 script 0 aborted in command 1 query 0: ERROR:  x\n") == 1


REFUSED = (
    'pgbench: error: connection to server at "h", port 5432 failed: Connection refused\n'
    "\tIs the server running on that host and accepting TCP/IP connections?\n"
    "pgbench: error: could not create connection for setup\n"
)
STARTING_UP = 'connection to database "x" failed:\nFATAL:  the database system is starting up\n'


@pytest.mark.parametrize("refused", [REFUSED, STARTING_UP], ids=["15", "12"])
def test_starts_that_found_no_server_are_part_of_the_run_that_follows(refused: str) -> None:
    """A script that waits for the server; only standard error shows its tries."""
    for start in ("pgbench (15.18)\n", "starting vacuum...end.\n", "dropping old tables...\n", LINE, REPORT):
        assert begins(refused, refused, start) == 0
    assert begins(REPORT, refused, "starting vacuum...end.\n") == begins(LINE, REPORT, refused, LINE) == 1
    parser = PGBENCH.parser("text")
    parser.feed(f"{refused}{LINE}".rstrip("\n").encode())
    assert any(isinstance(record, Progress) for record in parser.settle())
    (failed,) = read({"a.err": (2 * refused).encode()})
    assert failed.outcome == "failed"
    (tried,) = read({"a.err": f"{2 * refused}starting vacuum...end.\n{LINE}".encode(), "a.out": REPORT.encode()})
    assert (tried.outcome, tried.reason, len(tried.history)) == ("finished", "", 1)


def test_another_run_does_not_begin() -> None:
    init = "dropping old tables...\ncreating tables...\nvacuuming...\ndone in 0.16 s (drop tables 0.00 s).\n"
    assert begins(init, "pgbench (15.18)\n", "starting vacuum...end.\n", LINE, REPORT) == 0
    assert begins(init, init, LINE) == 0
    assert begins(REPORT, "pgbench: error: Run was aborted; the above results are incomplete.\n") == 0
    assert begins("pgbench: error: client 3 script 0 aborted in command 1 query 0: ERROR:  x\n", REPORT) == 0
    assert begins(LINE, LINE) == 0
    evaluation = (
        "pgbench: error: division by zero\n"
        "pgbench: error: client 0 aborted in command 0 (set) of script 0; evaluation of meta-command failed\n"
    )
    assert begins(evaluation, LINE, REPORT) == 0
    vacuum = 'starting vacuum...ERROR:  relation "pgbench_tellers" does not exist\n'
    assert (
        begins(
            vacuum, "(ignoring this error and continuing anyway)\nend.\nstarting vacuum pgbench_accounts...end.\n", LINE
        )
        == 0
    )
    epoch = "progress: 1795168139.483 s, 1.0 tps, lat 1.000 ms stddev 0.500\n"
    assert begins(epoch, epoch.replace("139.483", "138.983")) == 0


@pytest.mark.parametrize(
    ("line", "client", "message"),
    [
        ("Client 1 aborted in state 1: ERROR:  division by zero", 1, "ERROR: division by zero"),
        ("client 3 aborted in command 1 (SQL) of script 0; ERROR:  division by zero", 3, "ERROR: division by zero"),
        ("client 7 script 0 aborted in command 1 query 0: ERROR:  division by zero", 7, "ERROR: division by zero"),
        (
            "pgbench: error: client 2 aborted in command 8 (SQL) of script 0; perhaps the backend died while "
            "processing",
            2,
            "perhaps the backend died while processing",
        ),
        ("pgbench: error: client 12 aborted while establishing connection", 12, "while establishing connection"),
        ("pgbench: pgbench: error: error: client 4 script 1 aborted in command 0 query 0: ERROR:  x", 4, "ERROR: x"),
    ],
)
def test_client_that_aborted(line: str, client: int, message: str) -> None:
    assert typed(text_records(line + "\n")) == typed([LifecycleEvent("aborted", message, client)])


def test_end_of_an_aborted_run() -> None:
    for prefix in ("", "pgbench: fatal: ", "pgbench: error: "):
        (record,) = text_records(prefix + "Run was aborted; the above results are incomplete.\n")
        assert typed([record]) == typed([LifecycleEvent("cut", "Run was aborted; the above results are incomplete.")])


def test_vacuum_of_tables_that_are_not_there_is_no_failure() -> None:
    for start in ("starting vacuum...ERROR:  ", "starting vacuum...pgbench: error: ERROR:  "):
        for note in (
            "(ignoring this error and continuing anyway)",
            "pgbench: detail: (ignoring this error and continuing anyway)",
        ):
            records = text_records(f'{start}relation "pgbench_branches" does not exist\n{note}\n')
            assert [record.kind for record in records] == ["vacuum", "failed", "ignored"]


@pytest.mark.parametrize(
    "sentence",
    [
        "invalid option -- 'Q'",
        "unrecognized option '--nonsense'",
        "option requires an argument -- 'c'",
        "option '--time' requires an argument",
        "option '--select-only' doesn't allow an argument",
        "option '--s=1' is ambiguous; possibilities: '--scale' '--select-only'",
    ],
)
def test_a_wrong_option_fails_the_run_with_the_sentence_of_the_system_library(sentence: str) -> None:
    text = (ROOT / "invalid-option-15.18.err").read_text().replace("invalid option -- 'Q'", sentence)
    assert typed(text_records(text)) == typed([LifecycleEvent("fatal", sentence)])
    state = state_of(text)
    assert (state.outcome, state.reason) == ("failed", sentence)


def test_errors_of_other_programs_are_not_pgbenchs() -> None:
    assert text_records('ERROR:  database "bench" already exists\n') == []
    (record,) = text_records("error: cannot stat 'x'\n")
    assert record.reason == "other_text"
    (record,) = text_records("done.\n")
    assert record.reason == "other_text"


def test_kind_of_output_is_recognised() -> None:
    for path in TEXTS:
        if data := path.read_bytes():
            assert PGBENCH.recognise(data) == "text", path
    for data in (b"", b"hello\n", b'{\n  "fio version" : "fio-3.33",\n', b"1 2 3 4\n", b"pgbench (PostgreSQL) 15.18\n"):
        assert PGBENCH.recognise(data) == ""
    assert PGBENCH.recognise(b"+ pgbench -P 1\nprogress: 1.0 s, 26887.9") == "text"


CLEAN_UP = "dropping old tables...\ncreating tables...\ngenerating data (client-side)...\n"


def test_initialisation_after_a_report_leaves_the_report_as_it_is() -> None:
    (state,) = read({"out": (LINE + REPORT + CLEAN_UP + "done in 0.10 s (drop tables 0.10 s).\n").encode()})
    assert (state.outcome, state.figures().operations, state.figures().throughput) == ("finished", 10, 10.0)


def test_initialisation_between_two_runs_belongs_to_the_second() -> None:
    generated = "300000 of 300000 tuples (100%) of pgbench_accounts done (elapsed 0.30 s, remaining 0.00 s)\n"
    first, second = read({"out": (REPORT + CLEAN_UP + generated + LINE).encode()})
    assert "scale_factor" not in first.parameters()
    assert second.parameters()["scale_factor"] == "3"


def test_initialisation_that_interrupts_a_run_begins_another() -> None:
    assert begins(LINE, CLEAN_UP) == 1


def test_a_failed_initialisation_after_a_report_is_another_run() -> None:
    first, second = read({"out": (REPORT + CLEAN_UP + "pgbench: fatal: query failed: ERROR:  disk full\n").encode()})
    assert (first.outcome, second.outcome) == ("finished", "failed")


WITHOUT_END = [
    (LINE[:-1], [Progress(1.0, False, 10.0, 0.001, 0.0005)]),
    (REPORT[:-1], None),
    ("pgbench: fatal: no", [LifecycleEvent("fatal", "no")]),
]


@pytest.mark.parametrize(("text", "expected"), WITHOUT_END)
def test_a_whole_last_line_counts_without_its_end_and_once(text: str, expected: list[Any] | None) -> None:
    parser = PGBENCH.parser("text")
    found = [*parser.feed(text.encode()), *parser.settle()]
    assert typed(found) == typed(text_records(text + "\n"))
    assert expected is None or found == expected
    assert [*parser.settle(), *parser.feed(b"\n"), *parser.close()] == []
    (misread,) = parser.feed(b"what is this\n")
    assert misread == Misread("other_text", f"line {(text + 'x').count(chr(10)) + 2}", "what is this")


@pytest.mark.parametrize(
    "text",
    [
        "starting vacuum...",
        "transaction type: <builtin: TP",
        "transaction type: a\nnumber of transactions actually processed: 16",
        "transaction type: a\nlatency average = 0.4",
        f"{REPORT}statement latencies in milliseconds:\n         0.131  UPDATE pgbench_br",
        "progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.50",
        "progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.500, 12",
        "root@host:~# ",
    ],
)
def test_a_last_line_that_may_go_on_waits(text: str) -> None:
    parser = PGBENCH.parser("text")
    before = parser.feed(text.encode())
    assert parser.settle() == []
    assert typed([*before, *parser.feed(b" xyz\n")]) == typed(text_records(text + " xyz\n"))


def test_a_number_of_the_report_that_is_cut_off_is_torn() -> None:
    *_, torn = text_records("transaction type: a\nnumber of transactions actually processed: 16")
    assert torn == Misread("truncated_line", "line 2", "number of transactions actually processed: 16")


@pytest.mark.parametrize(
    "line",
    [
        " client 3 got an error in command 3 (SQL) of script 0; ERROR:  could not serialize access",
        "client 0 repeats the transaction after the error (try 2/3)",
        " pgbench:client 3 repeats the transaction after the error (try 1/3)",
        " client 2 ends the failed transaction (try 3/3)",
        " client 2",
    ],
)
def test_a_message_of_verbose_errors_whose_prefix_another_thread_came_between_is_known(line: str) -> None:
    assert text_records(f"progress: 1.0 s, 400.0 tps, lat 1.000 ms stddev 0.500, 0 failed\n{line}\n")[1:] == []
