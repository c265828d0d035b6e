"""Real faults on two machines: what the person who is woken reads.

    sudo .venv/bin/python -m tests.lab.real --rounds 5 --seed 2 --document docs/measured/why.md

A PostgreSQL on db1, its log and its data each on a disk of its own, pgbench on client1, on both node_exporter and
benchwatch; beside them Prometheus with the shipped rules, Alertmanager with the shipped configuration, and a webhook.
Faults come one at a time, in random order, for a random time. Judged is the last message that the webhook received
within 30 s of the onset. Nothing here knows what was said before the fault is over.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from demo_processes import Processes
from tests.lab import BENCHWATCH, CHECKOUT, shipped
from tests.lab.hosts import Disk, Host, missing, preferred, ran
from tests.lab.judging import Message, Round, insert, report
from tests.support.ports import free_address
from tests.support.programs import program
from tests.support.servers import start_prometheus
from tests.support.webhook import Receiver, start_alertmanager

_LENGTHS, _REST, _CALM, _MOST_REST, _SETTLE = (14, 22), 38, 12, 150, 75
"""Seconds: a fault's length; from one onset to the next at least; as usual before the next; the longest wait for that;
before the first.
"""
_OPERATIONS = 600
"""Reads and writes a second of each disk."""


class Lab:
    """The machines, the benchmark and who watches them, all closed by the stack."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.log = stack.enter_context(closing(Disk(folder / "log", _OPERATIONS, 30)))
        self.data = stack.enter_context(closing(Disk(folder / "data", _OPERATIONS, 60)))
        self.server = stack.enter_context(closing(Host("db1", 1, 0, folder)))
        self.client = stack.enter_context(closing(Host("client1", 2, 1, folder)))
        self.receiver = stack.enter_context(closing(Receiver()))
        self.run = f"faults-{datetime.now():%Y%m%d-%H%M%S}"
        self._folder = folder
        self._processes = Processes(folder, os.environ | {"PGUSER": "postgres", "PGDATABASE": "postgres"})
        stack.callback(self._processes.stop_all)
        self._address = self.server.link(self.client)
        self._start_database()
        self._watch()
        self._start_benchmark()
        threading.Thread(target=self._forget_pages, daemon=True).start()

    def _start_database(self) -> None:
        programs = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name))
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        cluster, wal = self.data.place / "cluster", self.log.place / "wal"
        ran("chown", "postgres:", self.data.place, self.log.place)
        how = ["-E", "UTF8", "--no-locale", "--no-sync", "-A", "trust"]
        self.server.run(*user, programs / "initdb", "-D", cluster, "--waldir", wal, *how)
        with (cluster / "pg_hba.conf").open("a") as file:
            file.write("host all all 10.77.0.0/16 trust\n")
        # A program of its own, so that it is the server's memory that keeps its pages.
        self.server.run("cp", programs / "postgres", self.data.place)
        self.server.run("mount", "--bind", self.data.place / "postgres", programs / "postgres")
        settings = ["--listen_addresses=*", "--shared_buffers=256MB", "--checkpoint_timeout=1h", "--max_wal_size=2GB"]
        settings += ["--full_page_writes=off", "--autovacuum=off", "--bgwriter_lru_maxpages=0", "--max_connections=50"]
        settings += [f"--unix_socket_directories={self.data.place}"]
        command = self.server.command(*user, programs / "postgres", "-D", cluster, *settings)
        process = self._processes.start("postgres", command)
        asked = ["pg_isready", "-q", "-h", self.server.address]
        self._processes.wait_until(process, lambda: not subprocess.call(asked))
        ran("pgbench", "-h", self.server.address, "-U", "postgres", "-i", "-q", "-s", "100", "postgres")
        self.statements("vacuum analyze", "checkpoint")
        self.log.limit()
        self.data.limit()

    def statements(self, *statements: str) -> None:
        """Run them in one session on the server."""
        words = [word for statement in statements for word in ("-c", statement)]
        self.server.run("psql", *f"-q -U postgres -d postgres -o {os.devnull} -h".split(), self.data.place, *words)

    def _export(self, name: str, at: str, *command: str | Path, host: Host | None = None) -> None:
        """Start an exporter at an address, on one of the machines or beside them."""
        words = [*map(str, command), f"--web.listen-address={at}"]
        process = self._processes.start(name, host.command(*words) if host else words, folder=self._folder)
        self._processes.wait_for(process, f"http://{at}/metrics")

    def _watch(self) -> None:
        """Everything that watches. Machines have exporters of their own, and one more shows the run."""
        node = [program("prometheus-node-exporter", "node_exporter"), "--collector.diskstats.device-exclude=^ram"]
        first = ["nice", "-n", "-19"]  # a hog on its machine delays no exporter, as a service with a priority
        main, postgres = free_address(), f"{self.server.address}:9187"
        for name in ("empty", "runs", "prometheus"):
            (self._folder / name).mkdir()
        targets: dict[str, list[Any]] = {
            "node": [],
            "postgres": [{"targets": [postgres], "labels": {"host": "db1"}}],
            "benchwatch-live": [{"targets": [main]}],
            "benchwatch-": [{"targets": [main]}],
        }
        for host in (self.server, self.client):
            at = f"{host.address}:9100"
            self._export(f"node-{host.name}", at, *first, *node, host=host)
            targets["node"].append({"targets": [at], "labels": {"host": host.name}})
            at = f"{host.address}:19777"
            own = [*first, *BENCHWATCH, "serve", f"--runs.path={self._folder / 'empty'}", f"--host={host.name}"]
            self._export(f"exporter-{host.name}", at, *own, host=host)
            targets["benchwatch-live"].append({"targets": [at]})
        source = f"host={self.data.place} user=postgres dbname=postgres sslmode=disable"
        command = ["env", f"DATA_SOURCE_NAME={source}", CHECKOUT / "scripts" / "postgres-exporter"]
        self._export("exporter-postgres", postgres, *command, host=self.server)
        alertmanager = start_alertmanager(self._processes, self._folder, self.receiver.url)
        config = shipped(targets)
        config["alerting"] = {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]}
        renamed = [
            {"source_labels": ["device"], "regex": disk.device, "target_label": "device", "replacement": name}
            for disk, name in ((self.log, "bench_log"), (self.data, "bench_data"))
        ]
        for job in config["scrape_configs"]:  # the rules leave loop devices aside
            job["metric_relabel_configs"] = renamed
        self.prometheus = start_prometheus(self._processes, self._folder / "prometheus", config)
        url = f"--prometheus.url={self.prometheus.url}"
        self._export("exporter", main, *BENCHWATCH, "serve", f"--runs.path={self._folder / 'runs'}", url)

    def _start_benchmark(self) -> None:
        disks = [f"--disk={self.log.device}=log", f"--disk={self.data.device}=data", "--host=db1", "--client=client1"]
        where = [f"--runs.path={self._folder / 'runs'}", f"--name={self.run}", "--worker=db1"]
        asked = ["-n", "-c", "8", "-j", "2", "-R", "80", "-P", "1", "-T", "86400"]
        command = [*BENCHWATCH, "run", *where, *disks, "--", "pgbench", "-h", self._address, "-U", "postgres", *asked]
        self._processes.start("pgbench", self.client.command(*command, "postgres"), folder=self._folder)

    def _forget_pages(self) -> None:
        """Keep the database's files out of the page cache, so that it reads from its disk."""
        base = self.data.place / "cluster" / "base"
        while base.exists():
            for file in base.glob("*/*"):
                with suppress(OSError), file.open("rb") as opened:
                    os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            time.sleep(0.5)

    def faults(self) -> Iterator[tuple[Round, Callable[[float], None]]]:
        """A round of each kind, and one without; and what makes that slow for so many seconds."""

        def hog(host: Host, nice: int, seconds: float) -> None:
            words = ["timeout", f"{seconds:.1f}", sys.executable, "-c", "while True: pass"]
            busy = host.command("nice", "-n", str(nice), *words)
            for one in [subprocess.Popen(busy, stderr=subprocess.DEVNULL) for _ in range(20)]:
                one.wait()

        def lock(seconds: float) -> None:
            self.statements("begin", "lock table pgbench_branches", f"select pg_sleep({seconds:.1f})", "commit")

        def compete(seconds: float) -> None:
            place = self.data.place / "other"
            place.mkdir(exist_ok=True)
            how = "--name=other --rw=randrw --bs=8k --size=64M --direct=1 --ioengine=libaio --iodepth=64 --time_based"
            self.server.run("fio", f"--directory={place}", *how.split(), f"--runtime={seconds:.0f}")

        def network(seconds: float) -> None:
            queue = ["root", "tbf", "rate", "250kbit", "burst", "3000", "latency", "2s"]
            self.server.run("tc", "qdisc", "add", "dev", "bench0", *queue)
            time.sleep(seconds)
            self.server.run("tc", "qdisc", "del", "dev", "bench0", "root")

        yield Round("no fault", "none", ""), lambda _: None
        busy = r"the processors of {} are \d+ % busy.*python".format
        yield Round("processor hog on the server", "server_cpu", busy("db1")), partial(hog, self.server, -5)
        yield Round("processor hog on the client", "client_cpu", busy("client1")), partial(hog, self.client, -12)
        yield Round("lock", "database", "lock on pgbench_branches is held by 'select pg_sleep"), lock
        checkpoint = Round("checkpoint", "database", "a checkpoint (writes|syncs).*CHECKPOINT")
        yield checkpoint, lambda _: self.statements("checkpoint")
        yield Round("slow data device", "data_device", r"reads of bench_data \(data\) take"), self.data.slow
        yield Round("slow log device", "log_device", r"writes of bench_log \(log\) take"), self.log.slow
        yield Round("competing process", "data_device", "fio reads and writes"), compete
        yield Round("memory pressure", "memory", "db1 is short of memory"), self.server.starve
        yield Round("slow network", "network", "between the benchmark and the database"), network
        yield Round("frozen server", "server", "db1 does not answer"), self.server.freeze

    def messages(self, begin: float, end: float) -> Iterator[Message]:
        """Those that came between two moments, of alerts that fire."""
        for at, body in self.receiver.got.copy():
            firing = [alert for alert in body["alerts"] if alert["status"] == "firing"]
            if begin <= at < end and firing:
                slow = [alert for alert in firing if alert["labels"]["alertname"] == "RunSlow"]
                first = (slow or firing)[0]
                text = first["annotations"].get("verdict") or first["annotations"].get("summary", "")
                yield Message(round(at - begin, 1), first["labels"].get("layer", "") if slow else "", text)

    def is_slow(self) -> bool:
        """Whether the run was slow, or an alert that it is fired, within the last seconds."""
        states = f"present_over_time(run:benchmark_slow:info[{_CALM}s])"
        states += ' or ALERTS{alertstate="firing",alertname="RunSlow"}'
        return bool(self.prometheus.instant(states, time.time()))

    def series(self, begin: float, end: float) -> Mapping[str, Sequence[float | None]]:
        """What was scraped, a value a second."""
        asked = {"query": '{__name__!~".*:.*|ALERTS.*",job=~"benchwatch.*|node|postgres"}', "step": "1"}
        seconds, found = range(int(begin), int(end) + 1), {}
        for one in self.prometheus.series("query_range", asked | {"start": f"{seconds[0]}", "end": f"{seconds[-1]}"}):
            pairs = ",".join(f'{key}="{value}"' for key, value in one["metric"].items() if key != "__name__")
            values = {int(at): float(value) for at, value in one["values"]}
            found[f"{one['metric']['__name__']}{{{pairs}}}"] = [values.get(second) for second in seconds]
        return found


