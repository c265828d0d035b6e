"""The exporter as a whole: what one run holds never takes the others off the page."""

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.samples import PARTS, Family, Sample
from benchwatch.model.run import Worker
from benchwatch.nutanix.cvm_snapshot import Status
from benchwatch.runs.watcher import Runs
from benchwatch.server.exporter import Exporter
from benchwatch.server.landing import landing_page
from benchwatch.settings.settings import RunsSettings
from tests.support.places import NOW, RECORDINGS, Place

FIO = RECORDINGS / "fio"
PGBENCH = RECORDINGS / "pgbench"
EVERYTHING = frozenset(PARTS)


def exporter(root: Path, **settings: object) -> Exporter:
    runs = Runs([root / "runs"], RunsSettings(**settings), Buckets())
    while runs.poll(NOW):
        pass
    return Exporter(runs)


def workers(board: Exporter) -> list[Worker]:
    return [worker for run in board.runs() for worker in run.workers]


def numbers(page: str) -> dict[str, float]:
    lines = (line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    return {series: float(number) for series, number in lines}


def broken_figures(_state: object) -> None:
    raise OverflowError("Python int too large to convert to C long")


def broken_samples(_state: object, _current: bool) -> Iterator[Sample]:
    yield Sample(Family("fio_half", "gauge", "Half of it."), (), 1)
    raise OverflowError("Python int too large to convert to C long")


def test_a_bin_count_that_no_fio_can_print_leaves_the_other_runs_alone(tmp_path: Path, place: Place) -> None:
    document = (FIO / "client-2hosts-jsonplus-si1-3.33.out").read_text()
    spoilt, changed = re.subn(r'("bins" : \{\s*"\d+" : )\d+', rf"\g<1>{2**63 - 1}", document)
    assert changed
    place("bad/w.out", spoilt.encode())
    place("good/db1.err", PGBENCH / "tpcb-15.18.err")
    shown = exporter(tmp_path)
    assert numbers(shown.render(EVERYTHING))['pgbench_transactions_total{run="good",worker="db1"}'] > 0
    assert {view.run for view in workers(shown)} >= {"good"}


def test_a_worker_that_cannot_be_rendered_loses_its_own_samples_and_is_counted_and_named(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place("bad/w.out", FIO / "client-2hosts-jsonplus-si1-3.33.out")
    place("good/db1.err", PGBENCH / "tpcb-15.18.err")
    shown = exporter(tmp_path)
    whole = numbers(shown.render(EVERYTHING))
    assert whole['benchwatch_render_errors_total{of="samples"}'] == 0
    assert whole['benchwatch_render_errors_total{of="view"}'] == 0

    shown = exporter(tmp_path)
    monkeypatch.setattr("benchwatch.tools.fio.state.FioState.samples", broken_samples)
    monkeypatch.setattr("benchwatch.tools.fio.state.FioState.figures", broken_figures)
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            found = numbers(shown.render(EVERYTHING))
            views = {view.run: view for view in workers(shown)}
    lost = {series for series in whole if 'run="bad"' in series}
    assert lost
    assert found.keys() == whole.keys() - lost
    assert found['benchwatch_render_errors_total{of="samples"}'] == 1
    assert views["good"].reason == ""
    assert (views["bad"].name, views["bad"].throughput, views["bad"].reports) == ("w", None, ())
    assert views["bad"].reason == (
        "cannot show its figures: OverflowError; see the log; "
        "its samples are left out of /metrics: OverflowError; the log says more"
    )
    said = [record.message for record in caplog.records]
    assert len(said) == 2
    assert 'run="bad", worker="w"' in said[0] and "samples" in said[0]
    assert 'run="bad", worker="w"' in said[1] and "view" in said[1]


def test_a_worker_whose_samples_alone_fail_is_named_on_the_landing_page(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place("bad/w.out", FIO / "client-2hosts-jsonplus-si1-3.33.out")
    monkeypatch.setattr("benchwatch.tools.fio.state.FioState.samples", broken_samples)
    shown = exporter(tmp_path)
    shown.render(EVERYTHING)
    (view,) = workers(shown)
    assert view.reason == (
        "cannot show its figures: OverflowError; see the log; "
        "its samples are left out of /metrics: OverflowError; the log says more"
    )


class Cvm:
    """A poller; that with the name "bad" has a bug."""

    version = 0

    def __init__(self, name: str) -> None:
        self.name = name
        self.url = f"http://{name}:2009"
        self.labels = (("cvm", name),)

    def samples(self) -> Iterator[Sample]:
        if self.name == "bad":
            raise ZeroDivisionError
        yield Sample(Family("nutanix_x", "gauge", "X.", part="nutanix"), (), 1)

    @property
    def status(self) -> Status:
        if self.name == "bad":
            raise ZeroDivisionError
        return Status(up=True)


def test_a_cvm_that_cannot_be_shown_is_named_in_its_row_and_the_others_are_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    runs = Runs([], RunsSettings(), Buckets())
    shown = Exporter(runs, [Cvm("bad"), Cvm("good")])  # type: ignore[list-item]
    found = numbers(shown.render(EVERYTHING))
    assert found['nutanix_x{cvm="good"}'] == 1
    bad, good = shown.cvms()
    assert (bad.name, bad.up, bad.error) == ("bad", None, "cannot show it: ZeroDivisionError; see the log")
    assert (good.name, good.up, good.error) == ("good", True, "")
    assert numbers(shown.render(EVERYTHING))['benchwatch_render_errors_total{of="view"}'] == 1
    assert [record.message.count('cvm="bad"') for record in caplog.records] == [1, 1]


def test_a_folder_of_runs_that_is_not_there_is_named_on_the_page_until_it_appears(tmp_path: Path, place: Place) -> None:
    runs = Runs([tmp_path / "runs"], RunsSettings(), Buckets(1))
    shown = Exporter(runs)
    runs.poll(NOW)
    sentence = f"The folder of runs {tmp_path}/runs cannot be read: No such file or directory. Create it or"
    assert sentence in landing_page(shown, now=NOW, url="http://bench.example")
    place("a/db1.err", RECORDINGS / "pgbench" / "tpcb-15.18.err")
    while runs.poll(NOW):
        continue
    page = landing_page(shown, now=NOW, url="http://bench.example")
    assert "cannot be read" not in page
    assert {view.run for view in workers(shown)} == {"a"}
