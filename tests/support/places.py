"""Where tests put files of runs."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

RECORDINGS = Path(__file__).parents[1] / "recordings"
"""Output of real tools, each with its command beside it."""
NOW = 1_790_000_000.0
"""When the tests take place, Unix seconds."""
ROOT_IS_A_MOUNT = any(line.split()[4] == "/" for line in Path("/proc/self/mountinfo").read_text().splitlines())
"""Whether this is no chroot, or one into a mount: elsewhere nothing says whose root a process has."""
Place = Callable[..., Path]
"""The fixture `place`: puts bytes or a recording under runs/, last written to at a given moment; gives its path."""


def placing(folder: Path) -> Place:
    """That fixture's function, for the runs in this folder."""

    def put(where: str, what: Path | bytes, written: float = NOW) -> Path:
        path = folder / where
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(what, bytes):
            path.write_bytes(what)
        else:
            shutil.copyfile(what, path)
        os.utime(path, (written, written))
        return path

    return put
