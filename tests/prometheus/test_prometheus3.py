"""prometheus-3.yml: what is in it beyond prometheus.yml, as a real Prometheus 3 does it.

That is the program which PROMETHEUS_3 names in the environment, or `prometheus` on PATH, if it is recent enough; its
promtool lies beside it.
"""

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml

from demo_processes import Processes
from tests.support.grafana import Prometheus
from tests.support.ports import free_address
from tests.support.programs import FLOOR, FOLDER, output, too_old
from tests.support.waiting import PATIENCE, eventually

CONFIG = FOLDER / "prometheus-3.yml"
BENCHWATCH = str(Path(sys.executable).parent / "benchwatch")
ADDED = ("convert_classic_histograms_to_nhcb", "always_scrape_classic_histograms")


def uncommented() -> str:
    """The configuration with its examples in force: each begins with its key, and is indented from there on."""
    return re.sub(
        r"(?m)^# (?:storage|remote_write):\n(?:#   .*\n)+",
        lambda example: re.sub(r"(?m)^# ", "", example[0]),
        CONFIG.read_text(),
    )


@pytest.fixture(scope="module")
def prometheus3() -> Path:
    program = os.environ.get("PROMETHEUS_3") or shutil.which("prometheus")
    if not program or too_old(output(program, "--version")):
        pytest.skip(f"neither PROMETHEUS_3 nor prometheus on PATH is Prometheus {FLOOR[0]}.{FLOOR[1]} or later")
    return Path(program)


@pytest.mark.parametrize(
    ("release", "old"),
    [("2.42.0+ds", True), ("3.0.1", True), ("3.7.3", True), ("3.8.0", False), ("3.15.0", False), ("", False)],
)
def test_program_is_judged_by_its_release(release: str, old: bool) -> None:
    assert too_old(f"prometheus, version {release} (branch: HEAD, revision: unknown)\n  go version: go1.26.8") is old


def test_oldest_release_is_named_where_it_is_looked_for() -> None:
    for path in (CONFIG, FOLDER.parent / "docs" / "prometheus.md"):
        assert f"Prometheus {FLOOR[0]}.{FLOOR[1]} and later" in path.read_text()


def test_everything_else_is_that_of_the_base_configuration() -> None:
    config, base = (yaml.safe_load((FOLDER / name).read_text()) for name in ("prometheus-3.yml", "prometheus.yml"))
    assert [config["global"].pop(name) for name in ADDED] == [True, True]
    assert config == base


def test_examples_are_retention_and_remote_write() -> None:
    examples = {key: value for key, value in yaml.safe_load(uncommented()).items() if f"# {key}:" in CONFIG.read_text()}
    assert examples.pop("storage") == {"tsdb": {"retention": {"time": "15d", "size": "50GB"}}}
    assert set(examples) == {"remote_write"}


def test_configuration_and_rules_are_read_without_complaint(prometheus3: Path, tmp_path: Path) -> None:
    promtool = prometheus3.with_name("promtool")
    edited = tmp_path / "prometheus.yml"
    edited.write_text(uncommented().replace('"rules/', f'"{FOLDER}/rules/'))
    rules = sorted((FOLDER / "rules").glob("*.yml"))
    for path in (CONFIG, FOLDER / "prometheus.yml", edited):
        assert "is valid" in output(promtool, "check", "config", path)
    assert output(promtool, "check", "rules", "--lint=all", "--lint-fatal", *rules).count("SUCCESS") == len(rules)


@pytest.mark.slow(10)
@pytest.mark.parametrize("path", sorted((FOLDER / "tests").glob("*.yml")), ids=lambda path: path.stem)
def test_rules_do_what_their_tests_expect(path: Path, prometheus3: Path) -> None:
    assert "SUCCESS" in output(prometheus3.with_name("promtool"), "test", "rules", path)


