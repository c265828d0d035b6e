"""A benchmark of this checkout beside the package of another commit, in turns, as ratios.

    python tests/benchmarks/beside.py [--rounds 5] REVISION SCRIPT [ARGUMENT ...]

Runs the same script with each package in turn, the other one first in every other round, and compares the last number
of each line that it prints: its median for both, and the median of the ratios of a round, this one to the other.
"""

import argparse
import gc
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LAST_NUMBER = re.compile(r"(.*?)(\d+(?:\.\d+)?)\D*")


@contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """A folder with what another commit holds."""
    packed = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        yield Path(folder)


@contextmanager
def sides(revision: str | None) -> Iterator[dict[str, Path]]:
    """This checkout and, if a commit is named, a folder with what that holds, by name."""
    if revision is None:
        yield {"here": ROOT}
        return
    with checkout(revision) as other:
        yield {"here": ROOT, revision: other}


def as_the_command() -> None:
    """What the command does before anything else, see benchwatch.cli."""
    gc.set_threshold(50_000, 20, 50)
    bytes(1 << 23)


def environment(root: Path) -> dict[str, str]:
    """What makes Python use the package of a checkout."""
    return {**os.environ, "PYTHONPATH": str(root / "exporter")}


def figures(root: Path, command: list[str]) -> dict[str, float]:
    """The last number of each line, by the text before the line's first colon."""
    done = subprocess.run(
        [sys.executable, *command], env=environment(root), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    )
    found = {}
    for line in done.stdout.splitlines():
        title, colon, rest = line.partition(":")
        if colon and (number := _LAST_NUMBER.fullmatch(rest)):
            found[title] = float(number[2])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("script", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    here: dict[str, list[float]] = defaultdict(list)
    there: dict[str, list[float]] = defaultdict(list)
    with checkout(options.revision) as other:
        for number in range(options.rounds):
            both = [(ROOT, here), (other, there)]
            for root, found in both if number % 2 else reversed(both):
                for title, figure in figures(root, options.script).items():
                    found[title].append(figure)
    for title, ours in here.items():
        ratio = statistics.median(one / two for one, two in zip(ours, there[title], strict=True))
        before, now = statistics.median(there[title]), statistics.median(ours)
        print(f"{title}: {options.revision} {before:g}, here {now:g}, here / {options.revision} {ratio:.2f}")


if __name__ == "__main__":
    main()
