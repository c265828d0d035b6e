"""What a receiver hears of one cause: when alerts fire by the rules, and what a real Alertmanager makes of that.

promtool evaluates the rules on a machine for each cause, in simulated time. An Alertmanager with the repository's
configuration gets the same alerts at the same moments, ten times as fast.
"""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pytest
import requests

from demo_processes import Processes
from tests.support.programs import GROUPS, judged, program, series
from tests.support.waiting import PATIENCE
from tests.support.webhook import Receiver, start_alertmanager

pytestmark = pytest.mark.slow(40)

BEGIN, SECONDS = 100, 300
SPEED = 10
SCRAPED = range(3, SECONDS + 1, 10)
"""When Prometheus scrapes the figures of the CVM, seconds."""
SEEN = 3
"""Seconds before a poll that the CVM's figures cover."""
LATE = 4.0
"""Simulated seconds by which an alert may reach Alertmanager too late, on a machine that is busy."""

Course = tuple[float, ...]
"""A value as usual, and the values from BEGIN on, one a second."""

USUAL: dict[str, Course] = {
    "latency": (0.010,),
    "tps": (1000,),
    "stalled": (0,),
    "log_await": (0.0008,),
    "log_writes": (900,),
    "data_writes": (300,),
    "log_frontend": (0.0007,),
}


LABEL = r'(\w+)="((?:[^"\\]|\\.)*)"'


def labels(text: str) -> dict[str, str]:
    return {name: json.loads(f'"{value}"') for name, value in re.findall(LABEL, text)}


class Cause(NamedTuple):
    """`now` is what is unusual; the CVM's figures are `lag` seconds old when they are scraped."""

    now: Mapping[str, Course]
    lag: int
    alerts: set[str]
    """All that fire."""
    told: str
    """The one that a receiver is told of, and of whose end."""
    cvm: bool = True
    log: str = "log"
    """The role of the log's device and vdisk."""


def slow(seconds: int) -> dict[str, Course]:
    """All clients wait for the log's vdisk."""
    return {
        "latency": (0.010, *[0.120] * seconds, 0.040),
        "tps": (1000, *[80.0] * seconds, 250),
        "log_await": (0.0008, *[0.042] * seconds),
        "log_writes": (900, *[100.0] * seconds),
        "log_frontend": (0.0007, *[0.040] * seconds),
    }


BURST: dict[str, Course] = {"log_writes": (900, *[0.0] * 8), "data_writes": (300, *[1500.0] * 8)}
CAUSES = {
    "two slow seconds that the CVM shows late": Cause(
        slow(2), 9, {"LatencySpike", "VdiskLatencySpike"}, "LatencySpike"
    ),
    "a vdisk that is slow before the run is": Cause(
        {**slow(3), "latency": (0.010, *[0.010] * 6, 0.120), "tps": (1000,)},
        0,
        {"LatencySpike", "VdiskLatencySpike"},
        "LatencySpike",
    ),
    "storage that is slow for long": Cause(
        slow(45), 9, {"LatencySpike", "ThroughputCollapse", "DiskAwaitHigh", "VdiskLatencySpike"}, "LatencySpike"
    ),
    "a vdisk that the run does not notice": Cause(
        {key: value for key, value in slow(16).items() if key.startswith("log_")},
        0,
        {"DiskAwaitHigh", "VdiskLatencySpike"},
        "VdiskLatencySpike",
    ),
    "a device that the run does not notice": Cause(
        {"log_await": (0.0008, *[0.042] * 12)}, 0, {"DiskAwaitHigh"}, "DiskAwaitHigh", cvm=False
    ),
    "a stall": Cause(
        {
            **BURST,
            "tps": (1000, 100, *[0.0] * 7, 100),
            "latency": (0.010, 0.010, *[float("nan")] * 7, 4.0, 0.060, 0.040),
            "stalled": (0, 0, 0, 0, *[1.0] * 5),
        },
        9,
        {"ThroughputZero", "LatencySpike", "ThroughputCollapse", "LogWriteStall", "VdiskLogWriteStall"},
        "ThroughputZero",
    ),
    "a checkpoint that the run does not notice": Cause(
        BURST, 9, {"LogWriteStall", "VdiskLogWriteStall"}, "LogWriteStall"
    ),
    "the same, with a log of role wal": Cause(
        BURST, 9, {"LogWriteStall", "VdiskLogWriteStall"}, "LogWriteStall", log="wal"
    ),
}


def at(course: Course, second: int) -> float:
    return course[1 + second - BEGIN] if BEGIN <= second < BEGIN + len(course) - 1 else course[0]


def gauge(course: Course) -> str:
    found = (at(course, second) for second in range(SECONDS + 1))
    return " ".join("stale" if value != value else f"{value:g}" for value in found)


def counter(*courses: Course) -> str:
    """The product of these a second, summed up."""
    total, summed = 0.0, []
    for second in range(SECONDS + 1):
        product = 1.0
        for course in courses:
            product *= at(course, second)
        total += product
        summed.append(f"{total:.9g}")
    return " ".join(summed)


def polled(course: Course, lag: int) -> str:
    """What differs most from the usual in the seconds before each poll."""
    found = ["_"] * (SECONDS + 1)
    for second in SCRAPED:
        window = [at(course, second - lag - age) for age in range(SEEN + 1)]
        found[second] = f"{max(window, key=lambda value: abs(value - course[0])):g}"
    return " ".join(found)


