"""Simulated VMs with real bytes: what pgbench once printed, moved to the present, and a real fio without a disk.

Each exporter watches one folder with one run, every VM is a worker of it; half of them run pgbench, half run fio. One
fio writes for all VMs of an exporter: a fio each would take half of the whole test's processor time. The CVM is
benchwatch's simulator, whose pages are those of a real one.
"""

import random
import re
import sys
import threading
import time
from pathlib import Path

import yaml

from demo_ports import Ports
from demo_processes import Processes

_CHECKOUT = Path(__file__).resolve().parents[3]
_RECORDING = _CHECKOUT / "tests/recordings/dashboards/pgbench-rate-retries-15.18"
_BENCHWATCH = str(Path(sys.executable).parent / "benchwatch")
_LATENCY = re.compile(r"lat (\d+\.\d+) ms")
_REPORT = re.compile(r"progress: (\d+\.\d+) s, (\d+\.\d+) tps")
SPIKE = 100
"""How many times its recorded latency a second takes that is spoiled."""


class Pgbench:
    """One pretended pgbench: a second after another of the recording, from a place in it of its own."""

    def __init__(self, folder: Path, name: str, number: int) -> None:
        self.name = name
        lines = [line for line in (_RECORDING / "stderr").read_text().splitlines() if _REPORT.match(line)]
        transactions: dict[int, list[list[str]]] = {}
        for line in (_RECORDING / "db1.30137").read_text().splitlines():
            fields = line.split()
            transactions.setdefault(int(fields[4]), []).append(fields)
        seconds = [transactions.get(int(float(_REPORT.findall(line)[0][0])), []) for line in lines]
        # Steady load: the recording has a stall of its own, which would be another spike. Two seconds at once: alerts
        # on latency need 50 transactions a second.
        calm = [index for index, line in enumerate(lines) if float(_LATENCY.findall(line)[0]) < 6]
        self._tape = [
            (lines[index], [*seconds[index], *seconds[other]])
            for index, other in zip(calm, [*calm[1:], calm[0]], strict=True)
        ]
        self._position = random.Random(number).randrange(len(self._tape))
        self._output = (folder / f"{name}.err").open("a", buffering=1)
        self._log = (folder / f"{name}.{1000 + number}").open("a", buffering=1)

    def second(self, now: int, factor: float = 1) -> None:
        """Writes what it does in the second that ends at `now`; latencies are those of the recording times `factor`."""
        line, transactions = self._tape[self._position % len(self._tape)]
        self._position += 1
        moved = (
            f"{fields[0]} {fields[1]} {round(int(fields[2]) * factor)} {fields[3]} {now - 1} {' '.join(fields[5:])}\n"
            for fields in transactions
        )
        self._log.write("".join(moved))
        line = _REPORT.sub(f"progress: {now}.000 s, {len(transactions)}.0 tps", line)
        self._output.write(_LATENCY.sub(lambda match: f"lat {float(match[1]) * factor:.3f} ms", line) + "\n")


class Machines:
    """The VMs of one agent, their exporter, and node_exporter."""

    def __init__(self, folder: Path, host: str, first: int, count: int, processes: Processes, node: str) -> None:
        self.host, self.run = host, f"density-{host}"
        self._folder, self._processes = folder / host, processes
        self._runs = self._folder / "runs" / self.run
        self._runs.mkdir(parents=True)
        self._count = count
        numbers = range(first, first + count)
        record = {"labels": {"site": host, "purpose": "scale test"}, "latency_objective": "50ms"}
        (self._runs / "run.yaml").write_text(yaml.safe_dump(record))
        self.pgbenches = [Pgbench(self._runs, f"vm{number:02}", number) for number in numbers[::2]]
        self._fios = [f"vm{number:02}" for number in numbers[1::2]]
        self.ports = Ports({"exporter": 0, "cvm": 0})
        self._node = node
        self.spoiled = ""
        """The worker whose next second is slow; empty again once that is written."""
        self.spoiled_at = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def start(self, seconds: int) -> None:
        """Starts everything; fio ends after `seconds`."""
        cvm, exporter = (f"127.0.0.1:{self.ports[name]}" for name in ("cvm", "exporter"))
        process = self._processes.start(f"cvm-{self.host}", [_BENCHWATCH, "nutanix", "simulate", "--listen", cvm])
        self._processes.wait_for(process, f"http://{cvm}/")
        config = self._folder / "benchwatch.yaml"
        nutanix = {"cvms": [{"name": f"cvm-{self.host}", "url": f"http://{cvm}"}]}
        config.write_text(yaml.safe_dump({"nutanix": nutanix}))
        listen = [f"--config.file={config}", f"--web.listen-address={exporter}", f"--host={self.host}"]
        command = [_BENCHWATCH, "serve", *listen, f"--runs.path={self._folder / 'runs'}"]
        process = self._processes.start(f"exporter-{self.host}", command)
        self._processes.wait_for(process, f"http://{exporter}/-/ready")
        command = ["fio", "--ioengine=null", "--size=1G", "--rw=randrw", "--bs=8k", "--rate_iops=20,20", "--time_based"]
        command += [f"--runtime={seconds}", "--output-format=json+", "--status-interval=1", "--eta=never", "--name=db"]
        first, *others = (self._runs / f"{name}.out" for name in self._fios)
        self._processes.start(f"fio-{self.host}", command, output=first, log=first.with_suffix(".fio-err"))
        self._printed, self._copies = first.open("rb"), [path.open("ab", buffering=0) for path in others]
        self._thread.start()

    def stop(self) -> None:
        """Lets the pretended benchmarks fall silent."""
        self._end.set()
        self._thread.join()

    def configuration(self, name: str = "agent.yml") -> str:
        """What the agent scrapes, with the addresses of this test."""
        text = (_CHECKOUT / "prometheus" / name).read_text()
        text = text.replace("exporter:19777", f"127.0.0.1:{self.ports['exporter']}").replace(
            "node-exporter:9100", self._node
        )
        return text.replace("127.0.0.1:8429", "LISTEN")

    def _write(self) -> None:
        now = int(time.time()) + 1
        while not self._end.is_set():
            time.sleep(max(0.0, now - time.time()))
            for pgbench in self.pgbenches:
                spoiled = pgbench.name == self.spoiled
                pgbench.second(now, SPIKE if spoiled else 1)
                if spoiled:
                    self.spoiled, self.spoiled_at = "", time.time()
            printed = self._printed.read()
            for copy in self._copies:
                copy.write(printed)
            now += 1
