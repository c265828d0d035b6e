"""A short question to another program: only an answer in time counts, and nothing waits for the rest."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple


class Answer(NamedTuple):
    """What a program has printed."""

    out: str
    err: str
    late: bool
    """Whether it was still running when the time was up, so that there may be more."""


def ask(command: Sequence[str], seconds: float, text: str = "", environment: Mapping[str, str] | None = None) -> Answer:
    """A program's answer to a text on its standard input. It has no terminal. Raises OSError if it cannot start."""
    process = subprocess.Popen(
        command,
        executable=shutil.which(command[0]),  # Popen's own search skips a file that is not a program
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
    with suppress(PermissionError, subprocess.TimeoutExpired):  # behind sudo it belongs to another user
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(seconds)
