"""What the whole stack costs beside one run of 800 transactions a second: the exporter, node_exporter and Prometheus.

    python tests/benchmarks/stack.py [--seconds 120] [--beside REVISION] [--prometheus PROGRAM]
        [--node-exporter PROGRAM]

The run is written as overhead.py does. node_exporter has the collectors of compose.yaml, Prometheus the jobs, targets
and rules of prometheus/ and the environment that compose.yaml gives it. Printed is processor time as a share of one
core, after a warm-up. With --beside, the stack of another commit watches the same run at the same time. At the end: how
many series Prometheus has, and the groups of rules by the time that they take.
"""

import argparse
import os
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import requests
import yaml
from beside import sides
from overhead import Exporter, Writer, cpu_seconds, free_port

RATE = 800


class Stack:
    """The processes of one side, by name."""

    def __init__(self, name: str, root: Path, folder: Path, options: argparse.Namespace, stack: ExitStack) -> None:
        self.name = name
        self._exporter = Exporter(name, root, folder / "runs", "127.0.0.1")
        stack.callback(self._exporter.stop)
        services = yaml.safe_load((root / "compose.yaml").read_text())["services"]
        collectors = [flag for flag in services["node-exporter"]["command"] if not flag.startswith("--path.")]
        node, self.port = free_port(), free_port()
        place = folder / name
        self._configure(root, place, node)
        commands = {
            "node_exporter": [options.node_exporter, *collectors, f"--web.listen-address=127.0.0.1:{node}"],
            "Prometheus": [
                *(options.prometheus, f"--config.file={place}/prometheus.yml"),
                *(f"--storage.tsdb.path={place}/data", f"--web.listen-address=127.0.0.1:{self.port}"),
            ],
        }
        wanted = {"node_exporter": "node-exporter", "Prometheus": "prometheus"}
        self.processes = {"exporter": self._exporter.process.pid}
        for one, command in commands.items():
            given = services[wanted[one]].get("environment", {})
            with (folder / f"{name}-{one}.log").open("wb") as log:
                process = subprocess.Popen(command, env=os.environ | given, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            self.processes[one] = process.pid

    def _configure(self, root: Path, place: Path, node: int) -> None:
        """The configuration of that checkout, with these ports."""
        (place / "targets").mkdir(parents=True)
        ports = {19777: self._exporter.port, 9100: node, 9090: self.port}
        for path in (root / "prometheus/prometheus.yml", *(root / "prometheus/targets").glob("*.yml")):
            text = path.read_text().replace('"rules/', f'"{root}/prometheus/rules/')
            for usual, own in ports.items():
                text = text.replace(f"127.0.0.1:{usual}", f"127.0.0.1:{own}")
            (place / path.relative_to(root / "prometheus")).write_text(text)

    def begin(self) -> None:
        self._began = time.monotonic()
        self._used = {one: cpu_seconds(process) for one, process in self.processes.items()}

    def end(self) -> dict[str, float]:
        """The share of a core of each process since the beginning."""
        passed = time.monotonic() - self._began
        return {one: (cpu_seconds(process) - self._used[one]) / passed for one, process in self.processes.items()}

    def of_prometheus(self) -> str:
        """What Prometheus says of its own costs."""
        url = f"http://127.0.0.1:{self.port}"
        groups = requests.get(f"{url}/api/v1/rules", timeout=60).json()["data"]["groups"]
        shares = sorted(
            ((group["evaluationTime"] / group["interval"], group["name"]) for group in groups), reverse=True
        )
        lines = requests.get(f"{url}/metrics", timeout=60).text.splitlines()
        named = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        samples = float(named["prometheus_tsdb_head_series"])
        told = ", ".join(f"{name} {share:.2%}" for share, name in shares)
        return f"{samples:.0f} series; groups of rules, by wall time of the last evaluation: {told}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--warm-up", type=int, default=45)
    parser.add_argument("--prometheus", default="prometheus")
    parser.add_argument("--node-exporter", default="prometheus-node-exporter")
    parser.add_argument("--beside", metavar="REVISION")
    options = parser.parse_args()
    with ExitStack() as stack:
        roots = stack.enter_context(sides(options.beside))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        writer = Writer(folder / "runs", 1, RATE)
        (folder / "runs/run1/run.yaml").write_text("host: localhost\n")  # as targets/nodes.yml calls this machine
        stacks = [Stack(name, root, folder, options, stack) for name, root in roots.items()]
        opening = time.monotonic()
        for second in range(options.warm_up + options.seconds):
            if second == options.warm_up:
                for one in stacks:
                    one.begin()
            writer.second(time.time())
            time.sleep(max(0.0, opening + second + 1 - time.monotonic()))
        shares = {one.name: one.end() for one in stacks}
        for name, found in shares.items():
            parts = ", ".join(f"{part} {share:.2%}" for part, share in found.items())
            print(f"{name}: {parts}, together {sum(found.values()):.2%} of a core")
        if len(stacks) == 2:
            here, there = shares.values()
            parts = ", ".join(f"{part} {here[part] / there[part]:.2f}" for part in here)
            together = sum(here.values()) / sum(there.values())
            print(f"{' / '.join(shares)}: {parts}, together {together:.2f}")
        for one in stacks:
            print(f"{one.name}: {one.of_prometheus()}")


if __name__ == "__main__":
    main()
