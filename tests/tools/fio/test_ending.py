"""When a run is over and how it ended, and where another one begins."""

import pytest

from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.fio.counters import Counters

from .recordings import (
    ARRIVED,
    ROOT,
    data_of,
    doctored,
    documents_of,
    misread,
    new_state,
    parse,
    read,
    state_of,
    texts_of,
    values,
    with_documents,
)

FAILED = {
    "err-devfull-continue-3.33.out": "job dfc: error 28 (No space left on device)",
    "err-devfull-json-outputfile-3.33.json": "job df: error 28 (No space left on device)",
    "err-devfull-json-outputfile-3.42.json": "job df: error 28 (No space left on device)",
    "err-devfull-json-stdout-3.33.out": "job df: error 28 (No space left on device)",
    "err-enospc-mid-json-outputfile-3.33.json": "job ens: error 28 (No space left on device)",
    "err-enospc-mid-json-outputfile-3.42.json": "job ens: error 28 (No space left on device)",
    "err-one-of-two-jobs-3.33.out": "job bad: error 28 (No space left on device)",
    "err-perm-3.33.out": "job pm: error 1 (Operation not permitted)",
    "err-verify-3.33.out": "job vf: error 84 (Invalid or incomplete multibyte or wide character)",
    "sigint-before-stonewalled-job-3.33.out": "interrupted by signal 2",
    "sigint-json-outputfile-3.33/out.json": "interrupted by signal 2",
    "sigint-json-stdout-3.33/stdout": "interrupted by signal 2",
    "sigint-json-stdout-3.42/stdout": "interrupted by signal 2",
    "sigterm-json-stdout-3.33/stdout": "interrupted by signal 15",
}
UNFINISHED = {"sigkill-json-stdout-3.33/stdout", "err-outputfile-on-full-disk-3.33.json"}
"""No final document was printed."""
TWICE_FINAL = {"json-ramp2-3.33.out", "json-ramp2-3.42.out"}
"""The last dump came between the end of the job and the final document, and says the same of the job."""


def judgements(name: str) -> list[str]:
    found: list[str] = []
    read(data_of(name), on_document=lambda state: found.append(state.outcome))
    return found


@pytest.mark.parametrize("name", with_documents())
def test_the_outcome_of_every_recording(name: str) -> None:
    document = documents_of(name)[-1]
    arrived = document["timestamp"] + 10.0 if name.startswith("client-") else ARRIVED  # not a copy
    state = read(data_of(name), arrived=arrived)[-1]
    ended = "interrupted" if name.startswith("sig") else "failed"
    expected = ended if name in FAILED else "" if name in UNFINISHED else "finished"
    assert (state.outcome, state.reason) == (expected, FAILED.get(name, ""))
    last = document.get("timestamp_ms", arrived * 1000) / 1000
    assert state.end == (None if name in UNFINISHED else last)
    assert state.last_report == last


@pytest.mark.parametrize("name", sorted(set(with_documents()) - UNFINISHED))
def test_only_the_last_document_of_a_run_is_taken_for_final(name: str) -> None:
    *earlier, last = judgements(name)
    assert last
    if name in TWICE_FINAL:
        assert earlier.pop() == "finished"
    if name == "append-two-runs-stdout-3.33.out":
        assert earlier.pop(2) == "finished"
    assert set(earlier) <= {""}


@pytest.mark.parametrize("name", sorted(UNFINISHED))
def test_silence_does_not_finish_what_was_in_the_middle(name: str) -> None:
    state = state_of(data_of(name), arrived=100.0)
    state.tick(1e6)
    assert state.outcome == ""


@pytest.mark.parametrize(
    "cut", ["json-si1-randrw-3.25.out", "json-si1-randrw-3.42.out", "json-group-numjobs4-3.33.out"]
)
def test_silence_does_not_finish_a_run_short_of_its_time_in_its_last_second(cut: str) -> None:
    texts = texts_of(data_of(cut))
    assert documents_of(cut)[-2]["jobs"][0]["eta"] == 0
    state = state_of(b"".join(texts[:-1]), arrived=100.0)
    state.tick(1e6)
    assert state.outcome == ""


LOOPS = texts_of(data_of("json-loops-3.33.out"))


