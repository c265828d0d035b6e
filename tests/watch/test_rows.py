import pytest
from msgspec.structs import replace

from benchwatch.model.run import Loss, Measured, Report, Worker
from benchwatch.watch.curves import Trends
from benchwatch.watch.ended import ended
from benchwatch.watch.known import Judged, Slow, usual_key
from benchwatch.watch.rows import ActiveRun, Note, Row, active_runs, total
from benchwatch.watch.sources import LATENCY, RATE

from .pages import NOW, page, pgbench


def facts(run: ActiveRun) -> list[str]:
    return [fact.text for fact in run.facts]


def test_the_time_left_is_that_of_the_worker_that_ends_last() -> None:
    first, second = pgbench("db1", start=NOW - 400), replace(pgbench("db2", start=NOW - 100), duration=300.0)
    (run,) = active_runs(page(first, second), NOW)
    assert facts(run)[:2] == ["6m 40s", "3m 20s left"]
    (run,) = active_runs(page(replace(first, duration=410.0), second), NOW)
    assert facts(run)[:2] == ["6m 40s", "3m 20s left"]


def test_rates_add_up_and_latencies_are_weighted_by_them() -> None:
    together = total([Measured(rate=1000, latency=0.002), Measured(rate=3000, latency=0.004)])
    assert (together.rate, together.latency) == (4000, pytest.approx(0.0035))


def test_who_measured_no_latency_does_not_weigh() -> None:
    parts = [Measured(rate=1000, latency=0.002), Measured(rate=0), Measured()]
    assert (total(parts).rate, total(parts).latency) == (1000, pytest.approx(0.002))
    assert total([Measured(), Measured()]) == Measured()
    assert total([Measured(rate=0), Measured(rate=0)]) == Measured(rate=0)


def test_percentiles_are_not_combined_but_the_highest_is_the_highest_of_all() -> None:
    parts = [
        Measured(rate=1, latency=0.001, quantiles={"0.5": 0.001, "0.99": 0.002, "1": 0.003}),
        Measured(rate=1, latency=0.001, quantiles={"0.5": 0.001, "0.99": 0.004, "1": 0.009}),
    ]
    assert total(parts).quantiles == {"1": 0.009}


def test_there_is_no_highest_where_one_of_them_does_not_tell() -> None:
    parts = [Measured(rate=1, latency=0.001, quantiles={"1": 0.003}), Measured(rate=1, latency=0.001)]
    assert total(parts).quantiles == {}


def late(name: str, seconds: float) -> Worker:
    """A worker whose percentiles are that much older than its mean."""
    now = Measured(rate=2, latency=6.66, quantiles={"0.99": 3.7, "1": 3.8}, time=NOW, quantiles_time=NOW - seconds)
    return replace(pgbench(name), now=(now,))


def test_percentiles_of_another_time_than_the_mean_say_so_in_rows_and_totals() -> None:
    (run,) = active_runs(page(late("db1", 6.7), late("db2", 12.0), late("db3", 0.0)), NOW)
    assert [row.apart for row in run.rows] == ["6.7 s older", "12 s older", ""]
    assert [row.apart for row in run.totals] == ["12 s older"]


@pytest.mark.parametrize("apart", ["sync", "verify"])
def test_syncs_and_verifications_are_not_in_a_total(apart: str) -> None:
    parts = (Measured("wal", "write", 1000.0, 0.0002), Measured("wal", apart, 1000.0, 0.004))
    more = (Measured("data", "read", 3000.0, 0.0006),)
    worker = replace(pgbench("disk1"), tool="fio", unit="IOPS", apart=("sync", "verify"), now=parts + more)
    (run,) = active_runs(page(worker), NOW)
    assert (run.totals[0].measured.rate, run.totals[0].measured.latency) == (4000, pytest.approx(0.0005))


def test_workers_stand_in_natural_order_under_their_totals() -> None:
    two = page(pgbench("db10", 100, 0.001), pgbench("db9", 300, 0.003))
    (run,) = active_runs(two, NOW)
    assert [row.name for row in run.rows] == ["db9", "db10"]
    (together,) = run.totals
    assert (together.name, together.measured.rate, together.measured.latency) == ("all", 400, pytest.approx(0.0025))
    assert run.states == (("running", 2),)


def test_rates_that_are_those_of_the_whole_server_do_not_add() -> None:
    """Each of two HammerDB of one server counts the transactions of both."""
    workers = [replace(pgbench(name, 31_000, 0.001), tool="hammerdb", unit="TPM") for name in ("a", "b")]
    (adding,) = active_runs(page(*workers), NOW)
    assert [one.measured.rate for one in adding.totals] == [62_000]
    (run,) = active_runs(page(*(replace(one, whole_server=True) for one in workers)), NOW)
    assert (run.totals, [row.measured.rate for row in run.rows]) == ((), [31_000, 31_000])


