"""A real sysbench without a database."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE

from .recordings import misread, state_of, values

pytestmark = [
    pytest.mark.skipif(not shutil.which("sysbench"), reason="sysbench is not installed"),
    pytest.mark.slow(3),
]


def sysbench(folder: Path, *arguments: str) -> bytes:
    command = ["sysbench", "--report-interval=1", "--percentile=99", "--histogram=on", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE).stdout


@pytest.mark.parametrize("test", ["cpu", "threads", "memory"])
def test_events_are_counted_and_timed(tmp_path: Path, test: str) -> None:
    output = sysbench(tmp_path, test, "--time=2", *(["--memory-total-size=1T"] if test == "memory" else []), "run")
    assert misread(output) == []
    state = state_of(output)
    found = values(state)
    assert state.outcome == "finished"
    assert found["result_transactions",] == found["latency_seconds",].counts[-1] > 0
    rate = "result_throughput_bytes_per_second" if test == "memory" else "result_events_per_second"
    assert state.figures().throughput == found[rate,]
    if test != "memory":
        assert found["events_total",] == found["result_transactions",]


def test_bytes_of_files_are_those_of_whole_blocks(tmp_path: Path) -> None:
    files = ["fileio", "--file-total-size=4M", "--file-num=2"]
    subprocess.run(["sysbench", *files, "prepare"], cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE)
    output = sysbench(tmp_path, *files, "--file-test-mode=rndrw", "--time=2", "run")
    assert misread(output) == []
    state = state_of(output)
    found = values(state)
    assert state.parameters()["block_size"] == "16KiB"
    for op in ("read", "write"):
        rate = found["result_bandwidth_bytes_per_second", op]
        assert rate == pytest.approx(found["result_iops", op] * 16 * 1024, rel=0.01, abs=2**14)
    assert found["bytes_total",] > 0
