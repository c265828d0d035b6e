"""A benchmark machine whose agent sends to a receiver: vmagent with prometheus/agent.yml, VictoriaMetrics as the store.

The agent sends the same samples to two stores, of which one is stopped for a while; they must have the same in the end.
"""

import json
import time
from pathlib import Path

import pytest
import requests
import yaml
from prometheus_client.parser import text_string_to_metric_families

from demo_processes import Process, Processes
from tests.support.ports import free_address
from tests.support.programs import FOLDER, program
from tests.support.servers import Database, Exporter, start_pgbench
from tests.support.waiting import PATIENCE, eventually

CUT = 4.0
"""Seconds for which a store is down."""


Series = tuple[str, frozenset[tuple[str, str]]]
"""Its name and labels."""


class Store:
    """A VictoriaMetrics that can be stopped and started again on its data."""

    def __init__(self, processes: Processes, name: str, folder: Path) -> None:
        self.url = f"http://{free_address()}"
        self._processes, self._name, self._folder = processes, name, folder
        self.start()

    def start(self) -> None:
        address = self.url.removeprefix("http://")
        command = [program("victoria-metrics"), f"-storageDataPath={self._folder / self._name}"]
        command += [f"-httpListenAddr={address}", "-retentionPeriod=100y"]
        self._process = self._processes.start(self._name, command)
        self._processes.wait_for(self._process, f"{self.url}/health")

    def stop(self) -> None:
        self._process.popen.terminate()
        self._process.popen.wait(PATIENCE)

    def samples(self, run: str) -> dict[Series, dict[int, float]]:
        """Values by time in milliseconds, by series, of everything that is stored of a run."""
        requests.get(f"{self.url}/internal/force_flush", timeout=PATIENCE).raise_for_status()
        answer = requests.get(f"{self.url}/api/v1/export", params={"match[]": f'{{run="{run}"}}'}, timeout=PATIENCE)
        found = {}
        for line in answer.text.splitlines():
            one = json.loads(line)
            labels = one["metric"]
            assert labels.pop("job").startswith("benchwatch")
            assert labels.pop("instance") == "db07:19777"
            series = labels.pop("__name__"), frozenset(labels.items())
            found[series] = dict(zip(one["timestamps"], one["values"], strict=True))
        return found

    def latest(self, run: str) -> dict[Series, float]:
        """The last value of each series."""
        return {series: samples[max(samples)] for series, samples in self.samples(run).items()}


def start_agent(processes: Processes, folder: Path, exporter: Exporter, *stores: Store) -> Process:
    """The agent of compose.agent.yaml, for the exporter alone."""
    config = yaml.safe_load((FOLDER / "agent.yml").read_text().replace("%{AGENT_HOST}", "db07"))
    jobs = [job for job in config["scrape_configs"] if job["job_name"].startswith("benchwatch")]
    for job in jobs:
        job["static_configs"] = [{"targets": [exporter.url.removeprefix("http://")]}]
    path, address = folder / "agent.yml", free_address()
    path.write_text(yaml.safe_dump(config | {"scrape_configs": jobs}))
    where = [f"-promscrape.config={path}", f"-httpListenAddr={address}", f"-remoteWrite.tmpDataPath={folder / 'queue'}"]
    urls = [f"-remoteWrite.url={store.url}/api/v1/write" for store in stores]
    agent = processes.start("vmagent", [program("vmagent"), *where, "-remoteWrite.flushInterval=200ms", *urls])
    processes.wait_for(agent, f"http://{address}/health")
    return agent


@pytest.mark.slow(20)
def test_a_receiver_that_was_away_has_every_sample_and_the_histograms_are_whole(
    exporter: Exporter, processes: Processes, server: Database, tmp_path: Path
) -> None:
    steady, away = (Store(processes, name, tmp_path) for name in ("steady", "away"))
    agent = start_agent(processes, tmp_path, exporter, steady, away)
    start_pgbench(processes, server, exporter.runs / "a", 10, "--progress-timestamp", "-l")
    eventually(lambda: "pgbench_tps" in {name for name, _ in away.samples("a")}, "the receiver has the run")
    began = time.time()
    away.stop()
    time.sleep(CUT)
    away.start()
    ended = time.time()
    finished = 'benchwatch_run_state{worker="db1",state="finished"}'
    eventually(lambda: exporter.page("a").get(finished) == 1, "the run has finished")
    buckets = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(exporter.text("live"))
        for sample in family.samples
        if sample.name == "pgbench_latency_seconds_bucket"
    }
    assert len(buckets) > 10
    eventually(lambda: buckets.items() <= away.latest("a").items(), "the receiver has all buckets as they are")
    agent.popen.terminate()  # sends the rest
    agent.popen.wait(PATIENCE)
    there, here = steady.samples("a"), away.samples("a")
    assert there == here
    moments = {moment for (name, _), samples in here.items() if name == "pgbench_tps" for moment in samples}
    assert any(1e3 * began < moment < 1e3 * ended for moment in moments), "samples of the time when it was away"
