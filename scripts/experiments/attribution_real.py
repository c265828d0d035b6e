"""The parts of scripts/experiments/attribution-real: the configuration of Prometheus, the slow network, the rounds."""

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import requests
import yaml

from attribution_table import Judged, insert, plain, tables

FAULT_SECONDS, QUIET_SECONDS = 12, 24
_SETTLE_SECONDS = 100
_AFTER = 4
"""Seconds after a fault in which what it left is still slow."""
_DELAY = 0.006
"""Seconds, each way."""


def configure(arguments: argparse.Namespace) -> None:
    """Writes the product's configuration of Prometheus for these ports, with other names for the disks."""
    product = arguments.checkout / "prometheus"
    config = yaml.safe_load((product / "prometheus.yml").read_text())
    config.pop("alerting", None)
    config["rule_files"] = [str(product / "rules" / "*.yml")]
    exporter, node, postgres = (f"127.0.0.1:{port}" for port in arguments.ports[:3])
    host = {"host": socket.gethostname()}
    targets = {"node": (node, host), "postgres": (postgres, host)}
    renamed = [
        {"source_labels": ["device"], "regex": device, "target_label": "device", "replacement": name}
        for device, _, name in (pair.partition("=") for pair in arguments.disks)
    ]
    jobs = []
    for job in config["scrape_configs"]:
        if job["job_name"] not in targets and not job["job_name"].startswith("benchwatch-"):
            continue
        target, labels = targets.get(job["job_name"], (exporter, {}))
        job.pop("file_sd_configs", None)
        jobs.append(
            job | {"static_configs": [{"targets": [target], "labels": labels}], "metric_relabel_configs": renamed}
        )
    config["scrape_configs"] = jobs
    (arguments.folder / "prometheus.yml").write_text(yaml.safe_dump(config))


def delay(arguments: argparse.Namespace) -> None:
    """A proxy between two sockets, until ended; while there is a file `slow` beside its own, it delays."""
    slow = arguments.folder / "slow"

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if slow.exists():
                await asyncio.sleep(_DELAY)
            writer.write(data)
        writer.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_unix_connection(arguments.server)
        await asyncio.gather(pass_on(reader, back), pass_on(there, writer))

    async def serve() -> None:
        server = await asyncio.start_unix_server(connect, arguments.folder / ".s.PGSQL.5432")
        await server.serve_forever()

    asyncio.run(serve())


class Faults:
    """What can be made slow, by name; each takes FAULT_SECONDS."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._disks = {"data": arguments.data, "log": arguments.log}
        self._slow = arguments.network / "slow"
        self.layers: Mapping[str, tuple[str, Callable[[], None]]] = {
            "no fault": ("none", lambda: None),
            "CPU hog": ("client_cpu", self._hog),
            "lock": ("database", self._lock),
            "checkpoint": ("database", self._checkpoint),
            "other user of the data device": ("data_device", lambda: self._use("data")),
            "other user of the log device": ("log_device", lambda: self._use("log")),
            "slow network": ("network", self._delay),
        }

    def _hog(self) -> None:
        number = 6 * (os.cpu_count() or 1)
        hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
        time.sleep(FAULT_SECONDS)
        for hog in hogs:
            hog.kill()
            hog.wait()

    def _lock(self) -> None:
        end = time.monotonic() + FAULT_SECONDS
        while time.monotonic() < end:
            _psql("begin; lock table pgbench_branches in access exclusive mode; select pg_sleep(1.5); commit")
            time.sleep(0.5)

    def _checkpoint(self) -> None:
        _psql("checkpoint")

    def _use(self, disk: str) -> None:
        folder = self._disks[disk] / "other"
        folder.mkdir(exist_ok=True)
        how = ["--rw=randrw", "--bs=8k", "--size=64M", "--direct=1", "--ioengine=libaio", "--iodepth=64"]
        command = ["fio", "--name=other", f"--directory={folder}", *how, "--time_based", f"--runtime={FAULT_SECONDS}"]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

    def _delay(self) -> None:
        self._slow.touch()
        time.sleep(FAULT_SECONDS)
        self._slow.unlink()


def _psql(text: str) -> None:
    command = ["psql", "-q", "-o", os.devnull]
    for statement in text.split(";"):
        command += ["-c", statement]
    subprocess.run(command, check=True)


class Prometheus:
    """Its answers, second by second."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._session = requests.Session()
        self._session.trust_env = False

    def range(self, query: str, begin: float, end: float) -> list[tuple[dict[str, str], dict[int, float]]]:
        """Labels and values by Unix second of each series."""
        asked: dict[str, Any] = {"query": query, "start": int(begin), "end": int(end), "step": 1}
        answer = self._session.post(f"{self._url}/api/v1/query_range", data=asked, timeout=60)
        answer.raise_for_status()
        found = answer.json()["data"]["result"]
        return [(one["metric"], {int(time): float(value) for time, value in one["values"]}) for one in found]


