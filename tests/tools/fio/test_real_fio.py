"""A real fio, whose own log of every completion latency tells what each window should have shown."""

import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchwatch.tools.fio.windows import QUANTILES
from tests.support.waiting import PATIENCE

from .recordings import plain, read, texts_of, values

RATE = 700
TOLERANCE = 0.016


def run_fio(folder: Path, seconds: int) -> tuple[bytes, list[tuple[int, int]]]:
    """fio's output, and its log: when each I/O completed (epoch milliseconds), its completion latency (nanoseconds)."""
    command = [
        "fio",
        "--name=real",
        f"--filename={folder}/data",
        "--size=2M",
        "--rw=randread",
        "--bs=4k",
        "--ioengine=psync",
        f"--rate_iops={RATE}",
        "--time_based",
        f"--runtime={seconds}",
        f"--write_lat_log={folder}/log",
        "--log_unix_epoch=1",
        "--output-format=json+",
        "--status-interval=1",
    ]
    output = subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE).stdout
    lines = (folder / "log_clat.1.log").read_text().splitlines()
    fields = [line.split(",") for line in lines]
    return output, [(int(when), int(latency)) for when, latency, *_ in fields]


def nearest_rank(latencies: list[int], wanted: float) -> int:
    return sorted(latencies)[max(1, math.ceil(round(wanted * len(latencies), 6))) - 1]


@pytest.mark.slow(5)
@pytest.mark.skipif(not shutil.which("fio"), reason="fio is not installed")
def test_every_window_agrees_with_fios_log_of_every_io(tmp_path: Path) -> None:
    for seconds in (4, 16, 64):  # fio on a busy machine leaves documents out
        folder = tmp_path / str(seconds)
        folder.mkdir()
        output, log = run_fio(folder, seconds)
        documents = [plain(text) for text in texts_of(output)]
        if len(documents) > 3:
            break
    shown: list[dict[tuple[str, ...], Any]] = []
    (state,) = read(output, on_document=lambda state: shown.append(values(state)))
    assert len(shown) == len(documents) > 2
    assert state.outcome == "finished"
    counted = [sum(document["jobs"][0]["read"]["clat_ns"]["bins"].values()) for document in documents]
    assert counted[-1] == len(log) == values(state)["fio_ios_total", "real", "read"]
    windows = begin = 0
    for number in range(1, len(documents)):
        seconds = (documents[number]["timestamp_ms"] - documents[begin]["timestamp_ms"]) / 1000
        iops = "fio_iops", "real", "read"
        if seconds < 0.5:  # such as the final document: no window of its own, it grows into the next
            assert shown[number].get(iops) == shown[number - 1].get(iops)
            continue
        windows += 1
        latencies = [latency for _, latency in log[counted[begin] : counted[number]]]
        begin = number
        got = shown[number]
        assert got["fio_iops", "real", "read"] * seconds == pytest.approx(len(latencies), abs=1.5)
        mean = sum(latencies) / len(latencies) / 1e9
        assert got["fio_latency_average_seconds", "real", "read"] == pytest.approx(mean, rel=0.02)
        for quantile in QUANTILES:
            exact = nearest_rank(latencies, quantile) / 1e9
            found = got["fio_latency_window_seconds", "real", "read", f"{quantile:g}"]
            assert found == pytest.approx(exact, rel=TOLERANCE), f"window {number}, quantile {quantile}"
        highest = got["fio_latency_max_seconds", "real", "read"]
        assert max(latencies) / 1e9 <= highest <= max(latencies) / 1e9 * (1 + TOLERANCE)
    assert windows > 1
