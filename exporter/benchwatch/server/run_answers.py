"""The head of a run's page, from a Prometheus: whether the run is slow, since when, from what to what, why, and alerts.

Figures are those of which the sentence was made, so that both say one number; each column names its time. An alert is
one line however many machines, disks or severities it names.
"""

from collections.abc import Iterator, Mapping, Sequence

from ..history.timeline import Timeline
from ..metrics.prometheus import FiringAlert, Prometheus
from ..plots.axes import OPERATIONS, count, throughput, time
from ..plots.slowness import Slowness
from ..results.result_view import objectives
from ..show.as_html import table_html
from ..show.content import Column, Table, TableRow
from ..values.numbers import clock, clock_time, duration
from ..values.printable import in_html
from ..why.causes import are_free
from ..why.explanation import NAMES, NONE, STANDS_OUT, Explanation, sentence
from ..why.exported import SLOW, UNSEEN
from ..why.window import DeviceWork, PolledVdisk

_LESS = 0.7
"""The part of its usual throughput below which a run does less."""
_BURSTS, _FEW = 2.0, 50.0
"""The multiple of its usual operations, and how many more a second, from which on a disk bursts."""
_ABSORBS = 0.8
"""The part of the writes from which on the oplog absorbs them."""
_CRITICAL = "critical"
_IN_FULL = 3
"""Alerts of which the page says what they say."""


def answers(prometheus: Prometheus, found: Slowness, timelines: Sequence[Timeline]) -> str:
    """The head as HTML. Raises PrometheusError."""
    run, last = found.run.run, found.slow[-1] if found.slow else None
    shown = (one for one in prometheus.firing() if _name(one) != UNSEEN)
    firing = [one for one in shown if _concerns(_labels(one), run, last)]
    said = [("Why", in_html(sentence(last)))] if last else []
    said.append(("Objective", in_html(objectives(timelines, None) or "none set")))
    alerts = _alerts(firing, run) if firing else "none fires"
    if not firing and not prometheus.has_rules():
        alerts = '<span class="warn">Prometheus has no rules, so no alert can fire: load prometheus/rules</span>'
    said.append(("Alerts", alerts))
    lines = "".join(f"<dt>{name}</dt><dd>{html}</dd>" for name, html in said)
    figures = ""
    if last:
        heads = f"usually: {last.armed}", f"slow: mean {found.seconds(last)}"
        columns = [Column("", right=False), *map(Column, heads), Column(" ", right=False)]
        figures = table_html(Table(columns, list(_figures(last))))
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
        stalled = any(one.state == "stalled" for one in found.run.timelines)
        if found.slow is None or stalled:
            return ""
        said = "Not slower than usual so far" if found.run.active else "Never slower than usual"
        return f'<p class="banner good"><b>{said}</b>, as far as Prometheus could compare it.</p>'
    layer = "no layer explains it" if last.cause.layer == NONE else f"because of the {NAMES[last.cause.layer]}"
    begin, end = found.span(last)
    since, lasted = f"{clock_time(last.begin)} ({clock(begin)} into the run)", duration(end - begin)
    if found.lasts(last):
        kind, said = "bad", f"Slow since {since}, still slow after {lasted}"
    else:
        over = "until it ended" if found.run.length - end < 1 else f"to {clock_time(last.end)}"
        kind, said = "warn", f"Was slow from {since} {over} ({lasted}), over"
    return f'<p class="banner {kind}"><b>{in_html(said)}</b>: {in_html(layer)}</p>'