def rounds(arguments: argparse.Namespace) -> None:
    """Faults in random order until the time is up; then the tables."""
    faults, prometheus = Faults(arguments), Prometheus(arguments.prometheus)
    threading.Thread(target=_forget, args=(arguments.data,), daemon=True).start()
    end, chance, started = time.monotonic() + arguments.seconds, random.Random(1), time.time()
    time.sleep(_SETTLE_SECONDS)
    planned: list[str] = []
    load: list[float] = []
    spans, moments = [], []
    judged: list[Judged] = []
    while time.monotonic() + FAULT_SECONDS + QUIET_SECONDS < end:
        planned = planned or chance.sample(list(faults.layers), len(faults.layers))
        fault = planned.pop()
        expected, inject = faults.layers[fault]
        begin = time.time()
        inject()
        time.sleep(max(0.0, begin + FAULT_SECONDS - time.time()))
        finish = max(time.time(), begin + FAULT_SECONDS)
        load.append(os.getloadavg()[0])
        time.sleep(QUIET_SECONDS)
        one = _judge(prometheus, arguments.run, fault, expected, begin, finish + _AFTER)
        judged.append(one)
        moments.append((begin, finish))
        spans.append(_recorded(prometheus, f"{len(spans)}", begin, finish))
        with arguments.output.open("a") as file:
            file.write(json.dumps(one._asdict()) + "\n")
        print(f"{len(judged)}: {fault}: {dict(one.named)}, slow {one.slow} s; {one.notes}", flush=True)
    arguments.output.with_suffix(".tape").write_text(json.dumps(_tape(prometheus, started)))
    arguments.output.with_suffix(".moments").write_text(json.dumps(moments))
    path = arguments.output.with_suffix(".series")
    path.write_text("".join(json.dumps(span) + "\n" for span in spans))
    peers = [arguments.peers, Path(__file__).parent / "attribution_peers.py", path]
    ranked = [
        json.loads(line)
        for line in subprocess.run(peers, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    ]
    judged = [one._replace(ks=found["ks"], baro=found["baro"]) for one, found in zip(judged, ranked, strict=True)]
    arguments.output.write_text("".join(json.dumps(one._asdict()) + "\n" for one in judged))
    told = (
        f"{len(judged)} rounds on {time.strftime('%Y-%m-%d')}, {os.cpu_count()} processors, load average"
        f" {min(load):.1f} to {max(load):.1f}."
    )
    text = tables(sorted(judged, key=lambda one: list(faults.layers).index(one.fault)), told)
    print(plain(text))
    insert(arguments.document, "real", text)


def _judge(prometheus: Prometheus, run: str, fault: str, expected: str, begin: float, end: float) -> Judged:
    named: dict[str, int] = {}
    right = []
    for labels, values in prometheus.range(f'run:verdict:layer{{run="{run}"}}', begin, end):
        named[labels["layer"]] = len(values)
        if labels["layer"] == expected:
            right.append(min(values))
    slow = sum(len(values) for _, values in prometheus.range(f'run:benchmark_slow:info{{run="{run}"}}', begin, end))
    high = {}
    for labels, values in prometheus.range(f'run_layer:slowness:ratio{{run="{run}"}} >= 2', begin, end):
        high[f"{labels['layer']} {labels.get('which', '')}"] = max(values.values())
    notes = ", ".join(f"{name} {value:.3g}x" for name, value in sorted(high.items(), key=lambda pair: -pair[1])[:8])
    return Judged(fault, expected, named, max(0, round(min(right) - begin)) if right else None, slow, notes=notes)


def _recorded(prometheus: Prometheus, name: str, begin: float, end: float) -> dict[str, Any]:
    """All scraped series of a round and the four windows before it."""
    first, last = int(begin) - 4 * FAULT_SECONDS - 2, int(end)
    series = {}
    for labels, values in prometheus.range('{__name__!~".*:.*", job=~"node|postgres"}', first, last):
        pairs = ",".join(f'{key}="{value}"' for key, value in labels.items() if key != "__name__")
        series[f"{labels['__name__']}{{{pairs}}}"] = [values.get(second) for second in range(first, last + 1)]
    return {"name": name, "begin": int(begin) - first, "end": last - first, "series": series}


def _tape(prometheus: Prometheus, started: float) -> dict[str, Any]:
    """All that was scraped since the start, a value a second: for rules that are written later."""
    first, last = int(started), int(time.time())
    series = {}
    for job in ("benchwatch-live", "benchwatch-runs", "node", "postgres"):
        for labels, values in prometheus.range(f'{{__name__!~".*:.*", job="{job}"}}', first, last):
            pairs = ",".join(f'{key}="{value}"' for key, value in labels.items() if key != "__name__")
            series[f"{labels['__name__']}{{{pairs}}}"] = [values.get(second) for second in range(first, last + 1)]
    return {"first": first, "series": series}


def _forget(data: Path) -> None:
    """Keeps the database's files out of the page cache, so that it reads from its device."""
    while True:
        for file in data.glob("cluster/base/*/*"):
            try:
                descriptor = os.open(file, os.O_RDONLY)
            except OSError:
                continue
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)
        time.sleep(0.5)


def main() -> None:
    """One of the parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = parser.add_subparsers(required=True)
    part = parts.add_parser("configure")
    part.set_defaults(run_part=configure)
    part.add_argument("--checkout", type=Path)
    part.add_argument("--folder", type=Path)
    part.add_argument("--ports", type=int, nargs="+")
    part.add_argument("--disks", nargs="+")
    part = parts.add_parser("delay")
    part.set_defaults(run_part=delay)
    part.add_argument("server")
    part.add_argument("folder", type=Path)
    part = parts.add_parser("rounds")
    part.set_defaults(run_part=rounds)
    part.add_argument("--prometheus")
    part.add_argument("--run")
    for name in ("network", "data", "log", "output", "document"):
        part.add_argument(f"--{name}", type=Path)
    part.add_argument("--seconds", type=int)
    part.add_argument("--peers")
    arguments = parser.parse_args()
    arguments.run_part(arguments)


if __name__ == "__main__":
    main()
