"""A real exporter whose clock is set while a benchmark writes."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo_processes import Processes
from tests.support.servers import Exporter
from tests.support.waiting import eventually

SETTABLE = """
import sys, time
from pathlib import Path
true_time, ahead = time.time, Path(sys.argv.pop(1))
time.time = lambda: true_time() + float(ahead.read_text())
from benchwatch.cli import main
sys.exit(main())
"""
STATE = 'benchwatch_run_state{worker="db1",state="%s"}'
TPS = 'pgbench_tps{worker="db1"}'


class Settable(Exporter):
    """An exporter with a clock that can be set."""

    def start(self) -> None:
        self.ahead = self.runs.parent / "ahead"
        self.set(0)
        command = [sys.executable, "-c", SETTABLE, str(self.ahead), "serve", "--runs.path", str(self.runs)]
        address = self.url.removeprefix("http://")
        self.process = self._processes.start("exporter", [*command, "--web.listen-address", address])
        self._processes.wait_for(self.process, f"{self.url}/-/ready")

    def set(self, ahead: float) -> None:
        beside = self.ahead.with_name("beside")
        beside.write_text(str(ahead))
        beside.replace(self.ahead)


@pytest.fixture
def settable(processes: Processes, tmp_path: Path) -> Iterator[Settable]:
    (tmp_path / "runs/a").mkdir(parents=True)
    yield Settable(processes, tmp_path / "runs")


@pytest.mark.parametrize("by", [3600, -3600])
def test_a_run_that_writes_is_never_given_up_by_a_clock_that_is_set(settable: Settable, by: int) -> None:
    written = 0

    def write_and_look() -> None:
        nonlocal written
        written += 1
        with (settable.runs / "a/db1.err").open("a") as file:
            file.write(f"progress: {10 * written}.0 s, {written}.0 tps, lat 1.000 ms stddev 0.100\n")
        eventually(shown, 60, f"{written} TPS are shown")

    def shown() -> bool:
        page = settable.page("a")
        assert page.get(STATE % "abandoned", 0) == 0
        assert not page or page[STATE % "running"] == 1
        return page.get(TPS) == written

    for ahead in (0, by, 0, 2 * by):
        settable.set(ahead)
        for _ in range(5):
            write_and_look()