def machine(name: str, cause: Cause) -> Iterator[dict[str, str]]:
    now, always = {**USUAL, **cause.now}, f"1x{SECONDS}"
    worker, host = {"instance": "b:1", "run": name, "worker": "db1"}, {"host": name}
    running = tuple(1 - value for value in now["stalled"])
    yield series("benchwatch_run_state", gauge(running), **worker, state="running")
    yield series("benchwatch_run_state", gauge(now["stalled"]), **worker, state="stalled")
    yield series("benchwatch_run_start_timestamp_seconds", f"0x{SECONDS}", **worker)
    yield series("benchwatch_run_host_info", always, **worker, **host, role="server")
    yield series("benchwatch_run_vm_info", always, **worker, **host, vm=name)
    yield series("pgbench_latency_average_seconds", gauge(now["latency"]), **worker)
    yield series("pgbench_tps", gauge(now["tps"]), **worker)
    below = {"instance": "b:1", "cvm": name}
    for device, part, role in (("sdb", "log", cause.log), ("sdc", "data", "data")):
        writes, wait = now[f"{part}_writes"], now.get(f"{part}_await", (0.002,))
        yield series("benchwatch_run_disk_info", always, **worker, **host, device=device, role=role)
        yield series("node_disk_writes_completed_total", counter(writes), **host, device=device)
        yield series("node_disk_write_time_seconds_total", counter(wait, writes), **host, device=device)
        if not cause.cvm:
            continue
        vdisk = {**below, "vdisk": device}
        yield series("nutanix_vdisk_info", always, **vdisk, vm=name, disk=device, role=role)
        front = polled(now.get(f"{part}_frontend", (0.0009,)), cause.lag)
        yield series("nutanix_vdisk_frontend_latency_seconds", front, **vdisk, op="write")
        yield series("nutanix_vdisk_frontend_ops_per_second", polled(writes, cause.lag), **vdisk, op="write")


class Fired(NamedTuple):
    labels: dict[str, str]
    begin: int
    end: int
    """The first second in which it does not fire any more."""


@pytest.fixture(scope="module")
def fired(tmp_path_factory: pytest.TempPathFactory) -> list[Fired]:
    """The alerts of all causes, by the rules; promtool, which is told to expect nothing, prints what there is."""
    moments = f'timestamp(ALERTS{{alertstate="firing",severity!="info"}})[{SECONDS}s:1s]'
    folder = tmp_path_factory.mktemp("rules")
    content = {
        "rule_files": judged(folder),
        "evaluation_interval": "1s",
        "group_eval_order": list(GROUPS),
        "tests": [
            {
                "interval": "1s",
                "input_series": [one for name, cause in CAUSES.items() for one in machine(name, cause)],
                "promql_expr_test": [
                    {"expr": f"{bound}_over_time({moments})", "eval_time": f"{SECONDS}s"} for bound in ("min", "max")
                ],
            }
        ],
    }
    path = folder / "test.yml"
    path.write_text(json.dumps(content))
    command = [program("promtool"), "test", "rules", path]
    said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    answers = [
        {found: float(value) for found, _, _, value in re.findall(rf"\{{((?:{LABEL}(?:, )?)+)\}} ([^ ,]+)", answer)}
        for answer in re.findall(r"exp: nil\s+got: (.*)", said)
    ]
    assert len(answers) == 2, said
    begun, last = answers
    return [Fired(labels(found), int(begin), int(last[found]) + 1) for found, begin in begun.items()]


def test_alerts_of_each_cause(fired: list[Fired]) -> None:
    names = {cause: {one.labels["alertname"] for one in fired if one.labels.get("run") == cause} for cause in CAUSES}
    assert names == {name: cause.alerts for name, cause in CAUSES.items()}


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture(scope="module")
def alertmanager(receiver: Receiver, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("alertmanager")
    processes = Processes(folder, dict(os.environ))
    yield f"http://{start_alertmanager(processes, folder, receiver.url, SPEED)}/api/v2/alerts"
    processes.stop_all()


def replay(fired: list[Fired], url: str, attempt: int) -> float:
    """Tells Alertmanager of all alerts at their moments; the simulated seconds by which the latest was late."""
    session = requests.Session()
    session.trust_env = False
    moments = sorted({moment for one in fired for moment in (one.begin, one.end)})
    start, late = time.monotonic() - moments[0] / SPEED, 0.0
    for moment in moments:
        time.sleep(max(0.0, start + moment / SPEED - time.monotonic()))
        for one in fired:
            if moment in (one.begin, one.end):
                now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                alert = {"labels": {**one.labels, "run": f"{one.labels.get('run', '')} {attempt}"}}
                told = session.post(
                    url, json=[alert | ({"endsAt": now} if moment == one.end else {})], timeout=PATIENCE
                )
                assert told.ok, told.text
        late = max(late, (time.monotonic() - start) * SPEED - moment)
    time.sleep(2 * 15 / SPEED)  # longer than group_interval
    return late


@pytest.mark.system
def test_a_receiver_hears_of_one_cause_once_and_of_its_end(
    fired: list[Fired], alertmanager: str, receiver: Receiver
) -> None:
    attempt = 0
    while replay(fired, alertmanager, attempt) > LATE and attempt < 10:
        attempt += 1
    heard: dict[str, list[set[str]]] = {name: [] for name in CAUSES}
    for _, message in receiver.got:
        name, _, number = message["commonLabels"]["run"].rpartition(" ")
        if int(number) == attempt:
            firing = {one["labels"]["alertname"] for one in message["alerts"] if one["status"] == "firing"}
            heard[name].append(firing)
    assert heard == {name: [{cause.told}, set()] for name, cause in CAUSES.items()}
