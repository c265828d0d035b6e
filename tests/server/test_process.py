import gc
import os
import time
from pathlib import Path

from benchwatch.metrics.exposition import Exposition
from benchwatch.server.process import Process
from benchwatch.values.version import VERSION


def samples(process: Process) -> dict[str, float]:
    lines = [line for line in Exposition().render([process]).splitlines() if not line.startswith("#")]
    return {series: float(number) for series, number in (line.rsplit(" ", 1) for line in lines)}


def test_build_and_process_are_told() -> None:
    found = samples(Process("abc123"))
    (build,) = (series for series in found if series.startswith("benchwatch_build_info"))
    assert f'version="{VERSION}",revision="abc123",python="3.' in build
    assert found[build] == 1
    assert 1e6 < found["process_resident_memory_bytes"] < 1e10
    assert found["process_start_time_seconds"] <= time.time()


def test_each_rendering_reads_it_anew() -> None:
    process = Process()
    gc.collect()  # closes files that tests before have left
    before = samples(process)
    with Path(os.devnull).open():
        after = samples(process)
    assert after["process_open_fds"] == before["process_open_fds"] + 1
    assert after["process_open_fds"] < after["process_max_fds"]


def test_without_proc_only_the_build_is_told(tmp_path: Path) -> None:
    found = samples(Process(proc=str(tmp_path)))
    assert [series.partition("{")[0] for series in found] == ["benchwatch_build_info"]