def play(lab: Lab, rounds: int, chance: random.Random, only: str) -> Iterator[Round]:
    """Inject each fault so often, in random order; what was heard of each."""
    faults = [one for one in lab.faults() if re.search(only, one[0].fault)]
    time.sleep(_SETTLE)
    for judged, inject in (one for _ in range(rounds) for one in chance.sample(faults, len(faults))):
        load, begin = os.getloadavg()[0], time.time()
        inject(chance.uniform(*_LENGTHS))
        end = time.time()
        while time.time() < begin + _REST or (time.time() < end + _MOST_REST and lab.is_slow()):
            time.sleep(1)
        yield judged._replace(messages=list(lab.messages(begin, time.time())), begin=begin, end=end, load=load)


def main() -> None:
    """Play rounds, judge them, and write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15, help="of each fault (15); one takes some 55 s")
    parser.add_argument("--seed", type=int, default=1, help="of the order and length of the faults")
    parser.add_argument("--only", default="", metavar="REGEX", help="only faults whose name matches")
    parser.add_argument("--output", type=Path, default=Path("faults.json"), help="where the rounds are stored")
    parser.add_argument("--document", type=Path, help="write the table into this page")
    options = parser.parse_args()
    if (lack := missing()) is not None:
        raise SystemExit(f"tests.lab.real: {lack}")
    if not os.environ.get("LAB_NETWORK"):  # its own network and mounts, which end with it
        words = [sys.executable, "-m", "tests.lab.real", *sys.argv[1:]]
        os.execvpe("unshare", ["unshare", "--net", "--mount", *words], os.environ | {"LAB_NETWORK": "1"})
    ran("ip", "link", "set", "lo", "up")
    for end in (signal.SIGINT, signal.SIGTERM):  # also in the background of a shell, which ignores the first
        signal.signal(end, signal.default_int_handler)
    done: list[Round] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lab-")))
        folder.chmod(0o755)
        stack.enter_context(preferred())
        begin = time.time()
        lab = Lab(folder, stack)
        print(f"run {lab.run}", flush=True)
        with suppress(KeyboardInterrupt):  # what is done is kept
            for one in play(lab, options.rounds, random.Random(options.seed), options.only):
                done.append(one)
                right = "right" if one.cause_right else "layer right" if one.layer_right else "NOT RIGHT"
                print(f"{datetime.now():%H:%M:%S} {len(done)} {one.fault}: {right}, load {one.load:.1f}", flush=True)
                for message in one.messages:
                    print(f"    after {message.after} s {message.layer}: {message.text}", flush=True)
        recorded = {"run": lab.run, "first": int(begin), "rounds": [one._asdict() for one in done]}
        options.output.write_text(json.dumps(recorded | {"series": lab.series(begin, time.time())}))
    text = report(done)
    print(text)
    if options.document:
        insert(options.document, "real", text)


if __name__ == "__main__":
    main()
