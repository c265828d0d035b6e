"""A short question to another program. What it has answered in time counts; it is not waited for any longer."""

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
    """Whether it had not ended in time: there may be more to it."""


def ask(command: Sequence[str], seconds: float, text: str = "", environment: Mapping[str, str] | None = None) -> Answer:
    """What a program says to a text on its standard input. It has no terminal. Raises OSError if it cannot start."""
    process = subprocess.Popen(
        command,
        executable=shutil.which(command[0]),  # a Popen that searches passes over a file that is no program
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
    with suppress(PermissionError, subprocess.TimeoutExpired):  # behind sudo it is another user's
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(seconds)
