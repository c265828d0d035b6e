"""A file whose last line lacks its end."""

import os
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.metrics.buckets import Buckets
from benchwatch.runs.watcher import Runs
from benchwatch.settings.settings import RunsSettings
from tests.support.places import NOW
from tests.support.timelines import read_timelines

from .recordings import PROGRESS, values

REPORT = (
    "transaction type: a.sql\nnumber of transactions actually processed: 500\n"
    "tps = 100.000000 (without initial connection time)"
)


class Live:
    """A growing file and an exporter that watches it."""

    def __init__(self, root: Path) -> None:
        self.path = root / "runs" / "a" / "db1.out"
        self.path.parent.mkdir(parents=True)
        self._runs = Runs([root / "runs"], RunsSettings(), Buckets())

    def add(self, text: str, at: float) -> None:
        with self.path.open("a") as file:
            file.write(text)
        os.utime(self.path, (NOW + at, NOW + at))

    def shown(self, at: float) -> tuple[str, float | None, float | None]:
        """Phase, transactions of the counter and of the report."""
        while self._runs.poll(NOW + at):
            pass
        (worker,) = self._runs.workers
        found = values(worker.state)  # type: ignore[arg-type]
        return worker.phase, found.get(("pgbench_transactions_total",)), found.get(("pgbench_result_tps",))


@pytest.mark.parametrize("more", ["\n", "\r\n", "\nand so on\n", "\n" + PROGRESS.format(1, 100)])
def test_it_counts_after_a_short_silence_and_once(tmp_path: Path, more: str) -> None:
    live = Live(tmp_path)
    live.add(REPORT, 0)
    assert live.shown(0.5) == ("running", 500, None)
    assert live.shown(1.0) == ("finished", 500, 100)
    live.add(more, 60)
    (timeline,) = read_timelines([live.path], now=NOW + 65.1)
    assert live.shown(65.1) == (("finished", 500, 100) if "progress" not in more else ("stalled", 89, None))
    assert timeline.state == live.shown(65.1)[0]


def test_a_line_that_goes_on_counts_as_a_whole(tmp_path: Path) -> None:
    live = Live(tmp_path)
    live.add(PROGRESS.format(1, 100) + "progress: 2.0 s, 100.0 tps, lat 1.000 ms stddev 0.500", 2)
    once = live.shown(2.5)[1]
    assert live.shown(3.0)[1] == 189
    assert once == 89
    live.add(", 7 failed\n" + REPORT, 10)
    assert live.shown(10.1) == ("running", 500, None)
    assert live.shown(11.0) == ("finished", 500, 100)
    live.add(" or so", 12)
    assert live.shown(16.0)[1:] == (500, None)


def test_all_commands_take_the_file_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    live = Live(tmp_path)
    live.add(PROGRESS.format(1, 100) + PROGRESS.format(2, 120) + REPORT, 0)
    other = tmp_path / "other.out"
    other.write_text(live.path.read_text())
    assert main(["metrics", str(live.path)]) == 0
    out = capsys.readouterr().out
    assert 'state="finished"} 1\n' in out
    assert "pgbench_result_tps{" in out
    assert main(["compare", str(live.path), str(other)]) == 0
    assert "not judged" in capsys.readouterr().out
    (timeline,) = read_timelines([live.path])
    assert timeline.state == "finished"
