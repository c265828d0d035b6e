import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchwatch.compare.experiment import load
from benchwatch.compare.measures import LATENCY_QUANTILES
from benchwatch.metrics.buckets import BINS, quantiles
from benchwatch.metrics.latencies import Latencies
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.fio.document import FioDocument, decode
from tests.support.timelines import read_timelines


def read(path: Path) -> dict[tuple[str, ...], Latencies]:
    (timeline,) = read_timelines([path], latencies=True)
    return dict(timeline.latencies)


def test_every_transaction_of_all_threads_is_counted(recordings: Path) -> None:
    folder = recordings / "pgbench" / "txlog-j2-15.18"
    found = read(folder)[()]
    lines = [line.split() for log in folder.glob("pgbench_log.*") for line in log.read_text().splitlines()]
    assert found.between().sum() == len(lines) == 1000
    times = np.sort([int(line[2]) for line in lines]) / 1e6
    assert found.highest == times[-1]
    for value, quantile in zip(quantiles(found.between(), (0.5, 0.99)), (0.5, 0.99), strict=True):
        assert value == pytest.approx(times[math.ceil(quantile * len(times)) - 1], rel=0.008)


def final(path: Path) -> dict[str, Any]:
    """The only job of the last document."""
    (job,) = json.loads("{\n" + path.read_text().rpartition("\n{\n")[2])["jobs"]
    return dict(job)


def test_spans_of_time_add_up_to_the_final_document(recordings: Path) -> None:
    path = recordings / "fio" / "jsonplus-si1-libaio-qd16-3.42.out"
    job = final(path)
    found = read(path)[job["jobname"], "read"]
    middle = job["job_start"] / 1000 + 1.5
    assert 0 < found.within(middle).between().sum() < job["read"]["clat_ns"]["N"]
    assert (found.between(end=middle) + found.between(middle) == found.between()).all()
    assert found.between().sum() == job["read"]["clat_ns"]["N"]
    assert found.highest == job["read"]["clat_ns"]["max"] / 1e9


def test_what_fio_counts_from_zero_again_after_its_ramp_is_counted_once(recordings: Path) -> None:
    path = recordings / "fio" / "json-ramp2-3.33.out"
    job = final(path)
    found = read(path)[job["jobname"], "read"]
    assert found.between().sum() == job["read"]["clat_ns"]["N"]


def test_percentiles_of_nothing_are_none() -> None:
    assert quantiles(Latencies().between(), (0.5,)) == []
    assert Latencies().highest == 0.0
    assert Latencies().between().shape == (BINS,)


def transactions(folder: Path) -> list[tuple[float, int]]:
    """When each transaction of all threads completed, Unix seconds, and its latency, microseconds, in order."""
    lines = [line.split() for log in folder.glob("pgbench_log.*") for line in log.read_text().splitlines()]
    return sorted((int(line[4]) + int(line[5]) / 1e6, int(line[2])) for line in lines)


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_a_second_of_a_log_is_divided_to_the_microsecond(recordings: Path, place: float) -> None:
    folder = recordings / "pgbench" / "txlog-j2-15.18"
    times, latencies = zip(*transactions(folder), strict=True)
    first = int(len(times) * place)
    cut = times[first]
    assert cut % 1 > 0  # within a second
    found = read(folder)[()].divided([cut])
    assert found.between().sum() == len(times)
    after = found.within(cut)
    assert after.count == len(times) - first
    assert found.within(-math.inf, cut).count == first
    assert after.total == pytest.approx(sum(latencies[first:]) / 1e6, rel=1e-12)
    assert after.highest == max(latencies[first:]) / 1e6
    for value, quantile in zip(quantiles(after.between(), (0.5, 0.99)), (0.5, 0.99), strict=True):
        rank = math.ceil(quantile * after.count) - 1
        assert value == pytest.approx(sorted(latencies[first:])[rank] / 1e6, rel=0.008)


def test_a_second_is_divided_although_it_begins_with_a_torn_line(tmp_path: Path) -> None:
    second = 1_700_000_001
    lines = [f"0 {number} 1500 0 {second - 1} {number}\n" for number in range(1, 5)]
    lines += [f"0 5 1500 0 {second} 1 0 4\n"]  # the first of its second has more fields than all others
    lines += [f"0 {number} 1500 0 {second} {number}00000\n" for number in range(2, 10)]
    lines += [f"0 10 1500 0 {second + 1} 5\n"]
    (tmp_path / "pgbench_log.7").write_text("".join(lines))
    found = read(tmp_path)[()].divided([second + 0.45])
    assert found.count == 13
    assert found.within(second + 0.45).count == 6
    assert found.within(second, second + 0.45).count == 3


def test_each_document_is_decoded_once(recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = recordings / "fio" / "jsonplus-si1-libaio-qd16-3.42.out"
    decoded: list[bytes] = []

    def counting(data: bytes) -> FioDocument:
        decoded.append(data)
        return decode(data)

    monkeypatch.setattr("benchwatch.tools.fio.parser.decode", counting)
    run = load(path, RunsSettings(), warmup=None, force=False)[""].runs[0]
    assert any(measure in LATENCY_QUANTILES for _, measure in run.figures)
    assert len(decoded) == path.read_text().count('"fio version"') > 1
