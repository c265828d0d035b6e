"""The queries for postgres_exporter, run by a real one on a real PostgreSQL."""

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import requests
import yaml

from demo_processes import Process, Processes
from tests.support.ports import free_address
from tests.support.servers import Database, Page
from tests.support.waiting import PATIENCE, eventually

ROOT = Path(__file__).parents[2]
QUERIES = yaml.safe_load((ROOT / "prometheus" / "postgres_queries.yml").read_text())
NOBODY_WAITS = {
    "pg_waiting_processes",
    "pg_locks_longest_wait_seconds",
    "pg_blocking_processes",
    "pg_autovacuum_workers",
}
"""Metrics that are absent while nothing is waited for or vacuumed."""


def metrics() -> set[str]:
    """Every metric that the queries name."""
    columns = [
        (query, *one) for query, asked in QUERIES.items() for column in asked["metrics"] for one in column.items()
    ]
    return {f"{query}_{name}" for query, name, meaning in columns if meaning["usage"] != "LABEL"}


@pytest.fixture
def page(server: Database, processes: Processes) -> Callable[[], Page]:
    """Asks the exporter of that server: series without the label `server`."""
    address = free_address()
    where = {"DATA_SOURCE_NAME": f"{server.postgres.connection()} dbname=postgres sslmode=disable"}
    command = [str(ROOT / "scripts" / "postgres-exporter"), f"--web.listen-address={address}"]
    processes.wait_for(processes.start("exporter", command, environment=where), f"http://{address}/metrics")

    def ask() -> Page:
        text = re.sub(
            r'server="[^"]*",|,?server="[^"]*"', "", requests.get(f"http://{address}/metrics", timeout=PATIENCE).text
        )
        lines = (line.rsplit(" ", 1) for line in text.splitlines() if line.startswith("pg_"))
        return {series.removesuffix("{}"): float(number) for series, number in lines}

    return ask


def sql(server: Database, tmp_path: Path, statements: str) -> str:
    return subprocess.run(
        psql(server, statements), env=environment(tmp_path), capture_output=True, text=True, check=True
    ).stdout.strip()


def position(server: Database, tmp_path: Path) -> float:
    """Bytes of WAL so far; now and then there are some more, of the server's own."""
    return float(sql(server, tmp_path, "SELECT pg_current_wal_insert_lsn() - '0/0'"))


def psql(server: Database, statements: str) -> list[str]:
    return ["psql", f"{server.postgres.connection()} dbname=postgres", "-qAtX", "-c", statements]


def environment(tmp_path: Path) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "PGPASSFILE": str(tmp_path / "pgpass")}


def test_every_metric_is_there_with_what_postgresql_says(
    server: Database, page: Callable[[], Page], tmp_path: Path
) -> None:
    before = page()
    sql(
        server,
        tmp_path,
        "CREATE TABLE filled AS SELECT generate_series(1, 20000); CHECKPOINT",
    )
    low = position(server, tmp_path)
    pages: list[Page] = []

    def is_over() -> bool:
        pages.append(page())
        more = pages[-1]["pg_checkpoint_requested_total"] > before["pg_checkpoint_requested_total"]
        return more and pages[-1]["pg_checkpoint_active"] == 0  # nor is there one that came by itself

    eventually(is_over, "a checkpoint")
    high = position(server, tmp_path)
    after = pages[-1]
    assert {re.sub(r"{.*", "", series) for series in after} & metrics() | NOBODY_WAITS == metrics()
    assert after["pg_up"] == 1
    assert after["pg_checkpoint_requested_total"] == before["pg_checkpoint_requested_total"] + 1
    written = {who: after[f'pg_buffers_written_bytes_total{{by="{who}"}}'] for who in ("checkpointer", "others")}
    assert written["checkpointer"] % 8192 == 0
    assert written["checkpointer"] >= before['pg_buffers_written_bytes_total{by="checkpointer"}'] + 80 * 8192
    assert low <= after["pg_wal_bytes_total"] <= high


