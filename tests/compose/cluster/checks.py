"""What the scale test looks at, in this order: spike, cut, killed stores, clock, loss, histograms, labels, panels."""

import contextlib
import json
import math
import re
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import requests

from demo_processes import Failure
from tests.compose.cluster.compare import Difference, Prometheus, compare
from tests.compose.cluster.lab import Lab
from tests.compose.cluster.stack import Stack, certify
from tests.compose.cluster.wire import Gate

_SETTLE = 6
"""Seconds after which whatever was sent can be found everywhere."""


def run(lab: Lab) -> None:
    """Starts everything and checks it; a check that cannot be made fails, and the next one is made."""
    cut, warm = lab.form.cut, lab.form.warm
    lab.start(seconds=warm + cut + 600)
    lab.note(f"cluster, plain Prometheus, {sum(len(one.pgbenches) * 2 for one in lab.machines)} VMs are up")
    _try(lab, _network, cut)
    _try(lab, _stores)
    _try(lab, _clock)
    time.sleep(max(0.0, lab.began + warm - time.time()))
    _try(lab, _spikes)
    _try(lab, _rules)
    end = time.time() - 1
    time.sleep(_SETTLE)
    _try(lab, _loss, lab.began, end)
    _try(lab, _histograms, end)
    _try(lab, _labels)
    if lab.form.all_faults:
        _try(lab, refused)
    _try(lab, _panels, end)


def _try(lab: Lab, check: Callable[..., None], *arguments: float) -> None:
    try:
        check(lab, *arguments)
    except (Failure, ValueError, requests.RequestException) as error:
        lab.check(check.__name__.strip("_"), False, f"could not be made: {error}")


def _spikes(lab: Lab) -> None:
    """Slow seconds, each of another pgbench, until the alert is told."""
    known = "worker:latency_seconds:critical and on (instance, run, worker) worker:benchwatch_run_state:settled"
    pairs = zip(*([(one, pgbench.name) for pgbench in one.pgbenches] for one in lab.machines), strict=True)
    workers = [worker for pair in pairs for worker in pair]
    for name, server in (("Prometheus", lab.plain), ("vmalert", lab.cluster())):

        def all_known(server: Prometheus = server) -> bool:
            found = {one["metric"]["worker"] for one in server.instant(known, time.time())}
            return found >= {worker for _, worker in workers}

        lab.wait("every worker has a limit", all_known, 180)
        lab.note(f"{name} knows what is usual {time.time() - lab.began:.0f} s after the start")
    time.sleep(5)
    early = {one[:2] for one in lab.told.first} - {one[:2] for one in lab.told_plain.first}
    silent = 'min_over_time(max by (instance) (max_over_time(up{job="benchwatch-live"}[5s]))[1h:1s]) == 0'
    # On a busy machine, an exporter may really be silent for some seconds, and Prometheus' own evaluations may be late.
    down = {("ExporterDown", one["metric"]["instance"]) for one in lab.plain.instant(silent, time.time())}
    cut_off = {("RemoteWriteSilent", f"{lab.machines[1].host}:19777")}
    early = {one for one in early - down - cut_off if one[1].startswith("site-")}
    lab.check(
        "vmalert: no alarm that Prometheus does not give", not early, f"{len(lab.told.first)} alerts {sorted(early)}"
    )
    listeners = {"plain Prometheus": lab.told_plain, "vmalert": lab.told}
    seconds: dict[str, list[float]] = {name: [] for name in listeners}
    for machines, worker in workers[: lab.form.spikes]:
        key = ("LatencySpike", f"{machines.host}:19777", worker)
        machines.spoiled = worker
        deadline = time.monotonic() + 30
        while not all(key in one.first for one in listeners.values()) and time.monotonic() < deadline:
            time.sleep(0.05)
        for name, listener in listeners.items():
            seconds[name].append(listener.first.get(key, math.inf) - machines.spoiled_at)
        time.sleep(5)
    for name, found in seconds.items():
        text = ", ".join(f"{one:.1f}" if one < math.inf else "never" for one in found)
        lab.check(f"{name}: spike told within 5 s", max(found) <= 5, f"{text} s after it was printed")