def _figures(one: Explanation) -> Iterator[TableRow]:
    """What the explanation was made of: the run, its processors, disks and vdisks, usually and while it was slow."""
    facts, was, now = one.facts, one.usual.window, one.now.window
    unit = throughput(facts.roles.unit) if facts.roles else OPERATIONS
    if one.usual.rate:
        share = one.now.rate / one.usual.rate
        cells = [unit.name, unit.text(one.usual.rate), unit.text(one.now.rate), f"{100 * share:.0f} % of usual"]
        yield TableRow(cells, mark="bad" if share < _LESS else "")
    if one.now.stuck:
        yield TableRow(["operations", "", "next to nothing completes", ""], mark="bad")
    elif one.usual.latency:
        times = one.now.latency / one.usual.latency
        cells = ["mean latency", time(one.usual.latency), time(one.now.latency), f"{times:.2g} x usual"]
        yield TableRow(cells, mark="bad" if one.slower else "")
    if was.end <= was.begin:
        return  # an objective, of which no machine is known
    for host in sorted(facts.hosts):
        before, used = was.processors(host), now.processors(host)
        if before.busy is not None and used.busy is not None:
            busy = (f"{100 * part:.0f} % busy" for part in (before.busy, used.busy))
            is_cause = one.cause.layer == ("server_cpu" if host == facts.server else "client_cpu")
            said = "the cause" if is_cause else "not ruled out"
            if are_free(used, before):
                said = "not the cause"
            yield TableRow([f"processors of {host}", *busy, said], mark="bad" if said == "the cause" else "")
    for device, role in sorted(facts.devices.items(), key=lambda item: (item[1] != "log", item[0])):
        for op in ("write", "read"):
            if row := _disk(was.disk(device, op), now.disk(device, op)):
                yield TableRow([f"{role} disk {device}: {op}s", *row], mark="bad" if row[-1] else "")
    for name, vdisk in sorted(now.vdisks.items(), key=lambda item: (item[1].role != "log", item[0])):
        shares = [_into_oplog(one) if one else None for one in (was.vdisks.get(name), vdisk)]
        if shares[0] is not None and shares[1] is not None:
            absorbs = shares[1] >= _ABSORBS
            said = "absorbed" if absorbs else f"{100 - 100 * shares[1]:.0f} % bypass it"
            cells = [f"{100 * share:.0f} % of writes" for share in shares if share is not None]
            yield TableRow([f"oplog of {vdisk.role} vdisk {name}", *cells, said], mark="" if absorbs else "bad")


def _disk(was: DeviceWork, now: DeviceWork) -> list[str]:
    """How many operations of a disk complete usually and now, how long one takes, and what that means; empty: none."""
    if max(was.rate, now.rate) < 1:
        return []
    cells = [f"{count(one.rate)}/s{f' at {time(one.wait)}' if one.wait else ''}" for one in (was, now)]
    slower = (now.wait or 0.0) / was.wait if was.wait else 0.0
    said = f"{slower:.2g} x slower" if slower >= STANDS_OUT else ""
    if now.rate >= max(_BURSTS * was.rate, was.rate + _FEW):
        said = f"bursts{f', {said}' if said else ''}"
    return [*cells, said]


def _into_oplog(vdisk: PolledVdisk) -> float | None:
    """The part of its writes that goes there."""
    labels = {"cvm": vdisk.cvm, "vdisk": vdisk.name, "destination": "oplog"}
    return vdisk.window.mean("nutanix_vdisk_write_destination_ratio", **labels)


def _alerts(firing: Sequence[FiringAlert], run: str) -> str:
    """A line for each alert, the most severe first; what the last of many say is left out."""
    named: dict[str, list[FiringAlert]] = {}
    for one in sorted(firing, key=lambda one: (_labels(one).get("severity") != _CRITICAL, _name(one) not in SLOW)):
        named.setdefault(_name(one), []).append(one)
    lines = [_alert(name, alerts, run) for name, alerts in named.items()]
    others = ", ".join(map(in_html, [*named][_IN_FULL:]))
    lines = lines[:_IN_FULL] + ([f"and {others}"] if others else [])
    many = f"{len(named)} alerts fire" if len(named) > 1 else "1 alert fires"
    return f"<b>{many}</b>" + "".join(f"<br>{line}" for line in lines)


def _alert(name: str, alerts: Sequence[FiringAlert], run: str) -> str:
    """Its name and severity, and what the first of its kind says."""
    annotations = alerts[0].get("annotations", {})
    said = (annotations.get("summary", "") or annotations.get("description", "")).replace(f"{run}/", "")
    things = {frozenset((_labels(one) | {"severity": ""}).items()) for one in alerts}
    more = f" (and {len(things) - 1} more)" if len(things) > 1 else ""
    severity = _labels(alerts[0]).get("severity", "")
    kind = "bad" if severity == _CRITICAL else "warn"
    return (
        f'<span class="{kind}"><b>{in_html(name)}</b> {in_html(severity)}</span>'
        f"{in_html(f': {said}' if said else '')}{more}"
    )


def _labels(alert: FiringAlert) -> dict[str, str]:
    return alert.get("labels", {})


def _name(alert: FiringAlert) -> str:
    return _labels(alert).get("alertname", "")
