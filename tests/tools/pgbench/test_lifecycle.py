"""How a run ends, and why; initialisation."""

import pickle

import pytest

from benchwatch.tools.pgbench.lifecycle import Lifecycle, LifecycleEvent

from .recordings import ARRIVED, PROGRESS, read, state_of, streams, values


@pytest.mark.parametrize(
    ("name", "outcome", "reason"),
    [
        ("client-abort-all-9.4.14", "failed", '3 of 3 clients aborted: ERROR: column "nosuchcol" does not exist'),
        ("client-abort-all-18.6", "failed", '3 of 3 clients aborted: ERROR: column "nosuchcol" does not exist'),
        ("client-abort-some-11bp", "failed", "8 of 8 clients aborted: ERROR: division by zero"),
        ("thread0-client-aborted-no-progress-15.18", "failed", "1 of 2 clients aborted: ERROR: division by zero"),
        ("server-stop-mid-15.18", "failed", "4 of 4 clients aborted: perhaps the backend died while processing"),
        (
            "conn-refused-9.6.5",
            "failed",
            'connection to database "bench" failed: could not connect to server: Connection refused',
        ),
        (
            "conn-refused-13.16",
            "failed",
            'connection to database "bench" failed: could not connect to server: Connection refused',
        ),
        ("conn-refused-18.6", "failed", 'connection to server at "127.0.0.1", port 55999 failed: Connection refused'),
        (
            "no-such-db-18.6",
            "failed",
            'connection to server at "127.0.0.1", port 55432 failed: FATAL: database "nosuchdb" does not exist',
        ),
        (
            "too-many-conns-15.18",
            "failed",
            'connection to server at "127.0.0.1", port 55432 failed: FATAL: sorry, too many clients already',
        ),
        ("sigint-init-18.6", "failed", "ERROR: canceling statement due to user request"),
        ("sigint-mid-15.18", "", ""),
        ("sigkill-mid-15.18", "", ""),
        ("init-s3-9.3.19", "finished", ""),
        ("init-serverside-fk-15.18", "finished", ""),
        ("deadlock-failures-15.18", "finished", ""),
        ("tpcb-9.3.19", "finished", ""),
    ],
)
def test_outcome_and_reason(name: str, outcome: str, reason: str) -> None:
    (state,) = read(streams(name))
    assert (state.outcome, state.reason) == (outcome, reason)
    assert (state.end is None) == (outcome == "")


def test_client_that_aborts_does_not_end_the_run() -> None:
    aborted = "pgbench: error: client 3 script 0 aborted in command 1 query 0: ERROR:  division by zero\n"
    state = state_of(PROGRESS.format(1, 10) + aborted + PROGRESS.format(2, 9))
    assert (state.outcome, state.reason, state.end) == ("", "1 client aborted: ERROR: division by zero", None)
    report = "transaction type: a.sql\nnumber of clients: 8\nnumber of transactions actually processed: 10\n"
    state = state_of(PROGRESS.format(1, 10) + aborted + report + "tps = 10.0 (without initial connection time)\n")
    assert (state.outcome, state.reason) == ("failed", "1 of 8 clients aborted: ERROR: division by zero")
    assert values(state)["pgbench_result_tps",] == 10.0


def test_error_in_a_run_under_way_does_not_end_it() -> None:
    lost = 'pgbench: error: connection to server at "h", port 5432 failed: timeout expired\n'
    assert state_of(lost).outcome == "failed"
    assert state_of(PROGRESS.format(1, 10) + lost + PROGRESS.format(2, 9)).outcome == ""


def test_exit_on_abort_ends_the_run_without_a_report() -> None:
    state = state_of(
        PROGRESS.format(1, 10)
        + "pgbench: error: client 1 script 0 aborted in command 1 query 0: ERROR:  division by zero\n"
        + "pgbench: error: Run was aborted due to an error in thread 0\n"
    )
    assert (state.outcome, state.reason, state.end) == ("failed", "1 client aborted: ERROR: division by zero", ARRIVED)


def test_vacuum_of_missing_tables_is_no_failure() -> None:
    note = 'starting vacuum...pgbench: error: ERROR:  relation "pgbench_branches" does not exist\n'
    assert state_of(note + "pgbench: detail: (ignoring this error and continuing anyway)\n").outcome == ""


def test_initialisation_belongs_to_the_run_that_follows() -> None:
    text = streams("init-s3-15.18")["init-s3-15.18.err"].decode()
    state = state_of(text)
    assert state.outcome == "finished"
    assert state.end == state.last_report == ARRIVED
    assert state.start == pytest.approx(ARRIVED - 0.26, abs=1e-6)
    assert values(state) == {("pgbench_scale_factor",): 3}
    assert state.parameters() == {"scale_factor": "3"}
    state = state_of(text + "pgbench (15.18)\nstarting vacuum...end.\n")
    assert (state.outcome, state.start, state.end) == ("", None, None)
    state = state_of(text + "pgbench (15.18)\nstarting vacuum...end.\n" + PROGRESS.format(1, 10))
    assert state.start == ARRIVED - 1


def test_a_flood_of_errors_is_remembered_by_its_first_and_its_fatal_ones() -> None:
    course = Lifecycle()
    for number in range(10_000):
        course.add(LifecycleEvent("fatal" if number == 7_000 else "failed", f"error {number}"))
    course.progressed = True
    assert (course.outcome, course.reason) == ("failed", "error 0")
    assert len(pickle.dumps(course)) < 10_000