def test_a_document_that_may_be_the_last_is_taken_for_it_after_a_silence() -> None:
    state = state_of(b"".join(LOOPS[:-1]), arrived=100.0)
    version = state.version
    state.tick(104.9)
    assert (state.outcome, state.version) == ("", version)
    state.tick(105.0)
    assert state.outcome == "finished"
    assert state.end == 1795168979.476
    assert state.version > version
    assert values(state)["fio_result_iops", "lo", "read"] == pytest.approx(69416 / 3.881)


def test_a_silence_is_over_though_the_clock_was_set_back_in_it() -> None:
    state = state_of(b"".join(LOOPS[:-1]), arrived=4000.0)
    state.tick(400.0)
    state.tick(404.9)
    assert state.outcome == ""
    state.tick(405.0)
    assert state.outcome == "finished"


def test_a_single_document_that_may_be_the_last_is_waited_for_longer() -> None:
    (text,) = texts_of(data_of("err-verify-3.33.out"))
    text = text.replace(b'"error" : 84', b'"error" : 0')
    assert documents_of("err-verify-3.33.out")[0]["jobs"][0]["elapsed"] == 1
    without_size = text.replace(b'"size" : "1M"', b'"size" : "100%"')
    state = state_of(without_size, arrived=100.0)
    state.tick(109.0)
    assert state.outcome == ""
    state.tick(110.0)
    assert state.outcome == "finished"
    short_of_its_size = state_of(text, arrived=100.0)
    short_of_its_size.tick(1e6)
    assert short_of_its_size.outcome == ""


def test_a_further_document_after_a_silence_takes_the_end_back() -> None:
    state = state_of(b"".join(LOOPS[:-1]), arrived=100.0)
    state.tick(200.0)
    assert state.outcome == "finished"
    for record in parse(LOOPS[-1]):
        state.apply(record, "stdout", 201.0)
    assert state.outcome == ""
    assert state.end is None
    assert values(state)["fio_ios_total", "lo", "read"] == 81920
    assert values(state)["fio_iops", "lo", "read"] == pytest.approx((81920 - 69416) / 0.722, rel=1e-6)
    state.tick(205.9)
    assert state.outcome == ""
    state.tick(206.0)
    assert state.outcome == "finished"


def test_a_run_that_goes_on_after_its_time_is_over_only_when_it_is_silent() -> None:
    # As a verify phase after runtime= would look: more I/O in documents that say the runtime has been reached.
    texts = texts_of(data_of("json-si1-randrw-3.33.out"))
    over = doctored(texts[-1], timestamp_ms=1795168633_523, elapsed=5)
    more = doctored(texts[-1].replace(b": 61435", b": 70000"), timestamp_ms=1795168634_523, elapsed=6)
    outcomes: list[str] = []
    *_, state = read(
        b"".join([*texts[:-1], over, more]), arrived=50.0, on_document=lambda s: outcomes.append(s.outcome)
    )
    assert outcomes == ["", "", "", "", "finished", ""]
    state.tick(60.0)
    assert state.outcome == "finished"


def test_nothing_is_over_before_it_began() -> None:
    # While files are laid out, documents have zeros and an eta of 0.
    layout = texts_of(data_of("json-trim-null-3.33.out"))[-1]
    for key in ("total_ios", "io_bytes", "io_kbytes", "runtime", "N", "max"):
        layout = doctored(layout, **{key: 0})
    layout = layout.replace(b'"runtime" : "2"', b'"size" : "8M"')
    state = state_of(layout, arrived=100.0)
    state.tick(1e6)
    assert state.outcome == ""


def test_a_job_without_progress_does_not_hide_the_end_of_the_others() -> None:
    # Where one runs ioengine=cpuio beside, fio prints an eta of -1 to the end.
    texts = [doctored(text, eta=-1) for text in texts_of(data_of("json-si1-randrw-3.42.out"))]
    outcomes: list[str] = []
    read(b"".join(texts), on_document=lambda state: outcomes.append(state.outcome))
    assert outcomes == ["", "", "", "", "finished"]


@pytest.mark.parametrize(("limit", "rates"), [(0, {}), (1, {0.0}), (-1, {0.0})])
def test_a_job_that_has_done_just_its_number_of_ios_does_not_stand_still(limit: int, rates: dict[str, float]) -> None:
    name = "jsonplus-si1-libaio-qd16-3.42.out"
    text, document = texts_of(data_of(name))[0], documents_of(name)[0]
    (job,) = document["jobs"]
    option = b'"number_ios" : "%d"' % (job["read"]["total_ios"] + job["write"]["total_ios"] + limit)
    text = text.replace(b'"job options" : {', b'"job options" : {\n        %b,' % option)
    later = doctored(text, timestamp_ms=document["timestamp_ms"] + 1000)
    found = values(state_of(text + later))
    assert {value for (metric, *_), value in found.items() if metric == "fio_iops"} == set(rates)


