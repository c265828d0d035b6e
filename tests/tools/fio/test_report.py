"""fio's normal report, which people read: its results are those of the JSON that the same fio printed beside it."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.fio import FIO
from benchwatch.tools.fio.counters import Counters

from .recordings import ARRIVED, NAMES, data_of, misread, new_state, parse, read, state_of, texts_of, values

BOTH = [name for name in NAMES if name.startswith("normal-json-")]
ALONE = [name for name in NAMES if re.match(r"normal-(?!json)|client-normal|eta-always-normal|eta-newline-rate", name)]


def report_of(data: bytes) -> bytes:
    """A stream without its JSON."""
    for text in texts_of(data):
        data = data.replace(text, b"")
    return data


def results(data: bytes) -> dict[tuple[str, ...], Any]:
    state = read(data, arrived=ARRIVED)[-1]
    state.over()
    return values(state, current=False)


def rounded(value: float) -> Callable[[float], bool]:
    """Whether another value is this one as fio rounds it: to three digits, or to whole nanoseconds or microseconds."""
    return lambda other: abs(value - other) <= max(0.006 * value, 1e-6)


@pytest.mark.parametrize("name", BOTH)
def test_a_report_has_the_results_of_the_json_beside_it(name: str) -> None:
    both, text = results(data_of(name)), results(report_of(data_of(name)))
    exact = ("fio_ios_total", "fio_short_ios_total", "fio_dropped_ios_total", "fio_job_error", "fio_result_iops")
    compared = 0
    for key, value in both.items():
        if key[0] in exact:
            assert text[key] == pytest.approx(value, rel=1e-12), key
            compared += 1
        elif key[0] == "fio_bytes_total" or key[0].startswith("fio_result_"):
            assert rounded(value)(text[key]), (key, value, text[key])
            compared += 1
    assert compared >= 6
    assert {key for key in text if key[0] != "fio_job_info"} <= both.keys()


@pytest.mark.parametrize("name", BOTH)
def test_a_report_ends_as_the_json_beside_it_does(name: str) -> None:
    both, text = state_of(data_of(name)), state_of(report_of(data_of(name)))
    text.over()
    assert (text.outcome, text.reason, text.tool_version) == (both.outcome, both.reason, both.tool_version)


@pytest.mark.parametrize("name", ALONE)
def test_every_line_of_a_report_is_understood(name: str) -> None:
    assert misread(data_of(name)) == []
    assert [type(record) for record in parse(data_of(name))].count(Begin) == 0


def test_a_report_says_how_its_jobs_were_set() -> None:
    groups = results(report_of(data_of("normal-json-groups-3.33.out")))
    assert ("fio_job_info", "rd", "0", "randread", "4k", "8", "", "libaio", "", "") in groups
    assert ("fio_job_info", "wr", "1", "randwrite", "8k", "1", "", "psync", "", "") in groups
    assert not [key for key in groups if key[0] == "fio_job_warning"]  # it does not say whether direct=1 was set
    clones = state_of(report_of(data_of("normal-json-numjobs3-3.33.out"))).parameters()
    assert clones == {"rw": "randrw", "bs": "4k-16k", "ioengine": "psync", "iodepth": "1"}


def test_reads_of_a_job_that_a_report_adds_to_one_that_writes_are_reads() -> None:
    text = b"""w: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
r: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1
fio-3.33
Starting 2 processes

w: (groupid=0, jobs=2): err= 0: pid=9022: Sat Nov 28 12:20:10 2026
  read: IOPS=100, BW=404KiB/s (413kB/s)(404KiB/1001msec)
  write: IOPS=50, BW=204KiB/s (209kB/s)(204KiB/1001msec); 0 zone resets
     issued rwts: total=101,51,0,0 short=0,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
"""
    found = results(text)
    assert found["fio_ios_total", "w", "read"] == 101
    assert found["fio_ios_total", "w", "write"] == 51


OLD = b"""fio-2.2.10
Starting 1 process

test: (groupid=0, jobs=1): err= 0: pid=30364: Sat Jul 16 14:24:12 2016
  read : io=3071.7MB, bw=55552KB/s, iops=13887, runt= 56621msec
    clat (usec): min=22 , max=1033.4K, avg=93.14, stdev=21.17
  write: io=98304B, bw=479531B/s, iops=117, runt=   205msec
    clat (msec): min=7, max=56, avg= 8.82, stdev= 4.49
    clat percentiles (msec):
     |  1.00th=[    9], 50.00th=[  126], 99.00th=[  128]
     issued    : total=r=786347/w=24/d=0, short=r=1/w=2/d=0, drop=r=3/w=0/d=0
