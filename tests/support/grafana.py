"""What Grafana does with a Classic dashboard before it asks Prometheus, as far as the tests need it."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import requests

from tests.support.waiting import PATIENCE

DASHBOARDS = Path(__file__).parents[2] / "dashboards"
FILES = sorted((DASHBOARDS / "json").glob("*.json"))

Json = dict[str, Any]

_STEPS = ((1.5, 1), (3.5, 2), (7.5, 5), (12.5, 10), (17.5, 15), (25, 20), (45, 30), (90, 60), (math.inf, 300))
"""To what Grafana rounds a step, seconds: up to which, to which."""
_REFERENCE = re.compile(r"\$\{(\w+)(?::(\w+))?\}|\$([a-zA-Z_]\w*)")


class Target(NamedTuple):
    """A query, and where it is."""

    dashboard: str
    panel: str
    expression: str
    instant: bool
    minimum_step: int = 1
    """Seconds."""
    points: int = 750
    """How many are asked for at most: what the panel says, or its width in pixels."""
    time_from: str = ""
    """The panel's own time range up to the end, in seconds; empty if it has none."""


class Value(NamedTuple):
    """What stands for a variable in a query, by itself and with the format `:regex`."""

    text: str
    regex: str
    csv: str = ""
    doublequote: str = ""


def _as_it_is(text: str) -> Value:
    return Value(text, text)


def _one(value: str) -> Value:
    """The value of a variable of which one is chosen: as `interpolateQueryExpr` of Grafana's escaping.ts has it."""
    return Value(value.replace("\\", r"\\").replace("'", r"\\'"), _regex(value))


def _several(values: Sequence[str]) -> Value:
    """That of a variable of which several or all can be chosen: a regular expression in a string of PromQL."""
    escaped = [re.sub(r"[$^*{}\[\]+?.()|]", r"\\\\\g<0>", value.replace("\\", r"\\\\")) for value in values]
    quoted = ",".join(f'"{value}"' for value in values)
    return Value(_either(escaped), _either([_regex(value) for value in values]), ",".join(values), quoted)


def _regex(value: str) -> str:
    return re.sub(r"[\\^$*+?.()|\[\]{}/]", r"\\\g<0>", value)


def _either(patterns: Sequence[str]) -> str:
    return patterns[0] if len(patterns) == 1 else f"({'|'.join(patterns)})"


def load(path: Path) -> Json:
    """A dashboard's JSON."""
    content: Json = json.loads(path.read_text())
    return content


def panels(dashboard: Json) -> Iterator[Json]:
    """All panels but rows, those in collapsed rows too."""
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            yield from panel["panels"]
        else:
            yield panel


def called(panel: Json) -> str:
    """The title; of a panel without one the label of its axis, otherwise its kind."""
    custom = panel["fieldConfig"]["defaults"].get("custom") or {}
    found: str = panel["title"] or custom.get("axisLabel") or panel["type"]
    return found


def targets(dashboard: Json) -> Iterator[Target]:
    """The queries of all panels and annotations."""
    for panel in panels(dashboard):
        for target in panel.get("targets", []):
            yield Target(
                dashboard["title"],
                called(panel),
                target["expr"],
                target["instant"],
                _seconds(target),
                panel.get("maxDataPoints", 750),
                panel.get("timeFrom", ""),
            )
    for annotation in dashboard["annotations"]["list"]:
        yield Target(
            dashboard["title"], f"annotation {annotation['name']}", annotation["target"]["expr"], False, 1, 100
        )


def _seconds(target: Json) -> int:
    return int(target.get("interval", "1s").removesuffix("s"))


def interpolate(expression: str, values: Mapping[str, Value]) -> str:
    """Puts the variables' values in. Raises KeyError for a variable or a format that there is not."""

    def text(match: re.Match[str]) -> str:
        value = values[match[1] or match[3]]
        return value.text if match[2] is None else {**value._asdict()}[match[2]]

    return _REFERENCE.sub(text, expression)


