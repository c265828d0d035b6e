"""The final report of every version."""

import pytest

from benchwatch.tools.api import Misread
from benchwatch.tools.pgbench.summary import Complete, Entry

from .recordings import ARRIVED, read, state_of, streams, text_records, values


def results(name: str) -> dict[tuple[str, ...], object]:
    (state,) = read(streams(name))
    return {key: value for key, value in values(state, current=False).items() if not key[0].endswith("_total")}


def test_report_of_9_3() -> None:
    assert results("tpcb-9.3.19") == {
        ("pgbench_clients",): 4,
        ("pgbench_threads",): 2,
        ("pgbench_scale_factor",): 2,
        ("pgbench_duration_seconds",): 4,
        ("pgbench_result_tps",): 6953.252701,
        ("pgbench_result_transactions",): 27799,
    }


def test_report_of_9_4_with_rate_limit() -> None:
    found = results("rate-lat-9.4.14")
    assert found["pgbench_result_tps",] == 395.559791
    assert found["pgbench_result_transactions",] == 1584
    assert found["pgbench_result_latency_average_seconds",] == 0.000611
    assert found["pgbench_result_latency_stddev_seconds",] == 0.000647
    assert found["pgbench_result_rate_limit_lag_average_seconds",] == 0.000111
    assert found["pgbench_result_rate_limit_lag_max_seconds",] == 0.005987


def test_report_of_10_with_rate_and_latency_limit() -> None:
    (state,) = read(streams("rate-lat-10bp"))
    found = values(state)
    assert found["pgbench_transactions_total",] == 1615
    assert found["pgbench_skipped_transactions_total",] == 3
    assert found["pgbench_result_late_transactions",] == 5
    assert state.parameters()["latency_limit"] == "3.0 ms"


def test_report_of_14_with_connection_time_and_server_version() -> None:
    (state,) = read(streams("rate-lat-14bp"))
    assert results("rate-lat-14bp")["pgbench_result_connection_seconds",] == 0.005123
    assert results("rate-lat-14bp")["pgbench_result_tps",] == 384.696493
    assert state.tool_version == "15devel"
    assert state.parameters() == {
        "transaction_type": "<builtin: TPC-B (sort of)>",
        "scale_factor": "2",
        "query_mode": "simple",
        "clients": "4",
        "threads": "2",
        "duration": "4 s",
        "latency_limit": "3.0 ms",
        "server_version": "15.18 (Debian 15.18-0+deb12u1)",
    }


@pytest.mark.parametrize(
    ("name", "tps", "connection"), [("connect-C-13.16", 470.783499, None), ("connect-C-15.18", 255.982915, 0.003695)]
)
def test_report_with_a_connection_for_each_transaction(name: str, tps: float, connection: float | None) -> None:
    (state,) = read(streams(name))
    assert values(state)["pgbench_result_tps",] == tps
    assert values(state).get(("pgbench_result_connection_seconds",)) == connection
    assert state.parameters().get("connections") == ("one per transaction" if connection else None)


def test_report_of_18_with_partitions() -> None:
    (state,) = read(streams("tpcb-partitioned-18.6"))
    assert state.tool_version == "18.6"
    assert {name: state.parameters()[name] for name in ("partitions", "partition_method", "max_tries", "duration")} == {
        "partitions": "3",
        "partition_method": "hash",
        "max_tries": "1",
        "duration": "1 s",
    }


def test_report_with_failures_and_retries() -> None:
    found = results("serial-maxtries3-detailed-15.18")
    assert found["pgbench_result_failed_transactions", "serialization"] == 5556
    assert found["pgbench_result_failed_transactions", "deadlock"] == 0
    update = "UPDATE hot SET abalance = abalance + 1 WHERE id = :id;"
    assert found["pgbench_result_statement_latency_average_seconds", "0", update] == 0.000158
    assert found["pgbench_result_statement_failures", "0", update] == 4462
    assert found["pgbench_result_statement_retries", "0", update] == 13178


def test_report_of_19_with_other_failures() -> None:
    """By its source: --failures-detailed prints a line more."""
    deadlocks = "number of deadlock failures: 0 (0.000%)\n"
    name = "serial-maxtries3-detailed-15.18"
    report = streams(name)[f"{name}.out"].decode()
    assert deadlocks in report
    report = report.replace(deadlocks, f"{deadlocks}number of other failures: 7 (0.070%)\n")
    (state,) = read({"a.out": report.encode()})
    found = values(state)
    assert found["pgbench_result_failed_transactions", "other"] == 7
    assert found["pgbench_result_failed_transactions", "serialization"] == 5556
    assert not [record for record in text_records(report) if isinstance(record, Misread)]


