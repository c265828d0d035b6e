"""Tries Grafana Mimir and Thanos Receive with the settings of docs/scale.md and deploy/receivers (--receiver NAME).

An agent sends what an exporter and node_exporter say to the store and to a plain Prometheus. The store's own ruler
evaluates the rules. Then every query of every dashboard is asked of both, and a spike must be told.
"""

import json
import math
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from demo_ports import Ports
from tests.compose.cluster import checks
from tests.compose.cluster.compare import Prometheus, compare
from tests.compose.cluster.lab import Lab
from tests.compose.cluster.load import Machines
from tests.compose.cluster.stack import CHECKOUT
from tests.compose.cluster.wire import Listener

_SETTINGS = CHECKOUT / "deploy" / "receivers"


def arguments(program: str) -> list[str]:
    """The arguments of one of Thanos' programs in deploy/receivers/thanos.sh."""
    text = (_SETTINGS / "thanos.sh").read_text().replace("\\\n", "")
    line = next(line for line in text.splitlines() if line.startswith(f"thanos {program} "))
    return [word for word in shlex.split(line)[2:] if word != "..."]


def link_rules(folder: Path) -> None:
    """Writes the addresses into the rules in a folder, by the command of docs/scale.md."""
    lines = (CHECKOUT / "docs" / "scale.md").read_text().splitlines()
    command = next(line for line in lines if line.startswith("    sed "))
    subprocess.run(command.strip(), shell=True, cwd=folder, check=True)


class Other:
    """A store in a lab: `write` and `query` are its addresses; `headers` what agents send it."""

    pages: Sequence[str] = ()
    """What the plain Prometheus scrapes, by the names of the ports."""

    def __init__(self, lab: Lab, programs: Path, told: str) -> None:
        self.lab, self.told, self.programs = lab, told, programs
        self.folder = lab.stack.folder / "other"
        self.folder.mkdir()
        shutil.copytree(CHECKOUT / "prometheus" / "rules", self.folder / "linked-rules")
        link_rules(self.folder)
        self.write = self.query = self.rules = ""
        self.headers = ""
        self._ports: dict[str, int] = {}
        self.scraped = [self.at(name) for name in self.pages]

    def at(self, name: str) -> str:
        """An address of the store, by its use."""
        if name not in self._ports:
            self._ports.update(Ports({name: 0}))
        return f"127.0.0.1:{self._ports[name]}"

    def run(self, name: str, words: list[str], page: str) -> None:
        """Starts a program of the store and waits until its page answers."""
        command = [str(self.programs / words[0]), *words[1:]]
        process = self.lab.processes.start(name, command, folder=self.folder)
        self.lab.stack.adopt(name, process)
        self.lab.processes.wait_for(process, f"http://{page}", 300)


class Thanos(Other):
    """Two receivers, each of which has every sample, a querier and a ruler."""

    pages = ("http 1", "http 2")

    def start(self) -> None:
        """Starts them."""
        words = ["thanos", "receive", *arguments("receive")]
        limits = (_SETTINGS / "thanos-limits.yml").read_text()
        (self.folder / "thanos-limits.yml").write_text(limits.replace("http://127.0.0.1:9090", self.lab.plain.url))
        grpc = [self.at(f"grpc {number}") for number in (1, 2)]
        (self.folder / "ring.json").write_text(json.dumps([{"endpoints": [{"address": one} for one in grpc]}]))
        for number in (1, 2):
            own = [word.replace('receive="1"', f'receive="{number}"') for word in words]
            own += [f"--grpc-address={grpc[number - 1]}", f"--http-address={self.at(f'http {number}')}"]
            own += [f"--remote-write.address={self.at(f'write {number}')}", f"--tsdb.path=receive-{number}"]
            own += ["--receive.hashrings-file=ring.json", f"--receive.local-endpoint={grpc[number - 1]}"]
            own += [f"--receive.capnproto-address={self.at(f'capnproto {number}')}"]
            self.run(f"receive-{number}", own, f"{self.at(f'http {number}')}/-/ready")
        rule = ["thanos", "rule", f"--grpc-address={self.at('grpc rule')}", f"--http-address={self.at('http rule')}"]
        query = ["thanos", "query", f"--grpc-address={self.at('grpc query')}", f"--http-address={self.at('query')}"]
        query += [f"--endpoint={one}" for one in (*grpc, self.at("grpc rule"))]
        query += arguments("query")
        self.run("query", query, f"{self.at('query')}/-/ready")
        rule += [word for word in arguments("rule") if "file" not in word]
        rule += [
            f"--rule-file={CHECKOUT}/prometheus/rules/*.yml",
            f"--query=http://{self.at('query')}",
            "--data-dir=rule",
        ]
        rule += [f"--alertmanagers.url=http://{self.told}"]
        self.run("rule", rule, f"{self.at('http rule')}/-/ready")
        self.write = f"http://{self.at('write 1')}/api/v1/receive"
        self.query, self.rules = f"http://{self.at('query')}", f"http://{self.at('http rule')}"
        self.headers = "THANOS-TENANT:default-tenant"


