"""What is said of each fault of a database benchmark: the layer and the exact sentence, from raw samples."""

from collections.abc import Mapping

import pytest

from benchwatch.metrics.prometheus import Samples, Seen
from benchwatch.why.explanation import NAMES, NONE, Explanation, period, sentence, waterfall
from benchwatch.why.judging import Judge
from benchwatch.why.seen import seen_run

from . import scenes
from .scenes import FAULT, LENGTH, T0, gauge, seen

SLOWER = "pgbench on db1 takes 49 ms a transaction (mean of 19 s), usually 6 ms."
RULED_OUT = {
    "server": "",
    "server_cpu": " Disks are ruled out: writes of sdb (log) take 800 µs, usually 800 µs.",
    "client_cpu": " Disks are ruled out: writes of sdb (log) take 800 µs, usually 800 µs.",
}
PROCESSORS = " Processors are ruled out: those of db1 are 25 % busy, usually 25 %."
SLOW = {"latency": 0.049, "tps": 160}
LOCKED = SLOW | {
    "Lock": 6.5,
    "CPU": 0.3,
    "IO": 0.4,
    "wal": 0.2,
    "LWLock": 0,
    "active": 7.2,
    "locks": 7,
    "lock_wait": 3.2,
}
BLOCKER = gauge(
    "pg_blocking_processes",
    0,
    7,
    host="db1",
    relation="pgbench_branches",
    state="idle in transaction",
    query="LOCK TABLE pgbench_branches",
)
_CASES: Mapping[str, tuple[Mapping[str, float], str, str]] = {
    "lock": (
        LOCKED,
        "database",
        f"{SLOWER} 40.5 ms of the 43 ms increase are due to the database: waiting for a "
        "lock: 7 wait, the longest for 3.2 s; the lock on pgbench_branches is held by "
        "'LOCK TABLE pgbench_branches' (idle in its transaction).",
    ),
    "log device": (
        SLOW | {"log_await": 0.0747, "log_writes": 90, "IO": 7.4, "wal": 7.3, "CPU": 0.3, "Lock": 0.1, "active": 7.8},
        "log_device",
        f"{SLOWER} 42.2 ms of the 43 ms increase are due to the log device: writes of sdb (log) "
        "take 74.7 ms, usually 800 µs (90.0/s, usually 500/s).",
    ),
    "data device": (
        SLOW
        | {"data_read_await": 0.05, "data_reads": 700, "IO": 7.4, "wal": 0.2, "CPU": 0.3, "Lock": 0.1, "active": 7.8}
        | {"data_writes": 900},
        "data_device",
        f"{SLOWER} 42.2 ms of the 43 ms increase are due to the data device: reads of sdc (data) "
        "take 50 ms, usually 500 µs (700/s, usually 800/s); it serves 700 operations/s more "
        "while the benchmark does less.",
    ),
    "checkpoint": (
        SLOW
        | {"checkpoint": 1, "checkpoint_bytes": 9e7, "requested": 0.2, "data_writes": 9000, "data_write_await": 0.04}
        | {"IO": 7.4, "wal": 3, "CPU": 0.3, "Lock": 0.1, "active": 7.8},
        "database",
        f"{SLOWER} All of the increase is due to the database: a requested checkpoint writes 90 MB/s "
        "without pauses (CHECKPOINT, a backup, or behind its schedule).",
    ),
    "server hog": (
        SLOW | {"idle": 0.01, "iowait": 0.01, "pressure": 0.9, "running": 12, "CPU": 7, "active": 7.6, "IO": 0.3},
        "server_cpu",
        f"{SLOWER} All of the increase is due to the processors of the server: "
        "the processors of db1 are 98 % busy, usually 25 %, 6.0 processes want each.",
    ),
    "steal": (
        SLOW | {"idle": 0.05, "iowait": 0.01, "steal": 0.6, "CPU": 7, "active": 7.6, "IO": 0.3},
        "server_cpu",
        f"{SLOWER} All of the increase is due to the processors of the server: "
        "the processors of db1 are 94 % busy, usually 25 %; the hypervisor takes 60 % (steal).",
    ),
    "client hog": (
        SLOW | {"client_idle": 0.02, "client_pressure": 0.9, "active": 0.8, "CPU": 0.3, "IO": 0.4, "wal": 0.2},
        "client_cpu",
        f"{SLOWER} All of the increase is due to the processors of the client: "
        "the processors of client1 are 99 % busy, usually 10 %.",
    ),
    "network": (
        SLOW | {"active": 0.8, "CPU": 0.3, "IO": 0.4, "wal": 0.2},
        "network",
        f"{SLOWER} All of the increase is due to the network: between the benchmark and the database.",
    ),
    "memory": (
        SLOW | {"memory": 0.5},
        "memory",
        f"{SLOWER} Memory: db1 is short of memory.",
    ),
    "a frozen server": (
        {"latency": 0.006, "tps": 0, "up": 0, "pg_up": 0},
        "server",
        "pgbench on db1 completes next to nothing for 19 s, usually 1,000 transactions/s. "
        "Server: db1 does not answer: its node_exporter is silent.",
    ),
}


