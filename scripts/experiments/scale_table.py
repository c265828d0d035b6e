"""Tables of docs/scale.md: what one machine sends, what receivers take for many, and what that is in a year."""

from collections.abc import Mapping, Sequence
from typing import Any

from attribution_table import insert
from scale_load import MACHINES_OF_A_CVM

__all__ = ["insert", "tables"]
_WAYS = {
    "as shipped": "as shipped: Prometheus in agent mode, version 1",
    "protocol 2": "remote write version 2",
    "vmagent": "vmagent",
    "1 s": "live part every 1 s, not 500 ms",
    "coarse": "one bin per octave, not four",
    "native": "native histograms, no classic ones (version 2)",
    "fewer collectors": "node_exporter with the collectors of `scripts/demo`",
    "all of it": "1 s, native histograms and those collectors",
    "all, coarse": "1 s, one bin per octave and those collectors",
    "results": "only information, parameters and results of runs",
    "cvm": f"a CVM: share of {MACHINES_OF_A_CVM} machines",
}
_FLEETS = (40, 1000, 10_000)

Found = Mapping[str, Any]


def tables(costs: Mapping[str, Found], results: Sequence[Found]) -> str:
    """All tables, in Markdown."""
    of = {step: [one for one in results if one["step"] == step] for step in ("store", "load", "rules")}
    titled = {
        "What one machine sends, and what its agent needs:": _sent(costs),
        "What receivers need in real time:": _loads(costs, of["load"]),
        "With the rules of [prometheus/rules](../prometheus/rules), in Prometheus:": _rules(
            costs, of["rules"], of["load"]
        ),
        "What is stored, if it is sent as fast as the receiver accepts it:": _stored(of["store"]),
        "A year of that, day and night:": _year(costs, of["store"], of["load"]),
    }
    return "\n\n".join(f"{title}\n\n{table}" for title, table in titled.items() if table)


def _sent(costs: Mapping[str, Found]) -> str:
    rows = [["", "series", "samples/s", "bytes/s sent", "bytes per sample", "CPU of the agent", "its memory"]]
    for way, label in _WAYS.items():
        if (cost := costs.get(way)) is None:
            continue
        samples, wire = cost.get("samples_per_second"), cost["wire_bytes_per_second"]
        if way == "vmagent":  # it scrapes the same
            samples = costs["as shipped"]["samples_per_second"]
        rows.append(
            [
                label,
                _whole(cost["series"]),
                _whole(samples),
                _whole(wire),
                f"{wire / samples:.1f}" if samples else "-",
                f"{100 * cost['cpu']:.1f} %",
                f"{cost['resident'] / 1e6:.0f} MB",
            ]
        )
    return _table(rows)


def _loads(costs: Mapping[str, Found], loads: Sequence[Found]) -> str:
    header = ["receiver", "machines", "series", "samples/s", "CPU", "CPU per machine"]
    rows = [[*header, "registration", "memory", "memory per series", "kept up"]]
    for one in sorted(loads, key=lambda one: (one["receiver"], one["machines"])):
        wanted = one["machines"] * _rate(costs, one["way"])
        cores = one["cpu"] / one["samples"] * wanted
        rows.append(
            [
                one["receiver"],
                _whole(one["machines"]),
                _whole(one["series"]),
                _whole(wanted),
                f"{cores:.2f} cores",
                f"{100 * cores / one['machines']:.2f} %",
                f"{one['registering_cpu']:.0f} s",
                f"{one['resident'] / 1e9:.2f} GB",
                f"{(one['resident'] - one['empty']) / one['series'] / 1e3:.1f} kB",
                _kept_up(one),
            ]
        )
    return _table(rows) if loads else ""


def _kept_up(one: Found) -> str:
    got = f"with {(one['cpu'] + one['cpu_of_the_load']) / one['seconds']:.2f} cores for receiver and load"
    return f"no ({one['broke']} {got})" if one["broke"] else f"yes ({one['late']:.1f} s behind at most)"


