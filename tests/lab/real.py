"""The parts of tests/experiments/attribution: Prometheus' configuration, the slow network, the rounds.

One machine is two in it: the last processor is the client's, the others are the server's.
"""

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
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from tests.lab import shipped
from tests.support.grafana import Prometheus

_FAULT, _QUIET, _SETTLE, _DELAY = 12, 20, 100, 0.006
"""Seconds: a fault, the least rest after it, the time before the first; the delay of the slow network, each way."""
_USUAL, _MOST_QUIET = 8, 120
"""Seconds for which the benchmark is as usual before the next fault; how long that is awaited."""


def configure(options: argparse.Namespace) -> None:
    """Write the shipped configuration of Prometheus for these ports, with other names for the disks."""
    config = shipped("benchwatch-", "node", "postgres")
    exporter, node, postgres = (f"127.0.0.1:{port}" for port in options.ports.split()[:3])
    server, client = socket.gethostname(), options.client
    targets = {"node": [(node, server), (node, client)], "postgres": [(postgres, server)]}
    changed: list[dict[str, Any]] = [
        {"source_labels": ["device"], "regex": device, "target_label": "device", "replacement": name}
        for device, _, name in (pair.partition("=") for pair in options.disks.split())
    ]
    # Of node_exporter's figures, the client has only those of its processor for itself.
    own = f"{client};node_cpu_seconds_total;{options.processor}"
    not_own = f"{server};node_cpu_seconds_total;{options.processor}|{client};node_.*"
    names = ["host", "__name__", "cpu"]
    changed += [
        {"source_labels": names, "regex": own, "target_label": "of", "replacement": "client"},
        {"source_labels": ["of", *names], "regex": f";(?:{not_own})", "action": "drop"},
        {"regex": "of", "action": "labeldrop"},
        # Who waits for a processor is known of the whole machine only, which is both of them.
        {"source_labels": ["__name__"], "regex": "node_procs_running|node_pressure_cpu_.*", "action": "drop"},
    ]
    for job in config["scrape_configs"]:
        where = [{"targets": [at], "labels": {"host": host}} for at, host in targets.get(job["job_name"], [])]
        job |= {"static_configs": where or [{"targets": [exporter]}], "metric_relabel_configs": changed}
    (Path(options.folder) / "prometheus.yml").write_text(yaml.safe_dump(config))


def delay(options: argparse.Namespace) -> None:
    """Pass on what goes through the network, until ended; late, while there is a file `slow`."""
    folder = Path(options.folder)
    slow = folder / "slow"

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if slow.exists():
                await asyncio.sleep(_DELAY)
            writer.write(data)
        writer.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_unix_connection(options.server)
        await asyncio.gather(pass_on(reader, back), pass_on(there, writer))

    async def serve() -> None:
        await (await asyncio.start_unix_server(connect, folder / ".s.PGSQL.5432")).serve_forever()

    asyncio.run(serve())


def _faults(options: argparse.Namespace) -> Mapping[str, tuple[str, str, Callable[[], None]]]:
    """Each fault by its word: its name, its layer, and what makes something slow."""

    def hog(processors: str) -> None:
        first, _, last = processors.partition("-")
        busy = ["taskset", "-c", processors, sys.executable, "-c", "while True: pass"]
        hogs = [subprocess.Popen(busy) for _ in range(20 * (int(last or first) - int(first) + 1))]
        time.sleep(_FAULT)
        for one in hogs:
            one.kill()
            one.wait()

    def lock() -> None:
        end = time.monotonic() + _FAULT
        while time.monotonic() < end:
            _psql("begin", "lock table pgbench_branches", "select pg_sleep(1.5)", "commit")
            time.sleep(0.5)

    def use(disk: Path) -> None:
        (disk / "other").mkdir(exist_ok=True)
        how = "--name=other --rw=randrw --bs=8k --size=64M --direct=1 --ioengine=libaio --iodepth=64 --time_based"
        command = ["taskset", "-c", options.server, "fio", f"--directory={disk / 'other'}", *how.split()]
        subprocess.run([*command, f"--runtime={_FAULT}"], stdout=subprocess.DEVNULL, check=True)

    def network() -> None:
        slow = Path(options.network) / "slow"
        slow.touch()
        time.sleep(_FAULT)
        slow.unlink()

    return {
        "none": ("no fault", "none", lambda: None),
        "hog": ("CPU hog on the server", "server_cpu", lambda: hog(options.server)),
        "client": ("CPU hog on the client", "client_cpu", lambda: hog(options.client)),
        "lock": ("lock", "database", lock),
        "checkpoint": ("checkpoint", "database", lambda: _psql("checkpoint")),
        "data": ("other user of the data device", "data_device", lambda: use(Path(options.data))),
        "log": ("other user of the log device", "log_device", lambda: use(Path(options.log))),
        "network": ("slow network", "network", network),
    }


