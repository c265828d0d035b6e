"""The parts of scripts/experiments/attribution-real: the configuration of Prometheus, the slow network, the rounds.

One machine is two in it: the last processor is the client's, the others are the server's.
"""

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import requests
import yaml

from attribution_faults import FAULT_SECONDS, Faults, delay_network, forget_pages
from attribution_series import Tape, evaluate
from attribution_table import Judged, insert, plain, tables

QUIET_SECONDS = 20
"""The least rest after a fault."""
_USUAL_SECONDS = 8
"""So long the benchmark is as usual before the next fault."""
_MOST_QUIET_SECONDS = 120
_SETTLE_SECONDS = 100
_AFTER = 4
"""Seconds after a fault in which what it left is still slow."""


def configure(arguments: argparse.Namespace) -> None:
    """Writes the product's configuration of Prometheus for these ports, with other names for the disks."""
    product = arguments.checkout / "prometheus"
    config = yaml.safe_load((product / "prometheus.yml").read_text())
    config.pop("alerting", None)
    config["rule_files"] = [str(product / "rules" / "*.yml")]
    exporter, node, postgres = (f"127.0.0.1:{port}" for port in arguments.ports[:3])
    server, client = ({"host": name} for name in (socket.gethostname(), arguments.client))
    targets = {"node": [(node, server), (node, client)], "postgres": [(postgres, server)]}
    changed: list[dict[str, Any]] = [
        {"source_labels": ["device"], "regex": device, "target_label": "device", "replacement": name}
        for device, _, name in (pair.partition("=") for pair in arguments.disks)
    ]
    # Of node_exporter's figures the processor's is the only one that the client has for itself.
    own = f"{arguments.client};node_cpu_seconds_total;{arguments.processor}"
    not_own = f"{server['host']};node_cpu_seconds_total;{arguments.processor}|{arguments.client};node_.*"
    changed += [
        {"source_labels": ["host", "__name__", "cpu"], "regex": own, "target_label": "of", "replacement": "client"},
        {"source_labels": ["of", "host", "__name__", "cpu"], "regex": f";(?:{not_own})", "action": "drop"},
        {"regex": "of", "action": "labeldrop"},
    ]
    jobs = []
    for job in config["scrape_configs"]:
        if job["job_name"] not in targets and not job["job_name"].startswith("benchwatch-"):
            continue
        job.pop("file_sd_configs", None)
        where = [
            {"targets": [address], "labels": labels}
            for address, labels in targets.get(job["job_name"], [(exporter, dict[str, str]())])
        ]
        jobs.append(job | {"static_configs": where, "metric_relabel_configs": changed})
    config["scrape_configs"] = jobs
    (arguments.folder / "prometheus.yml").write_text(yaml.safe_dump(config))


def delay(arguments: argparse.Namespace) -> None:
    """Passes on what goes through the network, until ended."""
    delay_network(arguments.server, arguments.folder / ".s.PGSQL.5432", arguments.folder / "slow")


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
    """Faults in random order until the time is up; then what was scraped meanwhile, for `judge`."""
    gate, server, client = arguments.network / "slow", arguments.server, arguments.client
    faults, prometheus = Faults(arguments.data, arguments.log, gate, server, client), Prometheus(arguments.prometheus)
    chosen = arguments.faults.split(",") if arguments.faults != "all" else list(faults.known)
    threading.Thread(target=forget_pages, args=(arguments.data,), daemon=True).start()
    first, chance = time.time(), random.Random()
    time.sleep(_SETTLE_SECONDS)
    planned: list[str] = []
    done: list[dict[str, Any]] = []
    with suppress(KeyboardInterrupt):  # what is done is kept
        while time.time() + FAULT_SECONDS + QUIET_SECONDS < first + arguments.seconds:
            planned = planned or chance.sample(chosen, len(chosen))
            fault = faults.known[planned.pop()]
            begin = time.time()
            fault.inject()
            time.sleep(max(0.0, begin + FAULT_SECONDS - time.time()))
            end, load = time.time(), os.getloadavg()[0]
            time.sleep(QUIET_SECONDS)
            slow = f'present_over_time(run:benchmark_slow:info{{run="{arguments.run}"}}[{_USUAL_SECONDS}s])'
            while time.time() < end + _MOST_QUIET_SECONDS and prometheus.range(slow, time.time(), time.time()):
                time.sleep(1)
            done.append({"fault": fault.name, "expected": fault.layer, "begin": begin, "end": end, "load": load})
            found = prometheus.range(f'run:verdict:layer{{run="{arguments.run}"}}', begin, end + _AFTER)
            print(f"{len(done)}: {fault.name}: { ({one['layer']: len(values) for one, values in found}) }", flush=True)
    last = int(time.time())
    series = {}
    for labels, values in prometheus.range('{__name__!~".*:.*", job=~"benchwatch.*|node|postgres"}', int(first), last):
        pairs = ",".join(f'{key}="{value}"' for key, value in labels.items() if key != "__name__")
        series[f"{labels['__name__']}{{{pairs}}}"] = [values.get(second) for second in range(int(first), last + 1)]
    recorded = {"run": arguments.run, "first": int(first), "rounds": done, "series": series}
    arguments.output.write_text(json.dumps(recorded))