CASES = {
    name: (fault, layer, f"{said}{RULED_OUT.get(layer, PROCESSORS)}") for name, (fault, layer, said) in _CASES.items()
}


def explained(samples: Seen, seconds: int = LENGTH - FAULT - 1) -> Explanation:
    """The explanation of the only slow time, that many seconds after its begin."""
    of = seen_run(samples, "tpcb", T0, T0 + LENGTH)
    judge = Judge()
    (when,) = judge.slow(of)
    assert FAULT - 2 <= when.begin - T0 <= FAULT + 3
    found = judge.why(of, when, when.begin + seconds)
    assert found
    return found


@pytest.mark.parametrize("name", CASES)
def test_the_layer_and_the_sentence_of_each_fault(name: str) -> None:
    fault, layer, expected = CASES[name]
    found = explained(seen(fault, more=[BLOCKER] if name == "lock" else []))
    assert found.cause.layer == layer
    assert sentence(found) == expected


@pytest.mark.parametrize("name", CASES)
def test_the_stages_add_up_to_the_latency_before_and_during_the_fault(name: str) -> None:
    found = explained(seen(CASES[name][0]))
    for picture in (found.usual, found.now):
        assert sum(picture.stages.values()) == pytest.approx(picture.latency, rel=1e-6)
    assert waterfall(found).rows[-1].cells[0] == "total"


def test_a_checkpoint_with_pauses_names_the_settings_that_decide_it() -> None:
    fault = CASES["checkpoint"][0]
    more = [
        gauge("pg_waiting_processes", 0, 1, host="db1", backend_type="checkpointer", wait_event="CheckpointWriteDelay"),
        gauge("pg_checkpoint_max_wal_size_bytes", 2**30, 2**30, host="db1"),
        gauge("pg_checkpoint_completion_target_ratio", 0.9, 0.9, host="db1"),
    ]
    assert explained(seen(fault, more=more)).cause.text == (
        "a requested checkpoint writes 90 MB/s; max_wal_size is 1024 MiB, checkpoint_completion_target 0.9"
    )


def test_the_processes_that_compete_are_named_with_what_they_use() -> None:
    def of(name: str, process: str, usual: float, now: float) -> Samples:
        return gauge(f"benchwatch_process_{name}", usual, now, host="db1", process=process)

    hog = [of("processors", "postgres", 1.5, 1.1), of("processors", "python3", 0.2, 0.9)]
    assert explained(seen(CASES["server hog"][0], more=hog)).cause.text.endswith(
        "6.0 processes want each; python3 uses 0.9 of them, usually 0.2"
    )
    disk = [of("disk_bytes_per_second", "postgres", 9e6, 8e6), of("disk_bytes_per_second", "fio", 0.0, 52e6)]
    assert explained(seen(CASES["data device"][0], more=disk)).cause.text.endswith(
        "while the benchmark does less; fio reads and writes 49.6 MiB/s, usually nothing"
    )


