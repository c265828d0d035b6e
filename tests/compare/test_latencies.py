import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchwatch.compare.latencies import Latencies, read_latencies
from benchwatch.history.find import find_runs
from benchwatch.metrics.buckets import BINS, Buckets, quantiles
from benchwatch.settings.settings import RunsSettings


def read(path: Path) -> dict[tuple[str, ...], Latencies]:
    (run,) = find_runs([path], RunsSettings(), Buckets())
    (plans,) = run.plans.values()
    return dict(read_latencies(plans, run.folder))


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
