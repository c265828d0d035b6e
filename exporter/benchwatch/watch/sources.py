"""The sources of what is shown: the exporter (/api/runs, /api/cvms), and a Prometheus.

For the exporter, proxies and netrc files are ignored. User and password come from the URL; REQUESTS_CA_BUNDLE names a
file of trusted certificates.
"""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TypeVar
from urllib.parse import quote

import msgspec
import requests
import urllib3

from ..metrics.prometheus import Prometheus, PrometheusError
from ..model.cvm import Cvm
from ..model.documents import CvmsDocument, RunDocument, RunsDocument
from ..model.run import Report
from ..values.addresses import server_url, without_user
from ..values.errors import reason_of, root_cause
from ..values.version import VERSION
from ..values.web import session
from ..why.exported import INFO, UNSEEN
from .known import Alert, Judged, Page

SLOW_EVERY = 10.0
"""Seconds between two readings of the CVMs."""
_TIMEOUT = 3.0
"""Seconds allowed for a whole answer."""
_LARGEST = 64 * 1024 * 1024
"""Largest accepted answer, bytes."""
_CLOCKS_DIFFER = 2.0
"""Difference in seconds above which the exporter's clock counts: an answer may take that long."""
_RUNS_ASKED = 50
"""Largest number of runs whose reports are requested at once."""
_SEVERITIES = ("critical", "warning", "info")
_FRESH = 5
"""Seconds after which what was said no longer counts: a text that another one replaced ends at once."""
_RUNNING = "Is `benchwatch serve` running there, and is the URL right?"


_Decoded = TypeVar("_Decoded")


class SourceUnreadable(Exception):
    """A source that cannot be read: a clause that says why, and `advice`, a sentence on what to check."""

    def __init__(self, clause: str, advice: str = _RUNNING) -> None:
        super().__init__(clause)
        self.advice = advice


def _refusal(status: int) -> tuple[str, str]:
    """What an HTTP status means, and what to check."""
    return {
        401: ("requires a user and a password: http://USER:PASSWORD@HOST:PORT", ""),
        403: ("denies access to this user or certificate (HTTP status 403)", ""),
        404: ("has no such page (HTTP status 404)", _RUNNING),
    }.get(status, (f"answers with HTTP status {status}", _RUNNING))


def _why(error: BaseException) -> SourceUnreadable:
    """What a failed request means, from its root cause."""
    cause = root_cause(error)
    if isinstance(error, requests.Timeout) or isinstance(cause, TimeoutError):
        return SourceUnreadable(f"does not answer within {_TIMEOUT:g} s")
    verification = getattr(cause, "verify_message", "")
    if verification:
        return SourceUnreadable(
            f"has a certificate that is not trusted ({verification})",
            advice="Set REQUESTS_CA_BUNDLE to a file of trusted certificates.",
        )
    return SourceUnreadable(f"cannot be reached: {reason_of(cause)}")


class WatchedExporter:
    """A benchwatch exporter."""

    def __init__(self, url: str, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives Unix seconds. Raises UserError if `url` is not an address."""
        self._url = server_url(url, "URL")
        self.name = without_user(self._url)
        """The URL without user and password."""
        self._session = session(_TIMEOUT)
        self._session.trust_env = False
        self._session.verify = os.environ.get("REQUESTS_CA_BUNDLE") or True
        self._session.headers["User-Agent"] = f"benchwatch/{VERSION}"
        self._clock = clock
        self._cvms: tuple[Cvm, ...] = ()
        self._due = 0.0
        self._begun: set[str] = set()
        self._past: dict[tuple[str, str], Sequence[Report]] = {}

    def read(self) -> Page:
        """The runs as they are now, and the CVMs as of at most SLOW_EVERY seconds ago. Raises SourceUnreadable."""
        now = time.monotonic()
        document = self._document("/api/runs", RunsDocument)
        ahead = self._clock() - document.time
        if now >= self._due:
            self._cvms = self._document("/api/cvms", CvmsDocument).cvms
            self._due = now + SLOW_EVERY
        active = {run.name for run in document.runs if run.active}
        new, self._begun = sorted(active - self._begun)[:_RUNS_ASKED], active
        self._past = {key: reports for key, reports in self._past.items() if key[0] in active} | self._reported(new)
        return Page(document.runs, self._cvms, self._past, ahead if abs(ahead) > _CLOCKS_DIFFER else 0.0)

    def _reported(self, names: Sequence[str]) -> dict[tuple[str, str], Sequence[Report]]:
        """The reports that the exporter still has of these runs."""
        found: dict[tuple[str, str], Sequence[Report]] = {}
        for name in names:
            with suppress(SourceUnreadable):  # it has just gone: its chart begins now
                path = f"/api/runs/{quote(name, safe='', errors='surrogateescape')}"
                run = self._document(path, RunDocument).run
                found |= {(one.run, one.name): one.reports for one in run.workers if not one.observer}
        return found

    def _document(self, path: str, kind: type[_Decoded]) -> _Decoded:
        """An answer. Raises SourceUnreadable."""
        body = bytearray()
        try:
            with self._session.get(self._url + path, timeout=_TIMEOUT, stream=True) as response:
                if response.status_code != 200:
                    raise SourceUnreadable(*_refusal(response.status_code))
                for chunk in response.iter_content(65536):
                    body += chunk
                    if len(body) > _LARGEST:
                        raise SourceUnreadable(f"answers with more than {_LARGEST >> 20} MiB")
            return msgspec.json.decode(body, type=kind)
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise _why(error) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise SourceUnreadable("is not a benchwatch exporter") from error


class WatchedPrometheus:
    """A Prometheus that evaluates the rules."""

    def __init__(self, url: str) -> None:
        """Raises UserError if `url` is not an address."""
        address = server_url(url, "--prometheus")
        self.name = without_user(address)
        """The URL without user and password."""
        self._prometheus = Prometheus(address, _TIMEOUT)

    def read(self) -> Judged:
        """Firing alerts and verdicts, or why there are none."""
        alerts = None
        try:
            alerts = self._alerts()
            said = self._prometheus.at(f"max by (run, text) (last_over_time({INFO.name}[{_FRESH}s]))")
            return Judged(alerts, {labels.get("run", ""): labels.get("text", "") for labels, _ in said})
        except PrometheusError as error:
            return Judged(alerts, problem=str(error))
        except (KeyError, TypeError, ValueError, AttributeError):
            return Judged(alerts, problem=f"Prometheus at {self.name} did not answer: not an answer of Prometheus")

    def _alerts(self) -> list[Alert]:
        """Most severe first, then most recent."""
        firing = [
            Alert(
                name=alert["labels"].get("alertname", ""),
                severity=alert["labels"].get("severity", ""),
                summary=alert.get("annotations", {}).get("summary", ""),
                since=datetime.fromisoformat(alert["activeAt"]).timestamp(),
            )
            for alert in self._prometheus.firing()
            if alert["labels"].get("alertname") != UNSEEN
        ]
        return sorted(firing, key=lambda alert: (_rank(alert.severity), -alert.since))


def _rank(severity: str) -> int:
    return _SEVERITIES.index(severity) if severity in _SEVERITIES else len(_SEVERITIES)