"""


def test_a_report_of_fio_2_has_binary_units_and_counts_by_letter() -> None:
    found = results(OLD)
    assert found["fio_result_iops", "test", "read"] == 786347 / 56.621
    assert found["fio_result_bandwidth_bytes_per_second", "test", "read"] == pytest.approx(55552 * 1024)
    assert found["fio_result_bandwidth_bytes_per_second", "test", "write"] == pytest.approx(479531, abs=5)
    assert found["fio_result_latency_average_seconds", "test", "read"] == pytest.approx(93.14e-6)
    assert found["fio_result_latency_seconds", "test", "read", "1"] == pytest.approx(1.0334)
    assert found["fio_result_latency_seconds", "test", "write", "0.99"] == 0.056  # the maximum is lower
    assert found["fio_result_latency_average_seconds", "test", "write"] == pytest.approx(8.82e-3)
    assert [found[f"fio_{kind}_ios_total", "test", "read"] for kind in ("short", "dropped")] == [1, 3]


def test_reports_of_two_old_versions_are_read_in_full() -> None:
    older, newer = (results(data_of(f"normal-groups-{version}.out")) for version in ("2.2.10", "2.21"))
    operations = (("rw", "read"), ("rw", "write"), ("wr", "write"))
    assert [int(older["fio_result_iops", *one]) for one in operations] == [317999, 136279, 143837]
    assert [newer["fio_ios_total", *one] for one in operations] == [610625, 262530, 297170]
    units = [older["fio_result_bandwidth_bytes_per_second", *one] / 2**20 for one in operations]
    assert units == pytest.approx([1242.2, 545119 / 1024, 8989.9])
    assert older["fio_result_latency_seconds", "wr", "write", "0.999"] == pytest.approx(4.048e-3)


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("IOPS=438k, BW=1712MiB/s (1795MB/s)(100GiB/1000msec)", 1712 * 2**20),
        ("IOPS=20, BW=71.7MB/s (68.4MiB/s)(147MB/1000msec)", 71.7e6),
        ("IOPS=20, BW=20.5kB/s (20.0KiB/s)(20.5kB/1000msec)", 20.5e3),
        ("IOPS=20, BW=8984B/s (8984B/s)(36.0KiB/1000msec)", 8984),
        ("IOPS=20, BW=15.9Gibit/s (17.1Gbit/s)(2038MiB/1000msec)", 15.9 * 2**30 / 8),
        ("IOPS=20, BW=17.1Gbit/s (15.9Gibit/s)(2038MB/1000msec)", 17.1e9 / 8),
        ("io=3.1GB, bw=1024.2MB/s, iops=4631, runt=  1000msec", 1024.2 * 2**20),
    ],
)
def test_a_bandwidth_has_the_unit_that_fio_prints(printed: str, value: float) -> None:
    found = results(f"a: (groupid=0, jobs=1): err= 0: pid=1\n  read: {printed}\n".encode())
    assert found["fio_result_bandwidth_bytes_per_second", "a", "read"] == pytest.approx(value)


def test_a_report_without_its_counts_has_the_rate_that_fio_printed() -> None:
    text = b"a: (groupid=0, jobs=1): err= 0: pid=1\n  read: IOPS=438k, BW=1712MiB/s (1795MB/s)(100GiB/60001msec)\n"
    assert results(text)["fio_result_iops", "a", "read"] == pytest.approx(438_000)


def test_a_report_is_dated_unless_it_has_just_been_written_in_another_time_zone() -> None:
    written = 1468679052.0  # Sat Jul 16 14:24:12 2016, if that is UTC
    for arrived, end in [
        (written + 1, written + 1),
        (written - 5.5 * 3600 + 2, written - 5.5 * 3600 + 2),
        (written + 7 * 3600, written + 7 * 3600),
        (written + 1000, written),
        (ARRIVED, written),
    ]:
        state = state_of(OLD, arrived=arrived)
        state.over()
        assert (state.end, state.start) == (end, pytest.approx(end - 56.621, abs=1e-3))


def test_a_report_is_final_when_nothing_follows() -> None:
    state = state_of(data_of("normal-si1-3.33.out"), arrived=100.0)
    assert state.outcome == ""
    state.tick(104.0)
    assert state.outcome == ""
    state.tick(105.0)
    assert (state.outcome, state.end) == ("finished", 1795168707.0)


def test_a_report_of_each_interval_belongs_to_one_run() -> None:
    records = parse(data_of("normal-si1-3.33.out"))
    assert [type(record) for record in records] == 4 * [Counters]
    assert results(data_of("normal-si1-3.33.out"))["fio_ios_total", "rrw", "read"] == 47904


def test_another_run_begins_with_its_header_or_another_process() -> None:
    text = data_of("eta-always-normal-stdout-3.33.out")
    assert [type(record) for record in parse(text + text)] == [Counters, Begin, Counters]
    results_alone = text[text.rindex(b"\n", 0, text.index(b": (groupid")) :]
    again = re.sub(rb"pid=\d+", b"pid=7", results_alone)
    assert [type(record) for record in parse(text + again)] == [Counters, Begin, Counters]


def test_reports_and_documents_of_several_runs_in_one_file_are_runs_of_their_own() -> None:
    text, json = data_of("eta-always-normal-stdout-3.33.out"), data_of("json-different-runtimes-3.33.out")
    for data in (text + json, json + text):
        assert [type(record) for record in parse(data)].count(Begin) == 1
    assert results(json + text) == results(text)
    assert results(text + json) == results(json)


def test_a_report_beside_json_is_the_same_run_and_adds_nothing() -> None:
    for name in BOTH:
        assert [type(record) for record in parse(data_of(name))].count(Counters) == len(texts_of(data_of(name)))


def test_a_report_is_read_as_soon_as_its_last_job_is_printed() -> None:
    data = data_of("eta-newline-rate-normal-3.42.out")
    parser = FIO.parser("text")
    before = data.index(b"Run status group 0")
    assert parser.feed(data[:before]) == []
    (document,) = parser.feed(data[before : before + 40])
    assert isinstance(document, Counters)


def test_a_report_whose_end_is_missing_is_read_when_nothing_follows() -> None:
    parser = FIO.parser("text")
    assert parser.feed(OLD) == []
    (document,) = parser.settle()
    assert isinstance(document, Counters)
    assert [*parser.settle(), *parser.close()] == []


def test_a_direction_that_fio_does_not_have_is_named_and_the_run_is_over() -> None:
    text = OLD.replace(b"  write: io=98304B", b"  ZNS Reset: io=98304B")
    (found,) = [record for record in parse(text) if isinstance(record, Misread)]
    assert (found.reason, found.text) == (
        "unknown_direction",
        "ZNS Reset: left out; expected read, write, trim, mixed and sync",
    )
    state = state_of(text)
    state.over()
    assert state.outcome == "finished"
    assert values(state, False)["fio_ios_total", "test", "read"] == 786347


def test_a_report_without_an_end_takes_bounded_memory() -> None:
    parser = FIO.parser("text")
    records: list[Any] = []
    for number in range(10_000):
        records += parser.feed(b"j%d: (groupid=0, jobs=1): err= 0: pid=7\n  read: IOPS=1, BW=1B/s\n" % number)
    assert [len(record.jobs) for record in records if isinstance(record, Counters)] == [4096, 4096]


def test_impossible_numbers_are_one_misreading() -> None:
    assert misread(OLD.replace(b"total=r=786347", b"total=r=9999999999999999")) == ["bad_document"]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("normal-devfull-3.33.out", "job err: error 28 (No space left on device)"),
        ("normal-continue-3.33.out", "job cont: error 28 (No space left on device)"),
    ],
)
def test_the_error_of_a_job_fails_the_run(name: str, error: str) -> None:
    state = state_of(data_of(name))
    state.over()
    assert (state.outcome, state.reason) == ("failed", error)


def test_an_interrupted_run_has_its_results() -> None:
    state = state_of(data_of("normal-sigint-3.33.out"))
    assert (state.outcome, state.reason) == ("interrupted", "interrupted by signal 2")
    assert values(state, False)["fio_result_iops", "sig", "read"] == 7312 / 1.4


def test_a_new_state_of_a_report_has_no_figures_of_an_interval() -> None:
    state = new_state()
    for record in parse(OLD):
        state.apply(record, "stdout", 1468679053.0)
    assert state.figures().throughput is None
    assert not [key for key in values(state) if key[0] in ("fio_iops", "fio_latency_average_seconds")]
