"""The rules as promtool reads and runs them, and what they promise their reader."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

import worker_rules
from benchwatch.tools.registry import TOOLS
from benchwatch.values.durations import Duration
from metrics_reference import sections
from tests.support.programs import FOLDER, RULE_FILES, output, program

TEST_FILES = sorted((FOLDER / "tests").glob("*.yml"))
RUNBOOK = FOLDER.parent / "docs" / "alerts.md"
SEVERITIES = {"critical", "warning", "info"}
FOREIGN = {
    "ALERTS",
    "up",
    "scrape_duration_seconds",
    "scrape_samples_scraped",
    "node_disk_read_time_seconds_total",
    "node_disk_write_time_seconds_total",
    "node_disk_reads_completed_total",
    "node_disk_writes_completed_total",
    "node_disk_io_now",
    "node_cpu_seconds_total",
    "node_procs_running",
    "node_pressure_cpu_waiting_seconds_total",
    "node_pressure_memory_waiting_seconds_total",
    "node_vmstat_pgscan_direct",
    "node_vmstat_pswpin",
    "node_vmstat_pswpout",
    "node_memory_Dirty_bytes",
    "node_memory_Writeback_bytes",
    "node_netstat_Tcp_RetransSegs",
    "node_network_receive_bytes_total",
    "node_network_transmit_bytes_total",
    "prometheus_rule_group_iterations_missed_total",
    "prometheus_rule_group_last_duration_seconds",
    "prometheus_rule_evaluation_failures_total",
    "prometheus_config_last_reload_successful",
    "alertmanager_config_last_reload_successful",
    "prometheus_remote_storage_samples_failed_total",
    "vmagent_remotewrite_packets_dropped_total",
    "vm_persistentqueue_blocks_dropped_total",
    "vmalert_config_last_reload_successful",
    "vmalert_execution_errors_total",
    "vmalert_iteration_missed_total",
    "vmauth_config_last_reload_successful",
}
"""Metrics that are not the exporter's: those of Prometheus, Alertmanager, node_exporter and VictoriaMetrics."""


class Rule(NamedTuple):
    group: str
    interval: str
    content: dict[str, Any]


RULES = [
    Rule(group["name"], group["interval"], content)
    for path in RULE_FILES
    for group in yaml.load(path.read_text(), yaml.CSafeLoader)["groups"]
    for content in group["rules"]
]
ALERTS = [rule for rule in RULES if "alert" in rule.content]
RECORDINGS = [rule for rule in RULES if "record" in rule.content]
RECORDED = {rule.content["record"] for rule in RECORDINGS}
NAMES = sorted({alert.content["alert"] for alert in ALERTS})


def exported() -> set[str]:
    found = set()
    for _, families in sections():
        for family in families:
            found.add(family.name)
            if family.kind in ("histogram", "summary"):
                found |= {f"{family.name}{suffix}" for suffix in ("_sum", "_count", "_bucket")}
    return found


@cache
def cases() -> Sequence[dict[str, Any]]:
    return [test for path in TEST_FILES for test in yaml.safe_load(path.read_text())["tests"]]


def test_the_rules_of_each_tool_are_what_its_roles_say() -> None:
    for path in worker_rules.FILES:
        assert worker_rules.whole(path) == path.read_text(), "run scripts/rules"


def test_no_rule_names_a_tool_elsewhere() -> None:
    names = "|".join({family.name for tool in TOOLS for family in tool.families} | {tool.name for tool in TOOLS})
    named = re.compile(rf"\b({names})(?:_|\b)|\btool=")
    for path in RULE_FILES:
        outside = re.sub(
            r"# By scripts/rules.*?# End of what scripts/rules writes", "", path.read_text(), flags=re.DOTALL
        )
        found = [line for line in outside.splitlines() if named.search(line.partition("# ")[0])]
        assert not found, path


def test_rules_are_read_without_complaint() -> None:
    said = output(program("promtool"), "check", "rules", "--lint=all", "--lint-fatal", *RULE_FILES)
    assert said.count("SUCCESS") == len(RULE_FILES)


@pytest.mark.slow(10)
@pytest.mark.parametrize("path", TEST_FILES, ids=lambda path: path.stem)
def test_rules_do_what_their_tests_expect(path: Path) -> None:
    assert "SUCCESS" in output(program("promtool"), "test", "rules", path)


@pytest.mark.parametrize("name", NAMES)
def test_alert_is_proved_to_fire_and_not_to_fire(name: str) -> None:
    expectations = [
        bool(check.get("exp_alerts"))
        for test in cases()
        for check in test.get("alert_rule_test", [])
        if check["alertname"] == name
    ]
    assert set(expectations) == {True, False}


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.content["alert"])
def test_alert_tells_its_reader_what_to_do(alert: Rule) -> None:
    content = alert.content
    assert content["labels"]["severity"] in SEVERITIES
    assert {"summary", "description", "runbook_url"} <= set(content["annotations"])
    assert set(content["annotations"]) <= {"summary", "description", "runbook_url", "verdict", "dashboard_url"}
    assert content["annotations"]["runbook_url"] == (
        "{{ $externalLabels.runbooks }}docs/alerts.md#" + content["alert"].lower()
    )
    assert not content["annotations"]["summary"].endswith(".")
    assert "{{" in content["annotations"]["description"]


