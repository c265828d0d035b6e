"""What a text tool says: its figures, the families that export them, and the records that a line becomes.

`Begin` of the interface is the fifth record: another run begins.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from ...metrics.samples import Family
from ...metrics.samples import Kind as FamilyKind
from ..api import Begin
from ..roles import Lost, Roles, Unit

Key = tuple[str, ...]
"""A figure's name and the values of its labels: ("queries", "read")."""
Slot = Literal["live", "total", "result", "setting", "bins"]


class ToolReport(NamedTuple):
    """What a tool says of an interval. Reports of the same moment add to each other, if their figures differ."""

    time: float
    """The end of the interval, seconds since the start."""
    figures: Mapping[Key, float]
    counted: bool = True
    """Whether counters include it; a warm-up that the tool leaves out of its results is not counted."""
    length: float | None = None
    """Seconds that the interval takes; None: since the previous report."""


class ToolResult(NamedTuple):
    """What a tool says of the whole run."""

    figures: Mapping[Key, float]
    time: float | None = None
    """How long the run has taken, seconds."""
    final: bool = True
    """Whether the run is over; if not, only the time and the settings among the figures count."""


class Said(NamedTuple):
    """A setting of the run. `version`, `begun` (Unix seconds) and `report_interval` (seconds) have a meaning."""

    name: str
    value: str


class Failed(NamedTuple):
    """A message that says why the run ended early."""

    message: str
    interrupted: bool = False
    """Whether a signal stopped it."""


Record = Begin | ToolReport | ToolResult | Said | Failed


class ToolFigure(NamedTuple):
    """A figure that a tool prints. Its families are named after the tool: tps is the family sysbench_tps."""

    help: str
    """What it is, for the reference; its unit unless the family's name has it; the word in the tool's output."""
    name: str = ""
    """Gauge of the last report and, with `result_` before it, of the whole run."""
    total: str = ""
    """Counter since the start, without `_total`."""
    live: str = ""
    """The gauge of the last report, if its name is another, or there is only this."""
    result: str = ""
    """The gauge of the whole run likewise, without `result_`."""
    setting: str = ""
    """Gauge that does not change while the tool runs."""
    bins: str = ""
    """Histogram of the whole run; the label is a bin's upper edge, seconds, and the value its count."""
    labels: tuple[str, ...] = ()
    rate: bool = False
    """Whether it is a rate: 0 for all rates means that nothing was done. One that has a `number` is, unless `added`."""
    scale: float = 1.0
    """Base units in one unit of the output."""
    positive: bool = False
    """Whether 0 means that it was not measured."""
    added: bool = False
    """Whether reports have counts, which are added up; otherwise they have rates, which count for their time."""
    group: str = ""
    """What precedes all its names: `server_`."""
    number: str = ""
    """The figure, declared or not, with its number in the final report. There the counter ends, and the rate follows
    if the report has none. Without it, the counter of a figure without `result` ends at that figure's own value."""


_SLOTS: Mapping[Slot, tuple[str, FamilyKind, str]] = {
    "live": ("{}", "gauge", "{}, last report."),
    "total": ("{}_total", "counter", "{}, since the start."),
    "result": ("result_{}", "gauge", "{}, whole run."),
    "setting": ("{}", "gauge", "{}."),
    "bins": ("{}", "histogram", "{}, of a run that ended."),
}
"""By kind of family: its name, its type and its help."""
_ROLES: Mapping[str, Mapping[Slot, str]] = {
    "rate": {"live": "rate", "total": "total", "result": "result_rate"},
    "done": {"total": "total"},
    "number": {"result": "result_operations"},
    "mean": {"live": "latency", "result": "result_latency"},
    "max": {"live": "latency_max", "result": "result_latency_max"},
    "latency": {"live": "window", "result": "result_quantile"},
    "bins": {"bins": "histogram"},
    "bandwidth": {"live": "bandwidth", "result": "result_bandwidth"},
    "target": {"setting": "target_rate"},
    "time": {"result": "result_duration"},
}
"""By the usual name of a figure: what its families are to views (tools/roles.py)."""


class Families:
    """The families of figures, by kind and by the figure's name."""

    def __init__(self, prefix: str, figures: Mapping[str, ToolFigure]) -> None:
        self.figures: dict[str, ToolFigure] = {}
        for name, one in figures.items():
            is_rate = one.rate or bool(one.number and not one.added)
            self.figures[name] = one._replace(live=one.live or one.name, result=one.result or one.name, rate=is_rate)
            if one.number and one.number not in figures:
                self.figures[one.number] = ToolFigure("", labels=one.labels, scale=one.scale)
        counted = ((name, one) for name, one in self.figures.items() if one.number or (one.total and not one.result))
        self.settled = {one.number or name: name for name, one in counted}
        """By the figure in the final report, the one whose counter ends at its value."""
        self._by: dict[tuple[Slot, str], Family] = {}
        for slot, (name, kind, words) in _SLOTS.items():
            for figure, one in self.figures.items():
                if own := getattr(one, slot):
                    is_rate = one.rate and slot in ("live", "result") and " per " not in one.help
                    help_ = words.format(f"{one.help} per second" if is_rate else one.help)
                    labels = () if slot == "bins" else one.labels
                    part: Any = "live" if slot in ("live", "total") else "runs"
                    family = Family(f"{prefix}_{one.group}{name.format(own)}", kind, help_, labels, part)
                    self._by[slot, figure] = family
        self.all = list(self._by.values())

    def get(self, slot: Slot, figure: str) -> Family | None:
        """A family; None if the figure has none of that kind."""
        return self._by.get((slot, figure))

    def family(self, slot: Slot, figure: str) -> Family:
        """A family that there is."""
        return self._by[slot, figure]

    def joined(self, before: Mapping[Key, float], part: Mapping[Key, float]) -> dict[Key, float]:
        """The figures of the report of two parts of a run, whose `time` is since its start; no percentile follows."""
        begun, end = before.get(("time",), 0.0), part.get(("time",), 0.0)
        whole: dict[Key, float] = {}
        for key in {**before, **part}:
            figure, both = self.figures[key[0]], [each[key] for each in (before, part) if key in each]
            if figure.rate and figure.result and end:
                whole[key] = (before.get(key, 0.0) * begun + part.get(key, 0.0) * (end - begun)) / end
            elif "quantile" not in figure.labels:
                whole[key] = min(both) if key[0] == "min" else max(both) if key[0] in ("max", "time") else sum(both)
        for key in whole:
            number = (self.figures[key[0]].number, *key[1:])
            if number in whole and end:  # the parts are not exactly as long as they say
                whole[key] = whole[number] / end
        return whole

    def lost(self, counted: str, *of: str, result: str = "", **more: Any) -> Lost:
        """Operations that did not go as they should, by the figures of a Lost."""
        parts = tuple(self._by["total", one] for one in of)
        return Lost(self._by["total", counted], parts, self.get("result", result), **more)

    def roles(self, unit: Unit, operations: str, named: Mapping[str, str] | None = None, **more: Any) -> Roles:
        """Roles of the figures with the names in _ROLES; `named` are those with other names, empty if there is none.

        `more` are the other fields of Roles; its `sources` are by role.
        """
        found: dict[str, Any] = {}
        for name, slots in _ROLES.items():
            figure = (named or {}).get(name, name)
            found |= {role: self._by[slot, figure] for slot, role in slots.items() if (slot, figure) in self._by}
        more["sources"] = {found[role]: text for role, text in more.get("sources", {}).items()}
        return Roles(unit=unit, operations=operations, **{**found, **more})
