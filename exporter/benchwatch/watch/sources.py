"""Where what is shown comes from: the exporter's /metrics, and the alerts of a Prometheus (/api/v1/alerts).

Proxies and netrc files are not looked at. User and password stand in the URL; the file that REQUESTS_CA_BUNDLE names
holds the certificates that are trusted.
"""

import os
import time
from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
import requests
import urllib3

from ..values.errors import ConfigError
from ..values.version import VERSION
from .model import Alert, Page
from .page import ReadSample, SampleReader, live, read_page, slow

SLOW_EVERY = 10.0
"""Seconds between two readings of what hardly changes (parameters, results) and of the CVMs."""
_TIMEOUT = 3.0
"""Seconds for a whole answer."""
_LARGEST = 64 * 1024 * 1024
"""Bytes of the longest answer that is read."""
_CLOCKS_DIFFER = 2.0
"""Seconds from which the exporter's clock counts, not this machine's: the Date of an answer has whole seconds."""
_SEVERITIES = ("critical", "warning", "info")


_RUNNING = "Is `benchwatch serve` running there, and is the URL right?"


class SourceUnreadable(Exception):
    """What cannot be read: one clause that says why, and what to look at where the clause does not say so itself."""

    def __init__(self, clause: str, advice: str = _RUNNING) -> None:
        super().__init__(clause)
        self.advice = advice


class Reading(NamedTuple):
    """A page, and how many seconds this machine's clock is ahead of the exporter's."""

    page: Page
    clock_ahead: float


class _Web:
    """One server. `url` is that of its root."""

    def __init__(self, url: str) -> None:
        if "://" not in url and not url.isdecimal():
            url = f"http://{url}"
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise ConfigError(f"{_without_user(url)!r}: expected a URL such as http://127.0.0.1:19777")
        self._url = url.rstrip("/")
        self.name = _without_user(self._url)
        """The URL without user and password."""
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.verify = os.environ.get("REQUESTS_CA_BUNDLE") or True
        self._session.headers["User-Agent"] = f"benchwatch/{VERSION}"

    def get(self, path: str, **parameters: list[str]) -> tuple[bytes, str]:
        """The body, and the Date header. Raises Unreadable."""
        end = time.monotonic() + _TIMEOUT
        body = bytearray()
        try:
            with self._session.get(
                self._url + path,
                params={f"{name}[]": values for name, values in parameters.items()},
                timeout=_TIMEOUT,
                stream=True,
            ) as response:
                if response.status_code != 200:
                    raise SourceUnreadable(*_refusal(response.status_code))
                for chunk in response.iter_content(65536):
                    body += chunk
                    if len(body) > _LARGEST:
                        raise SourceUnreadable(f"answers with more than {_LARGEST >> 20} MiB")
                    if time.monotonic() > end:
                        raise SourceUnreadable(f"does not answer within {_TIMEOUT:g} s")
                return bytes(body), response.headers.get("Date", "")
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise _why(error) from error


def _refusal(status: int) -> tuple[str, str]:
    """What an HTTP status says, and what to look at."""
    return {
        401: ("wants a user and a password: http://USER:PASSWORD@HOST:PORT", ""),
        403: ("does not let this user or certificate in (HTTP status 403)", ""),
        404: ("has no such page (HTTP status 404)", _RUNNING),
    }.get(status, (f"answers with HTTP status {status}", _RUNNING))


def _without_user(url: str) -> str:
    scheme, separator, rest = url.rpartition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"


def _why(error: BaseException) -> SourceUnreadable:
    """What a failed request means, from the error at its root."""
    if isinstance(error, requests.Timeout):
        return SourceUnreadable(f"does not answer within {_TIMEOUT:g} s")
    while cause := error.__cause__ or error.__context__:
        error = cause
    verification = getattr(error, "verify_message", "")
    if verification:
        return SourceUnreadable(
            f"has a certificate that is not trusted ({verification})",
            advice="REQUESTS_CA_BUNDLE names a file of those that are.",
        )
    if isinstance(error, ConnectionResetError | ConnectionAbortedError | BrokenPipeError):
        return SourceUnreadable("closed the connection")
    reason = getattr(error, "strerror", "") or " ".join(str(error).split())[:120] or type(error).__name__
    return SourceUnreadable(f"cannot be reached: {reason}")


class WatchedExporter:
    """An exporter of benchwatch."""

    def __init__(self, url: str, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives Unix seconds. Raises ConfigError for what is not a URL."""
        self._web = _Web(url)
        self.name = self._web.name
        self._clock = clock
        self._slow = slow()
        self._live = SampleReader(live())
        self._full = SampleReader(live() | self._slow)
        self._kept: list[ReadSample] = []
        self._seen: set[tuple[str, str, str]] = set()
        self._due = 0.0

    def read(self) -> Reading:
        """The page as it is: all of it now and again, or when a worker is new or in a new state; else what is live."""
        now = time.monotonic()
        if now < self._due:
            samples, ahead = self._samples(self._live, "live")
            page = read_page([*samples, *self._kept])
            if _states(page) == self._seen:
                return Reading(page, ahead)
        samples, ahead = self._samples(self._full, "live", "runs", "nutanix")
        self._kept = [sample for sample in samples if sample.name in self._slow]
        page = read_page(samples)
        self._seen, self._due = _states(page), now + SLOW_EVERY
        return Reading(page, ahead)

    def _samples(self, reader: SampleReader, *parts: str) -> tuple[list[ReadSample], float]:
        body, date = self._web.get("/metrics", collect=list(parts))
        try:
            samples = reader.read(body.decode())
        except (ValueError, KeyError) as error:
            raise SourceUnreadable("answers with something else than metrics") from error
        if not any(sample.name == "benchwatch_build_info" for sample in samples):
            raise SourceUnreadable("is no exporter of benchwatch")
        return samples, self._ahead(date)

    def _ahead(self, date: str) -> float:
        try:
            ahead = self._clock() - parsedate_to_datetime(date).timestamp()
        except ValueError:
            return 0.0
        return ahead if abs(ahead) > _CLOCKS_DIFFER else 0.0


def _states(page: Page) -> set[tuple[str, str, str]]:
    return {(worker.run, worker.name, worker.state) for worker in page.workers}


class _Alert(msgspec.Struct):
    state: str
    labels: dict[str, str]
    annotations: dict[str, str]
    activeAt: datetime


class _Alerts(msgspec.Struct):
    alerts: list[_Alert]


class _Answer(msgspec.Struct):
    data: _Alerts


class WatchedPrometheus:
    """A Prometheus that evaluates the alerts (https://prometheus.io/docs/prometheus/latest/querying/api/#alerts)."""

    def __init__(self, url: str) -> None:
        """Raises ConfigError for what is not a URL."""
        self._web = _Web(url)
        self.name = self._web.name

    def read(self) -> tuple[Alert, ...]:
        """The alerts that fire, the gravest first, of those the youngest. Raises Unreadable."""
        body, _ = self._web.get("/api/v1/alerts")
        try:
            answer = msgspec.json.decode(body, type=_Answer)
        except msgspec.DecodeError as error:
            raise SourceUnreadable("is no Prometheus") from error
        firing = [
            Alert(
                name=alert.labels.get("alertname", ""),
                severity=alert.labels.get("severity", ""),
                summary=alert.annotations.get("summary", ""),
                since=alert.activeAt.timestamp(),
            )
            for alert in answer.data.alerts
            if alert.state == "firing"
        ]
        return tuple(sorted(firing, key=lambda alert: (_rank(alert.severity), -alert.since)))


def _rank(severity: str) -> int:
    return _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)
