"""alertmanager.yml as Alertmanager's own programs understand it: who is told of what, and what is kept silent."""

import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
import requests
import yaml

from tests.support.ports import free_address
from tests.support.programs import FOLDER, output, program
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.system

CONFIG = FOLDER / "alertmanager.yml"
OWN = {"run", "host", "vm", "cvm"}
SETTLED = 0.5
"""Seconds after which it has inhibited what it will: it lists an alert before that silences others."""


def routed(**labels: str) -> str:
    pairs = [f"{name}={value}" for name, value in labels.items()]
    said = output(program("amtool"), "config", "routes", "test", f"--config.file={CONFIG}", *pairs)
    return said.splitlines()[-1].strip()


def test_configuration_is_read_without_complaint() -> None:
    assert "SUCCESS" in output(program("amtool"), "check-config", CONFIG)


def test_examples_of_receivers_are_read_without_complaint(tmp_path: Path) -> None:
    text = CONFIG.read_text()
    start, end = text.index("    # webhook_configs:"), text.index("  - name: graphs")
    edited = tmp_path / "alertmanager.yml"
    edited.write_text(text[:start] + re.sub(r"(?m)^    # ", "    ", text[start:end]) + text[end:])
    receiver = yaml.safe_load(edited.read_text())["receivers"][0]
    assert set(receiver) == {"name", "webhook_configs", "email_configs", "slack_configs"}
    assert all(one["send_resolved"] for name in receiver if name != "name" for one in receiver[name])
    assert "SUCCESS" in output(program("amtool"), "check-config", edited)


def test_one_receiver_hears_of_all_that_is_wrong_and_none_of_a_changed_load() -> None:
    assert routed(alertname="RunFailed", severity="critical", run="tpcb") == "notices"
    assert routed(alertname="LatencySpike", severity="warning", run="tpcb") == "notices"
    assert routed(alertname="VdiskRandomnessFlipped", severity="info") == "graphs"
    assert routed(alertname="SomebodyElses") == "notices"


def test_nobody_is_notified_without_editing_and_a_run_is_one_notification() -> None:
    config = yaml.safe_load(CONFIG.read_text())
    assert [set(receiver) for receiver in config["receivers"]] == [{"name"}] * 2
    assert config["route"]["group_by"] == ["run"]
    (slow,) = (route for route in config["route"]["routes"] if "group_by" in route)
    assert slow["matchers"] == ["alertname = RunSlow"]
    assert slow["group_by"] == ["run", "since"], "a slow time is a message of its own"


class Alertmanager:
    """A running Alertmanager."""

    def __init__(self, address: str) -> None:
        self._url = f"http://{address}"
        self._session = requests.Session()
        self._session.trust_env = False

    def answers(self) -> bool:
        try:
            return self._session.get(f"{self._url}/-/ready", timeout=PATIENCE).ok
        except requests.RequestException:
            return False

    def tell(self, instance: str, alerts: Mapping[str, Mapping[str, str]]) -> None:
        """Tells it of alerts of one exporter, by a key each; runs, machines and CVMs are the exporter's own."""
        told = [
            {
                "labels": {"instance": instance, "key": key}
                | {name: f"{value} of {instance}" if name in OWN else value for name, value in labels.items()}
            }
            for key, labels in alerts.items()
        ]
        self.post(told)

    def post(self, alerts: Sequence[Mapping[str, Mapping[str, str]]]) -> None:
        """Tells it of alerts as they are."""
        posted = self._session.post(f"{self._url}/api/v2/alerts", json=alerts, timeout=PATIENCE)
        assert posted.ok, posted.text

    def inhibited(self, instance: str) -> dict[str, bool]:
        """Whether each alert of an exporter that it lists is inhibited, by its key."""
        alerts = self._session.get(f"{self._url}/api/v2/alerts", timeout=PATIENCE).json()
        ours = [alert for alert in alerts if alert["labels"].get("instance") == instance]
        return {alert["labels"]["key"]: bool(alert["status"]["inhibitedBy"]) for alert in ours}

    def settles_at(self, instance: str, expected: Mapping[str, bool]) -> bool:
        """Whether it comes to inhibit these alerts of an exporter and no others, and stays there."""
        deadline = time.monotonic() + PATIENCE
        while self.inhibited(instance) != expected and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(SETTLED)
        return self.inhibited(instance) == expected


@pytest.fixture(scope="module")
def alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alertmanager]:
    folder = tmp_path_factory.mktemp("alertmanager")
    address = free_address()
    command = [
        program("prometheus-alertmanager", "alertmanager"),
        f"--config.file={CONFIG}",
        f"--storage.path={folder / 'data'}",
        f"--web.listen-address={address}",
        "--cluster.listen-address=",
    ]
    log = folder / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdout=errors, stderr=errors)
    try:
        running = Alertmanager(address)
        deadline = time.monotonic() + PATIENCE
        while not running.answers():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield running
    finally:
        process.terminate()
        process.wait(PATIENCE)


