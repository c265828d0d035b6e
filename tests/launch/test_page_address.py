"""The address that `benchwatch run` prints is that of an exporter that shows the run."""

from pathlib import Path

from benchwatch.launch.browser import page_of
from benchwatch.metrics.buckets import Buckets
from benchwatch.runs.watcher import Runs
from benchwatch.server.exporter import Exporter
from benchwatch.settings.settings import RunsSettings
from tests.support.places import NOW
from tests.support.ports import free_address
from tests.support.serving import served


def test_the_page_is_on_the_exporter_that_shows_the_folder_of_the_run(tmp_path: Path) -> None:
    for folder, run in (("here", "earlier"), ("elsewhere", "other")):
        (tmp_path / folder / run).mkdir(parents=True)
        (tmp_path / folder / run / "db1.err").write_text("progress: 1.0 s, 10.0 tps, lat 1.000 ms stddev 0.1\n")
    for folder, expected in (("here", "/runs/a%20b"), ("elsewhere", "")):
        runs = Runs([tmp_path / folder], RunsSettings(), Buckets())
        while runs.poll(NOW):
            pass
        with served(Exporter(runs)) as server:
            address = server.url.removeprefix("http://")
            found = page_of("a b", tmp_path / "here", exporter=address)
        assert found == (f"http://{address}{expected}" if expected else "")


def test_an_exporter_without_runs_may_show_this_one(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    runs = Runs([tmp_path / "runs"], RunsSettings(), Buckets())
    with served(Exporter(runs)) as server:
        address = server.url.removeprefix("http://")
        assert page_of("a", tmp_path / "runs", exporter=address) == f"http://{address}/runs/a"


def test_without_an_exporter_there_is_no_page_and_with_push_it_is_there(tmp_path: Path) -> None:
    assert page_of("a", tmp_path, exporter=free_address()) == ""
    assert page_of("a", tmp_path, "http://user:secret@bench:19777") == "http://bench:19777/runs/a"