def test_the_database_itself_does_not_compete_where_its_usual_use_of_disks_was_not_looked_at() -> None:
    def seen_since_the_fault(process: str, value: float) -> Samples:
        one = gauge("benchwatch_process_disk_bytes_per_second", 0.0, value, host="db1", process=process)
        return one._replace(times=one.times[FAULT:], values=one.values[FAULT:])

    disk = [seen_since_the_fault("postgres", 12e6), seen_since_the_fault("fio", 8e6)]
    assert explained(seen(CASES["data device"][0], more=disk)).cause.text.endswith("; fio reads and writes 7.63 MiB/s")


def test_a_process_that_competes_is_named_beside_a_benchmark_of_a_fixed_rate_that_does_a_little_more() -> None:
    fault = CASES["data device"][0] | {"tps": 1150, "data_reads": 1400, "active": 55, "IO": 54}
    disk = gauge("benchwatch_process_disk_bytes_per_second", 0.0, 52e6, host="db1", process="fio")
    assert explained(seen(fault, more=[disk])).cause.text.endswith(
        "while the benchmark does 1.1 times as much; fio reads and writes 49.6 MiB/s, usually nothing"
    )
    alone = explained(seen(fault | {"tps": 1900, "active": 92, "IO": 91}, more=[disk]))
    assert "fio" not in sentence(alone), "the benchmark itself does more"


def test_operations_that_take_as_long_as_usual_but_are_fewer_are_no_devices_fault() -> None:
    fewer = {"tps": 150, "latency": 0.00601, "data_read_await": 0.002, "data_reads": 150, "active": 0.8, "IO": 0.4}
    found = explained(seen(fewer))
    said = "pgbench on db1 does 150 transactions/s (mean of 19 s), usually 1,000 transactions/s."
    assert sentence(found) == f"{said} No layer explains it.{PROCESSORS}"
    hot = explained(seen(fewer | {"client_idle": 0.0, "client_pressure": 0.9}))
    assert sentence(hot).startswith(
        f"{said} Processors of the client: the processors of client1 are 100 % busy, usually 10 %."
    )


def test_a_process_that_was_seen_for_a_moment_is_no_reason() -> None:
    once = gauge("benchwatch_process_processors", 0.0, 1.9, host="db1", process="cron")
    once = once._replace(times=once.times[-17:-16], values=once.values[-17:-16])
    assert "cron" not in sentence(explained(seen(CASES["server hog"][0], more=[once])))


def test_a_steady_run_is_never_slow() -> None:
    of = seen_run(seen({}), "tpcb", T0, T0 + LENGTH)
    assert Judge().slow(of) == []


def test_what_no_layer_explains_is_not_guessed_and_says_where_the_time_goes() -> None:
    found = explained(seen(SLOW | {"active": 7.2, "CPU": 0.5, "IO": 0.5, "wal": 0.2, "LWLock": 6.2}))
    assert (found.cause.layer, found.cause.text) == ("database", "other waits of the database")
    alone = explained(seen(SLOW, missing=("pg_",)))
    assert alone.cause.layer == NONE
    assert sentence(alone) == (
        f"{SLOWER} No layer explains it. Of the 43 ms increase: unexplained 43 ms.{PROCESSORS} "
        "Not seen: the database (no postgres_exporter)."
    )


def test_without_node_exporter_it_says_so_and_judges_by_the_rest() -> None:
    found = explained(seen(LOCKED, missing=("node_", "up"), more=[BLOCKER]))
    assert found.cause.layer == "database"
    assert sentence(found).endswith("Not seen: the server (no node_exporter).")


