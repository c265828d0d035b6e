"""Lines between documents: what is recognised as fio's, what is understood, what ends a run."""

import pytest

from benchwatch.tools.api import Misread
from benchwatch.tools.fio import FIO
from benchwatch.tools.fio.counters import Counters
from benchwatch.tools.fio.parser import NO_JSON
from benchwatch.tools.fio.text import Message, read

from .recordings import NAMES, data_of, misread, new_state, parse, state_of, texts_of, values

NOT_MEASURABLE = [name for name in NAMES if name.startswith(("terse-v", "minimal"))]
ERRORS = [name for name in NAMES if name.startswith(("err-", "jsonplus-percentile-opts-3.7"))]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "err-badopt-3.33.out"])
def test_every_stream_of_fio_is_recognised(name: str) -> None:
    assert FIO.recognise(data_of(name)[:4096]) == "text"


def test_a_list_of_valid_values_alone_is_not_taken_for_fio() -> None:
    # What fio writes to standard output about a bad option; the error itself is on standard error.
    assert FIO.recognise(data_of("err-badopt-3.33.out")) == ""
    assert misread(data_of("err-badopt-3.33.err") + data_of("err-badopt-3.33.out")) == []


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"{",
        b'{\n  "fio',
        b'{"jobs": []}',
        b"progress: 1.0 s, 8886.6 tps, lat 0.447 ms stddev 0.190\n",
        b"pgbench (15.18)\n",
        b"we ran fio: it was fast\n",
        b"Jobs are done\n3;4;5\n",
        b"2;a;b;c\n",
        b"Starting 1 process\n",
        b"verifying\n",
        b"\xff\xfe\x00",
    ],
)
def test_other_text_is_not_claimed(head: bytes) -> None:
    assert FIO.recognise(head) == ""


@pytest.mark.parametrize(
    "head",
    [
        b'{\n  "fio version"',
        b'some wrapper\'s text\n{\n  "fio version" : "fio-3.42",',
        b"note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n",
        b"fio: failed parsing rw=randreaad\n",
        b"/opt/fio-3.7/bin/fio: unrecognized option '--x'\n",
        b"Jobs: 1 (f=1): [m(1)][75.0%][r=61.6MiB/s][eta 00m:00s]\r",
        b"job1: (g=0): rw=randrw, bs=(R) 4096B-4096B",
        b"fio-3.33\nStarting 1 process\n",
        b"3;fio-3.33;rrw;0;0;61232",
        b"verify: bad magic header 39a9, wanted acca at file /data/vf offset 40960, length 4096\n",
    ],
)
def test_all_that_fio_may_begin_with_is_recognised(head: bytes) -> None:
    assert FIO.recognise(head) == "text"


@pytest.mark.parametrize("name", NAMES)
def test_no_line_of_a_recording_is_unknown(name: str) -> None:
    assert "other_text" not in misread(data_of(name))


@pytest.mark.parametrize("name", NOT_MEASURABLE)
def test_output_without_json_is_said_once_to_be_unmeasurable(name: str) -> None:
    told = [record for record in parse(data_of(name)) if isinstance(record, Misread)]
    assert [(record.reason, record.text) for record in told] == [("no_json_output", NO_JSON)]
    assert "--output-format=json+ --status-interval=1" in NO_JSON


def test_terse_output_alone_is_said_to_be_unmeasurable_without_waiting_for_its_end() -> None:
    line = data_of("terse-v3-si1-3.42.out").splitlines(keepends=True)[0]
    parser = FIO.parser("text")
    assert parser.feed(line * 50) == 50 * [Message("terse", "rrw", 0)]
    assert [record.reason for record in parser.feed(line * 200) if isinstance(record, Misread)] == ["no_json_output"]


@pytest.mark.parametrize(
    "name", ["terse-normal-jsonplus-si1-3.33.out", "terse-normal-jsonplus-si1-3.42.out", "normal-json-si1-3.33.out"]
)
def test_other_formats_beside_json_are_passed_over(name: str) -> None:
    before_any, *records = parse(data_of(name)) if name.startswith("terse") else [None, *parse(data_of(name))]
    assert isinstance(before_any, Message | None)
    assert len(records) == len(texts_of(data_of(name)))
    assert all(isinstance(record, Counters) for record in records)
    assert state_of(data_of(name)).last_report == records[-1].time


@pytest.mark.parametrize("name", NOT_MEASURABLE)
def test_output_without_json_ends_as_its_text_says_when_nothing_follows(name: str) -> None:
    state = state_of(data_of(name), arrived=100.0)
    assert (state.outcome, state.last_report) == ("", 100.0)
    state.tick(109.0)
    assert state.outcome == ""
    state.tick(110.0)
    assert (state.outcome, state.reason, state.end) == ("finished", "", 100.0)
    assert values(state, current=False) == {}


