"""The published experiments (scripts/experiments), as tests start them."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).parents[2] / "scripts" / "experiments"

ANY_LENGTH = {**os.environ, "EXPERIMENTS_OF_ANY_LENGTH": "1"}


def command(name: str, folder: Path, **options: int) -> list[str]:
    return [str(EXPERIMENTS / name), f"--folder={folder}", *(f"--{key}={value}" for key, value in options.items())]


def experiment(name: str, folder: Path, **options: int) -> str:
    """What it prints; fails the test unless it ends well."""
    done = subprocess.run(
        command(name, folder, **options), capture_output=True, text=True, timeout=300, check=False, env=ANY_LENGTH
    )
    if "the kernel finds room for" in done.stderr or "this machine has none" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def only_runs_are_left(folder: Path) -> bool:
    """Whether neither files nor processes at work in the folder (a server is in that of its data) have stayed."""
    places = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            places.append(str((process / "cwd").readlink()))
    return not any(folder.glob("work.*")) and not any(str(folder) in place for place in places)
