"""The head of a run's page, from a Prometheus: whether the run is slow, since when, from what to what, why, and alerts.

What is usual is measured in the two minutes before a slow time; each column of figures names its time. An alert is one
line however many machines, disks or severities it names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from ..history.timeline import Timeline
from ..metrics.prometheus import FiringAlert, Prometheus, Samples, text
from ..plots.axes import OPERATIONS, count, throughput, time
from ..plots.slowness import Slowness
from ..results.result_view import objectives
from ..show.as_html import table_html
from ..show.content import Column, Table, TableRow, Tone
from ..values.numbers import clock, clock_time, duration
from ..values.printable import in_html
from ..why.explanation import NAMES, NONE, Explanation, sentence
from ..why.exported import SLOW, UNSEEN

_USUAL, _GAP = 120.0, 3.0
"""Seconds before a slow time that say what is usual: how many, and how many at its edge are left out."""
_FEWEST = 8.0
"""Seconds of usual that a machine's figures need."""
_ONSET = 4.0
"""Seconds after which the first second of a slow time, which is usual in part, is left out."""
_BEFORE = 20.0
"""Seconds before that of which samples are needed."""
_MACHINE = "node_cpu_seconds_total|node_disk_(reads|writes)_completed_total|node_disk_(read|write)_time_seconds_total"
_BURSTS, _FEW = 2.0, 50.0
"""The multiple of its usual operations, and how many more a second, from which on a disk bursts."""
_SLOWER = 3.0
"""The multiple of its usual time from which on a disk is slower."""
_POLLED = 5.0
"""Seconds between two looks at a CVM's pages, which are read more seldom."""
_ABSORBS = 0.8
"""The part of the writes from which on the oplog absorbs them."""
_CRITICAL = "critical"
_IN_FULL = 3
"""Alerts of which the page says what they say."""


def answers(prometheus: Prometheus, found: Slowness, timelines: Sequence[Timeline]) -> str:
    """The head as HTML. Raises PrometheusError."""
    run, last = found.run.run, found.slow[-1] if found.slow else None
    firing = [one for one in prometheus.firing() if _concerns(_labels(one), run, last) and _name(one) != UNSEEN]
    said = [("Why", in_html(sentence(last)))] if last else []
    said += [("Objective", in_html(objectives(timelines, None) or "none set")), ("Alerts", _alerts(firing, run))]
    lines = "".join(f"<dt>{name}</dt><dd>{html}</dd>" for name, html in said)
    figures = ""
    if last:
        heads = f"usually: {last.armed}", f"slow: mean {found.seconds(last)}"
        columns = [Column("", right=False), *map(Column, heads), Column(" ", right=False)]
        figures = table_html(Table(columns, list(_figures(prometheus, found, last))))
    return f'{_state(found, last)}<div class="answers"><dl>{lines}</dl>{figures}</div>'


def _concerns(labels: Mapping[str, str], run: str, last: Explanation | None) -> bool:
    """Whether an alert is about the run or, if it names none, about a machine that the slow run uses, or about none."""
    if "run" in labels or last is None:
        return labels.get("run", run) == run
    facts = last.facts
    known = (("host", facts.hosts), ("vm", {facts.machine} - {""}))
    return all(not names or labels.get(label) is None or labels[label] in names for label, names in known)


def _state(found: Slowness, last: Explanation | None) -> str:
    """Whether it is slow, since when, and in which layer."""
    if last is None:
        return '<p class="banner good"><b>As usual</b> so far.</p>' if found.slow is not None else ""
    layer = "no layer explains it" if last.cause.layer == NONE else f"because of the {NAMES[last.cause.layer]}"
    begin, end = found.span(last)
    since, lasted = f"{clock_time(last.begin)} ({clock(begin)} into the run)", duration(end - begin)
    if found.lasts(last):
        kind, said = "bad", f"Slow since {since}, still slow after {lasted}"
    else:
        over = "until it ended" if found.run.length - end < 1 else f"to {clock_time(last.end)}"
        kind, said = "warn", f"Was slow from {since} {over} ({lasted}), over"
    return f'<p class="banner {kind}"><b>{in_html(said)}</b>: {in_html(layer)}</p>'


def _figures(prometheus: Prometheus, found: Slowness, one: Explanation) -> Iterator[TableRow]:
    facts = one.facts
    usual = max(found.run.start, one.begin - _USUAL), one.begin - _GAP
    slow = one.begin + (one.moment - one.begin >= _ONSET), one.moment
    unit = throughput(facts.roles.unit) if facts.roles else OPERATIONS
    if one.usual.rate:
        share = f"{100 * one.now.rate / one.usual.rate:.0f} %"
        yield TableRow([unit.name, unit.text(one.usual.rate), unit.text(one.now.rate), f"{share} of usual"], mark="bad")
    if one.now.stuck:
        yield TableRow(["operations", "", "next to nothing completes", ""])
    else:
        times = f"{one.now.latency / one.usual.latency:.2g} x usual" if one.usual.latency else ""
        yield TableRow(["mean latency", time(one.usual.latency), time(one.now.latency), times], mark="bad")
    if not facts.hosts or usual[1] - usual[0] < _FEWEST:
        return
    hosts = text("|".join(map(re.escape, sorted(facts.hosts))))
    selector = f'{{__name__=~"{_MACHINE}",host=~{hosts}}}'
    machine = prometheus.samples(selector, usual[0] - _BEFORE, one.moment + 1)
    for host in sorted(facts.hosts):
        before, now = (_busy(machine, host, *when) for when in (usual, slow))
        if before is not None and now is not None:
            is_cause = one.cause.layer.endswith("_cpu")
            meaning = "busier than usual" if is_cause else "not the cause"
            yield TableRow([f"processors of {host}", f"{100 * before:.0f} % busy", f"{100 * now:.0f} % busy", meaning])
    for device, role in sorted(facts.devices.items(), key=lambda item: (item[1] != "log", item[0])):
        for op in ("write", "read"):
            row = _disk(machine, facts.server, device, op, usual, slow)
            if row:
                yield TableRow([f"{role} disk {device}: {op}s", *row[0]], mark=row[1])
    if facts.machine:
        yield from _oplog(prometheus, facts.machine, usual, slow)