@dataclass(frozen=True)
class Prometheus:
    """The HTTP API of a Prometheus server."""

    url: str

    def answer(self, path: str, parameters: Mapping[str, str]) -> bytes:
        """The body of an answer."""
        with requests.Session() as session:
            session.trust_env = False
            return session.post(f"{self.url}/api/v1/{path}", data=parameters, timeout=PATIENCE).content

    def _get(self, path: str, parameters: Mapping[str, str]) -> Any:
        content = json.loads(self.answer(path, parameters))
        if content["status"] != "success":
            raise ValueError(f"{content['error']}: {parameters}")
        return content["data"]

    def series(self, path: str, parameters: Mapping[str, str]) -> list[Json]:
        """The series of an answer to a query. Raises ValueError if it was refused."""
        found: list[Json] = self._get(path, parameters)["result"]
        return found

    def instant(self, expression: str, moment: float) -> list[Json]:
        """The series of an instant query."""
        return self.series("query", {"query": expression, "time": str(moment)})

    def label_names(self, selector: str, start: float, end: float) -> list[str]:
        """Names of the labels of the series of a selector."""
        names = self._get("labels", {"match[]": selector, "start": str(start), "end": str(end)})
        return sorted(names)

    def label_values(self, selector: str, label: str, start: float, end: float) -> list[str]:
        """Values of a label of the series of a selector."""
        series = self._get("series", {"match[]": selector, "start": str(start), "end": str(end)})
        return sorted({one[label] for one in series if label in one})


@dataclass(frozen=True)
class View:
    """A time range in which somebody looks at dashboards."""

    prometheus: Prometheus
    start: float
    end: float

    def values(self, dashboard: Json, chosen: Mapping[str, str | Sequence[str]]) -> dict[str, Value]:
        """The value of every variable: what is `chosen`; else all, or of a variable of one value the first."""
        values = {"__range": _as_it_is(f"{round(self.end - self.start)}s")}
        for variable in dashboard["templating"]["list"]:
            name = variable["name"]
            values[name] = self._value(variable, values, chosen.get(name))
        return values

    def options(self, variable: Json, values: Mapping[str, Value]) -> list[str]:
        """What a query variable offers."""
        query = interpolate(variable["query"]["query"], values)
        labels = re.fullmatch(r"label_values\((.*), (\w+)\)", query, re.DOTALL)
        if labels:
            return self.prometheus.label_values(labels[1], labels[2], self.start, self.end)
        names = re.fullmatch(r"label_names\((.*)\)", query)
        if names:
            pattern = re.compile(variable["regex"][1:-1])
            found = self.prometheus.label_names(names[1], self.start, self.end)
            return [match[1] for name in found if (match := pattern.search(name))]
        result = re.fullmatch(r"query_result\((.*)\)", query, re.DOTALL)
        assert result, query
        pattern = re.compile(variable["regex"][1:-1])
        lines = [self._line(series) for series in self.prometheus.instant(result[1], self.end)]
        return list(dict.fromkeys(match[1] for line in lines if (match := pattern.search(line))))

    def _value(self, variable: Json, values: Mapping[str, Value], chosen: str | Sequence[str] | None) -> Value:
        if variable["type"] == "datasource":
            return _as_it_is(variable["current"]["value"])
        if chosen is None and variable.get("allValue"):
            return _as_it_is(interpolate(variable["allValue"], values))
        found = self.options(variable, values) if chosen is None else [chosen] if isinstance(chosen, str) else chosen
        if variable["multi"] or variable["includeAll"]:
            return _several(found)
        return _one(found[0] if found else "")

    @staticmethod
    def _line(series: Json) -> str:
        """As Grafana writes a series for the pattern of a variable: name, labels, value, time in ms."""
        labels = dict(series["metric"])
        name = labels.pop("__name__", "")
        inner = ",".join(f'{key}="{value}"' for key, value in labels.items())
        moment, value = series["value"]
        return f"{name}{{{inner}}} {value} {moment * 1000}"

    def request(self, target: Target, values: Mapping[str, Value]) -> tuple[str, dict[str, str]]:
        """Path and parameters of what is asked of Prometheus."""
        least = target.minimum_step
        seconds = self.end - self.start
        if target.time_from:
            seconds = float(interpolate(target.time_from, values).removesuffix("s"))
        wanted = seconds / target.points
        step = max(least, next(rounded for limit, rounded in _STEPS if wanted <= limit))
        window = max(step + least, 4 * least)
        steps = {"__interval": _as_it_is(f"{step}s"), "__rate_interval": _as_it_is(f"{window}s")}
        expression = interpolate(target.expression, {**values, **steps})
        if target.instant:
            return "query", {"query": expression, "time": str(self.end)}
        start = self.end - seconds // step * step
        times = {"start": str(start), "end": str(self.end), "step": str(step)}
        return "query_range", {"query": expression, **times}

    def ask(self, target: Target, values: Mapping[str, Value]) -> list[Json]:
        """The series that a query gives. Raises ValueError if Prometheus refuses it."""
        return self.prometheus.series(*self.request(target, values))
