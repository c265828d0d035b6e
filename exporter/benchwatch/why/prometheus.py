"""Queries a Prometheus over a span of time (https://prometheus.io/docs/prometheus/latest/querying/api/)."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import requests
from urllib3.exceptions import HTTPError

from ..values.errors import reason_of, root_cause
from ..values.web import session
from .seen import Samples

_POINTS = 720
TIMEOUT = 30.0
"""Seconds that an answer may take."""
_PART = 1 << 16
_LARGEST = 1 << 28
"""Bytes of an answer."""
_PRESENT = {"nocache": "1"}
"""VictoriaMetrics leaves out the last 30 s without it (-search.latencyOffset); others ignore it."""
_SCRAPES = 4
"""Scrapes that the window of a rate covers, so that it holds two at any phase; Grafana does the same."""


class PrometheusError(Exception):
    """The query was not answered: one sentence says why."""


class Prometheus:
    """A Prometheus by its URL, and the span of one run, Unix seconds."""

    def __init__(self, url: str, start: float, end: float, timeout: float = TIMEOUT) -> None:
        self._url = url
        self._name = "Prometheus at " + re.sub(r"//[^/]*@", "//", url)
        self._start = start
        self._end = end
        self._timeout = timeout
        self.step = float(max(1, math.ceil((end - start) / _POINTS)))
        """Between two points of an answer, seconds."""

    def windows(self, counter: str) -> dict[str, dict[str, str]]:
        """The windows of rates of this counter (PromQL), each with its instances and their hosts.

        A window covers at least the step, and several scrapes at the rate of the run's best minute. Short windows come
        first.
        """
        span = max(60, math.ceil(self._end - self._start))
        most = f"max_over_time((max by (instance, host) (count_over_time({counter}[1m])))[{span}s:30s])"
        found: dict[float, dict[str, str]] = {}
        for series in self._ask("query", query=most, time=self._end):
            seconds = max(self.step, math.ceil(_SCRAPES * 60 / float(series["value"][1])))
            labels = series["metric"]
            found.setdefault(seconds, {})[labels.get("instance", "")] = labels.get("host", "")
        # Prometheus returns series in any order.
        return {f"{seconds:.0f}s": dict(sorted(instances.items())) for seconds, instances in sorted(found.items())}

    def range(self, query: str) -> list[Samples]:
        """The results of a query over the run. Raises PrometheusError."""
        span = {"start": self._start, "end": self._end, "step": self.step}
        return _results(self._ask("query_range", query=query, **span))

    def samples(self, selector: str, begin: float, end: float) -> list[Samples]:
        """The samples of series between two moments, Unix seconds, as recorded. Raises PrometheusError."""
        query = f"{selector}[{max(1, math.ceil(end - begin))}s]"
        return _results(self._ask("query", query=query, time=end))

    def at(self, query: str, moment: float | None = None) -> list[tuple[Mapping[str, str], float]]:
        """Labels and values of a query at a moment, Unix seconds (None: its own now). Raises PrometheusError."""
        found = self._ask("query", query=query, **({} if moment is None else {"time": moment}))
        return [(series["metric"], float(series["value"][1])) for series in found]

    def firing(self) -> list[Mapping[str, Any]]:
        """The alerts that fire now: `labels`, `annotations`, `activeAt`. Raises PrometheusError."""
        found = self._answer("GET", "alerts", {})
        try:
            return [alert for alert in found["alerts"] if alert["state"] == "firing"]
        except (KeyError, TypeError) as error:
            raise PrometheusError(f"{self._name} did not answer: not an answer of Prometheus") from error

    def _ask(self, what: str, **parameters: str | float) -> Sequence[Any]:
        return list(self._answer("POST", what, {**parameters, **_PRESENT})["result"])

    def _answer(self, method: str, what: str, parameters: Mapping[str, str | float]) -> Any:
        url = f"{self._url}/api/v1/{what}"
        try:
            with session(self._timeout) as web:
                answer = web.request(method, url, data=parameters, timeout=self._timeout, stream=True)
                text = self._body(answer)
        except (requests.RequestException, HTTPError) as error:
            raise PrometheusError(f"{self._name} does not answer ({self._why(error)})") from error
        try:
            content = json.loads(text)
            if content["status"] == "success" and isinstance(content["data"], dict):
                return content["data"]
            reason = str(content["error"])
        except (ValueError, KeyError, TypeError):
            reason = f"HTTP {answer.status_code}, which is not an answer of Prometheus"
        raise PrometheusError(f"{self._name} did not answer: {reason}")

    def _why(self, error: BaseException) -> str:
        late = isinstance(root_cause(error), TimeoutError)
        return f"not all within {self._timeout:g} s" if late else reason_of(error)

    def _body(self, answer: requests.Response) -> bytes:
        body = bytearray()
        for part in answer.iter_content(_PART):
            body += part
            if len(body) > _LARGEST:
                raise PrometheusError(f"{self._name} did not answer: more than {_LARGEST} bytes")
        return bytes(body)


def _results(answer: Sequence[Any]) -> list[Samples]:
    """The series that have any value."""
    found = []
    for series in answer:
        times, values = np.array(series["values"], dtype=float).reshape(-1, 2).T
        known = np.isfinite(values)
        if known.any():
            found.append(Samples(series["metric"], times[known], values[known]))
    return found


def text(value: str) -> str:
    """A string as written in a query."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
