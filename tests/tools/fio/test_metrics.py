"""What is exported about jobs, their options and results."""

import re
from itertools import accumulate

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.fio import FIO
from benchwatch.tools.fio.text import Message

from .recordings import data_of, doctored, documents_of, read, shown_as, state_of, texts_of, values, with_documents


def test_every_family_has_a_unit_and_a_source_in_its_help() -> None:
    names = [family.name for family in FIO.families]
    assert len(names) == len(set(names))
    for family in FIO.families:
        assert re.fullmatch(r"fio_[a-z_]+", family.name)
        assert family.help.endswith(".")
        assert (family.kind == "counter") == family.name.endswith("_total")
        of_the_run = "_result_" in family.name or family.name in ("fio_job_info", "fio_job_error", "fio_job_warning")
        assert family.part == ("runs" if of_the_run else "live")


TOTAL_LATENCY = ("percentile-opts", "disable-clat-3", "json-lat-percentiles")


@pytest.mark.parametrize("name", with_documents())
def test_results_are_those_that_fio_prints(name: str) -> None:
    if name.startswith(("client-", "append-")) or "numjobs3" in name or "numjobs64" in name or "strace" in name:
        return
    state = read(data_of(name))[-1]
    exported = values(state, current=False)
    if not state.outcome:
        assert not [key for key in exported if "_result_" in key[0]]
        return
    compared = 0
    for job in documents_of(name)[-1]["jobs"]:
        for operation in ("read", "write", "trim") if "read" in job else ("mixed",):
            if not job[operation]["runtime"]:
                continue
            compared += 1
            key = (job["jobname"], shown_as(documents_of(name)[-1], job, operation))
            if key != ("vb", "verify"):  # fio has no runtime for these
                assert exported["fio_result_iops", *key] == pytest.approx(job[operation]["iops"], abs=1e-6)
                bandwidth = exported["fio_result_bandwidth_bytes_per_second", *key]
                assert int(bandwidth) == job[operation]["bw_bytes"]
            own = "lat_ns" if any(each in name for each in TOTAL_LATENCY) else "clat_ns"
            latency = job[operation][own]
            if not latency["mean"]:
                assert ("fio_result_latency_average_seconds", *key) not in exported
                continue
            assert exported["fio_result_latency_average_seconds", *key] == pytest.approx(latency["mean"] / 1e9)
            assert exported["fio_result_latency_seconds", *key, "1"] == latency["max"] / 1e9
            for quantile, printed in (
                ("0.5", "50.000000"),
                ("0.95", "95.000000"),
                ("0.99", "99.000000"),
                ("0.999", "99.900000"),
            ):
                if printed in latency.get("percentile", {}):
                    exact = latency["percentile"][printed] / 1e9
                    assert exported["fio_result_latency_seconds", *key, quantile] == pytest.approx(exact, rel=0.016)
    assert compared or name.startswith("err-")


@pytest.mark.parametrize("percentiles", [b'"50.000000" : ' + b"9" * 5000, b'"50.000000" : "x"'])
def test_percentiles_that_are_no_numbers_are_left_out(percentiles: bytes) -> None:
    text = data_of("json-fdatasync-endfsync-3.33.out").replace(b'"1.000000" :', percentiles + b', "1.000000" :')
    text = re.sub(rb'"50.000000" : \d{1,9},', b"", text)
    exported = values(state_of(text), current=False)
    assert exported["fio_result_iops", "sy", "write"] == pytest.approx(108804 / 3.001)
    assert ("fio_result_latency_seconds", "sy", "write", "0.5") not in exported
    assert exported["fio_result_latency_seconds", "sy", "write", "1"] > 0


def test_results_of_clones_are_added_up() -> None:
    jobs = documents_of("json-nogroup-numjobs3-3.42.out")[-1]["jobs"]
    exported = values(state_of(data_of("json-nogroup-numjobs3-3.42.out")), current=False)
    ios = sum(job["read"]["total_ios"] for job in jobs)
    assert exported["fio_result_iops", "ng", "read"] == pytest.approx(ios / 3.001)
    total = sum(job["read"]["clat_ns"]["mean"] * job["read"]["clat_ns"]["N"] for job in jobs)
    assert exported["fio_result_latency_average_seconds", "ng", "read"] == pytest.approx(total / ios / 1e9)
    quantiles = [key[3] for key in exported if key[0] == "fio_result_latency_seconds"]
    assert quantiles == ["1"]  # fio's percentiles of several jobs cannot be put together


