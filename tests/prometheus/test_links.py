"""Where the link of an alert leads: to its own moment, run, machine and vdisk, whatever else fires there."""

import re
import subprocess
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from tests.support.programs import GROUPS, RULE_FILES, program, series

pytestmark = pytest.mark.slow(3)

SECONDS = 240
SPIKE, STALL = 200, 210
"""When the later alert of each case begins."""
NAME = "tpc b & c#1 ü+%"


def _steady(name: str, value: float, **labels: str) -> dict[str, str]:
    return series(name, f"{value}x{SECONDS + 60}", **labels)


def _worker() -> list[dict[str, str]]:
    """A run of fio that always misses its objective, and in which a second takes thirty times as long."""
    who = {"instance": "b:1", "run": NAME, "worker": "w"}
    slow = f"0.002x{SPIKE - 1} 0.06 0.002x{SECONDS}"
    return [
        _steady("benchwatch_run_state", 1, **who, state="running"),
        _steady("benchwatch_run_start_timestamp_seconds", 0, **who),
        _steady("benchwatch_run_host_info", 1, **who, host="h 1", role="server"),
        _steady("fio_iops", 1000, **who, job="j", op="write"),
        series("fio_latency_average_seconds", slow, **who, job="j", op="write"),
    ]


def _disks() -> list[dict[str, str]]:
    """Reads of the data device are slow from the start; later a burst to it stops the log."""
    who = {"instance": "b:1", "run": NAME, "worker": "w", "host": "h 1"}
    log, data = ({"host": "h 1", "instance": "h:9100", "device": device} for device in ("sdb", "sdc"))
    burst = f"0+10x{STALL - 6} {10 * (STALL - 6)}+3000x{SECONDS}"
    return [
        *(
            _steady("benchwatch_run_disk_info", 1, **who, device=device, role=role)
            for device, role in (("sdb", "log"), ("sdc", "data"))
        ),
        series("node_disk_writes_completed_total", f"0+500x{STALL - 6} {500 * (STALL - 6)}x{SECONDS}", **log),
        series("node_disk_writes_completed_total", burst, **data),
        series("node_disk_reads_completed_total", f"0+100x{SECONDS + 60}", **data),
        series("node_disk_read_time_seconds_total", f"0+10x{SECONDS + 60}", **data),
    ]


def _vdisks() -> list[dict[str, str]]:
    """A vdisk that is always above 1 ms, and is twenty times slower at last."""
    vdisk = {"cvm": "cvm-a", "vdisk": "40043"}
    slow = f"0.002x{SPIKE - 1} 0.06x{SECONDS}"
    return [
        _steady("nutanix_vdisk_info", 1, **vdisk, vm="h 1", disk="scsi.1", role="data"),
        _steady("benchwatch_run_vm_info", 1, run=NAME, worker="w", host="h 1", vm="h 1"),
        _steady("nutanix_vdisk_frontend_ops_per_second", 100, **vdisk, op="read"),
        series("nutanix_vdisk_frontend_latency_seconds", slow, **vdisk, op="read"),
    ]


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """By alert; promtool is told to expect none, and prints what there is."""
    alerts = ("LatencySpike", "LatencyObjectiveMissed", "LogWriteStall", "DiskAwaitHigh", "VdiskLatencySpike")
    content = {
        "rule_files": [str(path) for path in RULE_FILES],
        "evaluation_interval": "1s",
        "group_eval_order": [group for group in GROUPS if not group.startswith("layer")],
        "tests": [
            {
                "interval": "1s",
                "input_series": [*_worker(), *_disks(), *_vdisks()],
                "external_labels": {"grafana": "http://g"},
                "alert_rule_test": [{"alertname": name, "eval_time": f"{STALL + 12}s"} for name in alerts],
            }
        ],
    }
    path = tmp_path_factory.mktemp("links") / "test.yml"
    path.write_text(yaml.safe_dump(content))
    command = [program("promtool"), "test", "rules", str(path)]
    printed = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    found = {}
    for part in printed.split("alertname: ")[1:]:
        address = re.search(r'dashboard_url="([^"]*)"', part)
        assert address, printed
        found[part.split(",")[0]] = address[1]
    assert set(found) == set(alerts), printed
    return found


@pytest.mark.parametrize(
    ("alert", "begun"),
    [("LatencySpike", SPIKE), ("LogWriteStall", STALL), ("VdiskLatencySpike", SPIKE)],
)
def test_a_link_leads_to_its_own_alert_although_another_one_has_long_been_firing(
    alert: str, begun: int, links: dict[str, str]
) -> None:
    asked = parse_qs(urlsplit(links[alert]).query)
    moment = int(asked["from"][0]) / 1000 + 120
    assert int(asked["to"][0]) / 1000 - 120 == moment
    assert begun - 5 <= moment <= begun + 5


def test_a_link_has_names_as_they_are(links: dict[str, str]) -> None:
    for alert, link in links.items():
        asked = parse_qs(urlsplit(link).query)
        assert (asked["var-run"], asked["var-host"]) == ([NAME], ["h 1"]), alert
    assert parse_qs(urlsplit(links["VdiskLatencySpike"]).query)["var-vdisk"] == ["40043"]
