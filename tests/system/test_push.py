"""Output that is pushed shows what the same bytes in a file show, while it comes and afterwards."""

import subprocess
import time
from pathlib import Path

import pytest

from ..conftest import RECORDINGS
from .conftest import Exporter, Page, eventually


def without_times(page: Page) -> Page:
    """Leaves out what rests on when the bytes arrived, as they did not arrive together."""
    return {series: value for series, value in page.items() if "_timestamp_seconds" not in series}


@pytest.mark.parametrize("name", ["pgbench/merged-appended-15.18.log", "fio/jsonplus-si1-libaio-qd16-3.42.out"])
def test_pushed_bytes_show_what_the_same_file_shows(exporter: Exporter, name: str) -> None:
    data = (RECORDINGS / name).read_bytes()
    command = ["curl", "-sS", "-T", "-", f"{exporter.url}/ingest/pushed/db1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as curl:
        assert curl.stdin
        for start in range(0, len(data), 1 + len(data) // 7):
            curl.stdin.write(data[start : start + 1 + len(data) // 7])
            curl.stdin.flush()
            time.sleep(0.1)
        pushed = exporter.runs / "pushed" / "db1.push"
        eventually(lambda: pushed.exists() and pushed.read_bytes() == data, 10, "all of it is in the file")
        eventually(lambda: exporter.page("pushed"), 10, "it is shown while the push is still open")
        (exporter.runs / "filed").mkdir()
        Path(exporter.runs / "filed" / "db1.log").write_bytes(data)
        eventually(lambda: exporter.page("filed"), 10, "the file is shown")
        assert without_times(exporter.page("pushed")) == without_times(exporter.page("filed"))
        answer = curl.communicate()[0].decode()
    assert curl.returncode == 0
    assert str(len(data)) in answer
    assert "benchwatch_push_bytes_total " + str(len(data)) in exporter.text("live")