def test_results_come_with_the_end_and_live_figures_go_with_it() -> None:
    running = values(state_of(b"".join(texts_of(data_of("json-si1-randrw-3.42.out"))[:-1])), current=True)
    ended = values(state_of(data_of("json-si1-randrw-3.42.out")), current=False)
    live = {
        "fio_iops",
        "fio_bandwidth_bytes_per_second",
        "fio_latency_average_seconds",
        "fio_job_cpu_ratio",
        "fio_disk_util_ratio",
    }
    assert live <= {key[0] for key in running}
    assert not live & {key[0] for key in ended}
    assert not [key for key in running if "_result_" in key[0]]
    assert ended["fio_result_iops", "rrw", "read"] == pytest.approx(65704 / 4.001)


def test_the_histogram_is_that_of_the_bins() -> None:
    exported = values(state_of(data_of("jsonplus-si1-libaio-qd16-3.33.out")), current=False)
    histogram = exported["fio_completion_latency_seconds", "rrw", "read"]
    latency = documents_of("jsonplus-si1-libaio-qd16-3.33.out")[-1]["jobs"][0]["read"]["clat_ns"]
    assert histogram.counts[-1] == 136764
    assert histogram.sum == pytest.approx(latency["mean"] * latency["N"] / 1e9)
    at = dict(zip(histogram.bounds, histogram.counts, strict=True))
    for bound in ("0.000131071", "0.001048575"):
        below = sum(count for key, count in latency["bins"].items() if int(key) <= float(bound) * 1e9)
        assert at[bound] == below
    assert not [
        key
        for key in values(state_of(data_of("json-si1-randrw-3.33.out")))
        if key[0] == "fio_completion_latency_seconds"
    ]


def test_submission_latency_is_a_summary() -> None:
    exported = values(state_of(data_of("jsonplus-si1-libaio-qd16-3.33.out")))
    latency = documents_of("jsonplus-si1-libaio-qd16-3.33.out")[-1]["jobs"][0]["read"]["slat_ns"]
    summary = exported["fio_submission_latency_seconds", "rrw", "read"]
    assert summary.count == latency["N"]
    assert summary.sum == pytest.approx(latency["mean"] * latency["N"] / 1e9)
    assert not [key for key in values(state_of(data_of("json-si1-randrw-3.33.out"))) if "submission" in key[0]]


def test_latency_is_taken_from_where_the_bins_are() -> None:
    # lat_percentiles=1, clat_percentiles=0
    exported = values(state_of(data_of("jsonplus-percentile-opts-3.33.out")), current=False)
    latency = documents_of("jsonplus-percentile-opts-3.33.out")[-1]["jobs"][0]["read"]["lat_ns"]
    assert exported["fio_completion_latency_seconds", "po", "read"].counts[-1] == sum(latency["bins"].values())
    assert exported["fio_result_latency_average_seconds", "po", "read"] == pytest.approx(latency["mean"] / 1e9)
    # with all three the completion latency is what counts
    exported = values(state_of(data_of("jsonplus-percentile-all3-3.33.out")), current=False)
    latency = documents_of("jsonplus-percentile-all3-3.33.out")[-1]["jobs"][0]["read"]["clat_ns"]
    assert exported["fio_result_latency_average_seconds", "po", "read"] == pytest.approx(latency["mean"] / 1e9)


def test_only_mixed_where_it_hides_the_others() -> None:
    def shown(name: str) -> set[str]:
        return {key[2] for key in values(state_of(data_of(name))) if key[0] == "fio_ios_total"}

    assert shown("json-unified1-3.42.out") == {"mixed"}
    assert shown("json-unified-both-3.42.out") == {"read", "write"}


def test_an_operation_that_a_job_never_does_has_no_series() -> None:
    keys = {key[1:3] for key in values(state_of(data_of("json-multi-stonewall-3.42.out"))) if key[0] == "fio_ios_total"}
    assert keys == {
        ("reader", "read"),
        ("writer", "write"),
        ("writer", "sync"),
        ("seqmix", "read"),
        ("seqmix", "write"),
    }
    first = values(state_of(texts_of(data_of("json-multi-stonewall-3.42.out"))[0]))
    assert first["fio_ios_total", "seqmix", "write"] == 0  # it will


def test_a_name_in_several_groups_is_told_apart() -> None:
    text = data_of("json-multi-stonewall-3.42.out").replace(b'"jobname" : "writer"', b'"jobname" : "reader"')
    labels = {key[1] for key in values(state_of(text)) if key[0] == "fio_job_info"}
    assert labels == {"reader#0", "reader#1", "seqmix"}


def test_jobs_that_fio_adds_up_read_and_write_without_a_rate_of_either() -> None:
    exported = values(state_of(data_of("json-group-second-job-3.33.out")))
    ios = {key[1:]: value for key, value in exported.items() if key[0] == "fio_ios_total"}
    assert ios == {("read", "read"): 401, ("read", "write"): 801}
    assert not [key for key in exported if key[0].startswith("fio_target")]