def test_ramp_time_counts_for_the_end() -> None:
    (first, *_) = texts_of(data_of("json-ramp2-3.33.out"))
    early = first.replace(b'"runtime" : "3"', b'"runtime" : "500ms"').replace(
        b'"ramp_time" : "2"', b'"ramp_time" : "20"'
    )
    assert early != first
    state = state_of(early, arrived=0.0)
    state.tick(1e6)
    assert state.outcome == ""


PASSED_OVER = texts_of(data_of("err-devfull-continue-3.33.out"))[0]


@pytest.mark.parametrize(
    ("error", "total", "first", "failed"),
    [(5, 3, 5, False), (84, 1, 84, False), (5, 0, 0, True), (5, 2, 84, True), (28, 1, 28, True)],
)
def test_errors_passed_over_do_not_fail_a_job(error: int, total: int, first: int, failed: bool) -> None:
    text = doctored(PASSED_OVER, error=error, total_err=total, first_error=first, io_bytes=2**20)
    state = state_of(text)
    assert state.outcome == ("failed" if failed else "finished")
    assert values(state)["fio_job_error", "dfc"] == error


def test_an_interrupted_run_keeps_its_results() -> None:
    state = state_of(data_of("sigint-json-outputfile-3.33/out.json"))
    exported = values(state, current=False)
    assert exported["fio_result_iops", "si", "read"] == pytest.approx(44230 / 2.246)
    assert exported["fio_result_bandwidth_bytes_per_second", "si", "read"] == pytest.approx(181166080 / 2.246)
    assert exported["fio_ios_total", "si", "read"] == 44230


def test_an_interruption_is_known_before_the_final_document() -> None:
    data = data_of("sigint-json-stdout-3.33/stdout")
    state = state_of(data[: data.rindex(b'{\n  "fio version"')])
    assert (state.outcome, state.reason, state.end) == ("interrupted", "interrupted by signal 2", state.last_report)
    assert not [key for key in values(state, current=False) if "_result_" in key[0]]  # these are still to come


def test_an_interruption_before_any_document_has_a_time() -> None:
    state = state_of(b"\nfio: terminating on signal 2\n", arrived=7.0)
    assert (state.outcome, state.end, state.last_report) == ("interrupted", 7.0, None)


def test_an_interruption_after_the_end_is_not_of_this_run() -> None:
    state = state_of(data_of("json-si1-randrw-3.33.out") + b"\nfio: terminating on signal 2\n")
    assert (state.outcome, state.reason) == ("finished", "")


def begins(data: bytes) -> list[int]:
    """After how many documents another run begins."""
    places, documents = [], 0
    for record in parse(data):
        documents += isinstance(record, Counters)
        if isinstance(record, Begin):
            places.append(documents)
    return places


@pytest.mark.parametrize("name", with_documents())
def test_another_run_begins_only_where_one_does(name: str) -> None:
    expected = {"append-two-runs-stdout-3.33.out": [3], "truncated-mid-doc-then-new-run-3.33.out": [3]}
    assert begins(data_of(name)) == expected.get(name, [])


def test_two_runs_in_one_stream_have_their_own_totals() -> None:
    first, second = read(data_of("append-two-runs-stdout-3.33.out"))
    assert values(first)["fio_ios_total", "ap1", "read"] == 41455
    assert values(second)["fio_ios_total", "ap2", "read"] == 41939
    assert (first.start, second.start) == (1795170115.593, 1795170117.88)


def test_a_run_after_one_cut_off_in_the_middle_of_a_document() -> None:
    data = data_of("truncated-mid-doc-then-new-run-3.33.out")
    assert [record.reason for record in parse(data) if isinstance(record, Misread)] == ["truncated_document"]
    first, second = read(data)
    assert (first.outcome, second.outcome) == ("", "finished")
    assert values(first)["fio_ios_total", "rrw", "read"] == 131380
    assert values(second)["fio_ios_total", "rrw", "read"] == 61435