def _network(lab: Lab, seconds: float) -> None:
    """One agent is cut off for some time and then delivers what it has."""
    network, machines = lab.networks[1], lab.machines[1]
    instance = f"{machines.host}:19777"
    newest = f'max(tlast_over_time(up{{instance="{instance}"}}[1h]))'
    lab.wait("the agents deliver", lambda: bool(lab.cluster().instant(newest, time.time())))
    network.cut()
    time.sleep(seconds)
    (last,) = lab.cluster().instant(newest, time.time())
    behind = time.time() - float(last["value"][1])
    network.mend()
    if seconds >= 45:
        told = lab.told.first.get(("RemoteWriteSilent", instance, ""), math.inf) - time.time() + seconds
        lab.check("vmalert: the agent is silent", told < seconds, f"told {told:.0f} s after the cut")
    lab.check(
        f"network cut for {seconds:g} s: nothing arrives", behind >= seconds - 3, f"newest sample {behind:.0f} s old"
    )
    back = lab.wait("the agent catches up", lambda: _age(lab.cluster(), newest) < 5, 180)
    lab.check("the agent delivers afterwards", True, f"caught up after {back:.1f} s")


def _age(server: Prometheus, newest: str) -> float:
    found = server.instant(newest, time.time())
    return time.time() - float(found[0]["value"][1]) if found else 1e9


def _stores(lab: Lab) -> None:
    """A store is killed; in the whole form the other one too, once the first has been whole for some time.

    What was written while one was away exists once, and is on disk 5 s later: two failures within that time do lose it.
    """
    names = ("vmstorage-1", "vmstorage-2")
    for name, other in zip(names if lab.form.all_faults else names[:1], reversed(names), strict=False):
        lab.stack.kill(name)
        time.sleep(5)
        age = _age(lab.cluster(), 'max(timestamp(up{instance="site-a:19777"}))')
        lab.check(f"{name} killed: {other} takes and answers all", age < 15, f"newest sample {age:.1f} s old")
        lab.stack.start(name)
        if lab.form.all_faults:
            time.sleep(20)


def _clock(lab: Lab) -> None:
    """The page of an exporter as an agent sends it whose clock is 20 s fast or slow."""
    page = get(f"http://127.0.0.1:{lab.machines[0].ports['exporter']}/metrics?collect[]=live")
    page += 'up{job="benchwatch-live"} 1\n'
    lines = sum(1 for line in page.splitlines() if line and not line.startswith("#"))
    for offset in (20, -20):
        at, instance = time.time() + offset, f"clock{offset:+d}:19777"
        with requests.Session() as session:
            session.trust_env = False
            url = f"{lab.stack.insert}/2/prometheus/api/v1/import/prometheus"
            parameters = {"timestamp": str(round(at * 1000)), "extra_label": f"instance={instance}"}
            assert session.post(url, params=parameters, data=page.encode(), timeout=30).ok
        stored = _Stored(lab, f'count(last_over_time({{instance="{instance}"}}[2s]))', at + 1)
        lab.wait("samples of another clock are stored", lambda stored=stored: stored() == lines, 30)
        lab.check(f"clock {offset:+d} s: every sample has its own time", True, f"{lines} of {lines} samples")


def refused(lab: Lab) -> None:
    """A receiver that refuses in each way, for some seconds: what the agent of a third machine does, and says."""
    stack, machines, secrets = lab.stack, lab.machines[0], lab.stack.folder / "secrets"
    own = secrets / "receiver_certificate", secrets / "receiver_key"
    other = secrets / "other_certificate", secrets / "other_key"
    certify(*other, "DNS:elsewhere.example")
    gate = Gate(stack.address("receiver"), own[0], *own)
    page = stack.start_agent(
        "site-c",
        f"https://{gate.address}/api/v1/write",
        machines.configuration().replace("%{AGENT_HOST}:19777", "other:19777"),
        (f"-remoteWrite.url={lab.plain.url}/api/v1/write",),
    )
    lab.wait("the third agent delivers", lambda: len(_moments(lab.cluster(), "other:19777", time.time())) > 4)
    for what, status in (("503", 503), ("429", 429), ("401", 401), ("a wrong certificate", 0), ("400", 400)):
        dropped, lines, began = _metric(page, "vmagent_remotewrite_packets_dropped_total"), _errors(stack), time.time()
        gate.status = status
        if not status:
            gate.present(*other)
        time.sleep(5)
        said, until = _errors(stack) - lines, time.time()
        arrived = [at for at in _moments(lab.cluster(), "other:19777", until) if at > began + 1]
        gate.status = 0
        gate.present(*own)
        if status == 400:
            given_up = _metric(page, "vmagent_remotewrite_packets_dropped_total") - dropped
            lab.check(
                "400: named, and counted as given up", given_up > 0 and said > 0, f"{given_up:.0f} blocks given up"
            )
            break
        lost = _Lost(lab, "other:19777", until)
        seconds = lab.wait("the agent delivers what waited", lambda lost=lost: not lost(), 60)
        given_up = _metric(page, "vmagent_remotewrite_packets_dropped_total") - dropped
        good = not arrived and said > 0 and given_up == 0
        found = f"{said} complaints, all {len(lost.ours())} scrapes there {seconds:.1f} s after"
        lab.check(f"{what}: named, kept, delivered", good, found)