def test_a_job_whose_long_name_fio_cuts_is_one_job() -> None:
    name = "json-percentile-one-op-3.33.out"
    (job,) = documents_of(name)[-1]["jobs"]
    cut, whole = job["jobname"] + "j" * 125, job["jobname"] + "j" * 160
    text = data_of(name).replace(
        b'"jobname" : "%s"' % job["jobname"].encode(), b'"jobname" : "%s"' % cut[:127].encode()
    )
    text = text.replace(
        b'"name" : "%s"' % job["jobname"].encode(), b'"name" : "%s", "rate_iops" : "7"' % whole.encode()
    )
    assert values(state_of(text))["fio_target_iops", cut[:127], "read"] == 7


def test_jobs_that_fio_adds_up_are_known_by_what_they_did_where_options_have_no_name() -> None:
    named = data_of("json-group-second-job-3.33.out")
    text = named.replace(b'        "name" : "write",\n', b"")
    assert text != named
    assert values(state_of(text)) == values(state_of(named))


def test_information_on_a_job_is_its_options_over_the_global_ones() -> None:
    exported = values(state_of(data_of("json-multi-stonewall-3.42.out")))
    assert ("fio_job_info", "reader", "0", "randread", "4k", "", "2", "psync", "", "") in exported
    assert ("fio_job_info", "seqmix", "2", "rw", "64k", "", "", "psync", "", "") in exported


def test_targets_are_multiplied_by_the_clones() -> None:
    assert values(state_of(data_of("jsonplus-numjobs64-3.33.out")))["fio_target_iops", "many", "read"] == 64 * 200
    grouped = data_of("json-group-numjobs4-3.33.out").replace(b'"numjobs" : "4"', b'"numjobs" : "4", "rate" : "1m"')
    exported = values(state_of(grouped))
    assert exported["fio_target_bandwidth_bytes_per_second", "g", "read"] == 4 * 1024**2
    assert ("fio_target_iops", "g", "read") not in exported


def test_a_target_only_for_what_is_limited() -> None:
    rated = data_of("json-si1-randrw-3.33.out").replace(b'"bs" : "4k"', b'"bs" : "4k", "rate_iops" : ",500"')
    exported = values(state_of(rated))
    assert exported["fio_target_iops", "rrw", "write"] == 500
    assert ("fio_target_iops", "rrw", "read") not in exported
    assert exported["fio_job_warning", "rrw", "rwmixread_with_rate_iops"] == 1


def test_verification_among_reads_is_warned_of_once_there_is_some() -> None:
    name = "jsonplus-verify-randrw-3.33.out"
    key = ("fio_job_warning", documents_of(name)[0]["jobs"][0]["jobname"], "verify_reads_among_reads")
    text = texts_of(data_of(name))[-1]
    assert key in values(state_of(text))
    ended_before = text.replace(b'"runtime" : 2645', b'"runtime" : 2559')
    assert key not in values(state_of(ended_before))


def test_warnings_are_of_the_job() -> None:
    assert (
        values(state_of(data_of("note-iodepth-sync-outputfile-3.42.json")))[
            "fio_job_warning", "nn", "sync_engine_iodepth"
        ]
        == 1
    )
    assert (
        values(state_of(data_of("json-gtod-reduce-3.33.out")))["fio_job_warning", "gr", "gtod_reduce_no_latency"] == 1
    )
    assert not [
        key for key in values(state_of(data_of("jsonplus-si1-libaio-qd16-3.42.out"))) if key[0] == "fio_job_warning"
    ]


def test_an_unnamed_synchronous_engine_is_known_by_fios_note() -> None:
    data = data_of("note-iodepth-sync-outputfile-3.42.json").replace(b'"ioengine" : "psync",', b"")
    assert ("fio_job_warning", "nn", "sync_engine_iodepth") in values(state_of(data))
    assert ("fio_job_warning", "nn", "sync_engine_iodepth") not in values(state_of(texts_of(data)[0]))


def test_disk_use_is_a_ratio() -> None:
    exported = values(state_of(texts_of(data_of("jsonplus-si1-libaio-qd16-3.42.out"))[2]))
    assert exported["fio_disk_util_ratio", "vda"] == pytest.approx(
        documents_of("jsonplus-si1-libaio-qd16-3.42.out")[2]["disk_util"][0]["util"] / 100
    )


