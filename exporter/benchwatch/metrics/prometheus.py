"""Queries a Prometheus (https://prometheus.io/docs/prometheus/latest/querying/api/)."""

import math
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypedDict, TypeVar, cast

import msgspec
import numpy as np
import requests
from numpy.typing import NDArray
from requests.utils import get_netrc_auth
from urllib3.exceptions import HTTPError

from ..values.errors import reason_of, root_cause
from ..values.web import session

Array = NDArray[np.float64]
TIMEOUT = 30.0
_PART = 1 << 16
_LARGEST = 1 << 28
"""Bytes of an answer."""
_LONGEST = 1000
"""Characters of a reason that are passed on."""
_PRESENT = {"nocache": "1"}
"""VictoriaMetrics leaves out the last 30 s without it (-search.latencyOffset); others ignore it."""


class Samples(NamedTuple):
    """One series: labels, times in ascending order, values; without NaN."""

    labels: Mapping[str, str]
    times: Array
    values: Array

    def within(self, begin: float, end: float) -> Array:
        """The values in the window."""
        first, last = self.times.searchsorted((begin, end), side="right")
        return self.values[first:last]

    def mean(self, begin: float, end: float) -> float | None:
        """Mean of the samples in the window."""
        values = self.within(begin, end)
        return float(values.mean()) if len(values) else None

    def rate(self, begin: float, end: float) -> float | None:
        """Increase of a counter by second; a fall is a restart from 0. None with fewer than two samples."""
        first, last = self.times.searchsorted((begin, end), side="right") - 1
        first = max(int(first), 0)
        if last <= first or self.times[last] < begin:
            return None
        values = self.values[first : last + 1]
        fallen = values[:-1][values[1:] < values[:-1]]
        increase = float(values[-1] - values[0] + fallen.sum())
        return increase / float(self.times[last] - self.times[first])


class Seen:
    """Samples by the name of their metric, without what is `kept` seconds older than the newest of a series."""

    def __init__(self, series: Iterable[Samples] = (), kept: float = np.inf) -> None:
        self._kept = kept
        self._series: dict[str, dict[frozenset[tuple[str, str]], Samples]] = {}
        self.add(series)

    def add(self, series: Iterable[Samples]) -> None:
        """Add samples that are newer than those known."""
        for one in series:
            known = self._series.setdefault(one.labels.get("__name__", ""), {})
            key = frozenset(one.labels.items())
            if (old := known.get(key)) is None:
                known[key] = one
            elif one.times[-1] > old.times[-1]:
                begin = int(old.times.searchsorted(one.times[-1] - self._kept))
                new = int(one.times.searchsorted(old.times[-1], side="right"))
                times = np.concatenate((old.times[begin:], one.times[new:]))
                known[key] = Samples(old.labels, times, np.concatenate((old.values[begin:], one.values[new:])))

    def of(self, name: str, **labels: str) -> Iterator[Samples]:
        """The series of a metric with these labels; one that is missing equals an empty one."""
        for one in self._series.get(name, {}).values():
            if all(one.labels.get(label, "") == value for label, value in labels.items()):
                yield one

    def all(self) -> Iterator[Samples]:
        """All series."""
        return (one for series in self._series.values() for one in series.values())


class FiringAlert(TypedDict, total=False):
    """What is used of an alert."""

    state: str
    labels: dict[str, str]
    annotations: dict[str, str]
    activeAt: str


class _Series(msgspec.Struct):
    """A series of an answer; one of native histograms has neither `value` nor `values`."""

    metric: dict[str, str]
    value: tuple[float, float | str] | None = None
    values: list[tuple[float, float | str]] = []


class _Result(msgspec.Struct):
    result: list[_Series]


class _Rules(msgspec.Struct):
    groups: list[msgspec.Raw] | None = None


class _Alerts(msgspec.Struct):
    alerts: list[FiringAlert]


class _Answer(msgspec.Struct):
    status: str
    data: msgspec.Raw = msgspec.Raw(b"null")
    error: str = ""


_Data = TypeVar("_Data")
_Read = TypeVar("_Read")


class PrometheusError(Exception):
    """The query was not answered: one sentence says why."""