def _psql(*statements: str) -> None:
    words = [word for statement in statements for word in ("-c", statement)]
    subprocess.run(["psql", "-q", "-o", os.devnull, *words], check=True)


def _forget_pages(data: Path) -> None:
    """Keep the database's files out of the page cache, so that it reads from its device."""
    while True:
        for file in data.glob("cluster/base/*/*"):
            with suppress(OSError), file.open("rb") as opened:
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        time.sleep(0.5)


def _range(prometheus: str, query: str, begin: float, end: float) -> list[tuple[dict[str, str], dict[int, float]]]:
    """Labels and values by Unix second of each series."""
    asked = {"query": query, "start": f"{int(begin)}", "end": f"{int(end)}", "step": "1"}
    found = Prometheus(prometheus).series("query_range", asked)
    return [(one["metric"], {int(at): float(value) for at, value in one["values"]}) for one in found]


def rounds(options: argparse.Namespace) -> None:
    """Inject faults in random order until the time is up; then store what was scraped meanwhile."""
    known, server = _faults(options), options.prometheus
    chosen = options.faults.split(",") if options.faults != "all" else list(known)
    threading.Thread(target=_forget_pages, args=(Path(options.data),), daemon=True).start()
    start = int(time.time())
    time.sleep(_SETTLE)
    planned: list[str] = []
    done: list[dict[str, Any]] = []
    slow = f'present_over_time(run:benchmark_slow:info{{run="{options.run}"}}[{_USUAL}s])'
    with suppress(KeyboardInterrupt):  # what is done is kept
        while time.time() + _FAULT + _QUIET < start + float(options.seconds):
            planned = planned or random.sample(chosen, len(chosen))
            name, layer, inject = known[planned.pop()]
            begin = time.time()
            inject()
            time.sleep(max(0.0, begin + _FAULT - time.time()))
            end, load = time.time(), os.getloadavg()[0]
            time.sleep(_QUIET)
            while time.time() < end + _MOST_QUIET and _range(server, slow, time.time(), time.time()):
                time.sleep(1)
            done.append({"fault": name, "expected": layer, "begin": begin, "end": end, "load": load})
            print(f"{len(done)}: {name}", flush=True)
    seconds, series = range(start, int(time.time()) + 1), {}
    scraped = '{__name__!~".*:.*", job=~"benchwatch.*|node|postgres"}'
    for labels, values in _range(server, scraped, seconds[0], seconds[-1]):
        pairs = ",".join(f'{key}="{value}"' for key, value in labels.items() if key != "__name__")
        series[f"{labels['__name__']}{{{pairs}}}"] = [values.get(second) for second in seconds]
    recorded = {"run": options.run, "first": start, "rounds": done, "series": series}
    Path(options.output).write_text(json.dumps(recorded))


PARTS = {"configure": configure, "delay": delay, "rounds": rounds}


def main(part: str, *words: str) -> None:
    """One of the parts, with its options as words NAME=VALUE; tests/experiments/attribution calls them."""
    PARTS[part](argparse.Namespace(**dict(word.split("=", 1) for word in words)))


if __name__ == "__main__":
    main(*sys.argv[1:])
