"""What `benchwatch compare` says of pairs of runs of the same configuration: never better, never worse.

    .venv/bin/python tests/benchmarks/same_configuration.py [--pairs 10] [--seconds 20] [--folder FOLDER]
        [--think 0] [--other-think 0]

Starts a PostgreSQL server, runs pgbench twice for each pair, one run after the other, and prints a table with each
verdict, and beside it the one without the allowance for differences between runs. Last, the runs are compared as two
experiments of repeated runs, which need no allowance. Runs that are in FOLDER already are not run again.

Without --think it is the default transaction of pgbench as fast as it goes; with it one UPDATE after that many
milliseconds of waiting, which disturbs other users of the machine less, and is disturbed less. With another wait in the
second run of a pair there is a difference to find. The exit code is 1 if a pair of the same configuration is called
better or worse.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from benchwatch.compare.comparison import Comparisons, compare
from benchwatch.compare.experiment import Experiment, load
from benchwatch.compare.measures import interval, level, percent
from benchwatch.settings.settings import RunsSettings
from demo_ports import Ports
from demo_postgres import Postgres
from demo_processes import Processes

SCRIPT = "\\sleep {} ms\nUPDATE pgbench_branches SET bbalance = bbalance + 1 WHERE bid = 1 + :client_id;\n"


def run(postgres: Postgres, folder: Path, seconds: int, think: int) -> None:
    """One run of pgbench, recorded as `benchwatch serve` and `compare` read it."""
    folder.mkdir(parents=True)
    load = ["-T", str(seconds), "-c", "2"]
    if think:
        script = folder.with_suffix(".sql")
        script.write_text(SCRIPT.format(think))
        load += ["-n", "-f", str(script)]
    command = postgres.pgbench(*load, "-P", "1", "--progress-timestamp", "-l", "--log-prefix=db")
    environment = os.environ | {"PGPASSFILE": str(postgres.pgpass)}
    with (folder / "db.out").open("wb") as out, (folder / "db.err").open("wb") as err:
        subprocess.run(command, cwd=folder, env=environment, stdout=out, stderr=err, check=True)


def names(options: argparse.Namespace) -> list[tuple[str, str]]:
    return [(f"base-{number}", f"other-{number}") for number in range(1, options.pairs + 1)]


def record(options: argparse.Namespace, folder: Path) -> None:
    """Runs what is not there yet."""
    missing = [name for pair in names(options) for name in pair if not (folder / name).is_dir()]
    if not missing:
        return
    with tempfile.TemporaryDirectory() as place, closing(Ports({"postgres": 0})) as ports:
        Path(place).chmod(0o755)
        processes = Processes(Path(place), os.environ | {"PGPASSFILE": f"{place}/pgpass"})
        try:
            postgres = Postgres(processes, Path(place), ports["postgres"])
            postgres.start()
            for name in missing:
                think = options.think if name.startswith("base") else options.other_think
                print(f"{name}: {options.seconds} s", file=sys.stderr, flush=True)
                run(postgres, folder / name, options.seconds, think)
        finally:
            processes.stop_all()


def judged(base: Experiment, other: Experiment, allowance: float) -> Comparisons:
    return compare(base, [other], confidence=0.95, allowance=allowance, vary=[])


def row(base: Experiment, other: Experiment) -> tuple[str, str]:
    """A line of the table, and the verdict."""
    found, strict = (judged(base, other, allowance).others[0] for allowance in (0.05, 0.0))
    tps = found.rows[0]
    verdict = found.verdicts[0].verdict or ""
    cells = [f"{tps.base:,.0f}", f"{tps.other:,.0f}", percent(tps.ratio or 0.0), interval(tps.interval)]
    notes = ", ".join(dict.fromkeys(one.kind for one in found.findings))
    return " | ".join([*cells, verdict, strict.verdicts[0].verdict or "", notes]), verdict


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares pairs of runs of the same configuration.")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--think", type=int, default=0, metavar="MS")
    parser.add_argument("--other-think", type=int, metavar="MS")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    options.other_think = options.think if options.other_think is None else options.other_think
    with tempfile.TemporaryDirectory() as scratch:
        folder = (options.folder or Path(scratch)).resolve()
        record(options, folder)
        pairs = [
            tuple(load(folder / name, RunsSettings(), 2.0, force=False)[""] for name in pair) for pair in names(options)
        ]
    print(f"| pair | base TPS | other TPS | change | {level(0.95)} interval | verdict | without allowance | findings |")
    print("|--:|--:|--:|--:|--:|---|---|---|")
    words = []
    for number, (base, other) in enumerate(pairs, 1):
        line, word = row(base, other)
        words.append(word)
        print(f"| {number} | {line} |")
    repeated = [
        Experiment(side, [pair[place].runs[0] for pair in pairs], ()) for place, side in enumerate(("base", "other"))
    ]
    if len(pairs) > 1:
        line, word = row(*repeated)
        words.append(word)
        print(f"| all | {line} |")
    different = [word for word in words if word in ("better", "worse")]
    return int(bool(different) and options.think == options.other_think)


if __name__ == "__main__":
    sys.exit(main())