DB1 = {"run": "tpcb", "worker": "db1"}
DB2 = {"run": "tpcb", "worker": "db2"}
FIO = {"run": "mixed", "worker": "fio"}
FSYNC = {**FIO, "job": "log", "op": "sync"}
READS = {**FIO, "job": "db", "op": "read"}
CVM1 = {"cvm": "cvm1", "vdisk": "45269"}
CVM2 = {"cvm": "cvm2", "vdisk": "45269"}
WARNING = {"severity": "warning"}
CRITICAL = {"severity": "critical"}


def alert(name: str, *labels: Mapping[str, str]) -> dict[str, str]:
    merged = {"alertname": name}
    for some in labels:
        merged |= some
    return merged


@pytest.mark.parametrize(
    ("told", "silent"),
    [
        pytest.param(
            {
                "critical": alert("LatencySpike", DB1, CRITICAL),
                "warning": alert("LatencySpike", DB1, WARNING),
                "objective": alert("LatencyObjectiveMissed", DB1, WARNING),
                "collapse": alert("ThroughputCollapse", DB1, WARNING),
                "another worker": alert("LatencySpike", DB2, WARNING),
            },
            {"warning", "objective", "collapse"},
            id="a critical spike, the lesser of the same worker",
        ),
        pytest.param(
            {
                "zero": alert("ThroughputZero", DB1, CRITICAL),
                "collapse": alert("ThroughputCollapse", DB1, WARNING),
                "spike": alert("LatencySpike", DB1, CRITICAL),
                "another worker": alert("ThroughputCollapse", DB2, WARNING),
            },
            {"collapse", "spike"},
            id="no throughput, less throughput",
        ),
        pytest.param(
            {
                "zero": alert("ThroughputZero", FSYNC, CRITICAL),
                "collapse": alert("ThroughputCollapse", FSYNC, WARNING),
                "spike of another job": alert("LatencySpike", READS, CRITICAL),
                "objective of that job": alert("LatencyObjectiveMissed", READS, WARNING),
                "other direction of that job": alert("LatencySpike", READS, {"op": "write"}, WARNING),
            },
            {"collapse", "objective of that job"},
            id="one job of fio, nothing of another",
        ),
        pytest.param(
            {
                "stalled": alert("RunStalled", FIO, CRITICAL),
                "spike": alert("LatencySpike", READS, CRITICAL),
            },
            {"spike"},
            id="a stalled fio, all of its jobs",
        ),
        pytest.param(
            {
                "stalled": alert("RunStalled", DB1, CRITICAL),
                "zero": alert("ThroughputZero", DB1, CRITICAL),
                "collapse": alert("ThroughputCollapse", DB1, WARNING),
                "log": alert("LogWriteStall", {"run": "tpcb", "host": "pg1"}, CRITICAL),
                "vdisk": alert("VdiskLatencySpike", {"run": "tpcb", "host": "pg1"}, CVM1, WARNING),
                "moved": alert("VdiskMoved", {"run": "tpcb", "host": "pg1"}, CVM1, WARNING),
                "of another run": alert("LogWriteStall", {"run": "other", "host": "pg2"}, CRITICAL),
            },
            {"zero", "collapse", "log", "vdisk"},
            id="a stalled run, its throughput and its layers, whose verdict it has",
        ),
        pytest.param(
            {
                "why": alert("RunSlow", {"run": "tpcb", "host": "pg1", "layer": "oplog"}, WARNING),
                "explained": alert("RunExplained", {"run": "tpcb"}, {"severity": "info"}),
                "spike": alert("LatencySpike", DB1, CRITICAL),
                "stalled": alert("RunStalled", DB1, CRITICAL),
                "vdisk": alert("VdiskLatencySpike", {"run": "tpcb", "host": "pg1"}, CVM1, WARNING),
                "failed": alert("RunFailed", DB2, CRITICAL),
                "of another run": alert("LatencySpike", FIO, CRITICAL),
            },
            {"spike", "stalled", "vdisk"},
            id="why a run is slow, that it is",
        ),
        pytest.param(
            {
                "first": alert("RunSlow", {"run": "tpcb", "since": "18:05:12", "layer": "log_device"}, WARNING),
                "now": alert("RunSlow", {"run": "tpcb", "since": "18:05:12", "layer": "oplog", "corrected": "yes"}),
                "of another time": alert("RunSlow", {"run": "tpcb", "since": "18:09:12", "layer": "network"}, WARNING),
            },
            {"first"},
            id="a corrected layer, the first one",
        ),
        pytest.param(
            {
                "queue": alert("CvmQueueGrowing", {"cvm": "cvm1", "run": "tpcb"}, WARNING),
                "vdisk": alert("VdiskLatencySpike", {"run": "tpcb", "host": "pg1"}, CVM1, WARNING),
                "device": alert("DiskAwaitHigh", {"run": "tpcb", "host": "pg1", "device": "sdb"}, WARNING),
                "device of another": alert("DiskAwaitHigh", {"run": "tpcb", "host": "pg2", "device": "sdb"}, WARNING),
            },
            {"vdisk", "device"},
            id="a layer, those above",
        ),
        pytest.param(
            {
                "moved": alert("VdiskMoved", CVM1, {"vm": "pg1"}, WARNING),
                "remote": alert("VdiskReadsRemote", CVM1, {"vm": "pg1"}, WARNING),
                "hdd": alert("VdiskReadsFromHdd", CVM1, {"vm": "pg1"}, WARNING),
            },
            {"remote"},
            id="a vdisk that has moved, its remote reads",
        ),
        pytest.param(
            {
                "failed": alert("RunFailed", DB1, CRITICAL),
                "stalled": alert("RunStalled", DB1, CRITICAL),
                "zero": alert("ThroughputZero", DB1, CRITICAL),
                "errors": alert("StreamErrors", DB1, WARNING),
                "another worker": alert("RunStalled", DB2, CRITICAL),
            },
            {"stalled", "zero", "errors"},
            id="a failed run, what led there",
        ),
        pytest.param(
            {
                "silent": alert("CvmNotAnswering", {"cvm": "cvm1"}, WARNING),
                "spike": alert("VdiskLatencySpike", CVM1, CRITICAL),
                "queue": alert("CvmQueueGrowing", {"cvm": "cvm1"}, WARNING),
                "another": alert("VdiskLatencySpike", CVM2, WARNING),
            },
            {"spike", "queue"},
            id="a silent CVM, what it said last",
        ),
        pytest.param(
            {
                "critical": alert("VdiskLatencySpike", CVM1, CRITICAL),
                "warning": alert("VdiskLatencySpike", CVM1, WARNING),
                "objective": alert("VdiskLatencyObjectiveMissed", CVM1, WARNING),
                "another": alert("VdiskLatencySpike", CVM2, WARNING),
            },
            {"warning", "objective"},
            id="a critical spike of a vdisk, the lesser of the same vdisk",
        ),
        pytest.param(
            {
                "down": alert("ExporterDown", CRITICAL),
                "stalled": alert("RunStalled", DB1, CRITICAL),
                "cvm": alert("CvmNotAnswering", {"cvm": "cvm1"}, WARNING),
                "slow": alert("ScrapeSlow", {"job": "benchwatch-live"}, WARNING),
                "node": alert("ScrapeSlow", {"job": "node"}, WARNING),
            },
            {"stalled", "cvm", "slow"},
            id="no exporter, all that it would know",
        ),
    ],
)
def test_greater_alert_silences_the_lesser(
    alertmanager: Alertmanager, request: pytest.FixtureRequest, told: dict[str, dict[str, str]], silent: set[str]
) -> None:
    instance = request.node.callspec.id
    alertmanager.tell(instance, told)
    assert alertmanager.settles_at(instance, {key: key in silent for key in told}), alertmanager.inhibited(instance)


