"""What `benchwatch why` costs, and Prometheus because of it: CPU seconds a second, with runs that are slow or not.

    .venv/bin/python tests/benchmarks/why.py [--hosts 10 40] [--seconds 12] [--rules FOLDER]

One run on each machine. Machines are those of rules.py; a real Prometheus scrapes them and evaluates the shipped rules.
Its CPU is measured in the same time without and with an engine that looks each second; then all runs become slow.
With --rules, a second Prometheus evaluates other rules, such as those of a release before, beside it.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from tests.benchmarks.rules import JOBS, Machines, scrape_configs, serve
from tests.support.ports import free_address
from tests.support.programs import FOLDER, program

from benchwatch.metrics.prometheus import Prometheus
from benchwatch.why.exported import INFO
from benchwatch.why.live import TIMEOUT, Engine
from demo_processes import Processes

_WARM = 55
"""Seconds until a run is past its ramp, and has a usual of its own."""
_YOUNG, _BEGINS, _LASTS = 46, 4, 25
"""Seconds for which it watches closely a run that it has just seen; after which a slow time is named; has lasted."""


class Slowing(Machines):
    """Machines whose runs can all become slow: their logs' device takes long."""

    slow = False

    def _live(self) -> Iterator[str]:
        for line in super()._live():
            name, _, value = line.rpartition(" ")
            factor = 10.0 if self.slow and "latency_average" in name else 1.0
            yield f"{name} {float(value) * factor}"

    def _runs(self) -> Iterator[str]:
        yield from super()._runs()
        for name, _, _ in self._names():
            yield f"pgbench_clients{{{name}}} 8"

    def _pg(self) -> Iterator[str]:
        yield from super()._pg()
        for number in range(self.hosts):
            host = f'host="h{number}"'
            yield f"pg_sessions_time_active_seconds_total{{{host}}} {self._grown(8 if self.slow else 4)}"
            waiting = f'{host},backend_type="client backend",wait_event="WALSync",wait_event_type="IO"'
            yield f"pg_waiting_processes{{{waiting}}} {7 if self.slow else 1}"


def used(pid: int) -> float:
    """CPU seconds of a process since its start."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def measure(hosts: int, seconds: int, rules: str) -> None:
    """Print a row for so many machines."""
    machines = Slowing(hosts, hosts, hosts)
    server = serve(machines)
    scrapes = scrape_configs(server.server_port, JOBS)
    with tempfile.TemporaryDirectory() as folder:
        processes = Processes(Path(folder), {})
        try:
            servers: list[tuple[str, int]] = []
            for name, where in (("shipped", f"{FOLDER}/rules"), ("other", rules)):
                if where:
                    place = Path(folder) / name
                    place.mkdir()
                    config: dict[str, Any] = {"rule_files": [f"{where}/*.yml"], "scrape_configs": scrapes}
                    file, address = place / "prometheus.yml", free_address()
                    file.write_text(yaml.safe_dump(config))
                    options = [f"--storage.tsdb.path={place}", f"--web.listen-address={address}"]
                    process = processes.start(name, [program("prometheus"), f"--config.file={file}", *options])
                    processes.wait_for(process, f"http://{address}/-/ready")
                    servers.append((f"http://{address}", process.popen.pid))
            engine = Engine(Prometheus(servers[0][0], TIMEOUT))
            time.sleep(_WARM)
            for what, looks, before_that in (
                ("no engine", 0, 0),
                ("young", seconds, 1),
                ("none slow", seconds, _YOUNG - seconds),
                ("slow begins", seconds, _BEGINS),
                ("slow", seconds, max(0, _LASTS - seconds - _BEGINS)),
            ):
                machines.slow = what.startswith("slow")
                for _ in range(before_that):
                    engine.look()
                    time.sleep(1)
                before, own, begin = [used(pid) for _, pid in servers], time.thread_time(), time.monotonic()
                for number in range(looks or 1):
                    time.sleep(max(0.0, begin + number * (1 if looks else seconds) - time.monotonic()))
                    if looks:
                        engine.look()
                time.sleep(max(0.0, begin + seconds - time.monotonic()))
                length, own = time.monotonic() - begin, time.thread_time() - own
                spent = [(used(pid) - was) / length for (_, pid), was in zip(servers, before, strict=True)]
                named = sum(sample.family is INFO for sample in engine.samples())
                shares = "".join(f"{100 * one:9.1f} %" for one in spent)
                print(f"{hosts:4} runs, {what:11} engine{100 * own / length:6.2f} %, Prometheus{shares}; {named} named")
        finally:
            processes.stop_all()
            server.shutdown()


def main() -> None:
    """Measure for each number of machines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--hosts", type=int, nargs="+", default=[10, 40])
    parser.add_argument("--seconds", type=int, default=12)
    parser.add_argument("--rules", default="", metavar="FOLDER", help="other rules, for a second Prometheus")
    options = parser.parse_args()
    for hosts in options.hosts:
        measure(hosts, options.seconds, options.rules)


if __name__ == "__main__":
    main()