def judge(arguments: argparse.Namespace) -> None:
    """What the rules, as they are now, say of recorded rounds; with the peers, in tables."""
    recordings = [json.loads(path.read_text()) for path in arguments.recorded]
    judged = [one for recorded in recordings for one in _judged(recorded, arguments)]
    load = [one["load"] for recorded in recordings for one in recorded["rounds"]]
    told = f"{len(judged)} rounds on {os.cpu_count()} processors; load average {min(load):.1f} to {max(load):.1f}."
    order = list(dict.fromkeys(sorted((one.fault for one in judged), key=lambda name: name != "no fault")))
    text = tables(sorted(judged, key=lambda one: order.index(one.fault)), told)
    print(plain(text))
    if arguments.document:
        insert(arguments.document, "real", text)


def _judged(recorded: Mapping[str, Any], arguments: argparse.Namespace) -> Iterator[Judged]:
    first, series = recorded["first"], recorded["series"]
    tape = Tape(len(next(iter(series.values()))), 0)
    for key, values in series.items():
        epoch = first if "_timestamp_seconds{" in key else 0
        tape.series[key] = [
            value - epoch if value is not None else "stale" if before is not None else None
            for before, value in zip([None, *values], values, strict=False)
        ]
    verdict, slow, slowness = "run:verdict:layer", "run:benchmark_slow:info", "run_layer:slowness:ratio >= 2"
    spans = [(int(one["begin"]) - first, round(one["end"]) - first) for one in recorded["rounds"]]
    watched = [second for begin, end in spans for second in range(begin, end + _AFTER + 1)]
    with tempfile.TemporaryDirectory(prefix="attribution-") as name:
        asked = {verdict: watched, slow: watched, slowness: [end - 1 for _, end in spans]}
        found = evaluate(tape, asked, Path(name), arguments.promtool)
        ranks = {}
        if arguments.peers:
            path = Path(name) / "rounds.jsonl"
            windows = (_window(number, span, series) for number, span in enumerate(spans))
            path.write_text("".join(f"{json.dumps(one)}\n" for one in windows))
            peers = [arguments.peers, Path(__file__).parent / "attribution_peers.py", path]
            said = subprocess.run(peers, stdout=subprocess.PIPE, text=True, check=True).stdout
            ranks = dict(enumerate(map(json.loads, said.splitlines())))
    for number, (one, (begin, end)) in enumerate(zip(recorded["rounds"], spans, strict=True)):
        own = {
            name: [sample for sample in samples if begin <= sample.second <= end + _AFTER]
            for name, samples in found.items()
        }
        right = [sample.second for sample in own[verdict] if sample.labels["layer"] == one["expected"]]
        high = {f"{s.labels['layer']} {s.labels.get('which', '')}": s.value for s in own[slowness]}
        made = Judged(
            one["fault"],
            one["expected"],
            Counter(sample.labels["layer"] for sample in own[verdict]),
            min(right) - begin if right else None,
            len({sample.second for sample in own[slow]}),
            **{name: ranks[number][name] for name in ("ks", "baro") if ranks},
            notes=", ".join(f"{name} {value:.3g}x" for name, value in sorted(high.items(), key=lambda pair: -pair[1])),
        )
        print(f"{recorded['run']} {number + 1}: {made.fault}: {dict(made.named)}; {made.notes}", file=sys.stderr)
        yield made


def _window(number: int, span: tuple[int, int], series: Mapping[str, list[float | None]]) -> dict[str, Any]:
    """A round for the peers: its series, and those of the four windows before it."""
    begin, end = span
    first = max(0, begin - 4 * (end - begin) - 2)
    cut = {key: values[first:end] for key, values in series.items()}
    return {"name": str(number), "begin": begin - first, "end": end - first, "series": cut}


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
    part.add_argument("--client", help="name of the machine that the processor is")
    part.add_argument("--processor")
    part = parts.add_parser("delay")
    part.set_defaults(run_part=delay)
    part.add_argument("server")
    part.add_argument("folder", type=Path)
    part = parts.add_parser("rounds")
    part.set_defaults(run_part=rounds)
    part.add_argument("--prometheus")
    part.add_argument("--run")
    for name in ("network", "data", "log", "output"):
        part.add_argument(f"--{name}", type=Path)
    part.add_argument("--seconds", type=int)
    part.add_argument("--faults", default="all")
    part.add_argument("--server", help="processors, as taskset has them")
    part.add_argument("--client")
    part = parts.add_parser("judge")
    part.set_defaults(run_part=judge)
    part.add_argument("recorded", type=Path, nargs="+")
    part.add_argument("--peers", help="Python of the other methods; without it, ours alone")
    part.add_argument("--promtool", default="promtool")
    part.add_argument("--document", type=Path)
    arguments = parser.parse_args()
    arguments.run_part(arguments)


if __name__ == "__main__":
    main()