def test_exporter_that_is_down_silences_nothing_of_another(alertmanager: Alertmanager) -> None:
    alertmanager.tell("b:1", {"down": alert("ExporterDown", CRITICAL), "stalled": alert("RunStalled", DB1, CRITICAL)})
    alertmanager.tell("b:2", {"stalled": alert("RunStalled", DB1, CRITICAL)})
    assert alertmanager.settles_at("b:1", {"down": False, "stalled": True})
    assert alertmanager.settles_at("b:2", {"stalled": False})


def test_a_machine_that_does_not_answer_silences_its_exporter(alertmanager: Alertmanager) -> None:
    server = {"alertname": "RunSlow", "run": "tpcb", "host": "db9", "layer": "server", "instance": "", "key": "why"}
    down = {"alertname": "ExporterDown", "key": "its exporter", "instance": "db9:19777", "host": "db9"}
    other = {"alertname": "ExporterDown", "key": "another", "instance": "db9:19777", "host": "db8"}
    alertmanager.post([{"labels": server}, {"labels": down}, {"labels": other}])
    assert alertmanager.settles_at("db9:19777", {"its exporter": True, "another": False})


def test_every_alert_named_in_the_configuration_exists() -> None:
    rules = [yaml.safe_load(path.read_text()) for path in (FOLDER / "rules").glob("*.yml")]
    names = {rule["alert"] for file in rules for group in file["groups"] for rule in group["rules"] if "alert" in rule}
    for inhibition in yaml.safe_load(CONFIG.read_text())["inhibit_rules"]:
        for matcher in inhibition["source_matchers"] + inhibition["target_matchers"]:
            found = re.fullmatch(r'alertname (?:=|=~|!~) "?([^"]+)"?', matcher)
            for pattern in found[1].split("|") if found else []:
                assert any(re.fullmatch(pattern, name) for name in names), matcher
