"""HammerDB against what its own output says, read here without the parser."""

import re
from pathlib import Path

import pytest

from benchwatch.machine.host import Host
from benchwatch.metrics.buckets import Buckets
from benchwatch.results.subject import read as read_results
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.hammerdb import HAMMERDB
from benchwatch.tools.invocation import Benchmark, find_benchmark
from benchwatch.tools.kit import ToolReport
from benchwatch.tools.kit.state import KitState
from benchwatch.tools.launcher import Command, CommandLine
from benchwatch.tools.registry import named
from tests.support.places import RECORDINGS

FOLDER = RECORDINGS / "hammerdb"
LOOP = "test-vu-loop-4.12"
NAMES = sorted(path.name for path in FOLDER.iterdir() if path.name != LOOP)


def data_of(name: str, suffix: str = "out") -> bytes:
    return (FOLDER / name / f"{name}.{suffix}").read_bytes()


def read(*streams: bytes) -> tuple[KitState, list[ToolReport], list[Misread]]:
    state = HAMMERDB.state(Buckets())
    assert isinstance(state, KitState)
    reports, misread = [], []
    for place, data in enumerate(streams):
        parser = HAMMERDB.parser("text")
        for record in (*parser.feed(data), *parser.close()):
            assert not isinstance(record, Begin)
            if isinstance(record, Misread):
                misread.append(record)
                continue
            reports += [record] if isinstance(record, ToolReport) and record.figures else []
            state.apply(record, str(place), 0.0)
    return state, reports, misread


def values(state: KitState, family: str) -> dict[tuple[str, ...], float]:
    found = state.samples(current=True)
    return {one.labels: one.value for one in found if one.family.name == f"hammerdb_{family}"}  # type: ignore[misc]


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_understood_and_each_of_the_counter_is_a_report(name: str) -> None:
    state, reports, misread = read(data_of(name))
    assert misread == []
    before = data_of(name).partition(b"TEST RESULT")[0].partition(b"ALL VIRTUAL USERS COMPLETE")[0].decode()
    counted = [float(tpm) for tpm in re.findall(r"^(\d+) PostgreSQL tpm\r?$", before.replace("\r", "\n"), re.M)]
    refresh = float(re.findall(r"refresh rate set to (\d+)", before)[0])
    rates = [(report.time, report.figures["rate", "PostgreSQL"]) for report in reports if ("ramp",) in report.figures]
    assert rates == [((place + 1) * refresh, tpm) for place, tpm in enumerate(counted[1:])]
    wrong = re.findall(r"Vuser \d+:([\w ]+) Procedure Error", data_of(name).decode())
    assert values(state, "errors_total") == {(each,): wrong.count(each) for each in set(wrong)}
    assert state.tool_version == "4.12"


@pytest.mark.parametrize(
    ("name", "nopm", "tpm"),
    [
        ("timed-no-timestamps-4.12", 17100.0, 39755.0),
        ("timed-profile-4.12", 18065.0, 41175.0),
        ("timed-rampup-refresh5-4.12", 19776.666666666668, 45713.333333333336),
    ],
)
def test_the_result_is_that_of_the_tool(name: str, nopm: float, tpm: float) -> None:
    state, _, _ = read(data_of(name))
    assert values(state, "result_nopm") == {(): nopm}
    assert values(state, "result_tpm") == {("PostgreSQL",): tpm}
    assert state.figures().throughput == tpm
    assert (state.outcome, values(state, "virtual_users")) == ("finished", {(): 2.0})


def test_the_older_form_of_the_result_is_read() -> None:
    old = b"Vuser 1:TEST RESULT : System achieved 41175 MSSQLServer TPM at 18065 NOPM\n"
    state, _, _ = read(b"HammerDB CLI v3.3\n" + old)
    assert values(state, "result_nopm") == {(): 18065.0}
    assert values(state, "result_tpm") == {("MSSQLServer",): 41175.0}


def test_the_time_profile_gives_each_procedure_of_all_virtual_users_together() -> None:
    state, _, misread = read(data_of("timed-profile-4.12"), data_of("timed-profile-4.12", "err"))
    assert misread == []
    assert values(state, "result_calls")["NEWORD",] == 14474
    assert values(state, "result_latency_average_seconds")["NEWORD",] == 0.003008
    assert values(state, "result_latency_max_seconds")["NEWORD",] == 0.081602
    quantiles = values(state, "result_latency_seconds")
    assert [quantiles["SLEV", quantile] for quantile in ("0.5", "0.95", "0.99")] == [0.002901, 0.009964, 0.016331]
    assert {labels[0] for labels in quantiles} == {"NEWORD", "PAYMENT", "DELIVERY", "SLEV", "OSTAT"}


def test_connections_that_all_failed_are_a_failed_run_although_the_exit_code_is_0() -> None:
    state, reports, _ = read(data_of("connection-failed-4.12"))
    assert (state.outcome, state.reason, reports) == ("failed", "Connection to database failed", [])


def test_a_ramp_up_is_known_while_it_lasts() -> None:
    _, reports, _ = read(data_of("timed-rampup-refresh5-4.12"))
    assert [report.figures["ramp",] for report in reports[:2]] == [1.0, 0.0]


def test_the_program_of_another_name_is_the_tool() -> None:
    found = find_benchmark(["hammerdbcli", "tcl", "auto", "x.tcl"], {HAMMERDB.program})
    assert named(found.tool) is HAMMERDB
    assert named("") is None


