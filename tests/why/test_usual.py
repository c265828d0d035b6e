"""What a run is compared with, and when it counts as slow: noise, earlier faults, first seconds, few operations."""

import numpy as np
import pytest

from benchwatch.metrics.prometheus import Samples, Seen
from benchwatch.why.explanation import NONE
from benchwatch.why.judging import Judge
from benchwatch.why.seen import Reported, seen_run
from benchwatch.why.slow_times import JudgedSeconds, slow_times

from . import scenes
from .scenes import FAULT, LENGTH, T0, USUAL, gauge, seen
from .test_live import Counted, played
from .test_sentences import SLOW, explained


def part(latency: list[float], rate: float = 100.0) -> Reported:
    """A part that reports these latencies, seconds, one a second."""
    return Reported(("db1",), "", int(T0), np.array(latency), np.full(len(latency), rate))


def test_seconds_that_were_slow_do_not_become_usual_for_the_next_fault() -> None:
    calm = [0.0025, 0.0035, 0.007] * 7
    faults = [0.05] * 13 + calm[:19]
    begin = 60 + 32 * 5
    times = slow_times([part(calm[:20] * 3 + faults * 6)])
    assert [round(one.begin - T0) for one in times if one.begin - T0 >= begin] == [begin]


def test_a_fault_is_seen_beside_a_usual_latency_of_two_levels() -> None:
    usual = [0.0013] * 20 + [0.006] * 40
    times = slow_times([part(usual * 3 + [0.04] * 15 + usual * 2 + [0.05] * 30 + usual)])
    assert [(round(one.begin - T0), round(one.end - T0)) for one in times] == [(180, 195), (315, 345)]


LEVELS = [0.001] * 21 + [0.003] * 15 + [0.008] * 24


def test_five_times_the_upper_level_of_a_usual_that_changes_between_levels_is_slow_at_once() -> None:
    times = slow_times([part(LEVELS * 4 + [0.04] * 15 + LEVELS * 2)])
    assert [(round(one.begin - T0), round(one.end - T0)) for one in times if one.begin > T0 + 180] == [(240, 255)]


def test_a_level_that_comes_again_and_again_becomes_usual() -> None:
    usual = [0.0013] * 50 + [0.006] * 30
    times = slow_times([part(usual * 10 + [0.03] * 15 + usual * 2)])
    assert [(round(one.begin - T0), round(one.end - T0)) for one in times if one.begin > T0 + 400] == [(800, 815)]


def test_a_stop_within_a_slight_slowness_is_a_slow_time_of_its_own() -> None:
    latency = [0.0015] * 100 + [0.006] * 8 + [np.nan] * 12 + [0.0015] * 20
    stops = part(latency)._replace(rate=np.where(np.isnan(latency), 0.0, 100.0))
    assert [(round(one.begin - T0), round(one.end - T0)) for one in slow_times([stops])] == [(100, 108), (108, 120)]


def test_what_was_slow_stays_slow_although_what_it_was_compared_with_is_no_longer_seen() -> None:
    latency = np.array(LEVELS * 2 + [second for _ in range(20) for second in [0.04] * 20 + LEVELS[:30]])
    judged: dict[tuple[str, ...], JudgedSeconds] = {}
    for now in range(150, len(latency)):
        seen_now = Reported(
            ("db1",), "", int(T0) + max(0, now - 420), latency[max(0, now - 420) : now], np.full(min(now, 420), 100.0)
        )
        slow_times([seen_now], judged=judged)
    assert judged[("db1",)].slow.sum() == (latency[-421:-1] == 0.04).sum()


