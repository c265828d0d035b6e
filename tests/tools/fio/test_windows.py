"""What is shown as happening now: differences of documents."""

from itertools import pairwise
from typing import Any

import pytest

from benchwatch.metrics.buckets import UPPER_NS
from benchwatch.tools.states import Report
from tests.support.bins import BIN_OF_KEY

from .recordings import (
    after_each,
    data_of,
    doctored,
    documents_of,
    read,
    shown_as,
    state_of,
    texts_of,
    values,
    with_documents,
)

QUANTILES = {"0.5": 0.5, "0.95": 0.95, "0.99": 0.99, "0.999": 0.999, "1": 1.0}
PAIRED = [
    name
    for name in with_documents()
    if len(documents_of(name)) > 1 and not name.startswith(("append-", "truncated-", "client-"))
]


def operations_of(job: Any) -> dict[str, Any]:
    found = {operation: job[operation] for operation in ("read", "write", "trim") if operation in job}
    return found or {"mixed": job["mixed"]}


def numbers(document: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """Counters by job and operation, added up over clones: independent of the code under test."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for job in document["jobs"]:
        for direction, each in operations_of(job).items():
            operation = shown_as(document, job, direction)
            source = "lat_ns" if "bins" in each["lat_ns"] and "bins" not in each["clat_ns"] else "clat_ns"
            if each["clat_ns"].get("N") == 0 and each["lat_ns"]["N"]:
                source = "lat_ns"
            latency = each[source]
            bins = {int(key): count for key, count in latency.get("bins", {}).items()}
            timed = latency.get("N", sum(bins.values()) or (each["total_ios"] if latency["mean"] else 0))
            entry = found.setdefault(
                (job["jobname"], operation), {"ios": 0, "bytes": 0, "timed": 0, "sum": 0.0, "max": 0, "bins": {}}
            )
            entry["ios"] += timed or (each["total_ios"] if each["io_bytes"] else 0)
            entry["bytes"] += each["io_bytes"]
            entry["timed"] += timed
            entry["sum"] += latency["mean"] * timed
            entry["max"] = max(entry["max"], latency["max"])
            for key, count in bins.items():
                entry["bins"][key] = entry["bins"].get(key, 0) + count
    return found


def quantile(bins: dict[int, int], wanted: float) -> int:
    """The key of the bin that holds the nearest rank."""
    rank = max(1, -int(-wanted * sum(bins.values()) // 1))
    for key in sorted(bins):
        rank -= bins[key]
        if rank <= 0:
            return key
    raise AssertionError


@pytest.mark.parametrize("name", PAIRED)
def test_windows_are_the_differences_of_documents(name: str) -> None:
    exported = after_each(name)
    compared = 0
    short = False
    for number, (before, after) in enumerate(pairwise(documents_of(name)), 1):
        seconds = (after["timestamp_ms"] - before["timestamp_ms"]) / 1000
        after_short, short = short, seconds < 0.5
        if short or after_short or "ramp" in name:  # these have their own tests
            continue
        earlier = numbers(before)
        for (job, operation), now in numbers(after).items():
            past, got = earlier[job, operation], exported[number]
            ios, amount = now["ios"] - past["ios"], now["bytes"] - past["bytes"]
            if not ios:
                assert got.get(("fio_iops", job, operation), 0) == 0
                assert ("fio_latency_average_seconds", job, operation) not in got
                continue
            compared += 1
            assert got["fio_iops", job, operation] == pytest.approx(ios / seconds, rel=1e-6)
            assert got["fio_bandwidth_bytes_per_second", job, operation] == pytest.approx(amount / seconds, rel=1e-6)
            timed = now["timed"] - past["timed"]
            if timed:
                mean = (now["sum"] - past["sum"]) / timed / 1e9
                assert got["fio_latency_average_seconds", job, operation] == pytest.approx(mean, rel=1e-6)
            bins = {key: count - past["bins"].get(key, 0) for key, count in now["bins"].items()}
            bins = {key: count for key, count in bins.items() if count}
            for text, wanted in QUANTILES.items() if bins else ():
                exact = quantile(bins, wanted) / 1e9
                assert got["fio_latency_window_seconds", job, operation, text] == pytest.approx(exact, rel=1e-9)
            if now["max"] > past["max"]:
                assert got["fio_latency_max_seconds", job, operation] == now["max"] / 1e9
            elif bins:
                edge = int(UPPER_NS[BIN_OF_KEY[str(max(bins))]])
                assert got["fio_latency_max_seconds", job, operation] == min(edge, now["max"]) / 1e9
            else:
                assert ("fio_latency_max_seconds", job, operation) not in got
    assert compared or name.startswith(("err-", "sigusr1", "json-ramp", "json-thinktime"))


def test_exact_numbers_of_a_new_format() -> None:
    second = after_each("jsonplus-si1-libaio-qd16-3.42.out")[1]
    # clat N 44471 -> 93076, io_bytes 182132736 -> 381202432 in 0.999 s
    assert second["fio_iops", "rrw", "read"] == pytest.approx((93076 - 44471) / 0.999, rel=1e-6)
    assert second["fio_bandwidth_bytes_per_second", "rrw", "read"] == pytest.approx(
        (381202432 - 182132736) / 0.999, rel=1e-6
    )


def test_exact_numbers_of_an_old_format() -> None:
    second = after_each("jsonplus-si1-libaio-qd16-3.7.out")[1]
    # No N in 3.7: the bins sum up to 40276 and 83776; 1.001 s.
    assert second["fio_iops", "rrw", "read"] == pytest.approx((83776 - 40276) / 1.001, rel=1e-6)
    assert second["fio_latency_average_seconds", "rrw", "read"] == pytest.approx(0.0001645301, rel=1e-6)


def test_the_first_window_begins_with_the_job_where_that_is_said() -> None:
    first = after_each("jsonplus-si1-libaio-qd16-3.42.out")[0]
    assert first["fio_iops", "rrw", "read"] == pytest.approx(44471 / 0.895, rel=1e-6)
    assert not [key for key in after_each("jsonplus-si1-libaio-qd16-3.33.out")[0] if key[0] == "fio_iops"]


def test_sync_has_its_own_series() -> None:
    before, after = (
        document["jobs"][0]["sync"]["lat_ns"] for document in documents_of("json-sync-fsync8-3.33.out")[1:3]
    )
    got = after_each("json-sync-fsync8-3.33.out")[2]
    assert got["fio_iops", "sy", "sync"] == pytest.approx(after["N"] - before["N"], rel=1e-6)
    assert got["fio_latency_average_seconds", "sy", "sync"] == pytest.approx(0.0001380656, rel=1e-6)
    assert ("fio_bandwidth_bytes_per_second", "sy", "sync") not in got
    assert ("fio_bytes_total", "sy", "sync") not in got
    assert values(state_of(data_of("json-fdatasync-endfsync-3.33.out")))["fio_ios_total", "sy", "sync"] == 27201


STOPPED = "jsonplus-stopped-worker-3.33.out"


def test_after_a_worker_was_stopped_for_four_seconds_there_is_no_burst() -> None:
    rates = [got.get(("fio_iops", "stopme", "read")) for got in after_each(STOPPED)]
    # 3770 I/Os at 12.209, 4209 at 16.544, 4215 at 16.551, 5220 at 17.550, ...
    expected = [None, 1223 / 1.0, 1322 / 1.0, 439 / 4.335, 439 / 4.335, 1005 / 1.006, 914 / 1.0, 877 / 0.786]
    assert rates[0] is None
    assert rates[1:4] == pytest.approx(expected[1:4], rel=1e-6)
    assert rates[4:6] == pytest.approx([rates[3], (5220 - 4209) / 1.006], rel=1e-6)
    assert rates[6:] == pytest.approx(expected[6:], rel=1e-6)


def test_the_interval_is_not_moved_by_the_stop() -> None:
    intervals: list[float | None] = []
    read(data_of(STOPPED), on_document=lambda state: intervals.append(state.report_interval))
    assert intervals == [None, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]


FIRST, SECOND, THIRD, LAST = texts_of(data_of("jsonplus-si1-libaio-qd16-3.33.out"))
START = 1795168690_000


def at(text: bytes, milliseconds: int) -> bytes:
    """A document as if built that long after the start of fio."""
    return doctored(text, timestamp_ms=START + milliseconds, elapsed=-(-milliseconds // 1000), eta=5)


def rates_of(*texts: bytes) -> list[float | None]:
    found: list[float | None] = []
    read(b"".join(texts), on_document=lambda state: found.append(values(state).get(("fio_iops", "rrw", "read"))))
    return found


READS = (41540, 83711, 131373)


def test_in_a_total_stall_there_is_no_throughput_and_no_latency_and_after_it_no_burst() -> None:
    stream = [at(FIRST, 1000), at(SECOND, 2000), at(SECOND, 6000), at(SECOND, 6002), at(THIRD, 7002)]
    whole = READS[2] - READS[1]
    first, *rates = rates_of(*stream)
    assert first is None
    assert rates == pytest.approx([READS[1] - READS[0], 0, 0, whole / 1.002], rel=1e-6)
    stalled = values(state_of(*[b"".join(stream[:4])]))
    assert {key[0] for key in stalled if key[0].startswith("fio_latency")} == set()
    assert stalled["fio_bandwidth_bytes_per_second", "rrw", "read"] == 0


def test_a_short_window_is_merged_into_the_next() -> None:
    stream = [at(FIRST, 1000), at(SECOND, 2000), at(THIRD, 2300), at(LAST, 3300)]
    rates = rates_of(*stream)
    assert rates[2] == rates[1]
    assert rates[3] == pytest.approx((136764 - READS[1]) / 1.3, rel=1e-6)


def test_successive_idle_windows_are_counted() -> None:
    counts: list[int] = []
    stream = [at(FIRST, 1000), at(SECOND, 2000), at(SECOND, 3000), at(SECOND, 4000), at(SECOND, 4005), at(THIRD, 5000)]
    read(b"".join(stream), on_document=lambda state: counts.append(state.idle_reports))
    assert counts == [0, 0, 1, 2, 2, 0]


def test_before_the_first_io_nothing_is_idle() -> None:
    nothing = b"".join(
        at(doctored(FIRST, total_ios=0, io_bytes=0, io_kbytes=0, N=0, runtime=0, max=0), 1000 * second)
        for second in range(1, 5)
    ).replace(b'"bins"', b'"no bins"')
    state = state_of(nothing)
    assert (state.idle_reports, state.outcome) == (0, "")
    assert not [key for key in values(state) if key[0] in ("fio_iops", "fio_latency_average_seconds")]


def test_an_io_that_hangs_from_the_start_is_idle() -> None:
    hung = doctored(FIRST, total_ios=16, io_bytes=0, io_kbytes=0, N=0, runtime=0, max=0).replace(
        b'"bins"', b'"no bins"'
    )
    state = state_of(at(hung, 1000) + at(hung, 2000) + at(hung, 3000))
    assert state.idle_reports == 2
    assert values(state)["fio_iops", "rrw", "read"] == 0


def test_the_pause_between_two_jobs_is_not_idle() -> None:
    # The first job has ended, and the second one, whose counters are taken away here, waits for its startdelay.
    pause = texts_of(data_of("json-multi-stonewall-3.42.out"))[3]
    for counter in (
        b'"total_ios" : 109264',
        b'"N" : 109264',
        b'"io_bytes" : 447545344',
        b'"io_kbytes" : 437056',
        b'"N" : 6828',
    ):
        assert counter in pause
        pause = pause.replace(counter, counter.split(b":")[0] + b": 0")
    pause = pause.replace(b'"total_ios" : 6828', b'"total_ios" : 0')
    state = state_of(b"".join(at(pause, 100_000 + 1000 * number) for number in range(4)))
    assert values(state)["fio_ios_total", "reader", "read"] == 64168
    assert values(state)["fio_ios_total", "writer", "write"] == 0
    assert state.history[-1].throughput == 0
    assert state.idle_reports == 0


def test_reports_are_the_windows() -> None:
    state = state_of(data_of("jsonplus-si1-libaio-qd16-3.33.out"))
    first, second = state.history
    exported = after_each("jsonplus-si1-libaio-qd16-3.33.out")[2]
    reads, writes = (exported["fio_iops", "rrw", operation] for operation in ("read", "write"))
    total = sum(
        exported["fio_iops", "rrw", operation] * exported["fio_latency_average_seconds", "rrw", operation]
        for operation in ("read", "write")
    )
    assert second == Report(1795168693.502, pytest.approx(reads + writes), pytest.approx(total / (reads + writes)))
    assert first.time == 1795168692.501


def test_a_report_of_a_stall_has_no_latency() -> None:
    state = state_of(at(FIRST, 1000) + at(SECOND, 2000) + at(SECOND, 3000))
    assert state.history[-1] == Report((START + 3000) / 1000, 0.0, None)


def test_the_end_of_ramp_time_gives_no_wrong_window() -> None:
    rates = [got.get(("fio_iops", "rt", "read")) for got in after_each("json-ramp2-3.33.out")]
    # No job_start in 3.33: the window of the reset is left out. N 15180 -> 30311 in 0.999 s, -> 45355 in 1.001 s.
    assert rates[0] is None
    assert rates[1] == pytest.approx(28893 - 14169, rel=1e-6)
    assert rates[2] is None
    assert rates[3:5] == pytest.approx([(30311 - 15180) / 0.999, (45355 - 30311) / 1.001], rel=1e-6)


def test_where_the_start_of_the_job_is_said_the_window_begins_at_the_end_of_ramp_time() -> None:
    exported = after_each("json-ramp2-3.42.out")
    latencies = [("fio_latency_average_seconds", "rt", "read") in got for got in exported]
    assert latencies == [False, False, False, True, True, True, True]
    assert exported[3]["fio_iops", "rt", "read"] == pytest.approx(15594 / 1.0, rel=1e-6)
    assert exported[4]["fio_iops", "rt", "read"] == pytest.approx((31412 - 15594) / 1.001, rel=1e-6)


def test_counters_that_went_back_give_no_window_and_the_next_one_is_right() -> None:
    rates = rates_of(at(SECOND, 1000), at(THIRD, 2000), at(FIRST, 3000), at(SECOND, 4000))
    assert rates[::2] == [None, None]
    assert rates[1::2] == pytest.approx([READS[2] - READS[1], READS[1] - READS[0]], rel=1e-6)


def test_the_end_of_ramp_time_is_seen_though_every_counter_rose() -> None:
    warming_up = doctored(FIRST, total_ios=100, io_bytes=409600, io_kbytes=400, N=0, max=0).replace(
        b'"bins"', b'"no bins"'
    )
    rates = rates_of(at(warming_up, 1000), at(FIRST, 2000), at(SECOND, 3000))
    assert rates[:2] == [None, None]
    assert rates[2] == pytest.approx(READS[1] - READS[0], rel=1e-6)


def test_a_job_that_started_anew_is_counted_from_its_start() -> None:
    first, second = texts_of(data_of("jsonplus-si1-libaio-qd16-3.42.out"))[:2]
    anew = doctored(second, timestamp_ms=1795168696_807, elapsed=3, job_start=1795168696_307)
    rates = rates_of(first, anew)
    assert rates[1] == pytest.approx(93076 / 0.5, rel=1e-6)


def test_a_reset_in_a_short_window_does_not_spoil_the_next() -> None:
    rates = rates_of(at(FIRST, 1000), at(SECOND, 2000), at(FIRST, 2010), at(SECOND, 3010))
    assert rates[3] == pytest.approx(READS[1] - READS[0], rel=1e-6)


def test_the_clock_set_back_gives_no_burst() -> None:
    # Known to be the same fio by its job_start only.
    first, second, third = texts_of(data_of("jsonplus-si1-libaio-qd16-3.42.out"))[:3]
    rates = rates_of(first, second, doctored(third, timestamp_ms=1795168694_900))
    assert rates[2] == rates[1]


def test_clones_are_one_series() -> None:
    before, after = documents_of("jsonplus-numjobs64-3.33.out")[:2]
    assert len(after["jobs"]) == 64
    got = after_each("jsonplus-numjobs64-3.33.out")[1]
    ios = sum(job["read"]["total_ios"] for job in after["jobs"]) - sum(
        job["read"]["total_ios"] for job in before["jobs"]
    )
    assert got["fio_iops", "many", "read"] == pytest.approx(ios / 1.001, rel=1e-6)
    assert got["fio_completion_latency_seconds", "many", "read"].counts[-1] == sum(
        sum(job["read"]["clat_ns"]["bins"].values()) for job in after["jobs"]
    )
    assert [key for key in got if key[0] == "fio_iops"] == [("fio_iops", "many", "read")]
    highest = max(job["read"]["clat_ns"]["max"] for job in after["jobs"])
    assert got["fio_latency_max_seconds", "many", "read"] <= highest / 1e9


def test_the_highest_latency_of_clones_is_not_that_of_the_one_that_rose() -> None:
    # Two clones rise, neither above the highest of all before: what the third one had in the window is not known.
    first, second = texts_of(data_of("json-nogroup-numjobs3-3.42.out"))[:2]
    highest = [job["read"]["clat_ns"]["max"] for job in documents_of("json-nogroup-numjobs3-3.42.out")[0]["jobs"]]
    new = [job["read"]["clat_ns"]["max"] for job in documents_of("json-nogroup-numjobs3-3.42.out")[1]["jobs"]]
    for old, high in zip(new, (max(highest), min(highest) + 1, min(highest)), strict=True):
        second = second.replace(b'"max" : %d,' % old, b'"max" : %d,' % high, 1)
    got: list[Any] = []
    read(first + second, on_document=lambda state: got.append(values(state)))
    assert ("fio_latency_max_seconds", "ng", "read") in got[0]
    assert ("fio_iops", "ng", "read") in got[1]
    assert ("fio_latency_max_seconds", "ng", "read") not in got[1]


def test_one_clone_that_is_reset_makes_the_window_unknown() -> None:
    first, second = texts_of(data_of("json-nogroup-numjobs3-3.42.out"))[:2]
    reset = second.replace(b'"total_ios" : 20914', b'"total_ios" : 5').replace(b'"N" : 20914', b'"N" : 5')
    assert reset != second
    got: list[Any] = []
    read(first + reset, on_document=lambda state: got.append(values(state)))
    assert ("fio_iops", "ng", "read") not in got[1]


def test_one_clone_that_started_anew_makes_the_window_unknown() -> None:
    first, second = texts_of(data_of("json-nogroup-numjobs3-3.42.out"))[:2]
    (start, *_) = (job["job_start"] for job in documents_of("json-nogroup-numjobs3-3.42.out")[1]["jobs"])
    anew = second.replace(b'"job_start" : %d' % start, b'"job_start" : %d' % (start + 1500), 1)
    got: list[Any] = []
    read(first + anew, on_document=lambda state: got.append(values(state)))
    assert ("fio_iops", "ng", "read") not in got[1]


def test_the_edge_of_a_bin_does_not_exceed_the_highest_latency_there_was() -> None:
    highest = documents_of("jsonplus-si1-libaio-qd16-3.33.out")[0]["jobs"][0]["read"]["clat_ns"]["max"]
    key = next(key for key, place in BIN_OF_KEY.items() if UPPER_NS[place] >= highest)
    assert UPPER_NS[BIN_OF_KEY[key]] > highest
    again = FIRST.replace(b'"N" : 41540,', b'"N" : 41541,').replace(
        b'"%s" : 6' % key.encode(), b'"%s" : 7' % key.encode()
    )
    assert again != FIRST
    shown = values(state_of(at(FIRST, 1000) + at(again, 2000)))
    assert shown["fio_iops", "rrw", "read"] == pytest.approx(1, rel=1e-6)
    assert shown["fio_latency_max_seconds", "rrw", "read"] == highest / 1e9


def test_without_completion_latency_the_total_one_is_shown() -> None:
    latencies = [
        job["read"]["lat_ns"] for (job,) in (d["jobs"] for d in documents_of("jsonplus-disable-clat-3.33.out")[:2])
    ]
    (before, after) = latencies
    shown = after_each("jsonplus-disable-clat-3.33.out")[1]
    mean = (after["mean"] * after["N"] - before["mean"] * before["N"]) / (after["N"] - before["N"])
    assert shown["fio_latency_average_seconds", "dc", "read"] == pytest.approx(mean / 1e9)
    assert shown["fio_latency_average_seconds", "dc", "read"] == pytest.approx(0.000561486, rel=1e-6)


def test_a_waiting_and_an_ended_job_show_no_zeros() -> None:
    shown = [
        sorted({key[1] for key in got if key[0] == "fio_iops"}) for got in after_each("json-multi-stonewall-3.42.out")
    ]
    for got, labels in zip(after_each("json-multi-stonewall-3.42.out"), shown, strict=True):
        assert {key[1] for key in got if key[0] == "fio_job_cpu_ratio"} <= set(labels)
    assert shown == [
        ["reader"],
        ["reader"],
        ["reader", "writer"],
        ["writer"],
        ["seqmix", "writer"],
        ["seqmix"],
        ["seqmix"],
    ]


def test_cpu_use_is_of_the_window() -> None:
    before, after = (document["jobs"][0] for document in documents_of("json-si1-randrw-3.42.out")[1:3])
    spent = (after["sys_cpu"] * after["job_runtime"] - before["sys_cpu"] * before["job_runtime"]) / 1e5
    got = after_each("json-si1-randrw-3.42.out")[2]
    assert got["fio_job_cpu_ratio", "rrw", "sys"] == pytest.approx(spent / 1.0, rel=1e-3)
    assert got["fio_job_cpu_ratio", "rrw", "sys"] == pytest.approx(0.441, abs=0.001)
    assert ("fio_job_cpu_ratio", "rrw", "sys") not in after_each("jsonplus-si1-libaio-qd16-3.7.out")[2]


def test_no_latency_is_made_up_where_fio_measures_none() -> None:
    for name in ("json-gtod-reduce-3.33.out", "json-disable-clat-lat-3.33.out"):
        for got in after_each(name)[1:]:
            assert [key for key in got if key[0] == "fio_iops"]
            assert not [key for key in got if "latency" in key[0]]
