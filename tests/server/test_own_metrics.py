import gc
import os
import time
from pathlib import Path

from benchwatch.server.own_metrics import OwnMetrics
from benchwatch.values.version import VERSION


def samples(own: OwnMetrics) -> dict[str, float]:
    lines = [line for line in own.render().splitlines() if not line.startswith("#")]
    return {series: float(number) for series, number in (line.rsplit(" ", 1) for line in lines)}


def test_build_and_process_are_told() -> None:
    found = samples(OwnMetrics("abc123"))
    (build,) = (series for series in found if series.startswith("benchwatch_build_info"))
    assert f'revision="abc123",version="{VERSION}"' in build
    assert 'python="3.' in build
    assert found[build] == 1
    assert 1e6 < found["process_resident_memory_bytes"] < 1e10
    assert found["process_start_time_seconds"] <= time.time()


def test_each_rendering_reads_it_anew() -> None:
    own = OwnMetrics()
    gc.collect()  # closes files that tests before have left
    before = samples(own)
    with Path(os.devnull).open():
        after = samples(own)
    assert after["process_open_fds"] == before["process_open_fds"] + 1
    assert after["process_open_fds"] < after["process_max_fds"]


def test_without_proc_only_the_build_is_told(tmp_path: Path) -> None:
    found = samples(OwnMetrics(proc=str(tmp_path)))
    assert not [series for series in found if series.startswith("process_")]
    assert "benchwatch_build_info" in {series.partition("{")[0] for series in found}
