from pathlib import Path

import pytest

from benchwatch.compare.workers import WorkerFigures
from tests.support.timelines import read_timelines


@pytest.mark.parametrize("version", ["3.33", "3.42"])
@pytest.mark.parametrize("warmup", [0.5, 1.2])
def test_after_a_warm_up_percentiles_of_fio_are_of_the_same_operations_as_its_rates(
    warmup: float, version: str, recordings: Path
) -> None:
    path = recordings / "fio" / f"jsonplus-si1-libaio-qd16-{version}.out"
    (timeline,) = read_timelines([path], latencies=True)
    worker = WorkerFigures(timeline, warmup)
    for group in worker.groups:
        done, latencies = worker.done(group), worker.latencies(group)
        assert done is not None and latencies is not None
        assert latencies.count == pytest.approx(done.timed, rel=0.002)