def _busy(seen: Sequence[Samples], host: str, begin: float, end: float) -> float | None:
    """The part of the time of a machine's processors in which they work."""
    idle = [
        (one.labels.get("mode"), rate)
        for one in seen
        if one.labels["__name__"] == "node_cpu_seconds_total"
        and one.labels.get("host") == host
        and one.labels.get("mode") in ("idle", "iowait")
        and (rate := one.rate(begin, end)) is not None
    ]
    number = sum(mode == "idle" for mode, _ in idle)
    return min(1.0, max(0.0, 1 - sum(rate for _, rate in idle) / number)) if number else None


def _disk(
    seen: Sequence[Samples],
    host: str,
    device: str,
    op: str,
    *windows: tuple[float, float],
) -> tuple[list[str], Tone] | None:
    """How many operations of a disk complete in each window and how long one takes, and what that means."""
    rates, waits = [], []
    for begin, end in windows:
        done, spent = (
            sum(
                one.rate(begin, end) or 0.0
                for one in seen
                if one.labels["__name__"] == f"node_disk_{name}_total"
                and (one.labels.get("host"), one.labels.get("device")) == (host, device)
            )
            for name in (f"{op}s_completed", f"{op}_time_seconds")
        )
        rates.append(done)
        waits.append(spent / done if done >= 1 else 0.0)
    if max(rates) < 1:
        return None
    cells = [f"{count(rate)}/s{f' at {time(wait)}' if wait else ''}" for rate, wait in zip(rates, waits, strict=True)]
    slower = waits[1] / waits[0] if waits[0] else 0.0
    said = f"{slower:.2g} x slower" if slower >= _SLOWER else ""
    if rates[1] >= max(_BURSTS * rates[0], rates[0] + _FEW):
        said = f"bursts{f', {said}' if said else ''}"
    return [*cells, said], "bad" if said else ""


def _oplog(prometheus: Prometheus, machine: str, *windows: tuple[float, float]) -> Iterator[TableRow]:
    """Which part of the writes to the vdisks of a virtual machine went to the oplog: in the mean, and at last."""
    usual, slow = windows
    ratio = 'max by (cvm, vdisk) (nutanix_vdisk_write_destination_ratio{destination="oplog"})'
    info = f"max by (cvm, vdisk, role) (nutanix_vdisk_info{{vm={text(machine)}}})"
    query = f"{ratio} * on (cvm, vdisk) group_left (role) {info}"
    found = prometheus.range(query, usual[0], slow[1], _POLLED)
    roles = [(one.labels.get("role", ""), one.labels.get("vdisk", ""), one) for one in found]
    for role, vdisk, one in sorted(roles, key=lambda item: (item[0] not in ("log", "wal"), item[:2])):
        before, now = one.mean(*usual), one.within(*slow)
        if before is not None and len(now):
            absorbs = now[-1] >= _ABSORBS
            cells = [f"{100 * share:.0f} % of writes" for share in (before, now[-1])]
            said = "absorbed" if absorbs else f"{100 - 100 * now[-1]:.0f} % bypass it"
            yield TableRow([f"oplog of {role} vdisk {vdisk}", *cells, said], mark="" if absorbs else "bad")


def _alerts(firing: Sequence[FiringAlert], run: str) -> str:
    """A line for each alert, the most severe first; what the last of many say is left out."""
    named: dict[str, list[FiringAlert]] = {}
    for one in sorted(firing, key=lambda one: (_labels(one).get("severity") != _CRITICAL, _name(one) not in SLOW)):
        named.setdefault(_name(one), []).append(one)
    if not named:
        return "none fires"
    lines = [_alert(name, alerts, run) for name, alerts in named.items()]
    others = ", ".join(map(in_html, [*named][_IN_FULL:]))
    lines = lines[:_IN_FULL] + ([f"and {others}"] if others else [])
    many = f"{len(named)} alerts fire" if len(named) > 1 else "1 alert fires"
    return f"<b>{many}</b>" + "".join(f"<br>{line}" for line in lines)


def _alert(name: str, alerts: Sequence[FiringAlert], run: str) -> str:
    """Its name and severity, and what the first of its kind says."""
    annotations = alerts[0].get("annotations", {})
    said = (annotations.get("summary", "") or annotations.get("description", "")).replace(f"{run}/", "")
    things = {tuple(sorted((k, v) for k, v in _labels(one).items() if k != "severity")) for one in alerts}
    more = f" (and {len(things) - 1} more)" if len(things) > 1 else ""
    severity = _labels(alerts[0]).get("severity", "")
    kind = "bad" if severity == _CRITICAL else "warn"
    return (
        f'<span class="{kind}"><b>{in_html(name)}</b> {in_html(severity)}</span>'
        f"{in_html(f': {said}' if said else '')}{more}"
    )


def _labels(alert: FiringAlert) -> Mapping[str, str]:
    return alert.get("labels", {})


def _name(alert: FiringAlert) -> str:
    return _labels(alert).get("alertname", "")