@pytest.mark.parametrize(
    "name", ["multi-script-r-9.6.5", "multi-script-r-11bp", "multi-script-r-15.18", "multi-script-r-18.6"]
)
def test_each_script_and_statement(name: str) -> None:
    (state,) = read(streams(name))
    found = values(state)
    text = streams(name)[f"{name}.out"].decode()
    statements = [key for key in found if key[0] == "pgbench_result_statement_latency_average_seconds"]
    assert len(statements) == sum("  " in line and line.startswith("   ") for line in text.splitlines()) == 18
    counts = [found["pgbench_result_script_transactions", script] for script in "012"]
    for script, count in enumerate(counts):
        assert f" - {count} transactions" in text
        assert f"tps = {found['pgbench_result_script_tps', str(script)]:.6f}" in text
        assert (
            f" - latency average = {found['pgbench_result_script_latency_average_seconds', str(script)] * 1e3:.3f} ms"
            in text
        )
    assert state.parameters()["script_0"] == "<builtin: TPC-B (sort of)>"
    assert state.parameters()["script_2"] == "scripts/readw.sql"
    assert state.parameters()["script_1_weight"] == "5"


@pytest.mark.parametrize("name", ["multi-script-r-9.3.19", "multi-script-r-9.4.14"])
def test_statements_by_file_up_to_9_5(name: str) -> None:
    (state,) = read(streams(name))
    records = text_records(streams(name)[f"{name}.out"].decode())
    statements = [one.labels for one in records if isinstance(one, Entry) and one.name.startswith("statement_latency")]
    assert [script for script, _ in statements] == ["0"] * 5 + ["1"] * 2
    assert statements[0][1] == "\\setrandom aid 1 200000"
    assert state.outcome == "finished"


def test_equal_statements_and_long_ones_stay_apart() -> None:
    long = "SELECT " + "x" * 300
    report = (
        "transaction type: a.sql\ntps = 1.000000 (without initial connection time)\n"
        "statement latencies in milliseconds:\n"
        f"         1.000  SELECT 1;\n         2.000  SELECT 1;\n         3.000  {long}\n         4.000  {long}y\n"
    )
    name = "pgbench_result_statement_latency_average_seconds"
    found = {key[2]: value for key, value in values(state_of(report)).items() if key[0] == name}
    assert found == {"SELECT 1;": 0.001, "2: SELECT 1;": 0.002, long[:200]: 0.003, f"4: {long[:200]}": 0.004}


def test_report_of_a_run_in_which_nothing_was_executed() -> None:
    (state,) = read({"client-abort-all-15.18.out": streams("client-abort-all-15.18")["client-abort-all-15.18.out"]})
    assert state.outcome == "failed"
    assert state.reason == "no transaction completed"
    assert values(state)["pgbench_failed_transactions_total",] == 0
    assert ("pgbench_result_tps",) not in values(state)


def test_figures_that_pgbench_divided_by_zero_are_absent() -> None:
    records = text_records(
        "transaction type: a.sql\nlatency average = -nan ms\ntps = inf (excluding connections establishing)\n"
    )
    assert [record for record in records if isinstance(record, Entry) and not isinstance(record.value, str)] == []
    assert isinstance(records[-1], Complete)


def test_settings_that_a_wrapper_prints_are_not_pgbenchs() -> None:
    before = text_records("duration: 60 s\nnumber of clients: 99\n")
    assert [record.reason for record in before] == ["other_text", "other_text"]
    state = state_of(
        "number of clients: 99\ntransaction type: a.sql\nnumber of clients: 4\n"
        "tps = 1.000000 (without initial connection time)\nnumber of clients: 7\n"
    )
    assert state.parameters()["clients"] == "4"


@pytest.mark.parametrize(
    "line",
    [
        "number of clients: four",
        "tps = fast",
        "latency average = 1,5 ms",
        "number of failed transactions: 3",
        "duration: 4",
    ],
)
def test_line_that_begins_as_one_of_the_report_and_is_none_is_misread(line: str) -> None:
    start, record = text_records(f"transaction type: a.sql\n{line}\n")
    assert start == Entry("transaction_type", "a.sql")
    assert isinstance(record, Misread)
    assert (record.reason, record.where) == ("summary_line", "line 2")
    assert record.text.startswith(line)


def test_every_line_of_a_report_is_understood() -> None:
    for name in (
        "multi-script-rate-limit-18.6",
        "serial-nolimit-retries-verbose-15.18",
        "multi-script-rate-limit-9.6.5",
        "rate-lat-10bp",
    ):
        records = text_records(streams(name)[f"{name}.out"].decode())
        assert not [record for record in records if isinstance(record, Misread)]


@pytest.mark.parametrize(
    "line",
    [
        "number of transactions actually processed: 9223372036854775808",
        "number of transactions actually processed: -1",
        "duration: 99999999999 s",
        "latency average = 99999999999.000 ms",
        "tps = 99999999999.0 (without initial connection time)",
    ],
)
def test_a_number_that_no_run_can_have_is_misread(line: str) -> None:
    _, misread = text_records(f"transaction type: a.sql\n{line}\n")
    assert isinstance(misread, Misread)
    assert (misread.reason, misread.text.startswith(f"{line} (begins with")) == ("summary_line", True)


def test_a_rate_that_would_need_centuries_dates_nothing() -> None:
    report = "transaction type: a\nnumber of transactions actually processed: 999999999999999\ntps = 0.000001 ({})\n"
    state = state_of(report.format("without initial connection time"), arrived=ARRIVED)
    assert (state.start, state.end, state.last_report) == (None, ARRIVED, ARRIVED)
