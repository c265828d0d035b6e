"""A launcher on its own, with made-up tools: shell scripts that are called pgbench, fio and psql."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NoReturn

import yaml

import benchwatch.__main__
import benchwatch.launch.series  # noqa: F401 (all that a launcher imports, for those that are forked)
from tests.support.waiting import PATIENCE, eventually

PATIENT = f"""
import sys
from benchwatch.__main__ import entry
from benchwatch.launch import launch, preparation
from benchwatch.tools import postgres
preparation._PATIENCE = postgres._PATIENCE = launch._LEFT_BEHIND = {PATIENCE}
postgres._QUESTIONS = postgres._QUESTIONS.replace("'1s'", "'5s'")
if "--push" in sys.argv:
    from benchwatch.launch import delivery
    delivery._LAST_PATIENCE = {PATIENCE}
if "--open" in sys.argv:
    from benchwatch.launch import browser
    browser._PATIENCE = browser._SEEN = {PATIENCE}
sys.exit(entry())
"""
"""A benchwatch that does not take a busy machine for a server, a tool or an exporter that does not answer."""


class Launchpad:
    """A folder with tools and runs, in which launchers are started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tools = folder / "bin"
        self.tools.mkdir()
        self.runs = folder / "runs"
        self.tool("psql", "echo 'psql: error: no server here' >&2; exit 2")
        self.environment = os.environ | {"PATH": f"{self.tools}:{os.environ['PATH']}"}
        self._terminals: list[OnTerminal] = []
        self._started: list[subprocess.Popen[bytes]] = []

    def tool(self, name: str, text: str, version: str = "pgbench (PostgreSQL) 15.18") -> None:
        """A tool that does what the shell script says."""
        path = self.tools / name
        path.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && {{ echo '{version}'; exit; }}\n{text}\n")
        path.chmod(0o755)

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-c", PATIENT, "run", *arguments]

    def run(self, *arguments: str, together: bool = False) -> subprocess.CompletedProcess[bytes]:
        """Launches and waits for the end; `together`: both streams go to one file.

        The launcher is a fork of this process, which has imported everything: most of a start is importing.
        """
        with TemporaryFile() as out, TemporaryFile() as err, warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the fork needs none of this process's threads
            command = self.command(*arguments)
            if not (process := os.fork()):
                self._become(command, out.fileno(), (out if together else err).fileno())
            ended: list[int] = []
            try:
                eventually(lambda: _has_ended(process, ended), "the launcher ends", 5 * PATIENCE)
            finally:
                if not ended:
                    os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(command, ended[0], out.read(), err.read())

    def _become(self, command: list[str], out: int, err: int) -> NoReturn:
        """Is that command from here on, in a process that was just forked."""
        code: object = 1
        try:
            os.dup2(out, 1)
            os.dup2(err, 2)
            sys.stdout, sys.stderr = (open(number, "w", closefd=False) for number in (1, 2))  # noqa: SIM115
            os.chdir(self.folder)
            os.environ.clear()
            os.environ.update(self.environment)
            _, _, program, *words = command
            sys.argv = ["-c", *words]
            exec(program, {})
        except SystemExit as ended:
            code = ended.code
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 0 if code is None else 1)

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        options = {"stdout": pipe, "stderr": pipe} | options
        process = subprocess.Popen(self.command(*arguments), cwd=self.folder, env=self.environment, **options)
        self._started.append(process)
        return process

    def record(self, run: str, worker: str = "pgbench") -> dict[str, Any]:
        """What is recorded; nothing while the file is being made."""
        return yaml.safe_load((self.runs / run / f"{worker}.yaml").read_text()) or {}

    def on_a_terminal(self, *arguments: str) -> "OnTerminal":
        self._terminals.append(OnTerminal(self, self.command(*arguments)))
        return self._terminals[-1]

    def stop(self) -> None:
        """Ends the launchers that a test leaves; those on terminals with their benchmarks."""
        for process in self._started:
            process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        for launcher in self._terminals:
            launcher.stop()


def _has_ended(process: int, code: list[int]) -> bool:
    """Whether a child has ended; adds its exit code."""
    done, status = os.waitpid(process, os.WNOHANG)
    if done:
        code.append(os.waitstatus_to_exitcode(status))
    return bool(done)


class OnTerminal:
    """A launcher with a terminal of its own, in a session of its own."""

    def __init__(self, place: Launchpad, command: list[str]) -> None:
        self.process, self.terminal = pty.fork()
        if not self.process:
            os.chdir(place.folder)
            os.execve(command[0], command, place.environment)
        self.shown = b""
        self.ended: list[int] = []
        """Its exit code, once it has ended."""

    def read_until(self, pattern: bytes) -> None:
        deadline = time.monotonic() + PATIENCE
        while not re.search(pattern, self.shown, re.DOTALL):
            assert self._read(deadline), f"it has ended, and not shown {pattern!r}: {self.shown!r}"

    def read_to_the_end(self) -> int:
        """All that is shown, and the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self._read(deadline):
            pass
        self.close()
        return self.wait()

    def _read(self, deadline: float) -> bool:
        """Read what comes next; whether there was something."""
        ready, _, _ = select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"after {PATIENCE:g} s no more than {self.shown!r}"
        try:
            data = os.read(self.terminal, 65536)
        except OSError:  # nobody has it open any more
            return False
        self.shown += data
        return bool(data)

    def close(self) -> None:
        """The connection is lost."""
        os.close(self.terminal)
        self.terminal = -1

    def wait(self) -> int:
        """The exit code."""
        eventually(lambda: _has_ended(self.process, self.ended), "it ends")
        return self.ended[0]

    def stop(self) -> None:
        if not self.ended:
            os.killpg(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        if self.terminal >= 0:
            self.close()
