"""Runs another program for a short time: only what it prints in time counts."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple


class Answer(NamedTuple):
    """What a program printed in time."""

    out: str
    err: str
    late: bool
    """Whether the program was still running when the time was up: the answer may be incomplete."""


def ask(command: Sequence[str], seconds: float, text: str = "", environment: Mapping[str, str] | None = None) -> Answer:
    """Runs a program with `text` as its standard input and without a terminal. Raises OSError if it cannot start."""
    process = subprocess.Popen(
        command,
        executable=shutil.which(command[0]),  # unlike Popen, do not skip a file that cannot be executed
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(text.encode(), seconds)
        late = False
    except subprocess.TimeoutExpired as expired:
        out, err = expired.stdout or b"", expired.stderr or b""
        late = True
        _end(process, seconds)
    return Answer(out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), late)


def _end(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()
    with suppress(PermissionError, subprocess.TimeoutExpired):  # with sudo, the process belongs to another user
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(seconds)