class Prometheus:
    """A Prometheus by its URL; `timeout`: seconds that an answer may take."""

    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        self._url = url
        self._name = "Prometheus at " + re.sub(r"//[^/]*@", "//", url)
        self._timeout = timeout
        self._has_rules = False
        self._own = threading.local()
        """The session of each thread: its connection serves all of its questions."""

    def samples(self, selector: str, begin: float, end: float) -> list[Samples]:
        """The samples of series between two moments, Unix seconds, as recorded. Raises PrometheusError."""
        query = f"{selector}[{max(1, math.ceil(end - begin))}s]"
        return self._ask("query", _samples, query=query, time=end)

    def range(self, query: str, begin: float, end: float, step: float) -> list[Samples]:
        """The results of a query between two moments, every `step` seconds. Raises PrometheusError."""
        return self._ask("query_range", _samples, query=query, start=begin, end=end, step=step)

    def at(self, query: str, moment: float | None = None) -> list[tuple[Mapping[str, str], float]]:
        """Labels and values of a query at a moment, Unix seconds (None: its own now). Raises PrometheusError."""
        return self._ask("query", _values, query=query, **({} if moment is None else {"time": moment}))

    def firing(self) -> list[FiringAlert]:
        """The alerts that fire now. Raises PrometheusError."""
        return [alert for alert in self._answer("GET", "alerts", _Alerts, {}).alerts if alert.get("state") == "firing"]

    def _ask(self, what: str, read: Callable[[Sequence[_Series]], _Read], **parameters: str | float) -> _Read:
        found = self._answer("POST", what, _Result, {**parameters, **_PRESENT}).result
        try:
            return read(found)
        except ValueError as error:
            raise PrometheusError(f"{self._name} did not answer: {error}"[:_LONGEST]) from error

    def has_rules(self) -> bool:
        """Whether it has rules; also true of a server that does not say. Asked until there are some."""
        try:
            self._has_rules = self._has_rules or self._answer("GET", "rules?group_limit=1", _Rules, {}).groups != []
            return self._has_rules
        except PrometheusError:
            return True

    def _answer(self, method: str, what: str, kind: type[_Data], parameters: Mapping[str, str | float]) -> _Data:
        url = f"{self._url}/api/v1/{what}"
        try:
            web = self._session()
            with web.request(method, url, data=parameters, timeout=self._timeout, stream=True) as answer:
                text = self._body(answer)
        except (requests.RequestException, HTTPError) as error:
            raise PrometheusError(f"{self._name} does not answer ({self._why(error)})") from error
        try:
            content = msgspec.json.decode(text, type=_Answer)
            if content.status == "success":
                return msgspec.json.decode(content.data, type=kind)
            reason = content.error[:_LONGEST]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            reason = f"HTTP {answer.status_code}, which is not an answer of Prometheus"
        raise PrometheusError(f"{self._name} did not answer: {reason}")

    def _session(self) -> requests.Session:
        """That of this thread. Reading the environment (proxies, netrc) anew would be a sixth of a question's cost."""
        if not hasattr(self._own, "session"):
            made = self._own.session = session(self._timeout)
            settings = made.merge_environment_settings(self._url, {}, None, None, None)
            made.proxies, made.verify = settings["proxies"], settings["verify"]
            made.auth = get_netrc_auth(self._url)
            made.trust_env = False
        return cast(requests.Session, self._own.session)

    def _why(self, error: BaseException) -> str:
        late = isinstance(root_cause(error), TimeoutError)
        return f"not all within {self._timeout:g} s" if late else reason_of(error)

    def _body(self, answer: requests.Response) -> bytearray:
        body = bytearray()
        for part in answer.iter_content(_PART):
            body += part
            if len(body) > _LARGEST:
                raise PrometheusError(f"{self._name} did not answer: more than {_LARGEST} bytes")
        return body


def _values(answer: Sequence[_Series]) -> list[tuple[Mapping[str, str], float]]:
    return [(series.metric, float(series.value[1])) for series in answer if series.value]


def _samples(answer: Sequence[_Series]) -> list[Samples]:
    """The series that have any value."""
    numbers = (float(number) for series in answer for pair in series.values for number in pair)
    times, values = np.fromiter(numbers, dtype=float).reshape(-1, 2).T
    known = np.isfinite(values)
    found, begin = [], 0
    for series in answer:
        end = begin + len(series.values)
        chosen = known[begin:end]
        if chosen.any():
            found.append(Samples(series.metric, times[begin:end][chosen], values[begin:end][chosen]))
        begin = end
    return found


def text(value: str) -> str:
    """A string as written in a query."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def one_of(values: Iterable[str]) -> str:
    """A regular expression, as written in a query, that matches these values."""
    return text("|".join(sorted(map(re.escape, values))))


def selector(names: Iterable[str], *matchers: str) -> str:
    """Selects the series with one of these names, which may be regular expressions, and with these matchers."""
    return "{" + ",".join((f'__name__=~"{"|".join(names)}"', *matchers)) + "}"
