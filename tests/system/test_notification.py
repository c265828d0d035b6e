"""From a slow second in a benchmark's output to a notification: exporter, Prometheus, Alertmanager, webhook.

All of them are real, with the rules and the configuration of prometheus/ but for addresses and the receiver. `pytest
-s` shows the seconds between the line and its notification, which depend on the machine and so are not judged here.
"""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from demo_processes import Processes
from tests.support.programs import FOLDER
from tests.support.servers import Exporter, start_prometheus
from tests.support.waiting import eventually
from tests.support.webhook import Receiver, start_alertmanager

pytestmark = [pytest.mark.system, pytest.mark.slow(110)]

USUAL, SLOW = 0.004, 0.120
"""Latency of a second's transactions, seconds: thirty times the usual, with next to no throughput, is critical."""
LONG = 300.0
"""Seconds for what takes a minute on a quiet machine."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


def test_a_spike_is_one_notification_and_so_is_its_end(
    processes: Processes, exporter: Exporter, receiver: Receiver, tmp_path: Path
) -> None:
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    config["rule_files"] = [f"{FOLDER}/{pattern}" for pattern in config["rule_files"]]
    jobs = [job for job in config["scrape_configs"] if job["job_name"].startswith("benchwatch-")]
    for job in jobs:
        del job["file_sd_configs"]
        job["static_configs"] = [{"targets": [exporter.url.removeprefix("http://")]}]
    config["scrape_configs"] = jobs
    alertmanager = start_alertmanager(processes, tmp_path, receiver.url)
    config["alerting"]["alertmanagers"] = [{"static_configs": [{"targets": [alertmanager]}]}]
    prometheus = start_prometheus(processes, tmp_path, config)

    done, slow = threading.Event(), threading.Event()
    written: list[float] = []

    def benchmark() -> None:
        with (tmp_path / "runs" / "tpcb.err").open("w", buffering=1) as output:
            while not done.is_set():
                now = time.time()
                latency = SLOW if slow.is_set() else USUAL
                report = f"{16 / latency:.1f} tps, lat {1e3 * latency:.3f} ms stddev 1.000, 0 failed"
                output.write(f"progress: {now:.3f} s, {report}\n")
                if slow.is_set():
                    slow.clear()
                    written.append(time.time())
                done.wait(1 - (time.time() - now))

    def again() -> None:
        """A scrape that a busy machine fails does not see the slow second."""
        if written and time.time() - written[-1] > 30:
            slow.set()

    thread = threading.Thread(target=benchmark)
    thread.start()
    try:
        for recorded in ("latency_seconds:threshold", "benchwatch_run_state:settled"):  # a threshold, past the ramp
            eventually(lambda name=recorded: prometheus.instant(f"worker:{name}", time.time()), recorded, LONG)
        slow.set()
        eventually(lambda: receiver.got or again(), "a notification", LONG)
        eventually(lambda: len(receiver.got) >= 2, "and one of the end", LONG)
        time.sleep(20)  # longer than group_interval: nothing more comes
    finally:
        done.set()
        thread.join()
    (begun, first), (ended, last) = receiver.got
    print(f"\nnotified {begun - written[-1]:.1f} s after the line, of the end {ended - written[-1]:.1f} s after it")
    assert (first["status"], last["status"]) == ("firing", "resolved")
    assert first["receiver"] == last["receiver"] == "notices"
    assert {(alert["labels"]["alertname"], alert["labels"]["severity"]) for alert in first["alerts"]} == {
        ("LatencySpike", "critical")
    }
    (alert,) = first["alerts"]
    assert not alert["annotations"].get("verdict"), "its exporter has no --prometheus.url"
    assert alert["annotations"]["dashboard_url"].startswith("http://127.0.0.1:3000/d/benchwatch-spike/?var-run=tpcb&")
    assert "grafana" not in alert["labels"]
