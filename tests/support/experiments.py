"""The published experiments (tests/experiments), as tests start them."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.waiting import eventually

EXPERIMENTS = Path(__file__).parents[2] / "tests" / "experiments"

ANY_LENGTH = {**os.environ, "EXPERIMENTS_OF_ANY_LENGTH": "1"}


def command(name: str, folder: Path, **options: int) -> list[str]:
    return [str(EXPERIMENTS / name), f"--folder={folder}", *(f"--{key}={value}" for key, value in options.items())]


def experiment(name: str, folder: Path, **options: int) -> str:
    """What it prints; fails the test unless it ends well."""
    done = subprocess.run(
        command(name, folder, **options), capture_output=True, text=True, timeout=600, check=False, env=ANY_LENGTH
    )
    if "the kernel finds room for" in done.stderr or "this machine has none" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def only_runs_stay(folder: Path) -> None:
    """Neither files nor processes at work in the folder (a server is in that of its data), once these have ended."""
    eventually(lambda: _only_runs_are_left(folder), "nothing but runs is left")


def _only_runs_are_left(folder: Path) -> bool:
    places = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            places.append(str((process / "cwd").readlink()))
    return not any(folder.glob("work.*")) and not any(str(folder) in place for place in places)
