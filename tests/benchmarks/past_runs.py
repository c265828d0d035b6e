"""How long `history` and `list` take for a folder of finished runs, and how many processor seconds.

    .venv/bin/python tests/benchmarks/past_runs.py [--runs 2000] [--reports 60] [--loose] [--keep DIR]

Each run is a pgbench with so many reports a second apart, its final report, and its record; `--loose` puts all of them
beside each other in one folder, without records. The first time of each command is that of a user who has never asked
for these runs, the second one that of a user who has.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

COMMANDS = ("history", "list")


def fill(root: Path, runs: int, reports: int, *, loose: bool) -> None:
    """Put the runs there, one every hour."""
    chance, first = random.Random(1), time.time() - 3600 * (runs + 1)
    for run in range(runs):
        begin = first + 3600 * run
        rates = [round(chance.gauss(1000, 30)) for _ in range(reports)]
        progress = [
            f"progress: {begin + second + 1:.3f} s, {rate:.1f} tps, lat {1e3 / rate:.3f} ms stddev 0.100, 0 failed\n"
            for second, rate in enumerate(rates)
        ]
        mean = sum(rates) / reports
        text = (
            "pgbench (17.2)\nstarting vacuum...end.\n"
            + "".join(progress)
            + "transaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\nquery mode: simple\n"
            + "number of clients: 1\nnumber of threads: 1\nmaximum number of tries: 1\n"
            + f"duration: {reports} s\nnumber of transactions actually processed: {sum(rates)}\n"
            + "number of failed transactions: 0 (0.000%)\n"
            + f"latency average = {1e3 / mean:.3f} ms\nlatency stddev = 0.100 ms\n"
            + f"initial connection time = 3.000 ms\ntps = {mean:.6f} (without initial connection time)\n"
        )
        place = root if loose else root / f"run-{run:05}"
        place.mkdir(parents=True, exist_ok=True)
        written = {place / (f"run-{run:05}.out" if loose else "db1.out"): text}
        if not loose:
            written[place / "db1.yaml"] = (
                f"labels: {{branch: main}}\nstart: {begin:.3f}\nend: {begin + reports + 0.1:.3f}\nexit_code: 0\n"
            )
        for path, content in written.items():
            path.write_text(content)
            os.utime(path, (begin + reports,) * 2)


def seconds(command: str, root: Path, environment: dict[str, str]) -> tuple[float, float]:
    """The seconds of one call, and its processor seconds."""
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "benchwatch", command, str(root)],
        env=environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - begun, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Prints a line for each call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--reports", type=int, default=60)
    parser.add_argument("--loose", action="store_true")
    parser.add_argument("--keep", type=Path, help="fill this folder, or use what is in it")
    options = parser.parse_args()
    with nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory() as name:
        root = Path(name) / "runs"
        if not root.exists():
            fill(root, options.runs, options.reports, loose=options.loose)
            time.sleep(3)  # so that another change would show in the files' times
        for command in COMMANDS:
            environment = {**os.environ, "XDG_CACHE_HOME": f"{name}/cache-{os.getpid()}-{command}"}
            for when in ("first", "again"):
                passed, used = seconds(command, root, environment)
                print(f"{command}, {when}: {passed:.2f} s, {used:.2f} s of processors")


if __name__ == "__main__":
    main()