def test_parameters_of_one_job_and_of_several() -> None:
    assert state_of(data_of("json-si1-randrw-3.39.out")).parameters() == {
        "name": "rrw",
        "rw": "randrw",
        "rwmixread": "70",
        "directory": "/data",
        "size": "16M",
        "bs": "4k",
        "ioengine": "psync",
        "time_based": "",
        "runtime": "4",
    }
    several = state_of(data_of("json-multi-stonewall-3.42.out")).parameters()
    assert several["ioengine"] == "psync"
    assert (several["reader/rw"], several["seqmix/bs"], several["seqmix/startdelay"]) == ("randread", "64k", "1")
    clones = state_of(data_of("jsonplus-numjobs64-3.33.out")).parameters()
    assert clones["numjobs"] == "64"


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("json-si1-randrw-3.42.out", 1795168645.993),  # job_start
        ("json-multi-stonewall-3.42.out", 1795168834.722),  # of the first job
        ("json-si1-randrw-3.33.out", 1795168629.524 - 1),  # the first document's time less its elapsed
        ("client-json-si1-3.42.out", 1795169159.557),
        ("client-2hosts-json-outputfile-3.33.json", 1795169152.0),  # the client's start
    ],
)
def test_the_start_of_a_run(name: str, start: float) -> None:
    state = state_of(data_of(name))
    assert state.start == pytest.approx(start, abs=1e-6)
    assert state.tool_version == "fio-" + re.sub(r".*-(3\.\d+)\.\w+", r"\1", name)


@pytest.mark.parametrize(
    ("name", "length"), [("client-json-si1-3.42.out", 4.001), ("client-clones-jsonplus-si1-3.33.out", 2.002)]
)
def test_a_client_in_a_copied_file_took_as_long_as_its_jobs(name: str, length: float) -> None:
    state = state_of(data_of(name), arrived=1_800_000_000.0)
    assert state.start is not None
    assert state.end == pytest.approx(state.start + length, abs=1e-3)


@pytest.mark.parametrize("name", ["json-different-runtimes-3.33.out", "json-thinktime-slow-zero-interval-3.33.out"])
def test_no_percentile_is_above_the_maximum(name: str) -> None:
    state = state_of(data_of(name))
    found = [sample for sample in state.samples(False) if sample.family.name == "fio_result_latency_seconds"]
    highest = {sample.labels[:2]: sample.value for sample in found if sample.labels[2] == "1"}
    assert [sample for sample in found if sample.value > highest[sample.labels[:2]]] == []
    assert (state.figures().p99 or 0) <= max(highest.values())


def test_the_version_grows_with_what_is_shown() -> None:
    versions: list[int] = []
    read(data_of("json-si1-randrw-3.33.out"), on_document=lambda state: versions.append(state.version))
    assert versions == sorted(set(versions))


@pytest.mark.parametrize(
    ("gaps", "seconds"),
    [
        ([], None),
        ([1.0], 1.0),
        ([1.0, 0.002], 1.0),
        ([1.0, 1.001, 0.999], 1.0),
        ([1.0, 1.0, 5.0, 0.002, 1.0], 1.0),
        ([5.0, 0.002, 1.0, 1.0], 1.0),
        ([0.5, 0.5, 4.0, 0.5], 0.5),
        ([1.6, 0.4, 1.5, 0.5, 1.0], 1.0),
    ],
)
def test_the_interval_is_not_moved_by_freezes_and_what_follows_them(gaps: list[float], seconds: float | None) -> None:
    state = FIO.state(Buckets())
    for time in accumulate(gaps, initial=0.0):
        state.apply(Message("terse", "job", 0), "stdout", time)
    assert state.report_interval == seconds


def test_the_gap_before_the_final_document_is_not_taken_for_the_interval() -> None:
    assert state_of(data_of("append-two-runs-stdout-3.33.out")[:19383]).report_interval == 0.999


def test_coarser_buckets_are_taken_over() -> None:
    state = FIO.state(Buckets(per_octave=1))
    for record in FIO.parser("text").feed(data_of("jsonplus-si1-libaio-qd16-3.33.out")):
        state.apply(record, "stdout", 0.0)
    histogram = next(
        sample.value for sample in state.samples(True) if sample.family.name == "fio_completion_latency_seconds"
    )
    assert len(histogram.counts) == 25  # type: ignore[union-attr]
    assert histogram.counts[-1] == 136764  # type: ignore[union-attr]


def test_a_document_without_jobs_is_no_end() -> None:
    text = texts_of(data_of("json-trim-null-3.33.out"))[0]
    empty = text[: text.index(b'"jobs"')] + b'"jobs" : [\n  ]\n}\n'
    state = state_of(empty)
    assert (state.outcome, state.start, values(state)) == ("", None, {})
    assert state_of(doctored(empty, timestamp_ms=0)).last_report == 1795168865.0
