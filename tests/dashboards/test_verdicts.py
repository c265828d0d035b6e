"""What the head of a board and the bars of Spike say of a slow run, by promtool."""

from pathlib import Path

import pytest

from tests.support.programs import series

from .test_numbers import SECONDS, expression, shows

ON = f"1x{SECONDS}"
LAST, UNTIL = 11, 14
"""Of the head's queries, the verdict, and until when a run was slow."""


def active(run: str, state: str = "running") -> dict[str, str]:
    return series("benchwatch_run_state", ON, run=run, worker="w", state=state)


def slow(run: str, values: str = ON) -> dict[str, str]:
    return series("run:benchmark_slow:info", values, run=run, host="h")


def ratio(run: str, value: float) -> dict[str, str]:
    return series("run:benchmark_slowness:ratio", f"{value}x{SECONDS}", run=run, host="h")


def why(values: str, layer: str, text: str) -> dict[str, str]:
    return series("benchwatch_run_why_info", values, run="why", host="h", layer=layer, text=text)


def test_each_run_has_the_sentence_of_benchwatch_why_or_one_that_says_why_there_is_none(tmp_path: Path) -> None:
    loads = [
        *(active(run) for run in ("why", "unsaid", "usual", "noise", "young")),
        active("done", "finished"),
        why(
            ON,
            "path",
            "pgbench on h takes 4.5 ms. Because of 1.5 ms: it is full; writes of the data vdisk 4 take 2.1 ms. "
            "Disks are ruled out: 1.2 ms. The objective, a mean below 5 ms, is met. Not seen: it.",
        ),
        *(slow(run) for run in ("why", "unsaid")),
        *(ratio(run, value) for run, value in (("why", 9), ("unsaid", 9), ("usual", 1.2), ("noise", 2))),
    ]
    shown = {
        '{run="why", layer="path", text="Because of 1.5 ms: it is full."}': 1.0,
        '{run="unsaid", text="Slow. For the cause: benchwatch serve --prometheus.url=..."}': 1.0,
        '{run="usual", text="As usual."}': 1.2,
        '{run="noise", text="Slower than usual, but within its noise."}': 2.0,
        '{run="young", text="Not judged: younger than a minute, or no rules."}': 1.0,
    }
    shows(tmp_path, expression("live", "table", LAST), loads, shown)
    shows(tmp_path, expression("live", "table", LAST), loads[5:6], {'{run="done", text="Ended."}': 1.0})


@pytest.mark.parametrize("first", ["log_device", "oplog"])
def test_spike_shows_the_last_verdict_of_the_moment_and_not_the_largest(first: str, tmp_path: Path) -> None:
    second = {"log_device": "oplog", "oplog": "log_device"}[first]
    loads = [
        active("why"),
        why("_x20 1x9 stale", first, "sooner"),
        why("_x30 1x20 stale", second, "later"),
    ]
    query = f"({expression('spike', 'table', LAST)}) ^ 0"
    shows(tmp_path, query, loads, {f'{{run="why", layer="{second}", text="Over. later"}}': 1.0})


def test_spike_says_until_when_a_run_was_slow_or_that_it_still_is(tmp_path: Path) -> None:
    until = expression("spike", "table", UNTIL)
    over = [active("why"), why("_x20 1x29 stale", "oplog", "oplog")]
    shows(tmp_path, until, over, {'{run="why"}': 49_000.0})
    now = [active("why"), why(f"_x20 1x{SECONDS}", "oplog", "oplog")]
    shows(tmp_path, f"({until}) != bool ({until})", now, {'{run="why"}': 1.0})  # NaN: "still slow"
    query = f"({expression('spike', 'table', LAST)}) ^ 0"
    shows(tmp_path, query, now, {'{run="why", layer="oplog", text="oplog"}': 1.0})


def test_a_slow_run_whose_cause_is_not_known_yet_asks_for_nothing(tmp_path: Path) -> None:
    loads = [active("r"), slow("r"), series("benchwatch_why_up", ON, instance="i")]
    shown = {'{run="r", text="Slow; the cause is not known yet."}': 1.0}
    shows(tmp_path, expression("live", "table", LAST), loads, shown)


def test_the_bars_are_the_stages_of_the_last_picture(tmp_path: Path) -> None:
    def stage(values: str, name: str, when: str, run: str = "r") -> dict[str, str]:
        return series("benchwatch_run_why_seconds", values, run=run, stage=name, when=when)

    loads = [
        stage("_x20 0.5x9 stale", "data device", "now"),
        stage("_x20 0.5x9 stale", "log device", "now", "sooner"),
        *(stage(f"_x20 {value}x30 stale", "log device", when) for when, value in (("usual", 0.001), ("now", 0.04))),
    ]
    loads.append(stage("_x20 0.0001x30 stale", "lock", "now"))
    shown = {f'{{when="{when}", stage="log device"}}': one for when, one in (("usual", 0.001), ("slow", 0.04))}
    shows(tmp_path, expression("spike", "barchart"), loads, shown)


def test_the_time_left_is_that_of_the_plan_and_never_below_0(tmp_path: Path) -> None:
    loads = [*(active(run) for run in ("r", "late")), active("done", "finished")]
    for run, begun, planned in (("r", 100, 60), ("late", 100, 10), ("done", 100, 60)):
        loads.append(series("benchwatch_run_start_timestamp_seconds", f"{begun}x{SECONDS}", run=run, worker="w"))
        loads.append(series("benchwatch_run_planned_seconds", f"{planned}x{SECONDS}", run=run, worker="w"))
    shows(tmp_path, expression("live", "table", 2), loads, {'{run="r"}': 40.0, '{run="late"}': 0.0})


def test_ended_runs_are_not_in_the_head_beside_active_ones(tmp_path: Path) -> None:
    loads = [active("on"), active("done", "finished")]
    shows(tmp_path, expression("live", "table", 0), loads, {'{run="on", state="running"}': 2.0})
    shows(tmp_path, expression("live", "table", 0), loads[1:], {'{run="done", state="finished"}': 1.0})


def test_a_run_has_its_own_rate_unit_and_part_of_the_usual(tmp_path: Path) -> None:
    loads = [
        active("r"),
        active("i"),
        series("pgbench_tps", f"250x{SECONDS}", run="r", worker="w"),
        series("iperf_throughput_bytes_per_second", f"100x{SECONDS}", run="i", worker="w", direction="sent"),
        series("worker:operations:rate", f"250x{SECONDS}", run="r", worker="w"),
        series("worker:operations:rate_median5m", f"1000x{SECONDS}", run="r", worker="w"),
    ]
    rates = {'{run="r", what="pgbench TPS"}': 250.0, '{run="i", what="iperf3 bit/s"}': 800.0}
    shows(tmp_path, expression("live", "table", 3), loads, rates)
    shows(tmp_path, expression("live", "table", 4), loads, {'{run="r"}': 0.25})
