import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchwatch.model.run import Report
from benchwatch.watch import sources
from benchwatch.watch.sources import WatchedExporter
from demo_processes import Processes
from tests.support.servers import Exporter
from tests.support.serving import FakeExporter, served
from tests.support.waiting import PATIENCE, eventually

from .pages import NOW, pgbench

pytestmark = pytest.mark.system


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no exporter that does not answer."""
    monkeypatch.setattr(sources, "_TIMEOUT", PATIENCE)


@pytest.fixture
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    made = Processes(tmp_path_factory.mktemp("logs"), os.environ)
    yield made
    made.stop_all()


def test_a_run_that_is_seen_first_brings_what_it_reported_before(processes: Processes, tmp_path: Path) -> None:
    begin = int(time.time()) - 60
    lines = [f"progress: {begin + n}.500 s, {n + 1}.0 tps, lat 1.000 ms stddev 0.100, 0 failed\n" for n in range(60)]
    for run in ("a", "b"):
        (tmp_path / run).mkdir()
        (tmp_path / run / "db1.err").write_text("".join(lines[:30] if run == "b" else lines))
    exporter = Exporter(processes, tmp_path)
    eventually(lambda: ("a", "db1") in WatchedExporter(exporter.url).read().past, "it is read")
    watched = WatchedExporter(exporter.url)
    past = watched.read().past
    assert list(past["a", "db1"]) == [(begin + n + 0.5, n + 1, pytest.approx(0.001)) for n in range(60)]
    watched._due = 0.0
    assert watched.read().past == past


def test_a_run_that_goes_away_between_two_requests_begins_now(monkeypatch: pytest.MonkeyPatch) -> None:
    board = FakeExporter([pgbench("db1")])
    monkeypatch.setattr(board, "run", lambda _: None)
    with served(board) as server:
        reading = WatchedExporter(server.url).read()
    assert [worker.name for worker in reading.workers] == ["db1"]
    assert reading.past == {}


def test_names_of_runs_come_through_whatever_is_in_them() -> None:
    name = 'a/b?c#%20\n"\x1b[2J\u2028é'
    with served(FakeExporter([replace(pgbench("db1"), run=name, reports=(Report(NOW, 1.0, None),))])) as server:
        reading = WatchedExporter(server.url).read()
    assert [run.name for run in reading.runs] == [name]
    assert reading.past == {(name, "db1"): (Report(NOW, 1.0, None),)}


def test_a_clock_that_differs_is_known_from_the_answer() -> None:
    with served(FakeExporter(), clock=lambda: NOW) as server:
        assert WatchedExporter(server.url, clock=lambda: NOW + 100).read().clock_ahead == 100
        assert WatchedExporter(server.url, clock=lambda: NOW + 1).read().clock_ahead == 0