def test_a_run_ends_when_its_last_worker_has_ended() -> None:
    done = (Measured(rate=900, latency=0.002),)
    half = page(pgbench("db1"), pgbench("db2", state="finished", end=NOW - 3, result=done))
    assert [run.states for run in active_runs(half, NOW)] == [(("running", 1), ("finished", 1))]
    assert ended(half, NOW, 80).sizes == (0, 0, 0, 0)
    whole = page(
        pgbench("db1", state="failed", end=NOW - 9), pgbench("db2", state="finished", end=NOW - 3, result=done)
    )
    assert active_runs(whole, NOW) == []
    _, *lines = ended(whole, NOW, 80).draw(3)
    assert [line.plain.split()[:2] for line in lines] == [["test1", "db1"], ["test1", "db2"]]


@pytest.mark.parametrize(
    ("objectives", "said"),
    [
        ((0.01, 0.01), Note("mean objective 10.0 ms: met")),
        ((0.0035, 0.0035), Note("mean objective 3.50 ms: missed at 4.00 ms", bad=True)),
        ((None, None), Note("no objective")),
    ],
)
def test_a_run_says_whether_the_highest_mean_meets_its_objective(
    objectives: tuple[float | None, float | None], said: Note
) -> None:
    first, second = objectives
    workers = (pgbench("db1", latency=0.004, objective=first), pgbench("db2", latency=0.002, objective=second))
    (run,) = active_runs(page(*workers), NOW)
    assert run.facts[-1] == said


def test_nothing_is_said_of_an_objective_that_only_one_worker_has_or_before_anything_is_measured() -> None:
    (run,) = active_runs(page(pgbench("db1", objective=0.01), pgbench("db2")), NOW)
    assert not any("objective" in fact for fact in facts(run))
    (run,) = active_runs(page(pgbench("db1", None, None, objective=0.01)), NOW)
    assert facts(run)[-1] == "mean objective 10.0 ms"


def test_the_objective_of_a_slow_run_is_said_once_in_its_sentence() -> None:
    slow = {"a": Slow(NOW - 30, text="It is the oplog."), "b": Slow(NOW - 30), "c": Slow(NOW - 90, NOW - 30)}
    workers = [pgbench("db1", run=name, objective=0.01) for name in slow]
    runs = active_runs(page(*workers), NOW, Judged(slow=slow))
    assert {run.name: facts(run)[-1] for run in runs} == {
        "a": "pgbench 15.18",
        "b": "mean objective 10.0 ms: met",
        "c": "mean objective 10.0 ms: met",
    }


def usual(
    run: str, worker: str, rate: float, latency: float, job: str = "", op: str = ""
) -> dict[tuple[str, ...], float]:
    return {usual_key(RATE, run, worker, job, op): rate, usual_key(LATENCY, run, worker, job, op): latency}


def test_a_total_is_usually_the_total_of_what_its_parts_usually_are() -> None:
    known = usual("test1", "db1", 1000.0, 0.002) | usual("test1", "db2", 3000.0, 0.004)
    workers = page(pgbench("db1"), pgbench("db2"))
    (run,) = active_runs(workers, NOW, Judged(usual=known))
    assert [(row.usual.rate, row.usual.latency) for row in run.rows] == [(1000, 0.002), (3000, 0.004)]
    assert (run.totals[0].usual.rate, run.totals[0].usual.latency) == (4000, pytest.approx(0.0035))
    (run,) = active_runs(workers, NOW, Judged(usual=usual("test1", "db1", 1000.0, 0.002)))
    assert run.totals[0].usual == Measured(), "of one part it is not known"


def test_the_slowest_run_is_the_first() -> None:
    known = usual("a", "db1", 1000.0, 0.001) | usual("b", "db1", 4000.0, 0.002)
    slow = {name: Slow(NOW - 30) for name in ("a", "b", "c")} | {"over": Slow(NOW - 90, NOW - 30)}
    workers = [pgbench("db1", run=name) for name in ("new", "over", "c", "a", "b")]
    runs = active_runs(page(*workers), NOW, Judged(slow=slow, usual=known))
    assert [(run.name, run.slowness) for run in runs] == [("b", 3), ("a", 2), ("c", 1), ("over", 0), ("new", 0)]


def test_the_usual_latency_of_a_slow_run_is_that_of_its_sentence() -> None:
    known = usual("test1", "db1", 1000.0, 0.00242)
    judged = Judged(slow={"test1": Slow(NOW - 30, latency=0.00238)}, usual=known)
    (run,) = active_runs(page(pgbench("db1")), NOW, judged)
    assert run.rows[0].usual == Measured(rate=1000.0, latency=0.00238)