def test_holes_in_what_was_scraped_do_not_change_the_layer() -> None:
    whole = seen(CASES["log device"][0])
    holed = Seen(one._replace(times=one.times[::3], values=one.values[::3]) for one in whole.all())
    assert explained(holed).cause.layer == "log_device"


def test_a_device_below_a_millisecond_is_seen_if_it_explains_the_change() -> None:
    quick = {"latency": 0.0004, "tps": 18000, "active": 6, "CPU": 2.7, "IO": 3.2, "wal": 2.9, "log_await": 0.00016}
    fault = {"latency": 0.0014, "tps": 5200, "log_await": 0.0007, "active": 7, "IO": 6.4, "wal": 6.2, "CPU": 0.4}
    found = explained(seen(fault, usual=scenes.USUAL | quick))
    assert found.cause.layer == "log_device"
    assert "writes of sdb (log) take 700 µs, usually 160 µs" in sentence(found)


def test_a_slow_device_names_the_table_that_autovacuum_has_begun() -> None:
    fault = CASES["data device"][0]
    begun = gauge("pg_autovacuum_workers", 0, 1, host="db1", relation="public.pgbench_accounts")
    always = gauge("pg_autovacuum_workers", 1, 1, host="db1", relation="public.pgbench_history")
    found = explained(seen(fault, more=[begun, always])).cause.text
    assert found.endswith("; autovacuum of public.pgbench_accounts")


def test_what_is_ruled_out_is_only_what_was_measured_and_is_as_usual() -> None:
    network = CASES["network"][0]
    assert explained(seen(network)).ruled_out == PROCESSORS.strip()
    assert explained(seen(network, missing=["node_cpu"])).ruled_out == ""
    assert explained(seen(network | {"idle": 0.1, "iowait": 0})).ruled_out == "", "90 % busy, which waits for none"
    hog = CASES["server hog"][0]
    assert explained(seen(hog | {"log_await": 0.03})).ruled_out == ""
    assert explained(seen(hog, missing=["node_disk"])).ruled_out == ""


def test_the_objective_is_said_to_be_met_or_missed() -> None:
    found = explained(seen(CASES["network"][0]))
    for objective, said in ((0.02, "missed"), (0.1, "met")):
        one = found._replace(facts=found.facts._replace(objective=objective))
        assert sentence(one).endswith(f" The objective, a mean below {1000 * objective:.0f} ms, is {said}.")


def test_a_slow_time_says_from_when_to_when_and_has_no_now_once_it_is_over() -> None:
    now = explained(seen(CASES["network"][0]))._replace(end=T0 + LENGTH)
    assert period(now) == "slow since 14:15:20 UTC, still slow"
    assert [column.name for column in waterfall(now).columns[1:]] == ["usually", "now", "more"]
    over = now._replace(over=True)
    assert "(mean of 19 s)" in sentence(over)
    assert period(over) == "was slow 14:15:20 to 14:15:40 UTC (20 s), over"
    assert period(over, date=True) == "was slow 2026-09-21 14:15:20 to 14:15:40 UTC (20 s), over"
    assert [column.name for column in waterfall(over).columns[1:]] == ["usually", "slow", "more"]
    longer = over._replace(end=over.end + 60)
    assert "(mean of the first 19 s)" in sentence(longer)


def test_of_two_slow_devices_the_slower_one_is_named_first_each_with_its_role() -> None:
    slow_log, slow_data = {"log_await": 0.06, "log_writes": 90}, {"data_read_await": 0.02, "data_reads": 400}
    database = {"IO": 7.4, "wal": 5, "CPU": 0.3, "Lock": 0.1, "active": 7.8}
    text = explained(seen(SLOW | slow_log | slow_data | database)).cause.text
    assert text == (
        "writes of sdb (log) take 60 ms, usually 800 µs (90.0/s, usually 500/s); "
        "reads of sdc (data) take 20 ms, usually 500 µs"
    )


def test_each_layer_has_a_name() -> None:
    assert {layer for _, layer, _ in CASES.values()} <= NAMES.keys()
