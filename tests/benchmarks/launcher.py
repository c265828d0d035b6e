"""What `benchwatch run` costs pgbench: transactions a second under it, over those without it, in paired runs.

    python tests/benchmarks/launcher.py [--pairs 10] [--seconds 10] [--clients 4] [--threads 2]

Five ways in each round, in this order and in the reverse order by turns:

    bare       pgbench -S, no reporting, its output in a file
    progress   with progress lines
    reporting  with the flags that the launcher adds: progress lines, transaction log in /dev/shm
    launched   benchwatch run, its output in a file
    watched    benchwatch run on a terminal, so that it shows its status line

`launched / reporting` is what the launcher costs, `watched / reporting` that with its status line, `launched / bare`
what it costs with its flags, `reporting / progress` what of that is the transaction log's. Printed is the median of the
rounds' ratios with a confidence interval of order statistics (no shape of the noise is assumed), and the range.
The server, pgbench and the launcher share this machine, so that the CPU time of the launcher, printed too, is taken
from them.
"""

import argparse
import fcntl
import math
import os
import pty
import re
import statistics
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from demo_ports import Ports
from demo_postgres import Postgres
from demo_processes import Processes

CONFIDENCE = 0.95
TICKS = os.sysconf("SC_CLK_TCK")
WAYS = ("bare", "progress", "reporting", "launched", "watched")
COMPARED = (
    ("launched", "reporting"),
    ("watched", "reporting"),
    ("launched", "bare"),
    ("reporting", "progress"),
    ("progress", "bare"),
)


class Result(NamedTuple):
    """Transactions a second, and the share of a CPU that the program which started pgbench used meanwhile."""

    rate: float
    cpu: float


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def copy(terminal: int, into: BinaryIO) -> None:
    """Writes what a terminal shows, until nothing has it open."""
    with suppress(OSError):
        while data := os.read(terminal, 65536):
            into.write(data)
            into.flush()


def started(command: list[str], folder: Path, on_a_terminal: bool) -> Result:
    """Runs it to its end; its CPU is looked at from pgbench's first progress line on, and while there is a pgbench."""
    samples = []
    output = folder / "output"
    with output.open("wb") as file:
        terminal, stdout = pty.openpty() if on_a_terminal else (-1, file.fileno())
        popen = subprocess.Popen(
            command,
            stdout=stdout,
            stderr=stdout,
            cwd=folder,
            start_new_session=on_a_terminal,
            preexec_fn=(lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0)) if on_a_terminal else None,
        )
        reader = threading.Thread(target=copy, args=(terminal, file))
        if on_a_terminal:
            os.close(stdout)
            reader.start()
        children = Path(f"/proc/{popen.pid}/task/{popen.pid}/children")
        while popen.poll() is None:
            time.sleep(0.25)
            if b"progress: " in output.read_bytes() and children.read_text():
                samples.append((time.monotonic(), cpu_seconds(popen.pid)))
        if on_a_terminal:
            reader.join()
            os.close(terminal)
    found = re.search(rb"^tps = (\S+)", output.read_bytes(), re.MULTILINE)
    assert found and popen.returncode == 0
    share = (samples[-1][1] - samples[0][1]) / (samples[-1][0] - samples[0][0]) if len(samples) > 1 else 0.0
    return Result(float(found[1]), share)


def run(way: str, pgbench: list[str], number: int, folder: Path) -> Result:
    """One run, with its log in memory."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        progress = [*pgbench, "-P", "1", "--progress-timestamp"]
        launched = [sys.executable, "-m", "benchwatch", "run", "--name", f"{way}{number}", "--", *pgbench]
        commands = {
            "bare": pgbench,
            "progress": progress,
            "reporting": [*progress, "-l", f"--log-prefix={memory}/log"],
            "launched": launched,
            "watched": launched,
        }
        return started(commands[way], folder, way == "watched")


def interval(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Lower and upper end of the median's confidence interval, and how sure it is, by the binomial distribution."""
    ordered, count = sorted(ratios), len(ratios)
    for outside in range(count // 2 - 1, -1, -1):
        sure = 1 - 2 * sum(math.comb(count, below) for below in range(outside + 1)) / 2**count
        if sure >= CONFIDENCE:
            return ordered[outside], ordered[-1 - outside], sure
    return ordered[0], ordered[-1], 1 - 2 / 2**count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        os.environ["PGPASSFILE"] = str(folder / "pgpass")
        (folder / "logs").mkdir()
        processes = Processes(folder / "logs", os.environ)
        ports = Ports({"postgres": 0})
        try:
            server = Postgres(processes, folder, ports["postgres"])
            server.start()
            load = ["-n", "-S", "-M", "prepared", "-c", str(options.clients), "-j", str(options.threads)]
            measure(server.pgbench(*load, "-T", str(options.seconds)), options.pairs, folder)
        finally:
            processes.stop_all()
            ports.close()


def measure(pgbench: list[str], rounds: int, folder: Path) -> None:
    found: dict[str, list[float]] = {way: [] for way in WAYS}
    run("bare", pgbench, -1, folder)  # so that the first finds the cache as the others do
    shares: dict[str, list[float]] = {"launched": [], "watched": []}
    print(f"{'round':>5} {'load':>6}" + "".join(f"{way:>11}" for way in WAYS))
    for number in range(rounds):
        load = os.getloadavg()[0]
        for way in WAYS if number % 2 == 0 else reversed(WAYS):
            result = run(way, pgbench, number, folder)
            found[way].append(result.rate)
            if way in shares:
                shares[way].append(result.cpu)
        print(f"{number + 1:>5} {load:>6.1f}" + "".join(f"{found[way][-1]:>11,.0f}" for way in WAYS), flush=True)
    for way, other in COMPARED:
        ratios = [with_it / without for with_it, without in zip(found[way], found[other], strict=True)]
        low, high, sure = interval(ratios)
        print(
            f"{way} / {other}: median {statistics.median(ratios):.3f},"
            f" {100 * sure:.1f} % confidence {low:.3f} to {high:.3f}, range {min(ratios):.3f} to {max(ratios):.3f}"
        )
    for way, used in shares.items():
        print(f"CPU of the launcher while pgbench runs, {way}: {1000 * statistics.fmean(used):.1f} ms a second (mean)")


if __name__ == "__main__":
    main()