CLONES = "".join(
    f"w: (groupid=0, jobs=1): err={error}: pid=7: Fri Nov 20 09:58:24 2026\n" for error in (" 0", "28", " 0")
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "w: (groupid=0, jobs=1): err=28 (file:io_u.c:1876, func=io_u error, error=No space): pid=7\n",
            28,
        ),
        (CLONES, 28),
        ("3;fio-3.33;w;0;28;59472;66672\n", 28),
        ("2;w;0;28;" + "1;" * 40 + "\n", 28),
        ("3;fio-3.33;w;0;0;59472;66672\n", 0),
        ("3;fio-3.33;w;0;" + "9" * 5000 + ";59472;66672\n3;fio-3.33;w;0;0;59472\n", 0),
    ],
)
def test_an_error_in_results_without_json_fails_the_run(text: str, reason: int) -> None:
    state = state_of(text.encode(), arrived=100.0)
    state.tick(200.0)
    expected = ("failed", "job w: error 28 (No space left on device)") if reason else ("finished", "")
    assert (state.outcome, state.reason) == expected


def test_results_every_interval_do_not_end_a_run_that_goes_on() -> None:
    lines = b"w: (groupid=0, jobs=1): err= 0: pid=7\n\nRun status group 0 (all jobs):\n"
    state = new_state()
    for arrived in (100.0, 130.0, 160.0):
        for record in FIO.parser("text").feed(lines):
            if not isinstance(record, Misread):
                state.apply(record, "stdout", arrived)
    state.tick(249.0)
    assert (state.outcome, state.report_interval) == ("", 30.0)
    state.tick(250.0)
    assert (state.outcome, state.end) == ("finished", 160.0)


def test_results_of_an_interrupted_run_stay_interrupted() -> None:
    data = data_of("normal-si1-3.33.out")
    state = state_of(b"\nfio: terminating on signal 2\n" + data, arrived=100.0)
    state.tick(200.0)
    assert (state.outcome, state.reason) == ("interrupted", "interrupted by signal 2")


def test_unknown_text_is_reported_once_a_heap_with_its_place() -> None:
    data = b"fio: a warning\nsegfault at 0\n  more of it\nstill\nfio: another\nKilled\n"
    assert parse(data) == [
        Misread("other_text", "byte 15", "segfault at 0"),
        Misread("other_text", "byte 61", "Killed"),
    ]


def test_the_rest_of_a_document_whose_beginning_is_lost_is_one_misreading() -> None:
    data = data_of("json-si1-randrw-3.33.out")
    assert misread(data[100:]) == ["other_text"]
    assert state_of(data[100:]).outcome == "finished"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("err-badopt-3.33", "fio: failed parsing rw=randreaad"),
        ("err-badengine-3.42", "fio: engine foo not loadable"),
        ("err-nodir-3.33", "fio: /nonexistent is not a directory"),
    ],
)
def test_an_error_before_any_job_fails_the_run_whichever_stream_is_read_first(name: str, reason: str) -> None:
    error, output = data_of(f"{name}.err"), data_of(f"{name}.out")
    for streams in ((error, output), (output, error), (error,)):
        state = state_of(*streams, arrived=5.0)
        assert (state.outcome, state.reason, state.end) == ("failed", reason, 5.0)
        assert values(state) == {}


def test_an_unrecognised_option_fails_the_run() -> None:
    state = state_of(data_of("jsonplus-percentile-opts-3.7.err"))
    assert state.outcome == "failed"
    assert state.reason == "/bench/bin/fio-3.7/fio: unrecognized option '--slat_percentiles=1'"


def test_an_error_text_before_a_document_is_left_to_the_document() -> None:
    assert state_of(b"fio: failed parsing x=y\n" + data_of("json-si1-randrw-3.33.out")).outcome == "finished"


@pytest.mark.parametrize(
    "line",
    [
        "fio: io_u error on file /dev/full: No space left on device: write offset=0, buflen=4096",
        "fio: pid=21601, err=28/file:io_u.c:1876, func=io_u error, error=No space left on device",
        "fio: this platform does not support process shared mutexes, forcing use of threads.",
        "fio: file /data/x may be ignored",
        "fio: first direct IO errored. File system may not support direct IO, or iomem_align= is bad.",
    ],
)
def test_messages_that_do_not_end_fio_do_not_fail_the_run(line: str) -> None:
    assert parse(line.encode() + b"\n") == []
    assert state_of(line.encode()).outcome == ""


def test_messages_that_matter_are_records() -> None:
    note = data_of("note-iodepth-sync-outputfile-3.42.json").split(b"\n}\n")[-2].split(b"{")[0]
    assert parse(note) == [
        Message(
            "depth_note",
            "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1",
            None,
        )
    ]
    assert parse(b"\nfio: terminating on signal 15\n") == [Message("interrupted", "fio: terminating on signal 15", 15)]
    assert parse(b"fio: status interval too small") == [Message("fatal", "fio: status interval too small", None)]


def test_an_indented_line_belongs_to_the_line_before() -> None:
    assert read("     | 99.00th=[   93]").meaning == "continued"


@pytest.mark.parametrize("name", ERRORS)
def test_recordings_of_errors_are_understood_in_full(name: str) -> None:
    assert set(misread(data_of(name))) <= {"truncated_document"}


def test_records_are_counted() -> None:
    data = data_of("err-enospc-mid-json-outputfile-3.42.json")
    parser = FIO.parser("text")
    parser.feed(data)
    assert parser.records == 5  # three documents and two messages