class _Lost(NamedTuple):
    """What Prometheus has of an exporter, and the cluster has not."""

    lab: Lab
    instance: str
    until: float

    def ours(self) -> set[float]:
        return _moments(self.lab.plain, self.instance, self.until)

    def __call__(self) -> set[float]:
        return self.ours() - _moments(self.lab.cluster(), self.instance, self.until)


def _moments(server: Prometheus, instance: str, until: float) -> set[float]:
    """When an exporter was scraped, as it is stored."""
    found = server.instant(f'up{{instance="{instance}",job="benchwatch-live"}}[10m]', until)
    return {round(float(at), 3) for one in found for at, _ in one["values"]}


def _metric(page: str, name: str) -> float:
    return _total(get(f"http://{page}/metrics"), name, '"1:')


def _total(page: str, name: str, labels: str = "") -> float:
    """The sum of a metric's series whose labels contain these."""
    lines = page.splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name + "{") and labels in line)


def _errors(stack: Stack) -> int:
    """Lines of the third agent's log that complain of the receiver."""
    lines = stack.process("agent of site-c").log.read_text().splitlines()
    return sum("remotewrite" in line and ("error" in line or "warn" in line) for line in lines)


class _Stored(NamedTuple):
    """The number that a query gives at some time."""

    lab: Lab
    query: str
    at: float

    def __call__(self) -> float:
        return sum(float(one["value"][1]) for one in self.lab.cluster(2).instant(self.query, self.at))


def _loss(lab: Lab, start: float, end: float) -> None:
    """Every sample that the plain Prometheus got, uncut and undisturbed, is in the cluster."""
    ours, theirs = lab.counts(lab.plain, start, end), lab.counts(lab.cluster(), start, end)
    total = sum(sum(one.values()) for one in ours.values())
    stored = sum(sum(theirs.get(name, {}).values()) for name in ours)
    apart = {name: (one, theirs.get(name)) for name, one in ours.items() if one != theirs.get(name)}
    example = f"; first: {next(iter(apart.items()))}" if apart else ""
    lab.check(
        "nothing lost", not apart and total > 0, f"{stored:.0f} of {total:.0f} samples, {len(ours)} metrics{example}"
    )


def _histograms(lab: Lab, end: float) -> None:
    """The buckets of each histogram: as many as Prometheus has, none above the next, the last one the count."""
    for name in ("pgbench_latency_seconds", "fio_completion_latency_seconds"):
        plain, cluster = (
            {
                tuple(sorted(one["metric"].items())): float(one["value"][1])
                for one in server.instant(f'{name}_bucket{{instance=~"site-.*"}}', end)
            }
            for server in (lab.plain, lab.cluster())
        )
        sums: dict[Any, list[tuple[float, float]]] = {}
        for labels, value in cluster.items():
            bound = dict(labels)["le"]
            sums.setdefault(tuple(one for one in labels if one[0] != "le"), []).append((float(bound), value))
        rising = all([v for _, v in sorted(one)] == sorted(v for _, v in one) for one in sums.values())
        counts = {
            tuple(sorted((key, value) for key, value in one["metric"].items() if key != "__name__")): float(
                one["value"][1]
            )
            for one in lab.cluster().instant(f'{name}_count{{instance=~"site-.*"}}', end)
        }
        whole = all(
            max(one)[1] == counts.get(tuple(pair for pair in key if pair[0] != "__name__")) for key, one in sums.items()
        )
        good = bool(plain) and plain == cluster and rising and whole
        lab.check(f"{name}: whole", good, f"{len(sums)} histograms, {len(cluster)} buckets, as in Prometheus")


