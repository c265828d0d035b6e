import pytest

from benchwatch.config import RunsSettings
from benchwatch.histogram import Buckets
from benchwatch.offline import read_runs

from ...conftest import RECORDINGS


def figures(name: str) -> tuple[float | None, ...]:
    ((worker,),) = (run.workers for run in read_runs([RECORDINGS / "fio" / name], RunsSettings(), Buckets()))
    return worker.state.figures()


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
