import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

RECORDINGS = Path(__file__).parent / "recordings"
# Ignored where the tests were started in the background, and so it would be by all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

NOW = 1_790_000_000.0
"""When the tests take place, Unix seconds."""
ROOT_IS_A_MOUNT = any(line.split()[4] == "/" for line in Path("/proc/self/mountinfo").read_text().splitlines())
"""Whether this is no chroot, or one into a mount: elsewhere nothing says whose root a process has."""


@pytest.fixture
def recordings() -> Path:
    """Output of real tools, each with its command beside it."""
    return RECORDINGS


@pytest.fixture
def place(tmp_path: Path) -> Callable[..., Path]:
    """Puts bytes or a recording under runs/, last written to at a given moment; gives its path."""

    def put(where: str, what: Path | bytes, written: float = NOW) -> Path:
        path = tmp_path / "runs" / where
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(what, bytes):
            path.write_bytes(what)
        else:
            shutil.copyfile(what, path)
        os.utime(path, (written, written))
        return path

    return put
