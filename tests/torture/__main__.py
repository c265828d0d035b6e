"""Does to real exporters on loopback what must not lose anything, and prints a table: fault, what the user sees, lost.

    PATH=$PWD/.venv/bin:$PATH python -m tests.torture [--only NAME] [--list]

Ends with 1 if anything is lost, or a fault that has tests of its own fails one. --only NAME does those whose name
contains it. The tests of other folders that belong here run as they are; some need PostgreSQL.
"""

import argparse
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import NamedTuple

from tests.torture.faults import FAULTS, Skipped

ROOT = Path(__file__).parents[2]


class Row(NamedTuple):
    """A line of the table; `lost` is a number, or why there is none."""

    name: str
    seen: str
    lost: str

    @property
    def good(self) -> bool:
        """Whether nothing was lost, as far as can be told here."""
        return self.lost in ("0", "skipped")


TESTED = (
    ("file changed under the reader", "what a fresh reader shows", "tests/runs/test_changed_files.py"),
    ("clock set by an hour, either way", "running, with figures", "tests/system/test_clock.py"),
    ("CVM hangs, drips, packs, tangles", "down, no numbers; back with it", "tests/torture/test_hostile_cvm.py"),
    ("kill -9 while a benchmark writes", "the very same page", "tests/system/test_restart.py"),
    ("frozen server, frozen worker", "no throughput, no burst after", "tests/system/test_stall.py"),
    ("cable pulled under a push", "all bytes, in order", "tests/system/test_push.py"),
    ("random flows of all kinds of files", "what a fresh reader shows", "tests/torture/test_flows.py"),
    ("disk full when a run ends", "exit code 4, and where the rest is", "tests/launch/test_benchmark_files.py"),
    ("the log of a run is removed", "where it was, in every view", "tests/runs/test_watcher.py"),
    ("connections held, half-open", "scrapes answered", "tests/server/test_connections.py"),
)


def tested(name: str, seen: str, path: str) -> Row:
    """A fault by its tests, which count exactly what is lost."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = done.stdout.strip().splitlines()[-1:] or ["no tests ran"]
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        return Row(name, last[0], f"see {path}")
    counts = done.stdout.replace("\n", "")
    return Row(name, seen, "0") if "." in counts else Row(name, "its tests skipped", "skipped")


def made() -> list[tuple[str, str]]:
    """Names of the faults, and of their tests or nothing."""
    return [(fault.name, "") for fault in FAULTS] + [(name, path) for name, _, path in TESTED]


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true", help="list the faults and their tests")
    options = parser.parse_args()
    if options.list:
        for name, path in made():
            print(f"{name:36} {path}")
        return 0
    rows = []
    print(f"{'fault':36} {'the user sees':64} lost")
    for fault in FAULTS:
        if options.only in fault.name:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    outcome = fault.run(Path(folder))
                    rows.append(Row(fault.name, outcome.seen, str(outcome.lost)))
                except Skipped as reason:
                    rows.append(Row(fault.name, str(reason), "skipped"))
                except Exception:
                    traceback.print_exc()
                    rows.append(Row(fault.name, "the fault could not be made", "not known"))
            _print(rows[-1])
    for name, seen, path in TESTED:
        if options.only in name:
            rows.append(tested(name, seen, path))
            _print(rows[-1])
    if not rows:
        print(f"torture: no fault has {options.only!r} in its name; --list names them", file=sys.stderr)
    return 0 if rows and all(row.good for row in rows) else 1


def _print(row: Row) -> None:
    print(f"{row.name:36} {row.seen:64} {row.lost}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
