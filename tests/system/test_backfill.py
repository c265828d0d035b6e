"""Runs that are backfilled look as they did live, in a real Prometheus, and the dashboards find them."""

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from benchwatch.cli import main
from demo_processes import Processes
from tests.support.grafana import DASHBOARDS, Json, Prometheus, View, load, targets
from tests.support.places import RECORDINGS
from tests.support.servers import Database, Exporter, start_pgbench, start_prometheus
from tests.support.waiting import eventually

CONFIG = Path(__file__).parents[2] / "prometheus/prometheus.yml"
SECONDS = 10
Labels = frozenset[tuple[str, str]]
Points = Sequence[tuple[float, float]]


def scraping(address: str) -> Json:
    """The product's configuration for the exporter at an address."""
    config: Json = yaml.safe_load(CONFIG.read_text())
    jobs = [job for job in config["scrape_configs"] if job["job_name"] in ("benchwatch-live", "benchwatch-runs")]
    assert len(jobs) == 2
    for job in jobs:
        job["static_configs"] = [{"targets": [address]}]
    return {"global": {"scrape_interval": "1s"}, "scrape_configs": jobs}


def points(prometheus: Prometheus, selector: str) -> dict[Labels, Points]:
    """All samples of the last ten minutes, by labels."""
    found = prometheus.instant(f"{selector}[10m]", time.time() + 60)
    return {
        frozenset(one["metric"].items()): [(float(moment), float(value)) for moment, value in one["values"]]
        for one in found
    }


def without_repetitions(values: Points) -> list[float]:
    return [value for at, (_, value) in enumerate(values) if not at or values[at - 1][1] != value]


def is_part(some: Sequence[float], whole: Sequence[float]) -> bool:
    """Whether `some` are in `whole` in that order, perhaps with others between them."""
    rest = iter(whole)
    return all(value in rest for value in some)


class Both:
    """The same runs in two Prometheuses: scraped while they were on, and backfilled."""

    def __init__(self, live: Prometheus, backfilled: Prometheus) -> None:
        self.live = live
        self.backfilled = backfilled

    def series(self, selector: str) -> Iterator[tuple[Points, Points]]:
        """The samples of each series in the one and in the other."""
        live, backfilled = (points(prometheus, selector) for prometheus in (self.live, self.backfilled))
        assert live
        assert live.keys() == backfilled.keys()
        return ((live[labels], backfilled[labels]) for labels in live)

    def answers(self, query: str) -> tuple[Mapping[Labels, str], Mapping[Labels, str]]:
        """What a query gives in the one and in the other, by labels."""
        first, second = (
            {frozenset(one["metric"].items()): one["value"][1] for one in prometheus.instant(query, time.time() + 60)}
            for prometheus in (self.live, self.backfilled)
        )
        return first, second