def test_alerts_on_a_slow_worker_carry_the_verdict_and_all_on_a_run_a_dashboard() -> None:
    carried = {alert.content["alert"] for alert in ALERTS if "verdict" in alert.content["annotations"]}
    slow = {"RunSlow", "LatencySpike", "LatencyObjectiveMissed", "ThroughputCollapse", "ThroughputZero", "RunStalled"}
    assert carried == slow
    without = {alert.content["alert"] for alert in ALERTS if "dashboard_url" not in alert.content["annotations"]}
    assert without == {"RunExplained", "RunFailed", "FailedTransactions", "CvmNotAnswering"} | {
        alert.content["alert"] for alert in ALERTS if alert.group == "exporter"
    }


def test_runbook_has_a_section_for_every_alert_and_for_nothing_else() -> None:
    sections = re.findall(r"^### (\w+)$", RUNBOOK.read_text(), re.MULTILINE)
    assert sorted(sections) == NAMES


def test_rules_use_only_metrics_that_exist() -> None:
    known = exported() | RECORDED | FOREIGN
    used = set()
    for rule in RULES:
        texts = [rule.content["expr"], *rule.content.get("annotations", {}).values()]
        used |= set(
            re.findall(
                r"(?<![:\w])(?:benchwatch|pgbench|fio|nutanix|node|prometheus|alertmanager|scrape|vm\w*)_\w+\b(?!:)",
                " ".join(texts),
            )
        )
        used |= set(re.findall(r"\b[a-z]\w*:\w+:\w+", " ".join(texts)))
    assert used - known == set()
    assert used & RECORDED, "the pattern of recorded names matches nothing"


def scrape_intervals(name: str = "prometheus.yml") -> dict[str, float]:
    config = yaml.safe_load((FOLDER / name).read_text())
    default = config["global"]["scrape_interval"]
    return {job["job_name"]: Duration.read(job.get("scrape_interval", default)) for job in config["scrape_configs"]}


def test_rules_ask_for_jobs_that_are_scraped() -> None:
    jobs = scrape_intervals() | scrape_intervals("scale.yml")
    for rule in RULES:
        for pattern in re.findall(r'\bjob=~?"([^"]*)"', rule.content["expr"]):
            assert any(re.fullmatch(pattern, job) for job in jobs), pattern


def test_windows_and_limits_fit_the_scrape_intervals() -> None:
    """Windows of four intervals at least, as Prometheus 3 needs them; slow is nine tenths of the interval."""
    intervals = scrape_intervals()
    windows = {rule.content["record"]: re.findall(r"\[(\w+)\]", rule.content["expr"]) for rule in RECORDINGS}
    assert Duration.read(*windows["worker:latency_seconds:max2s"]) >= 4 * intervals["benchwatch-live"]
    assert Duration.read(*windows["run_host_role:node_disk_writes:rate5s"]) >= 4 * intervals["node"]
    assert Duration.read(*windows["run:pgbench_latency_seconds_bucket:rate5s"]) >= 4 * intervals["benchwatch-live"]
    (slow,) = (alert.content["expr"] for alert in ALERTS if alert.content["alert"] == "ScrapeSlow")
    limits = dict(re.findall(r'job=~?"([^"]*)"\}\[\w+\]\) > ([\d.]+)', slow))
    for job, interval in intervals.items():
        expected = [float(limit) for pattern, limit in limits.items() if re.fullmatch(pattern, job)]
        assert expected == ([pytest.approx(0.9 * interval)] if job.startswith(("benchwatch-", "node")) else []), job


def test_groups_are_evaluated_every_second_where_spikes_are_looked_for_or_shown() -> None:
    intervals = {rule.group: rule.interval for rule in RULES}
    every_second = {"runs", "workers", "disks", "why", "dashboards"}
    assert {group for group, interval in intervals.items() if interval == "1s"} == every_second
    assert {interval for group, interval in intervals.items() if "baselines" in group} == {"15s"}


def test_spike_stays_visible_for_30_seconds_and_is_not_delayed() -> None:
    for alert in ALERTS:
        if alert.content["alert"] in ("LatencySpike", "VdiskLatencySpike"):
            assert Duration.read(alert.content["keep_firing_for"]) >= 30
            assert "for" not in alert.content


def test_an_alert_outlasts_those_that_it_silences() -> None:
    stays = {
        (alert.content["alert"], alert.content["labels"]["severity"]): Duration.read(alert.content["keep_firing_for"])
        for alert in ALERTS
        if "keep_firing_for" in alert.content
    }
    of_run = [
        stays[alert]
        for alert in (
            ("RunStalled", "critical"),
            ("ThroughputZero", "critical"),
            ("LatencySpike", "critical"),
            ("LatencySpike", "warning"),
            ("ThroughputCollapse", "warning"),
        )
    ]
    assert min(before - after for before, after in pairwise(of_run)) == 10
    layers = re.compile("LogWriteStall|DiskAwaitHigh|VdiskLatencySpike|VdiskL.*Stall|.*Oplog.*|VdiskReads.*|CvmQueue.*")
    below = {alert: seconds for alert, seconds in stays.items() if layers.fullmatch(alert[0])}
    # A CVM shows up to 25 s late that it is as usual again.
    polled = [seconds for (name, _), seconds in below.items() if name not in ("LogWriteStall", "DiskAwaitHigh")]
    assert len(below) == 10 and len(polled) == 8
    assert of_run[-1] >= max(polled) + 25 and of_run[-1] > max(below.values())
    assert stays["LogWriteStall", "critical"] >= stays["VdiskLogWriteStall", "critical"] + 25
    assert stays["VdiskLatencySpike", "warning"] >= stays["DiskAwaitHigh", "warning"] + 10