def test_faults_that_come_again_are_told_although_the_engine_forgets_what_was_before_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The oldest samples that the engine keeps may be those of a fault, which then are not usual either."""
    length, every = 1200, 70
    monkeypatch.setattr(scenes, "LENGTH", length)
    second = np.arange(length)
    usual = np.where(second % 60 < 20, 0.0013, 0.006)
    fault = (second >= 150) & (second % every < 15)
    latency = gauge("pgbench_latency_average_seconds", 0, 0, run="tpcb", worker="db1")
    latency = latency._replace(values=np.where(fault, 0.05, usual))
    others = [one for one in seen({}).all() if one.labels["__name__"] != "pgbench_latency_average_seconds"]
    pages = dict(played(Counted([*others, latency], ["tpcb"]), 120, length - 1))
    begins = [begin for begin in range(0, length - 20, every) if begin >= 150]
    told = [begin for begin in begins if any("benchwatch_run_why_info{" in pages[begin + age] for age in range(4, 11))]
    assert told == begins


def test_faults_that_fill_most_of_the_last_minutes_do_not_become_usual() -> None:
    times = slow_times([part([0.003] * 60 + ([0.03] * 90 + [0.003] * 30) * 5)])
    assert [round(one.begin - T0) for one in times] == [60 + 120 * fault for fault in range(5)]


def test_a_fault_within_a_slight_slowness_is_a_slow_time_of_its_own() -> None:
    ramp = [0.2 * second for second in range(1, 19)]
    times = slow_times([part([0.0015] * 100 + [0.006] * 8 + [0.018] + [0.04] * 20 + [0.0015] * 40 + ramp)])
    assert [(round(one.begin - T0), round(one.end - T0)) for one in times] == [(100, 109), (109, 129), (169, 187)]
    assert [
        round(one.begin - T0) for one in slow_times([part([0.0015] * 100 + [0.006] * 20 + [0.09] + [0.006] * 9)])
    ] == [100], "a single second is none"


def test_a_single_slow_second_shortly_before_a_fault_does_not_hide_it() -> None:
    def course(one: Samples) -> Samples:
        second = np.floor(one.times - T0)
        blip = (one.labels["__name__"] == "pgbench_latency_average_seconds") & (second == FAULT - 12)
        return one._replace(values=np.where(blip, 0.09, one.values))

    of = seen_run(Seen(map(course, seen(SLOW | {"active": 0.8}).all())), "tpcb", T0, T0 + LENGTH)
    judge = Judge()
    times = judge.slow(of)
    assert [round(one.begin - T0) for one in times] == [FAULT - 12, FAULT]
    assert judge.why(of, times[1], times[1].begin + 8) is not None


def test_a_benchmark_that_makes_up_for_lost_time_is_not_slow_again() -> None:
    """At a fixed rate it does what it owes after a stall, with longer latencies."""
    for tps, said in ((2500, False), (1500, True)):
        of = seen_run(seen({"latency": 0.025, "tps": tps, "active": 0.02 * tps}), "tpcb", T0, T0 + LENGTH)
        judge = Judge()
        when = judge.slow(of)[0]
        assert (judge.why(of, when, when.begin + 8) is not None) is said


def test_a_latency_that_lasts_becomes_usual() -> None:
    times = slow_times([part([0.003] * 100 + [0.03] * 300)])
    assert [round(one.begin - T0) for one in times] == [100]
    assert times[0].end - T0 < 250


def test_a_single_slow_second_is_no_message_and_three_are_one_after_5_seconds() -> None:
    def latency(seconds: int) -> list[Samples]:
        samples = [one for one in seen({}).all() if one.labels["__name__"] != "pgbench_latency_average_seconds"]
        values = np.full(LENGTH, 0.006)
        values[FAULT : FAULT + seconds] = 0.05
        fault = gauge("pgbench_latency_average_seconds", 0, 0, run="tpcb", worker="db1")._replace(values=values)
        return [*samples, fault]

    for seconds, first in ((1, None), (3, FAULT + 5), (6, FAULT + 5)):
        pages = dict(played(Counted(latency(seconds), ["tpcb"]), FAULT - 5, LENGTH - 2))
        told = [second for second, page in pages.items() if "benchwatch_run_why_message{" in page]
        assert (min(told) if told else None) == first


def test_a_database_that_stood_still_is_named_after_it_went_on() -> None:
    """Nothing completes for 4 s; then the first report has the time that its transactions waited."""
    still = 4

    def course(one: Samples) -> Samples:
        name, second = one.labels["__name__"], np.floor(one.times - T0)
        stands = (second >= FAULT) & (second < FAULT + still)
        values, kept = one.values.copy(), np.ones(len(second), bool)
        if name == "pgbench_tps":
            values[stands] = 0.0
        elif name == "pgbench_latency_average_seconds":
            kept, values[second == FAULT + still] = ~stands, 0.06
        elif name == "pg_up":
            values[stands] = 0.0
        elif name.startswith("pg_"):
            kept = ~stands
            if name == "pg_sessions_time_active_seconds_total":
                values[second >= FAULT] -= 20.0  # its sessions were not counted meanwhile
        return one._replace(times=one.times[kept], values=values[kept])

    of = seen_run(Seen(map(course, seen({}).all())), "tpcb", T0, T0 + LENGTH)
    judge = Judge()
    when = judge.slow(of)[0]
    for moment in (when.begin + 4, when.end + 1):
        found = judge.why(of, when, moment)
        assert found and found.cause.layer == "database", moment - when.begin
        assert found.cause.text == "PostgreSQL on db1 answered no question at first"


def test_the_network_is_not_blamed_where_processors_are_always_full() -> None:
    outside = SLOW | {"active": 0.8, "CPU": 0.3, "IO": 0.4, "wal": 0.2}
    full = {"idle": 0.01, "iowait": 0.0, "pressure": 0.6, "running": 12}
    found = explained(seen(outside | full, usual={**USUAL, **full}))
    assert found.cause.layer == NONE


def test_in_its_first_seconds_a_run_is_compared_with_its_kind_then_its_objective_and_says_so() -> None:
    usual = Judge().usual(seen_run(seen({}), "tpcb", T0, T0 + FAULT), T0 + FAULT)
    young = Seen(
        one._replace(times=one.times[FAULT:], values=one.values[FAULT:]) for one in seen(SLOW | {"active": 0.8}).all()
    )
    of = seen_run(young, "tpcb", T0 + FAULT, T0 + LENGTH)
    judge = Judge(usual)
    (when,) = judge.slow(of)
    found = judge.why(of, when, when.begin + 10)
    assert found and found.armed == "the last run of its kind"
    assert found.usual.latency == pytest.approx(0.006)
    assert Judge().slow(of) == [], "without either, nothing is said to be slow"
    objective = of._replace(facts=of.facts._replace(objective=0.01))
    judge = Judge()
    (when,) = judge.slow(objective)
    found = judge.why(objective, when, when.begin + 10)
    assert found and found.armed == "its objective"


def test_runs_of_few_operations_a_second_are_judged_by_as_many_operations() -> None:
    noisy = [0.1, 0.1, 0.1, 0.5] * 40
    assert slow_times([part(noisy, 2.0)]) == [], "one slow operation of a few is no fault"
    (when,) = slow_times([part([0.1] * 100 + [1.0] * 60, 2.0)])
    assert 100 <= when.begin - T0 <= 125


def test_a_read_only_run_is_not_compared_with_a_write_heavy_one() -> None:
    def kind(script: str) -> object:
        parameter = gauge("benchwatch_run_parameter", 1, 1, run="tpcb")
        parameter = parameter._replace(labels={**parameter.labels, "name": "script", "value": script})
        return seen_run(seen({}, more=[parameter]), "tpcb", T0, T0 + LENGTH).facts.kind

    assert kind("tpcb-like") == kind("tpcb-like")
    assert kind("tpcb-like") != kind("select-only")


def test_the_jobs_of_an_operation_together_decide_what_a_mean_operation_waits_for() -> None:
    """A job of many reads before one of few reads and writes: a mean operation is a read."""
    samples = [one for one in seen({}).all() if not one.labels["__name__"].startswith(("pgbench_", "pg_"))]
    for job, op, rate in (("a", "read", 980.0), ("b", "read", 10.0), ("b", "write", 10.0)):
        labels = {"run": "tpcb", "worker": "db1", "job": job, "op": op}
        samples.append(gauge("fio_iops", rate, rate, **labels))
        samples.append(gauge("fio_latency_average_seconds", 0.01, 0.01, **labels))
    found = Judge().usual(seen_run(Seen(samples), "tpcb", T0, T0 + FAULT), T0 + FAULT)
    assert found
    reads, writes = 0.0005, (0.0008 + 0.001) / 2  # sdc; sdb and sdc
    waited = found.stages["log device"] + found.stages["data device"]
    assert waited == pytest.approx(0.99 * reads + 0.01 * writes)