@pytest.mark.slow(15)
def test_backfilled_series_are_those_that_were_scraped(
    exporter: Exporter, processes: Processes, server: Database, tmp_path: Path
) -> None:
    address = exporter.url.removeprefix("http://")
    (tmp_path / "live").mkdir()
    live = start_prometheus(processes, tmp_path / "live", scraping(address), name="live")
    start_pgbench(processes, server, exporter.runs / "p", SECONDS, "--progress-timestamp", "-l", "--log-prefix=db1")
    (exporter.runs / "f").mkdir()
    job = ["--name=job", "--rw=randrw", "--size=4m", "--ioengine=psync", "--thinktime=50000", "--filename=data"]
    reports = ["--output-format=json+", "--status-interval=1", "--eta=never"]
    output = exporter.runs / "f/disk1.out"
    processes.start(
        "fio", ["fio", *job, "--time_based", f"--runtime={SECONDS}", *reports], folder=tmp_path, output=output
    )
    finished = 'benchwatch_run_state{state="finished"} == 1'
    eventually(lambda: len(live.instant(finished, time.time())) == 2, "both runs have finished")
    eventually(lambda: live.instant("pgbench_result_tps and on () fio_result_iops", time.time()), "results came")

    (tmp_path / "past/data").mkdir(parents=True)
    into = ["--into", str(tmp_path / "past/data"), "--instance", address]
    assert main(["backfill", str(exporter.runs), *into]) == 0
    both = Both(live, start_prometheus(processes, tmp_path / "past", {}, name="past"))

    # Gauges of pgbench: the same course, whatever the moments of the scrapes.
    reports = (exporter.runs / "p/db1.err").read_text().count("progress: ")  # a busy machine leaves some out
    assert reports > SECONDS / 2
    for name in ("pgbench_tps", "pgbench_latency_average_seconds", "pgbench_latency_window_seconds"):
        for scraped, backfilled in both.series(name):
            seen, reported = without_repetitions(scraped), without_repetitions(backfilled)
            assert len(reported) >= reports - 3
            assert len(seen) >= 3  # a busy machine misses scrapes
            assert is_part(seen, reported), name

    # Of fio all that a scrape saw is of one document, which its time tells.
    ((documents, _),) = both.series('benchwatch_run_last_report_timestamp_seconds{run="f"}')
    document = dict(documents)
    compared = 0
    for scraped, backfilled in both.series('{__name__=~"fio_(iops|bandwidth|latency|ios|bytes|completion).*",run="f"}'):
        known = dict(backfilled)
        for moment, value in scraped:
            if moment in document:  # it is still scraped
                assert known[round(document[moment], 3)] == value
                compared += 1
    assert compared > 100 * len(document)  # scrapes, of which a busy machine misses some

    # What each counted until its end, and the quantiles of that.
    for query in (
        'last_over_time({__name__=~"(pgbench|fio)_.*_total"}[10m])',
        'last_over_time({__name__=~"(pgbench|fio_completion)_latency_seconds_.*"}[10m])',
        "histogram_quantile(0.99, last_over_time(pgbench_latency_seconds_bucket[10m]))",
        'last_over_time({__name__=~"(pgbench|fio)_result_.*"}[10m])',
        "last_over_time(benchwatch_run_parameter[10m])",
        'last_over_time(benchwatch_run_state{state="finished"}[10m])',
    ):
        scraped_answer, backfilled_answer = both.answers(query)
        assert scraped_answer
        assert scraped_answer == backfilled_answer, query

    # When pgbench began is told by several things, of which the arrival of its output is known live only.
    for scraped, backfilled in both.series("benchwatch_run_start_timestamp_seconds"):
        assert backfilled[-1][1] == pytest.approx(scraped[-1][1], abs=SECONDS / 4)


@pytest.fixture
def compared(processes: Processes, tmp_path: Path) -> View:
    """A Prometheus with two runs of the past, and the time in which they were."""
    recorded = RECORDINGS / "dashboards/pgbench-rate-retries-15.18"
    for run, clients in (("base", 2), ("other", 4)):
        folder = tmp_path / "runs" / run
        folder.mkdir(parents=True)
        for source, target in (("stderr", "db1.err"), ("stdout", "db1.out"), ("db1.30137", "db1.30137")):
            shutil.copy(recorded / source, folder / target)
        shutil.copy(RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.33.out", folder / "disk1.out")
        (folder / "run.yaml").write_text(f"parameters: {{clients_wanted: {clients}}}\n")
    (tmp_path / "data").mkdir()
    assert main(["backfill", str(tmp_path / "runs"), "--into", str(tmp_path / "data")]) == 0
    prometheus = start_prometheus(processes, tmp_path, {}, name="past")
    end = 1_795_177_651.243
    return View(prometheus, end - 21, end + 30)


def test_the_dashboard_that_compares_runs_finds_backfilled_ones(compared: View) -> None:
    dashboard = load(DASHBOARDS / "json/compare.json")
    values = compared.values(dashboard, {"run": "other", "baseline": "base"})
    empty = [
        target.panel
        for target in targets(dashboard)
        if not target.panel.startswith("annotation") and not compared.ask(target, values)
    ]
    assert empty == ["Results, as multiples of the baseline's"] * 3, "no bandwidth, no bits; fio ran at another time"
    asked = {target.panel: target for target in reversed(list(targets(dashboard)))}
    ratios = compared.ask(asked["Results, as multiples of the baseline's"], values)
    found = {(one["metric"]["run"], one["metric"]["what"]): one["value"][1] for one in ratios}
    assert found == {(run, "pgbench TPS"): "1" for run in ("base", "other")}
    differing = compared.ask(asked["Parameters that differ"], values)
    assert {(one["metric"]["run"], one["metric"]["name"], one["metric"]["value"]) for one in differing} == {
        ("base", "clients_wanted", "2"),
        ("other", "clients_wanted", "4"),
    }
    _, base, other = (target for target in targets(dashboard) if target.panel == "Throughput over elapsed time")
    courses = [compared.ask(target, values)[0]["values"] for target in (base, other)]
    assert courses[0] == courses[1]
    assert 43.0 in {float(value) for _, value in courses[0]}, "the first report"