def _rules(costs: Mapping[str, Found], found: Sequence[Found], loads: Sequence[Found]) -> str:
    rows = [["machines", "CPU", "without rules", "memory", "without rules", "evaluations missed"]]
    without = {one["machines"]: one for one in loads if one["receiver"] == "Prometheus"}
    for one in sorted(found, key=lambda one: one["machines"]):
        if one["machines"] not in without:
            continue
        bare, wanted = without[one["machines"]], one["machines"] * _rate(costs, one["way"])
        rows.append(
            [
                _whole(one["machines"]),
                f"{one['cpu'] / one['samples'] * wanted:.2f} cores",
                f"{bare['cpu'] / bare['samples'] * wanted:.2f} cores",
                f"{one['resident'] / 1e9:.2f} GB",
                f"{bare['resident'] / 1e9:.2f} GB",
                _whole(one["missed"]),
            ]
        )
    return _table(rows) if len(rows) > 1 else ""


def _rate(costs: Mapping[str, Found], way: str) -> float:
    """Samples a second of a machine and its share of a CVM."""
    return float(costs[way]["samples_per_second"] + costs["cvm"]["samples_per_second"] / MACHINES_OF_A_CVM)


def _stored(stored: Sequence[Found]) -> str:
    base = {one["receiver"]: one for one in stored if one["way"] == "as shipped"}
    rows = [
        [
            "receiver",
            "",
            "bytes per sample",
            "index per series",
            "MB per machine and hour",
            "relative to as shipped",
            "accepted per core",
        ]
    ]
    for one in sorted(stored, key=lambda one: (one["receiver"], list(_WAYS).index(one["way"]))):
        hour, shipped = _hourly(one), _hourly(base[one["receiver"]])
        rows.append(
            [
                one["receiver"],
                _WAYS[one["way"]],
                f"{one['data'] / one['samples']:.2f}",
                f"{one['index_size'] / one['series']:,.0f} B",
                f"{hour / 1e6:.2f}",
                f"{100 * hour / shipped:.0f} %",
                f"{one['sent'] / one['cpu']:,.0f} samples/s",
            ]
        )
    return _table(rows) if stored else ""


def _hourly(one: Found) -> float:
    """Bytes of samples that a machine with its share of a CVM stores in an hour."""
    return float(one["data"] / one["machines"] / one["seconds"] * 3600)


def _year(costs: Mapping[str, Found], stored: Sequence[Found], loads: Sequence[Found]) -> str:
    rows = [["receiver", "", "machines", "series", "samples/s", "sent", "disk per year", "CPU", "memory"]]
    for one in sorted(stored, key=lambda one: (one["receiver"], list(_WAYS).index(one["way"]))):
        if one["way"] not in ("as shipped", "fewer collectors", "all of it", "all, coarse"):
            continue
        kept = [load for load in loads if load["receiver"] == one["receiver"]]
        if not kept:
            continue
        largest = max(kept, key=lambda load: load["machines"])
        memory = (largest["resident"] - largest["empty"]) / largest["series"]
        cost, cvm = costs[one["way"]], costs["cvm"]
        samples = _rate(costs, one["way"])
        series = one["series"] / one["machines"]
        wire = cost["wire_bytes_per_second"] + cvm["wire_bytes_per_second"] / MACHINES_OF_A_CVM
        rows += [
            [
                one["receiver"],
                _WAYS[one["way"]].partition(":")[0],
                _whole(machines),
                _short(machines * series),
                _short(machines * samples),
                f"{_short(8 * machines * wire)}bit/s",
                f"{_short(machines * _hourly(one) * 24 * 365)}B",
                f"{machines * samples * one['cpu'] / one['sent']:.1f} cores",
                f"{_short(machines * series * memory)}B",
            ]
            for machines in _FLEETS
        ]
    return _table(rows) if len(rows) > 1 else ""


def _whole(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _short(value: float) -> str:
    """Two significant digits with a decimal prefix."""
    for unit in ("", "k", "M", "G", "T"):
        if value < 999.5 or unit == "T":
            return f"{value:,.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])