def test_failures_are_remarked() -> None:
    worker = pgbench(
        "db1",
        lost={"failed": Loss(3, 400, True), "retries": Loss(7), "skipped": Loss(0, 400)},
    )
    (run,) = active_runs(page(worker), NOW)
    assert run.rows[0].notes == (
        Note("3 failed (0.75 %)", bad=True),
        Note("7 retries (0.11/s)"),
    )


def test_target_and_achieved_rate_stand_side_by_side() -> None:
    jobs = (
        Measured("data", "read", rate=280, bandwidth=2_293_760, target_rate=400),
        Measured("log", "write", rate=50, bandwidth=819_200, target_rate=50),
    )
    worker = replace(pgbench("disk1"), tool="fio", unit="IOPS", tool_version="fio-3.42", now=jobs)
    (run,) = active_runs(page(worker), NOW)
    assert [(row.name, row.op) for row in run.rows] == [("data", "read"), ("log", "write")]
    assert run.rows[0].notes == (Note("2.19 MiB/s"), Note("target 400 IOPS: 70%", bad=True))
    assert run.rows[1].notes == (Note("800 KiB/s"), Note("target 50.0 IOPS: 100%"))
    assert facts(run) == ["1m 05s", "8m 55s left", "fio 3.42", "disk1", "no objective"]


def test_how_the_output_was_read_is_a_remark_at_the_first_row() -> None:
    (run,) = active_runs(page(replace(pgbench("db1", 100, 0.001), notes=("run 3 of 3 in this file",))), NOW)
    assert [note for row in run.rows for note in row.notes] == [Note("run 3 of 3 in this file")]


def curve(trends: Trends, row: Row) -> tuple[list[float | None], list[float | None]]:
    columns, _ = trends.of(row).columns(NOW, 1000)
    return [one and one.throughput for one in columns], [one and one.latency for one in columns]


def test_a_row_begins_with_what_the_exporter_knows_of_its_worker() -> None:
    runs = active_runs(page(pgbench("db1", 100, 0.001)), NOW)
    past = {("test1", "db1"): [Report(NOW - 3, 50, 0.005), Report(NOW - 1, 70, None)]}
    trends = Trends()
    trends.add(runs, NOW, past)
    assert curve(trends, runs[0].rows[0]) == ([50, None, 70, 100], [0.005, None, None, 0.001])
    trends.add(runs, NOW, past)
    assert len(curve(trends, runs[0].rows[0])[0]) == 4, "it begins once"


def test_a_total_begins_with_the_sum_of_what_each_worker_reported() -> None:
    runs = active_runs(page(pgbench("db1", 100, 0.001), pgbench("db2", 300, 0.003)), NOW)
    past = {
        ("test1", "db1"): [Report(NOW - 4.5, 10, 0.001), Report(NOW - 2.5, 30, 0.001)],
        ("test1", "db2"): [Report(NOW - 3.5, 10, 0.003), Report(NOW - 2.5, 30, 0.003)],
    }
    trends = Trends()
    trends.add(runs, NOW, past)
    # The second report of db1 covers two seconds.
    rates, latencies = curve(trends, runs[0].totals[0])
    assert rates == [10, 40, 60, None, None, 400]
    assert latencies == [0.001, pytest.approx(0.0015), 0.002, None, None, pytest.approx(0.0025)]


def test_the_past_of_a_total_ends_with_the_last_second_of_which_all_workers_have_told() -> None:
    runs = active_runs(page(pgbench("db1", 100, 0.001), pgbench("db2", 300, 0.003)), NOW)
    past = {
        ("test1", "db1"): [Report(NOW - ago, 30, None) for ago in (3.8, 2.8, 1.8)],
        ("test1", "db2"): [Report(NOW - ago, 10, None) for ago in (3.2, 2.2)],
    }
    trends = Trends()
    trends.add(runs, NOW, past)
    assert curve(trends, runs[0].totals[0])[0] == [40, 40, None, None, 400]
    past["test1", "db2"] = [Report(NOW - ago, 10, None) for ago in (9.2, 8.2)]
    runs = active_runs(page(pgbench("db1", 400, 0.001), pgbench("db2", None, state="finished", end=NOW - 8)), NOW)
    trends = Trends()
    trends.add(runs, NOW, past)
    assert curve(trends, runs[0].totals[0])[0] == [10, 10, *[None] * 4, 30, 30, 30, None, 400]


def test_operations_of_a_worker_begin_now_as_their_shares_are_not_known() -> None:
    parts = (Measured("a", "read", 10.0, 0.001), Measured("a", "write", 20.0, 0.001))
    worker = replace(pgbench("disk1"), tool="fio", unit="IOPS", now=parts)
    (run,) = active_runs(page(worker), NOW)
    trends = Trends()
    trends.add([run], NOW, {("test1", "disk1"): [Report(NOW - 1, 25.0, 0.001)]})
    assert [curve(trends, row)[0] for row in (*run.totals, *run.rows)] == [[25, 30], [], []]
