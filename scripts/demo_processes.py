"""The demo's processes: each in a process group of its own, with a log, ended by its id in reverse order of the start.

Should the demo itself be killed, the kernel sends every process its signal to end (`setpriv --pdeathsig`).
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from pwd import struct_passwd
from typing import NamedTuple

import requests

_LAST_LINES = 15


class Failure(Exception):
    """Why the demo cannot go on, and what to do, for its user."""


class Process(NamedTuple):
    """A started program. `log` is the file that says why it failed; `stop` is the signal that ends it in good order."""

    name: str
    popen: subprocess.Popen[bytes]
    log: Path
    stop: signal.Signals

    def complaint(self, what: str) -> Failure:
        """The failure `what` with the last lines of the log."""
        lines = self.log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
        return Failure("\n    ".join([f"{self.name} {what}. The end of {self.log}:", *lines]))


class Processes:
    """All processes of the demo. `logs` is the folder for their logs, `environment` what they all get."""

    def __init__(self, logs: Path, environment: Mapping[str, str]) -> None:
        self._logs = logs
        self._environment = environment
        self._started: list[Process] = []

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        user: struct_passwd | None = None,
        folder: Path = Path("/"),
        output: Path | None = None,
        log: Path | None = None,
        stop: signal.Signals = signal.SIGTERM,
        descriptors: Sequence[int] = (),
        environment: Mapping[str, str] | None = None,
    ) -> Process:
        """Starts a program in `folder`; `user` is for root; stdout goes to `output`, stderr and the rest to `log`.

        `environment` is what it gets beside that of all.
        """
        identity = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"] if user else []
        log = log or self._logs / f"{name}.log"
        with log.open("wb") as errors, (output or log).open("ab") as printed:
            popen = subprocess.Popen(
                ["setpriv", f"--pdeathsig={stop.name.removeprefix('SIG')}", *identity, "--", *command],
                cwd=folder,
                env={**self._environment, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=printed if output else errors,
                stderr=errors,
                process_group=0,
                pass_fds=descriptors,
            )
        process = Process(name, popen, log, stop)
        self._started.append(process)
        return process

    def run(
        self,
        name: str,
        command: Sequence[str],
        *,
        user: struct_passwd | None = None,
        folder: Path = Path("/"),
        descriptors: Sequence[int] = (),
    ) -> None:
        """Runs a program to its end in `folder`. Raises Failure if it fails."""
        process = self.start(name, command, user=user, folder=folder, descriptors=descriptors)
        if process.popen.wait():
            raise process.complaint(f"failed with exit code {process.popen.returncode}")
        self._started.remove(process)

    def wait_until(self, process: Process, ready: Callable[[], bool], seconds: float = 120) -> None:
        """Waits until `ready` says so. Raises Failure if the process ends before that or the time is over."""
        deadline = time.monotonic() + seconds
        while not ready():
            if process.popen.poll() is not None:
                raise process.complaint(f"ended with exit code {process.popen.returncode} instead of getting ready")
            if time.monotonic() > deadline:
                raise process.complaint(f"was not ready after {seconds:.0f} s")
            time.sleep(0.1)

    def wait_for(self, process: Process, url: str, seconds: float = 120) -> None:
        """Waits until the process answers at that address with success. Raises Failure as wait_until does."""
        with requests.Session() as session:
            session.trust_env = False

            def answers() -> bool:
                try:
                    return session.get(url, timeout=5).ok
                except requests.RequestException:
                    return False

            self.wait_until(process, answers, seconds)

    def stop(self, process: Process) -> None:
        """Ends a process and its group: its signal, ten seconds of patience, then SIGKILL."""
        if process.popen.poll() is None:
            os.killpg(process.popen.pid, process.stop)
            try:
                process.popen.wait(10)
            except subprocess.TimeoutExpired:
                print(f"  {process.name} does not end and is killed", flush=True)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.popen.pid, signal.SIGKILL)
        process.popen.wait()
        self._started.remove(process)

    def stop_all(self) -> None:
        """Ends everything, the last started first."""
        for process in reversed(self._started.copy()):
            self.stop(process)