class Mimir(Other):
    """All its parts in one process, with the files of rules in a folder."""

    def start(self) -> None:
        """Starts it."""
        (self.folder / "rules").mkdir()
        (self.folder / "linked-rules").rename(self.folder / "rules" / "anonymous")
        host, http = self.at("http").split(":")
        grpc, gossip = (int(self.at(name).rpartition(":")[2]) for name in ("grpc", "gossip"))
        single: dict[str, Any] = {"kvstore": {"store": "inmemory"}}
        one = {**single, "instance_addr": host}
        config: Mapping[str, Any] = {
            "target": "all",
            "multitenancy_enabled": False,
            "usage_stats": {"enabled": False},
            "server": {
                "http_listen_address": host,
                "http_listen_port": int(http),
                "grpc_listen_address": host,
                "grpc_listen_port": grpc,
                "log_level": "warn",
            },
            "memberlist": {"bind_addr": [host], "bind_port": gossip, "advertise_addr": host},
            "common": {"storage": {"backend": "filesystem"}},
            "blocks_storage": {
                "filesystem": {"dir": "blocks"},
                "tsdb": {"dir": "tsdb"},
                "bucket_store": {"sync_dir": "sync"},
            },
            "ingester": {"ring": {**one, "replication_factor": 1}},
            "distributor": {"ring": one},
            "compactor": {"data_dir": "compactor", "sharding_ring": one},
            "store_gateway": {"sharding_ring": {**one, "replication_factor": 1}},
            "frontend": {"address": host},
            "query_scheduler": {"ring": one},
            "overrides_exporter": {"ring": one},
            "ruler_storage": {"backend": "local", "local": {"directory": str(self.folder / "rules")}},
            "ruler": {"rule_path": "scratch", "alertmanager_url": f"http://{self.told}", "ring": one},
            "activity_tracker": {"filepath": "activity"},
            **yaml.safe_load((_SETTINGS / "mimir.yml").read_text()),
        }
        (self.folder / "mimir.yml").write_text(yaml.safe_dump(config))
        self.run("mimir", ["mimir", "-config.file=mimir.yml"], f"{self.at('http')}/ready")
        address = f"http://{self.at('http')}"
        self.write, self.query, self.rules = f"{address}/api/v1/push", f"{address}/prometheus", f"{address}/prometheus"
        self.headers = "X-Scope-OrgID:anonymous"


OTHERS: dict[str, type[Thanos] | type[Mimir]] = {"mimir": Mimir, "thanos": Thanos}


def run(lab: Lab, name: str, programs: Path) -> None:
    """Starts a store and all that sends to it, and checks it."""
    told = Listener(lab.stack.address("alertmanager"))
    other = OTHERS[name](lab, programs, lab.stack.address("alertmanager"))
    lab.start_plain(scraped=other.scraped)
    other.start()
    machines = Machines(lab.stack.folder, "site-a", 1, lab.form.vms, lab.processes, lab.start_node())
    machines.start(600)
    more = (f"-remoteWrite.headers={other.headers}", f"-remoteWrite.url={lab.plain.url}/api/v1/write")
    lab.stack.start_agent("site-a", other.write, machines.configuration(), more)
    lab.began = time.time()
    lab.note(f"{name}, plain Prometheus and {lab.form.vms} VMs are up")
    server = Prometheus(other.query)
    workers = [pgbench.name for pgbench in machines.pgbenches]
    known = "count(worker:latency_seconds:critical and on (instance, run, worker) worker:benchwatch_run_state:settled)"

    def all_known() -> bool:
        answers = [one.instant(known, time.time()) for one in (server, lab.plain)]
        return all(found and float(found[0]["value"][1]) >= len(workers) for found in answers)

    lab.wait("every worker has a limit", all_known, 240)
    lab.note(f"rules know what is usual {time.time() - lab.began:.0f} s after the start")
    for worker in workers[: lab.form.spikes]:
        key = ("LatencySpike", "site-a:19777", worker)
        machines.spoiled = worker
        deadline = time.monotonic() + 60
        while not (key in told.first and key in lab.told_plain.first) and time.monotonic() < deadline:
            time.sleep(0.05)
        seconds = [one.first.get(key, math.inf) - machines.spoiled_at for one in (told, lab.told_plain)]
        lab.check(
            "a spike is told", seconds[0] < math.inf, f"after {seconds[0]:.1f} s, by Prometheus {seconds[1]:.1f} s"
        )
    groups = json.loads(checks.get(f"{other.rules}/api/v1/rules"))["data"]["groups"]
    bad = [
        f"{rule['name']}: {rule['lastError']}" for group in groups for rule in group["rules"] if rule.get("lastError")
    ]
    count = sum(len(group["rules"]) for group in groups)
    lab.check("all rules are understood", count > 0 and not bad, f"{count - len(bad)} of {count} {bad[:1]}")
    end = time.time() - 1
    time.sleep(6)
    ours, theirs = (lab.counts(one, lab.began, end) for one in (lab.plain, server))
    total, stored = (sum(sum(one.values()) for one in found.values()) for found in (ours, theirs))
    lab.check("nothing lost", ours == theirs and total > 0, f"{stored:.0f} of {total:.0f} samples, {len(ours)} metrics")
    found = list(compare(lab.plain.url, other.query, max(lab.began, end - 300), end))
    refused = [one for one in found if one.error]
    lab.check("all queries are understood", not refused, f"{len(found) - len(refused)} of {len(found)} {refused[:1]}")
    for recorded in (False, True):
        some = [
            one for one in found if (one.points or one.only_cluster) and recorded is _recorded(one.target.expression)
        ]
        points, equal = sum(one.points for one in some), sum(one.same for one in some)
        apart = sum(one.many + one.only_prometheus + one.only_cluster for one in some)
        name = "queries of what rules record" if recorded else "other queries"
        lab.note(f"{name:52} {equal} of {len(some)} queries equal; {apart} of {points} points differ")
        for one in some:
            if not one.same:
                lab.note(f"    {one.target.dashboard}: {one.target.panel}: {checks.said(one)}")


def _recorded(expression: str) -> bool:
    return re.search(r"[a-z]:[a-z]", expression) is not None