def test_a_session_that_waits_for_a_lock_is_counted_under_what_it_waits_for(
    server: Database, page: Callable[[], Page], processes: Processes, tmp_path: Path
) -> None:
    idle = page()
    assert idle["pg_locks_waiting"] == 0
    assert not {series for series in idle for name in NOBODY_WAITS if series.startswith(name) and "client" in series}
    assert {number for series, number in idle.items() if series.startswith("pg_sessions_active")} == {0}, (
        "not even its own"
    )
    started: list[Process] = []
    for name, statements in (
        ("holder", "BEGIN; LOCK TABLE pgbench_branches; SELECT pg_sleep(600), 'secret'"),
        ("waiter", "SELECT count(*) FROM pgbench_branches"),
    ):
        started.append(processes.start(name, psql(server, statements)))
        active = len(started)
        eventually(lambda n=active: sum(v for s, v in page().items() if s.startswith("pg_sessions_active")) == n, name)
    eventually(lambda: page()["pg_locks_waiting"] == 1, "a lock that is waited for")
    waiting = page()
    assert waiting['pg_sessions_active{wait_event_type="Lock"}'] == 1
    assert waiting['pg_sessions_active{wait_event_type="Timeout"}'] == 1, "pg_sleep"
    assert (
        waiting['pg_waiting_processes{backend_type="client backend",wait_event="relation",wait_event_type="Lock"}'] == 1
    )
    eventually(lambda: page().get("pg_locks_longest_wait_seconds", 0) > 0, "how long it waits")
    blocking = {series: number for series, number in page().items() if series.startswith("pg_blocking_processes")}
    masked = "BEGIN; LOCK TABLE pgbench_branches; SELECT pg_sleep(?), ?"
    assert blocking == {
        f'pg_blocking_processes{{query="{masked}",relation="pgbench_branches",state="active"}}': 1,
    }


def test_the_table_that_autovacuum_reads_is_named(server: Database, page: Callable[[], Page], tmp_path: Path) -> None:
    slowly = "autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1"
    always = "autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0"
    sql(server, tmp_path, f"CREATE TABLE dead WITH ({slowly}, {always}) AS SELECT generate_series(1, 50000) AS number")
    sql(server, tmp_path, "UPDATE dead SET number = number + 1")
    sql(server, tmp_path, "ALTER SYSTEM SET autovacuum_naptime = '1s'")
    sql(server, tmp_path, "SELECT pg_reload_conf()")
    try:
        eventually(lambda: page().get('pg_autovacuum_workers{relation="public.dead"}') == 1, "autovacuum of the table")
    finally:
        sql(server, tmp_path, "ALTER SYSTEM RESET autovacuum_naptime")
        sql(server, tmp_path, "SELECT pg_reload_conf()")
        sql(server, tmp_path, "DROP TABLE dead")


def test_the_time_of_sessions_is_counted_not_sampled(
    server: Database, page: Callable[[], Page], tmp_path: Path
) -> None:
    """A second in a statement, and two in a transaction between statements, as the session itself measures them."""

    def counted() -> tuple[float, float]:
        names = ("active", "idle_in_transaction")
        active, idle = (page()[f"pg_sessions_time_{name}_seconds_total"] for name in names)
        return active, idle

    active, idle = counted()
    begun = time.monotonic()
    statements = "BEGIN;\nSELECT pg_sleep(1);\n\\! sleep 2\nCOMMIT;\n"
    command = [*psql(server, "")[:-2], "-f", "-"]
    subprocess.run(command, input=statements, env=environment(tmp_path), text=True, check=True, capture_output=True)
    lasted = time.monotonic() - begun
    eventually(lambda: counted()[1] >= idle + 2, "the session's time, which it adds when it ends")
    found = counted()
    assert 2 <= found[1] - idle <= lasted
    assert found[0] - active >= 1
