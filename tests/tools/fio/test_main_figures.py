import re

import pytest

from benchwatch.history.find import read_runs
from benchwatch.metrics.buckets import Buckets
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.fio.state import FioState
from benchwatch.tools.states import Figures
from tests.support.places import RECORDINGS

from .recordings import after_each, data_of, documents_of, read, state_of, texts_of, values


def figures(name: str) -> tuple[float | None, ...]:
    ((worker,),) = (run.workers for run in read_runs([RECORDINGS / "fio" / name], RunsSettings(), Buckets()))
    return worker.state.figures()[:4]


def test_all_operations_are_taken_together() -> None:
    found = figures("jsonplus-si1-libaio-qd16-3.33.out")
    iops = 45572.80906364545 + 45608.79706764412
    mean = (21.19759718893502 + 25.529351412946824) / (136764 + 136872)
    assert found == (pytest.approx(iops), pytest.approx(mean), 0.00026112, 136764 + 136872)


def test_plain_json_has_no_percentile() -> None:
    assert figures("json-si1-randrw-3.33.out")[2:] == (None, 87607)


def test_syncs_are_not_operations() -> None:
    assert figures("json-sync-fsync8-3.33.out")[3] == 136752


def test_groups_one_after_the_other_have_no_throughput_in_common() -> None:
    assert figures("json-multi-stonewall-3.33.out")[0] is None


def test_nothing_measured_has_no_figures() -> None:
    assert figures("err-nodir-3.33.out") == (None, None, None, None)


def test_one_job_and_operation_has_the_percentile_that_fio_printed() -> None:
    (job,) = documents_of("json-percentile-one-op-3.33.out")[0]["jobs"]
    printed = job["read"]["clat_ns"]["percentile"]["99.000000"]
    assert figures("json-percentile-one-op-3.33.out")[2:] == (printed / 1e9, 512)


def test_a_percentile_list_without_the_99th_has_none() -> None:
    text = data_of("json-percentile-one-op-3.33.out").replace(b'"99.000000"', b'"98.000000"')
    assert state_of(text).figures().p99 is None


def test_percentiles_of_the_total_latency_are_taken_where_only_these_are_printed() -> None:
    (job,) = documents_of("json-lat-percentiles-3.33.out")[0]["jobs"]
    assert "percentile" not in job["read"]["clat_ns"]
    latency = job["read"]["lat_ns"]
    found = state_of(data_of("json-lat-percentiles-3.33.out")).figures()
    assert found.p99 == latency["percentile"]["99.000000"] / 1e9
    assert found.latency == pytest.approx(latency["mean"] / 1e9)


def test_percentiles_of_two_jobs_are_not_averaged() -> None:
    assert figures("json-different-runtimes-3.33.out")[2:] == (None, 801)


WRITE = "json-verify-write-3.33.out"


def test_verification_reads_are_neither_operations_nor_throughput_nor_latency() -> None:
    (job,) = documents_of(WRITE)[0]["jobs"]
    write = job["write"]
    assert (write["total_ios"], write["runtime"], job["read"]["total_ios"]) == (1024, 4, 1024)
    mean, p99 = write["clat_ns"]["mean"] / 1e9, write["clat_ns"]["percentile"]["99.000000"] / 1e9
    assert figures(WRITE) == (256000, pytest.approx(mean), p99, 1024)


@pytest.mark.parametrize(
    ("name", "runtime"),
    [
        ("jsonplus-verify-write-3.33.out", 2926),
        ("jsonplus-verify-backlog-3.33.out", 2930),
        ("json-verify-loops-3.33.out", 2921),
    ],
)
def test_the_throughput_of_verified_writes_is_that_of_the_writes(name: str, runtime: int) -> None:
    assert figures(name)[0] == pytest.approx(2048 / runtime * 1000)
    assert figures(name)[3] == 2048


