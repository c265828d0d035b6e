"""What a person gets: alerts as Prometheus sends them, a real Alertmanager as configured here, a webhook.

Waiting times are a fifth of the configured ones, and so are the times between the alerts.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests

from demo_processes import Processes
from tests.support.waiting import PATIENCE, eventually
from tests.support.webhook import Receiver, start_alertmanager

pytestmark = [pytest.mark.system, pytest.mark.slow(25)]
SPEED = 5
TEXT = "pgbench on db1 takes 49 ms a transaction, usually 6.1 ms. All of the increase is due to the database: a lock."


@pytest.fixture
def receivers() -> Iterator[tuple[Receiver, Receiver]]:
    made = Receiver(), Receiver()
    yield made
    for one in made:
        one.close()


class Sender:
    """Sends alerts to an Alertmanager as Prometheus does: those that fire, and the end of those that no longer do."""

    def __init__(self, address: str) -> None:
        self._url = f"http://{address}/api/v2/alerts"
        self._firing: dict[str, dict[str, Any]] = {}
        self._ended: list[dict[str, Any]] = []

    def fires(self, *alerts: dict[str, str]) -> None:
        """From now on these fire and no others."""
        now = datetime.now(UTC).isoformat()
        known = {str(sorted(labels.items())): labels for labels in alerts}
        ended = [one | {"endsAt": now} for key, one in self._firing.items() if key not in known]
        self._firing = {
            key: self._firing.get(key)
            or {
                "labels": labels,
                "startsAt": now,
                "annotations": {
                    "summary": f"{labels['run']} is slow",
                    "verdict": TEXT,
                    "dashboard_url": "http://g/d/x",
                },
            }
            for key, labels in known.items()
        }
        self._ended += ended
        self._post([*self._firing.values(), *ended])

    def again(self) -> None:
        """Sends the ends again, as Prometheus does every minute for a quarter of an hour."""
        self._post(self._ended)

    def _post(self, alerts: list[dict[str, Any]]) -> None:
        with requests.Session() as session:
            session.trust_env = False
            answer = session.post(self._url, json=alerts, timeout=PATIENCE)
            assert answer.ok, answer.text

    def for_seconds(self, seconds: float, *alerts: dict[str, str]) -> None:
        """These fire for some seconds of the true configuration."""
        self.fires(*alerts)
        time.sleep(seconds / SPEED)


def spike(run: str) -> dict[str, str]:
    labels = {"alertname": "LatencySpike", "severity": "critical", "instance": "b:1", "run": run, "worker": "db1"}
    return labels | {"tool": "pgbench"}


def slow(run: str, layer: str, since: str = "18:05:12", **more: str) -> dict[str, str]:
    labels = {"alertname": "RunSlow", "severity": "warning", "run": run, "host": "db1", "layer": layer}
    return labels | {"since": since} | more


def explained(run: str) -> dict[str, str]:
    return {"alertname": "RunExplained", "severity": "info", "run": run}


def told(receiver: Receiver) -> list[tuple[str, list[str]]]:
    """Of each message: whether it fires, and what the alerts in it that fire (or, of an end, have ended) are about."""
    found = []
    for _, message in receiver.got:
        about = [one["labels"] for one in message["alerts"] if one["status"] == message["status"]]
        found.append((message["status"], sorted(f"{one['run']} {one.get('layer', one['alertname'])}" for one in about)))
    return found


def test_a_verdict_in_time_is_the_message_and_a_changed_layer_one_more(
    processes: Processes, receivers: tuple[Receiver, Receiver], tmp_path: Path
) -> None:
    webhook, slack = receivers
    sender = Sender(start_alertmanager(processes, tmp_path, webhook.url, SPEED, slack.url))
    sender.for_seconds(2, spike("tpcb"))
    sender.for_seconds(12, spike("tpcb"), explained("tpcb"), slow("tpcb", "log_device"))
    sender.for_seconds(15, spike("tpcb"), explained("tpcb"), slow("tpcb", "oplog", corrected="yes"))
    sender.for_seconds(15, spike("tpcb"), explained("tpcb"))
    expected = [
        ("firing", ["tpcb log_device"]),
        ("firing", ["tpcb oplog"]),
        ("resolved", ["tpcb oplog"]),
    ]
    eventually(lambda: len(webhook.got) >= 3, "two messages and the end", 60)
    sender.for_seconds(20, explained("tpcb"))
    assert told(webhook) == expected
    (first, *_) = (message["attachments"][0] for _, message in slack.got)
    assert first["title"] == "tpcb is slow"
    assert TEXT in first["text"] and "http://g/d/x" in first["text"]


def test_without_a_verdict_the_spike_is_told_after_5_seconds_and_the_verdict_when_it_appears(
    processes: Processes, receivers: tuple[Receiver, Receiver], tmp_path: Path
) -> None:
    webhook, _ = receivers
    sender = Sender(start_alertmanager(processes, tmp_path, webhook.url, SPEED))
    sender.for_seconds(10, spike("tpcb"))
    sender.for_seconds(20, spike("tpcb"), explained("tpcb"), slow("tpcb", "network"))
    eventually(lambda: len(webhook.got) >= 2, "both", 60)
    assert told(webhook) == [("firing", ["tpcb LatencySpike"]), ("firing", ["tpcb network"])]


def test_the_end_of_an_earlier_slow_time_that_prometheus_sends_again_is_no_message(
    processes: Processes, receivers: tuple[Receiver, Receiver], tmp_path: Path
) -> None:
    webhook, _ = receivers
    sender = Sender(start_alertmanager(processes, tmp_path, webhook.url, SPEED))
    sender.for_seconds(10, slow("tpcb", "data_device"), explained("tpcb"))
    sender.for_seconds(20, explained("tpcb"))
    sender.for_seconds(15, slow("tpcb", "network", "18:05:42"), explained("tpcb"))
    sender.again()
    sender.for_seconds(20, slow("tpcb", "network", "18:05:42"), explained("tpcb"))
    sender.for_seconds(20, explained("tpcb"))
    eventually(lambda: len(webhook.got) >= 4, "two messages and their ends", 60)
    assert told(webhook) == [
        ("firing", ["tpcb data_device"]),
        ("resolved", ["tpcb data_device"]),
        ("firing", ["tpcb network"]),
        ("resolved", ["tpcb network"]),
    ]