class Lab:
    """An exporter of a recorded transaction log, a Prometheus that scrapes it by this configuration, and its store."""

    def __init__(self, folder: Path, program: Path) -> None:
        self._folder = folder
        self._program = str(program)
        self.processes = Processes(folder, os.environ)
        self._exporter, own, store = (free_address() for _ in range(3))
        self.scraping, self.store = Prometheus(f"http://{own}"), Prometheus(f"http://{store}")

    def start(self, log: Path) -> None:
        run = self._folder / "runs" / "recorded"
        run.mkdir(parents=True)
        (run / log.name).write_text(moved_to_the_present(log.read_text()))
        serve = [BENCHWATCH, "serve", f"--web.listen-address={self._exporter}", f"--runs.path={self._folder / 'runs'}"]
        self._serve("exporter", f"http://{self._exporter}/-/ready", serve)
        self._start("store", self.store, {}, "--web.enable-remote-write-receiver")
        config = yaml.safe_load(uncommented())
        config["scrape_configs"] = [job for job in config["scrape_configs"] if job["job_name"] == "benchwatch-live"]
        config["scrape_configs"][0]["static_configs"] = [{"targets": [self._exporter]}]
        config["remote_write"][0]["url"] = f"{self.store.url}/api/v1/write"
        config["rule_files"] = [str(FOLDER / "rules/dashboards.yml")]
        del config["alerting"]
        self._start("scraping", self.scraping, config)

    def _start(self, name: str, server: Prometheus, config: Any, *options: str) -> None:
        path = self._folder / f"{name}.yml"
        path.write_text(yaml.safe_dump(config))
        listen = f"--web.listen-address={server.url.removeprefix('http://')}"
        where = [f"--config.file={path}", f"--storage.tsdb.path={self._folder / name}", listen]
        self._serve(name, f"{server.url}/-/ready", [self._program, *where, *options])

    def _serve(self, name: str, url: str, command: list[str]) -> None:
        process = self.processes.start(name, command, folder=self._folder)
        self.processes.wait_for(process, url)


def moved_to_the_present(log: str) -> str:
    """A transaction log as if its last transaction had just completed, so that its worker is on."""
    lines = [line.split() for line in log.splitlines()]
    shift = int(time.time()) - max(int(fields[4]) for fields in lines)
    return "".join(" ".join([*fields[:4], str(int(fields[4]) + shift), *fields[5:]]) + "\n" for fields in lines)


@pytest.fixture(scope="module")
def lab(prometheus3: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    made = Lab(tmp_path_factory.mktemp("lab"), prometheus3)
    try:
        made.start(Path(__file__).parents[1] / "recordings/dashboards/pgbench-rate-retries-15.18/db1.30137")
        yield made
    finally:
        made.processes.stop_all()


def value(server: Prometheus, expression: str) -> float:
    """The only value of an expression, once there is one."""
    found: list[Any] = []
    eventually(lambda: found.extend(server.instant(expression, time.time())) or found, expression)
    (one,) = found
    return float(one["value"][1])


@pytest.mark.parametrize("quantile", [0.5, 0.9, 0.99, 0.999])
def test_quantiles_of_the_native_histogram_are_those_of_the_classic_buckets(quantile: float, lab: Lab) -> None:
    native, classic = (
        value(lab.scraping, f"histogram_quantile({quantile}, pgbench_latency_seconds{suffix})")
        for suffix in ("", "_bucket")
    )
    assert native == pytest.approx(classic)
    assert value(lab.scraping, "histogram_count(pgbench_latency_seconds)") == value(
        lab.scraping, "pgbench_latency_seconds_count"
    )


def test_the_store_gets_native_histograms_by_version_2_of_remote_write(lab: Lab) -> None:
    there = value(lab.store, "histogram_quantile(0.99, pgbench_latency_seconds)")
    assert there == value(lab.scraping, "histogram_quantile(0.99, pgbench_latency_seconds)")
    with requests.Session() as session:
        session.trust_env = False
        page = session.get(f"{lab.scraping.url}/metrics", timeout=PATIENCE).text
    sent = re.findall(r"^prometheus_remote_storage_histograms_total\{.*\} (\S+)$", page, re.MULTILINE)
    assert [float(number) > 0 for number in sent] == [True]