def test_a_document_cut_off_at_the_end_is_reported() -> None:
    data = data_of("err-outputfile-on-full-disk-3.33.json")
    parser_records = parse(data)
    assert [type(record) for record in parser_records] == [Counters, Misread]
    assert (parser_records[1].reason, parser_records[1].where) == ("truncated_document", "byte 6453")


def test_a_file_overwritten_by_another_run_reads_as_that_run() -> None:
    state = state_of((ROOT / "outputfile-truncated-on-restart-3.33/out.json").read_bytes())
    assert state.outcome == "finished"
    assert values(state)["fio_ios_total", "tr2", "read"] == 61493


ONE_DOCUMENT = texts_of(data_of("jsonplus-cmdprio-3.33.out"))[0]
BUILT = 1795168958_862


@pytest.mark.parametrize(
    ("milliseconds", "elapsed", "another"),
    [
        (4000, 4, True),  # the same job again, as long as before
        (60_000, 64, False),  # the same fio a minute later
        (1000, 5, False),
        (1900, 5, False),  # elapsed is rounded up
        (0, 4, False),
        (500, 3, True),  # elapsed less than before
        (-1000, 5, True),  # time running backwards
        (30_000, 10, True),  # started after the one before had printed
    ],
)
def test_another_fio_is_told_by_when_it_was_started(milliseconds: int, elapsed: int, another: bool) -> None:
    following = doctored(ONE_DOCUMENT, timestamp_ms=BUILT + milliseconds, elapsed=elapsed)
    assert begins(ONE_DOCUMENT + following) == ([1] if another else [])


def test_another_fio_is_told_by_its_jobs_or_version() -> None:
    assert begins(ONE_DOCUMENT + ONE_DOCUMENT.replace(b'"jobname" : "pr"', b'"jobname" : "pq"')) == [1]
    assert begins(ONE_DOCUMENT + ONE_DOCUMENT.replace(b"fio-3.33", b"fio-3.34")) == [1]
    assert begins(ONE_DOCUMENT + doctored(ONE_DOCUMENT, groupid=1)) == [1]


def test_the_same_fio_is_told_by_the_start_of_its_job_whatever_the_clock_does() -> None:
    text = texts_of(data_of("jsonplus-cmdprio-3.42.out"))[0]
    assert begins(text + doctored(text, timestamp_ms=1795168000_000)) == []
    assert begins(text + doctored(text, timestamp_ms=1795169000_000)) == []
    assert begins(text + doctored(text, timestamp_ms=1795169000_000, job_start=1795168990_000)) == [1]


def test_a_run_that_first_lays_out_its_file_starts_when_its_jobs_do() -> None:
    # fio counts `elapsed` from zero again (1, 2, 4, 5, 1, 2, 3) once its files are there.
    state = state_of(data_of("json-si1-layout-3.33.out"))
    assert (state.start, state.end) == (1795441161.418, 1795441163.645)
    assert (state.outcome, state.report_interval) == ("finished", 1.0)


def test_a_run_after_one_that_ended_while_it_laid_out_its_file_is_another() -> None:
    layout, *_, last = texts_of(data_of("json-si1-layout-3.33.out"))
    assert begins(layout + b"\nfio: terminating on signal 2\n" + last) == [1]
    late = doctored(last, timestamp_ms=1795441158_411 + 60_000, elapsed=1)
    assert begins(layout + late) == [1]


@pytest.mark.parametrize("direction", ["finish", "ZNS Reset"])
def test_a_run_of_a_direction_that_only_a_fork_has_is_finished(direction: str) -> None:
    data = data_of("json-trim-null-3.33.out").replace(b'"trim" : {', b'"%s" : {' % direction.encode())
    assert misread(data) == ["unknown_direction"]
    state = state_of(data)
    assert (state.outcome, state.end) == ("finished", documents_of("json-trim-null-3.33.out")[-1]["timestamp_ms"] / 1e3)


def test_each_document_of_a_client_is_a_run() -> None:
    (text,) = texts_of(data_of("client-json-si1-3.42.out"))
    assert begins(text + text) == [1]


def test_a_new_state_knows_nothing() -> None:
    state = new_state()
    state.tick(1e9)
    assert (state.outcome, state.start, state.end, state.last_report, state.report_interval) == (
        "",
        None,
        None,
        None,
        None,
    )
    assert values(state) == {}
    assert state.parameters() == {}