def _labels(lab: Lab) -> None:
    """What an exporter says of its runs is in the cluster, label by label."""
    said, stored = set(), set()
    for machines in lab.machines:
        page = get(f"http://127.0.0.1:{machines.ports['exporter']}/metrics?collect[]=runs")
        for line in page.splitlines():
            if line.startswith("benchwatch_run_info{"):
                said.add(frozenset(re.findall(r'(\w+)="([^"]+)"', line)))
    for one in lab.cluster().instant("benchwatch_run_info", time.time()):
        stored.add(
            frozenset(
                (key, value) for key, value in one["metric"].items() if key not in ("__name__", "instance", "job")
            )
        )
    lab.check(
        "labels of runs",
        bool(said) and said == stored,
        f"{len(said)} workers, labels {', '.join(sorted({key for one in said for key, _ in one}))}",
    )


def _rules(lab: Lab) -> None:
    """Each rule as vmalert evaluated it last."""
    groups = json.loads(get(f"http://{lab.stack.address('vmalert')}/api/v1/rules"))["data"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    bad = [f"{rule['name']}: {rule['lastError']}" for rule in rules if rule.get("lastError")]
    lab.check(
        "vmalert: all rules are understood",
        bool(rules) and not bad,
        f"{len(rules) - len(bad)} of {len(rules)} {bad[:1]}",
    )
    page = get(f"http://{lab.stack.address('vmalert')}/metrics")
    done, late = (_total(page, f"vmalert_iteration_{what}total") for what in ("", "missed_"))
    page = get(f"{lab.plain.url}/metrics")
    all_plain, late_plain = (_total(page, f"prometheus_rule_group_iterations_{what}total") for what in ("", "missed_"))
    found = f"{late:.0f} of {done + late:.0f} in vmalert, {late_plain:.0f} of {all_plain:.0f} in Prometheus"
    lab.note(f"{'evaluations of rules that were missed':52} {found}")


def _panels(lab: Lab, end: float) -> None:
    """Every query of every panel, on the same samples in both, and with what vmalert recorded."""
    start = max(lab.began, end - 300)
    details = lab.stack.folder / "panels.txt"
    for tenant, what in ((1, "panels, the same samples"), (0, "panels, rules by vmalert")):
        found = list(compare(lab.plain.url, lab.stack.select(tenant), start, end))
        answered = [one for one in found if one.points or one.only_cluster]
        with details.open("a") as file:
            for one in answered:
                expression = " ".join(one.target.expression.split())
                file.write(f"{what}: {one.target.dashboard}: {one.target.panel}: {_kind(one)}: {said(one)}\n")
                file.write(f"    {expression}\n")
        refused = [one for one in found if one.error]
        lab.check(f"{what}: all are understood", not refused, f"{len(found) - len(refused)} of {len(found)} queries")
        for rates in (False, True):
            some = [one for one in answered if ("rate(" in one.target.expression) is rates]
            points = sum(one.points for one in some)
            apart = sum(one.many + one.only_prometheus + one.only_cluster for one in some)
            equal = sum(one.same for one in some)
            drift = sorted(one.drift for one in some)
            text = f"{equal} of {len(some)} queries equal; {apart} of {points} points differ; "
            text += f"means differ by {drift[len(drift) // 2]:.2%} (median), {drift[-1]:.2%} (most)"
            name = f"{what}: {'with' if rates else 'without'} rate()"
            if tenant and not rates:
                lab.check(name, apart <= points / 100, text)
            else:
                lab.note(f"{name:52} {text}")
    lab.note(f"query by query: {details}")


def _kind(one: Difference) -> str:
    if one.error:
        return "refused"
    if one.same:
        return "equal"
    if one.only_prometheus or one.only_cluster:
        return "with other points"
    return "with other values"


def said(one: Difference) -> str:
    """How two answers differ."""
    return one.error or (
        f"{one.points} points, {one.only_prometheus} only in Prometheus, {one.only_cluster} only in the cluster, "
        f"{one.many} values apart by up to {one.apart:.3g}, means by {one.drift:.3g}"
    )


def get(url: str) -> str:
    """A page, which on a busy machine may take more than one try. Raises Failure."""
    for attempt in range(5):
        with requests.Session() as session, contextlib.suppress(requests.RequestException):
            session.trust_env = False
            answer = session.get(url, timeout=30)
            if answer.ok:
                return answer.text
        time.sleep(attempt)
    raise Failure(f"{url} does not answer")