SCRIPT = """\
dbset db pg
# diset tpcc pg_duration 99
diset connection pg_host 127.0.0.1
diset tpcc pg_count_ware $warehouses
diset tpcc pg_driver timed
diset tpcc pg_rampup 2
diset tpcc pg_duration 5
diset tpcc pg_timeprofile true
vuset vu 4
vucreate
tcstart
vurun
"""


def command_of(folder: Path, script: str) -> Command:
    (folder / "a.tcl").write_text(script)
    assert HAMMERDB.launcher is not None
    return HAMMERDB.launcher(CommandLine(["tcl", "auto", str(folder / "a.tcl")]))


def test_the_launcher_reads_what_the_script_sets(tmp_path: Path) -> None:
    command = command_of(tmp_path, SCRIPT)
    assert command.length == 420
    assert command.writes["profile"].name == "hdbxtprofile.log" and not command.remarks
    benchmark = Benchmark((), str(tmp_path / "hammerdbcli"), (), "hammerdb")
    found = command.facts(benchmark, Host()).parameters
    assert found["virtual_users"] == "4" and "warehouses" not in found


def test_a_script_that_reports_nothing_is_remarked(tmp_path: Path) -> None:
    prepared = command_of(tmp_path, SCRIPT.replace("tcstart\n", "").replace("timed", "test"))
    assert prepared.remarks == ("the script has no tcstart, so nothing is shown while HammerDB runs",)
    assert command_of(tmp_path, SCRIPT.replace("timed", "test")).length is None


def test_a_test_in_which_no_order_succeeded_failed() -> None:
    """HammerDB ends with code 0 although each of its calls failed."""
    text = (
        "HammerDB CLI v4.12\nVuser 1:Timing test period of 1 in minutes\n"
        "Vuser 2:New Order Procedure Error set RAISEERROR for Details\n"
        "Vuser 1:TEST RESULT : System achieved 0 NOPM from 92 PostgreSQL TPM\nALL VIRTUAL USERS COMPLETE\n"
    )
    state, _, misread = read(text.encode())
    assert misread == []
    assert (state.outcome, state.reason) == ("failed", "no new order succeeded: 0 NOPM")


def test_counters_of_one_server_are_not_added(tmp_path: Path) -> None:
    """Each of them counts what all clients of the server do."""
    for worker in ("db1", "db2"):
        (tmp_path / f"{worker}.out").write_bytes(data_of("timed-no-timestamps-4.12"))
    subjects = read_results([tmp_path], RunsSettings())
    assert [len(result.workers) for subject in subjects for result in subject.results] == [1, 1]


def test_the_monitor_alone_is_no_virtual_user() -> None:
    state, _, _ = read(b"HammerDB CLI v4.12\n0 Virtual Users Created with Monitor VU\n")
    assert values(state, "virtual_users") == {(): 0.0}


def test_virtual_users_created_after_a_result_are_another_run_with_the_same_settings() -> None:
    parser, states = HAMMERDB.parser("text"), [HAMMERDB.state(Buckets())]
    for record in (*parser.feed(data_of(LOOP)), *parser.close()):
        assert not isinstance(record, Misread)
        if isinstance(record, Begin):
            states.append(HAMMERDB.state(Buckets()))
        else:
            states[-1].apply(record, "out", 0.0)
    text = data_of(LOOP).decode().replace("\r", "\n")
    results = re.findall(r"achieved ([\d.]+) NOPM from ([\d.]+) PostgreSQL TPM", text)
    assert len(results) == len(states) == 2
    for state, users, (nopm, tpm), part in zip(states, (1, 2), results, text.split("vudestroy success"), strict=False):
        assert isinstance(state, KitState)
        assert (state.outcome, state.tool_version) == ("finished", "4.12")
        assert (state.parameters()["database"], state.parameters()["benchmark"]) == ("PostgreSQL", "TPC-C")
        assert values(state, "virtual_users") == {(): float(users)}
        assert values(state, "result_nopm") == {(): float(nopm)}
        assert values(state, "result_tpm") == {("PostgreSQL",): float(tpm)}
        counted = re.findall(r"^(\d+) PostgreSQL tpm$", part.partition("TEST RESULT")[0], re.M)[1:]
        assert [report.throughput for report in state.history] == [float(rate) for rate in counted]


@pytest.mark.parametrize(
    ("line", "procedure"),
    [
        ("Vuser 2:Stock Level in vuser2:ac1 : ERROR: function slev does not exist", "Stock Level"),
        ("Vuser 3:Payment in vuser3:ac1 : server closed the connection unexpectedly", "Payment"),
        ("Vuser 3:New Order Bind/Exec in vuser3:ac1 : ORA-1", "New Order"),
        ("Vuser 3:Error in vuser3:ac1 Order Status : ORA-1", "Order Status"),
        ("Vuser 3:vuser3:ac1:login failed:no password", "login"),
    ],
)
def test_what_fails_in_an_asynchronous_client_is_counted(line: str, procedure: str) -> None:
    state, _, misread = read(
        f"Vuser 1:Timing test period of 1 in minutes\n0 PostgreSQL tpm\n{line}\n9 PostgreSQL tpm\n".encode()
    )
    assert values(state, "errors_total") == {(procedure,): 1.0}
    assert misread == []


def test_a_monitor_that_failed_has_no_result() -> None:
    state, _, _ = read(data_of("server-stop5s-4.12"))
    assert (state.outcome, state.reason) == ("failed", "Vuser 1:FINISHED FAILED")
