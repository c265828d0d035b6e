import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo_postgres import Postgres
from demo_processes import Processes
from tests.support.ports import free_port
from tests.support.servers import Database, Exporter, copy_cluster


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    logs = tmp_path / "logs"
    logs.mkdir()
    started = Processes(logs, os.environ | {"PGPASSFILE": str(tmp_path / "pgpass")})
    yield started
    started.stop_all()


@pytest.fixture
def exporter(processes: Processes, tmp_path: Path) -> Exporter:
    (tmp_path / "runs").mkdir()
    return Exporter(processes, tmp_path / "runs")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a filled PostgreSQL cluster that nothing runs on, made once for all workers of pytest-xdist.

    A commit takes it 30 ms, so that benchmarks on it leave the processors to other tests.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "cluster"
    with (shared / "cluster.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            folder.mkdir()
            processes = Processes(folder, os.environ | {"PGPASSFILE": str(folder / "pgpass")})
            try:
                Postgres(processes, folder, free_port()).start()
            finally:
                processes.stop_all()
            with (folder / "postgres" / "data" / "postgresql.conf").open("a") as settings:
                settings.write("commit_delay = 30000\ncommit_siblings = 0\n")
            (folder / "made").touch()
    return folder


@pytest.fixture
def server(processes: Processes, cluster: Path, tmp_path: Path) -> Iterator[Database]:
    """A server on a copy of that cluster."""
    copy_cluster(cluster, tmp_path)
    running = Database(Postgres(processes, tmp_path, free_port()))
    yield running
    running.freeze(signal.SIGCONT)
