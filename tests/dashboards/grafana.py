"""What Grafana does with a Classic dashboard before it asks Prometheus, as far as the tests need it."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import requests

DASHBOARDS = Path(__file__).parents[2] / "dashboards"
FILES = sorted((DASHBOARDS / "json").glob("*.json"))

Json = dict[str, Any]

_STEPS = ((1.5, 1), (3.5, 2), (7.5, 5), (12.5, 10), (17.5, 15), (25, 20), (45, 30), (90, 60), (math.inf, 300))
"""To what Grafana rounds a step, seconds: up to which, to which."""
_REFERENCE = re.compile(r"\$\{(\w+)(?::\w+)?\}|\$(\w+)")


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


def targets(dashboard: Json) -> Iterator[Target]:
    """The queries of all panels and annotations."""
    for panel in panels(dashboard):
        for target in panel.get("targets", []):
            yield Target(
                dashboard["title"],
                panel["title"],
                target["expr"],
                target["instant"],
                _seconds(target),
                panel.get("maxDataPoints", 750),
            )
    for annotation in dashboard["annotations"]["list"]:
        yield Target(
            dashboard["title"], f"annotation {annotation['name']}", annotation["target"]["expr"], False, 1, 100
        )


def _seconds(target: Json) -> int:
    return int(target.get("interval", "1s").removesuffix("s"))


def interpolate(expression: str, values: Mapping[str, str]) -> str:
    """Puts the variables' values in. Raises KeyError for one that there is not."""
    return _REFERENCE.sub(lambda match: values[match[1] or match[2]], expression)


@dataclass(frozen=True)
class Prometheus:
    """The HTTP API of a Prometheus server."""

    url: str

    def answer(self, path: str, parameters: Mapping[str, str]) -> bytes:
        """The body of an answer."""
        with requests.Session() as session:
            session.trust_env = False
            return session.post(f"{self.url}/api/v1/{path}", data=parameters, timeout=30).content

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

    def values(self, dashboard: Json, chosen: Mapping[str, str]) -> dict[str, str]:
        """The value of every variable, from Prometheus where it is not `chosen`."""
        values = {"__range": f"{round(self.end - self.start)}s"}
        for variable in dashboard["templating"]["list"]:
            name = variable["name"]
            values[name] = chosen[name] if name in chosen else self._value(variable, values)
        return values

    def options(self, variable: Json, values: Mapping[str, str]) -> list[str]:
        """What a query variable offers."""
        query = interpolate(variable["query"]["query"], values)
        labels = re.fullmatch(r"label_values\((.*), (\w+)\)", query, re.DOTALL)
        if labels:
            return self.prometheus.label_values(labels[1], labels[2], self.start, self.end)
        result = re.fullmatch(r"query_result\((.*)\)", query, re.DOTALL)
        assert result, query
        pattern = re.compile(variable["regex"][1:-1])
        lines = [self._line(series) for series in self.prometheus.instant(result[1], self.end)]
        return list(dict.fromkeys(match[1] for line in lines if (match := pattern.search(line))))

    def _value(self, variable: Json, values: Mapping[str, str]) -> str:
        if variable["type"] == "datasource":
            return str(variable["current"]["value"])
        if variable.get("allValue"):
            return str(variable["allValue"])
        options = self.options(variable, values)
        if variable["includeAll"]:
            return "|".join(options)
        return options[0] if options else ""

    @staticmethod
    def _line(series: Json) -> str:
        """As Grafana writes a series for the pattern of a variable: name, labels, value, time in ms."""
        labels = dict(series["metric"])
        name = labels.pop("__name__", "")
        inner = ",".join(f'{key}="{value}"' for key, value in labels.items())
        moment, value = series["value"]
        return f"{name}{{{inner}}} {value} {moment * 1000}"

    def request(self, target: Target, values: Mapping[str, str]) -> tuple[str, dict[str, str]]:
        """Path and parameters of what is asked of Prometheus."""
        least = target.minimum_step
        wanted = (self.end - self.start) / target.points
        step = max(least, next(rounded for limit, rounded in _STEPS if wanted <= limit))
        window = max(step + least, 4 * least)
        steps = {"__interval": f"{step}s", "__rate_interval": f"{window}s"}
        expression = interpolate(target.expression, {**values, **steps})
        if target.instant:
            return "query", {"query": expression, "time": str(self.end)}
        start = self.end - (self.end - self.start) // step * step
        times = {"start": str(start), "end": str(self.end), "step": str(step)}
        return "query_range", {"query": expression, **times}

    def ask(self, target: Target, values: Mapping[str, str]) -> list[Json]:
        """The series that a query gives. Raises ValueError if Prometheus refuses it."""
        return self.prometheus.series(*self.request(target, values))
