"""A launcher on its own, with made-up tools: shell scripts that are called pgbench, fio and psql."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from tests.support.waiting import PATIENCE, eventually


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

    def tool(self, name: str, text: str, version: str = "pgbench (PostgreSQL) 15.18") -> None:
        """A tool that does what the shell script says."""
        path = self.tools / name
        path.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && {{ echo '{version}'; exit; }}\n{text}\n")
        path.chmod(0o755)

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "benchwatch", "run", *arguments]

    def run(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
        """Launches and waits for the end."""
        options = {"capture_output": True, "timeout": PATIENCE, "check": False} | options
        return subprocess.run(self.command(*arguments), cwd=self.folder, env=self.environment, **options)

    def start(self, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        options = {"stdout": pipe, "stderr": pipe} | options
        return subprocess.Popen(self.command(*arguments), cwd=self.folder, env=self.environment, **options)

    def record(self, run: str, worker: str = "pgbench") -> dict[str, Any]:
        return yaml.safe_load((self.runs / run / f"{worker}.yaml").read_text())

    def on_a_terminal(self, *arguments: str) -> "OnTerminal":
        self._terminals.append(OnTerminal(self, self.command(*arguments)))
        return self._terminals[-1]

    def stop(self) -> None:
        """Ends what still runs on terminals, with the benchmarks."""
        for launcher in self._terminals:
            launcher.stop()


class OnTerminal:
    """A launcher with a terminal of its own, in a session of its own."""

    def __init__(self, place: Launchpad, command: list[str]) -> None:
        self.process, self.terminal = pty.fork()
        if not self.process:
            os.chdir(place.folder)
            os.execve(command[0], command, place.environment)
        self.shown = b""
        self.ended = False

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
        eventually(self._has_ended, "it ends")
        return self._code

    def _has_ended(self) -> bool:
        done, status = os.waitpid(self.process, os.WNOHANG)
        if done:
            self.ended, self._code = True, os.waitstatus_to_exitcode(status)
        return self.ended

    def stop(self) -> None:
        if not self.ended:
            os.killpg(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        if self.terminal >= 0:
            self.close()