def test_where_verification_reads_are_counted_among_reads_nothing_is_said_of_the_workload() -> None:
    assert figures("jsonplus-verify-randrw-3.33.out") == (None, None, None, None)


def test_a_verified_mix_that_ended_before_its_verification_has_its_figures() -> None:
    text = texts_of(data_of("jsonplus-verify-randrw-3.33.out"))[-1]
    text = text.replace(b'"runtime" : 2645', b'"runtime" : 2559').replace(b'"total_ios" : 2048', b'"total_ios" : 1024')
    assert state_of(text).figures().throughput == pytest.approx(1024 / 2.558 + 1024 / 2.559)


@pytest.mark.parametrize(
    "name", ["json-different-runtimes-3.33.out", "json-wait-for-3.33.out", "json-startdelay-3.33.out"]
)
def test_jobs_that_did_not_run_at_the_same_time_have_no_throughput_in_common(name: str) -> None:
    assert figures(name)[0] is None


def test_where_fio_says_when_jobs_started_that_decides() -> None:
    text = data_of("json-startdelay-3.33.out")
    starts = iter([1795342782000, 1795342782050])
    known = re.sub(rb'"job_runtime"', lambda _: b'"job_start" : %d, "job_runtime"' % next(starts), text)
    assert state_of(known).figures().throughput == pytest.approx(200 / 1.002 + 201 / 1.004)


def test_while_writes_are_verified_there_is_no_throughput() -> None:
    shown: list[Figures] = []
    reports: list[int] = []
    idle: list[int] = []

    def look(state: FioState) -> None:
        shown.append(state.figures())
        reports.append(len(state.history))
        idle.append(state.idle_reports)

    (state,) = read(data_of("json-verify-slow-3.33.out"), on_document=look)
    assert [each.throughput is None for each in shown] == [True] + 16 * [False] + 14 * [True] + [False]
    assert [each.operations for each in shown[17:31]] == 14 * [7168]
    assert reports[16:] == 16 * [reports[16]]
    assert set(idle) == {0}
    assert state.figures().throughput == pytest.approx(7168 / 16.357)


def test_a_verification_has_series_of_its_own_and_writes_that_are_over_are_not_zero() -> None:
    during = after_each("json-verify-slow-3.33.out")[20]
    assert [key[1:] for key in during if key[0] == "fio_iops"] == [("vs", "verify")]
    assert during["fio_ios_total", "vs", "write"] == 7168
    assert during["fio_ios_total", "vs", "verify"] == 2933
    final = values(state_of(data_of("json-verify-slow-3.33.out")))
    assert final["fio_result_iops", "vs", "verify"] == pytest.approx(7168 / 14.826)
    assert not [key for key in final if key[1:] == ("vs", "read")]
    before = after_each("json-verify-loops-3.33.out")[-2]
    assert [key[1:] for key in before if key[0] == "fio_iops"] == [("vl", "write")]


def test_reads_among_the_writes_have_no_rate_of_the_whole_run() -> None:
    # fio's runtime of these reads, 2 ms, is that of the last verification only: 1,024,000 IOPS.
    final = values(state_of(data_of("jsonplus-verify-backlog-3.33.out")))
    assert final["fio_ios_total", "vb", "verify"] == 2048
    assert ("fio_result_iops", "vb", "verify") not in final
    assert ("fio_result_latency_average_seconds", "vb", "verify") in final


def test_groups_that_started_together_have_a_throughput_in_common() -> None:
    """With new_group=1 a group does not wait for others; since 3.36 fio prints when each job started."""
    text = texts_of(data_of("json-multi-stonewall-3.42.out"))[-1]
    together = re.sub(rb'"job_start" : \d+', b'"job_start" : 1795168834722', text)
    assert state_of(text).figures().throughput is None
    state = state_of(together)
    rates = [value for key, value in values(state).items() if key[0] == "fio_result_iops"]
    assert state.figures().throughput == pytest.approx(sum(rates))
