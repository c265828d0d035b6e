"""A PostgreSQL server of the demo's own: data in its folder, a free loopback port, a password.

It refuses to run as root, so root runs it as `postgres` (or `nobody`). That user may not be let into the folders
above (a checkout in /root), so the server gets an open descriptor of its folder and reaches its data through it.
"""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
from pathlib import Path

from demo_processes import Failure, Process, Processes

SCALE = 4
USER = "benchwatch"
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "dynamic_shared_memory_type": "mmap",  # in the data folder, not in /dev/shm
    "huge_pages": "off",  # those that are reserved are for others
    "max_wal_size": "256MB",
    "checkpoint_timeout": "30s",
}


class Postgres:
    """The server and the tables of pgbench; `folder` is the demo's folder, `port` a free one."""

    def __init__(self, processes: Processes, folder: Path, port: int) -> None:
        self.port = port
        self.pgpass = folder / "pgpass"
        self._processes = processes
        self._home = folder / "postgres"
        self._programs = _programs()
        self._user = _unprivileged_user() if os.geteuid() == 0 else None
        self.version = subprocess.check_output([self._program("postgres"), "--version"], text=True).strip()

    def start(self) -> Process:
        """Starts the server with the tables of pgbench, which are made if they are not there yet. Raises Failure."""
        complete, wanted = self._home / "complete", f"{self.version}, scale {SCALE}\n"
        fresh = not complete.exists() or complete.read_text() != wanted
        if fresh:
            print(f"Making a PostgreSQL cluster in {self._home}", flush=True)
            self._make_home()
        descriptor = os.open(self._home, os.O_PATH | os.O_DIRECTORY)
        home = f"/proc/self/fd/{descriptor}"
        if fresh:
            self._initialise(home, descriptor)
        options = [f"--{name}={value}" for name, value in _SETTINGS.items()]
        server = self._processes.start(
            "postgres",
            [self._program("postgres"), "-D", f"{home}/data", "-p", str(self.port), *options],
            user=self._user,
            stop=signal.SIGINT,
            descriptors=[descriptor],
        )
        os.close(descriptor)
        self._processes.wait_until(server, self._accepts_connections)
        if fresh:
            print(f"Filling the tables of pgbench, scale {SCALE}", flush=True)
            self._processes.run("pgbench-init", self.pgbench("-i", "-q", "-s", str(SCALE)))
            complete.write_text(wanted)
        return server

    def pgbench(self, *options: str) -> list[str]:
        """The command of pgbench against this server."""
        return [self._program("pgbench"), *options, "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "postgres"]

    def make_database(self, name: str) -> None:
        """Makes an empty database, in place of one of that name. Raises Failure."""
        options = ["-h", "127.0.0.1", "-p", str(self.port), "-U", USER]
        self._processes.run("dropdb", [self._program("dropdb"), *options, "--if-exists", name])
        self._processes.run("createdb", [self._program("createdb"), *options, name])

    def connection(self) -> str:
        """Where the server is and as whom to connect, for libpq; the password is in `pgpass`."""
        return f"host=127.0.0.1 port={self.port} user={USER}"

    def _make_home(self) -> None:
        shutil.rmtree(self._home, ignore_errors=True)
        password = secrets.token_hex(16)
        self.pgpass.touch(mode=0o600)
        self.pgpass.write_text(f"*:*:*:{USER}:{password}\n")
        (self._home / "data").mkdir(parents=True, mode=0o700)
        (self._home / "password").touch(mode=0o600)
        (self._home / "password").write_text(password)
        if self._user:
            for path in (self._home, self._home / "data", self._home / "password"):
                os.chown(path, self._user.pw_uid, self._user.pw_gid)

    def _initialise(self, home: str, descriptor: int) -> None:
        command = [self._program("initdb"), "-D", f"{home}/data", "-U", USER, "-E", "UTF8", "--no-locale", "--no-sync"]
        command += ["--auth=scram-sha-256", f"--pwfile={home}/password"]
        self._processes.run("initdb", command, user=self._user, descriptors=[descriptor])
        (self._home / "password").unlink()

    def _accepts_connections(self) -> bool:
        command = [self._program("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(command, check=False).returncode == 0

    def _program(self, name: str) -> str:
        return str(self._programs / name)


def _programs() -> Path:
    """The folder of the server's programs: that of PATH, else Debian's of the newest version."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not versions:
        raise Failure(
            "PostgreSQL's server programs were not found: install the package postgresql (scripts/setup does)"
        )
    return versions[-1].parent


def _unprivileged_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")
