"""The sources of what is shown: the exporter (/api/runs, /api/cvms), and a Prometheus with the rules of benchwatch.

For the exporter, proxies and netrc files are ignored. User and password come from the URL; REQUESTS_CA_BUNDLE names a
file of trusted certificates.
"""

import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TypeVar
from urllib.parse import quote

import msgspec
import requests
import urllib3

from ..metrics.prometheus import Prometheus, PrometheusError
from ..metrics.prometheus import text as quoted
from ..model.cvm import Cvm
from ..model.documents import CvmsDocument, RunDocument, RunsDocument
from ..model.run import Report
from ..values.addresses import server_url, without_user
from ..values.errors import reason_of, root_cause
from ..values.version import VERSION
from ..values.web import session
from ..why.exported import INFO, SECONDS, SINCE, UNSEEN
from .known import Alert, Judged, Page, Slow, usual_key

_SLOW_EVERY = 10.0
"""Seconds between two readings of the CVMs."""
_TIMEOUT = 3.0
"""Seconds allowed for a whole answer."""
_LARGEST = 64 * 1024 * 1024
"""Largest accepted answer, bytes."""
_CLOCKS_DIFFER = 2.0
"""Difference in seconds above which the exporter's clock counts: an answer may take that long."""
_RUNS_ASKED = 50
"""Largest number of runs whose reports are requested at once."""
_RUNNING = "Is `benchwatch serve` running there, and is the URL right?"
_REFUSALS = {
    401: ("requires a user and a password: http://USER:PASSWORD@HOST:PORT", ""),
    404: ("has no such page (HTTP status 404)", _RUNNING),
}
"""What an HTTP status means, and what to check."""
_SAID = {
    "text": f"({INFO.name} or on (run) last_over_time({INFO.name}[5s]))",
    "since": f"last_over_time({SINCE.name}[5s])",
    "usual": f'sum by (run) (last_over_time({SECONDS.name}{{when="usual"}}[5s]))',
    "slow": "run:benchmark_slow:since",
    "host": "run:benchmark_slow:info",
    "begin": "last_over_time(run:benchmark_slow:since[10m])",
    "end": "max_over_time(timestamp(run:benchmark_slow:since)[10m:1s])",
}
"""Of a slow run: why and since when it is, by `why`; the same by the rules; the last slow time of the rules.

A scrape of the exporter may fail; a text that another one replaces ends at once.
"""
_HELD = 3.0
"""Seconds for which the rules hold a slow second."""
_COUNTS = 5.0
"""Seconds from which on a slow time that is over is shown."""
_BUSY = (
    'clamp_min(1 - sum by (host) (rate(node_cpu_seconds_total{mode=~"idle|iowait",host=~%s}[15s]))'
    ' / count by (host) (node_cpu_seconds_total{mode="idle",host=~%s}), 0)'
)
"""Of hosts. Waiting for I/O is idle time: a processor then has nothing to do."""
RATE, LATENCY = "worker:operations:rate_median5m", "worker:latency_seconds:median5m"
VDISK_RATE, VDISK_LATENCY = "vdisk:operations:rate_median10m", "vdisk:latency_seconds:median10m"
VDISK_OPLOG = "vdisk:oplog_write_ratio:median10m"
_USUAL = f'{{__name__=~"{"|".join((RATE, LATENCY, VDISK_RATE, VDISK_LATENCY, VDISK_OPLOG))}",quantile=""}}'
_USUAL_EVERY = 15.0
"""Seconds between two evaluations of these rules."""
_SEVERITIES = ("critical", "warning", "info")
_Decoded = TypeVar("_Decoded")
_Found = list[tuple[Mapping[str, str], float]]


class SourceUnreadable(Exception):
    """A source that cannot be read: a clause that says why, and `advice`, a sentence on what to check."""

    def __init__(self, clause: str, advice: str = _RUNNING) -> None:
        super().__init__(clause)
        self.advice = advice


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
        """The runs as they are now, and the CVMs as of at most ten seconds ago. Raises SourceUnreadable."""
        now = time.monotonic()
        document = self._document("/api/runs", RunsDocument)
        ahead = self._clock() - document.time
        if now >= self._due:
            self._cvms = self._document("/api/cvms", CvmsDocument).cvms
            self._due = now + _SLOW_EVERY
        active = {run.name for run in document.runs if run.active}
        new, self._begun = sorted(active - self._begun)[:_RUNS_ASKED], active
        self._past = {key: reports for key, reports in self._past.items() if key[0] in active}
        for name in new:
            with suppress(SourceUnreadable):  # it has just gone: its chart begins now
                path = f"/api/runs/{quote(name, safe='', errors='surrogateescape')}"
                workers = self._document(path, RunDocument).run.workers
                self._past |= {(one.run, one.name): one.reports for one in workers if not one.observer}
        return Page(document.runs, self._cvms, self._past, ahead if abs(ahead) > _CLOCKS_DIFFER else 0.0)

    def _document(self, path: str, kind: type[_Decoded]) -> _Decoded:
        """An answer. Raises SourceUnreadable."""
        body = bytearray()
        try:
            with self._session.get(self._url + path, timeout=_TIMEOUT, stream=True) as response:
                if (status := response.status_code) != 200:
                    raise SourceUnreadable(*_REFUSALS.get(status, (f"answers with HTTP status {status}", _RUNNING)))
                for chunk in response.iter_content(65536):
                    body += chunk
                    if len(body) > _LARGEST:
                        raise SourceUnreadable(f"answers with more than {_LARGEST >> 20} MiB")
            return msgspec.json.decode(body, type=kind)
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise _why(error) from error
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise SourceUnreadable("is not a benchwatch exporter") from error


def _why(error: BaseException) -> SourceUnreadable:
    """What a failed request means, from its root cause."""
    cause = root_cause(error)
    if isinstance(error, requests.Timeout) or isinstance(cause, TimeoutError):
        return SourceUnreadable(f"does not answer within {_TIMEOUT:g} s")
    if verification := getattr(cause, "verify_message", ""):
        clause = f"has a certificate that is not trusted ({verification})"
        return SourceUnreadable(clause, "Set REQUESTS_CA_BUNDLE to a file of trusted certificates.")
    return SourceUnreadable(f"cannot be reached: {reason_of(cause)}")


class WatchedPrometheus:
    """A Prometheus that evaluates the rules."""

    def __init__(self, url: str) -> None:
        """Raises UserError if `url` is not an address."""
        address = server_url(url, "--prometheus")
        self.name = without_user(address)
        """The URL without user and password."""
        self._prometheus = Prometheus(address, _TIMEOUT)
        self._medians: dict[float | None, _Found] = {}
        """Usual values as of the begin of a slow time, Unix seconds; None: of now."""
        self._due = 0.0

    def read(self) -> Judged:
        """Firing alerts, slow times and usual values, or why there are none."""
        alerts = None
        try:
            alerts = self._alerts()
            slow = self._slow()
            if not alerts and not slow and not self._prometheus.has_rules():
                sentence = "has no rules, so it cannot say what is slow: load prometheus/rules"
                return Judged(problem=f"Prometheus at {self.name} {sentence}")
            return Judged(alerts, slow, self._usual(slow))
        except PrometheusError as error:
            return Judged(alerts, problem=str(error))
        except (KeyError, TypeError, ValueError, AttributeError):
            return Judged(alerts, problem=f"Prometheus at {self.name} did not answer: not an answer of Prometheus")

    def _alerts(self) -> list[Alert]:
        """Most severe first, then most recent."""
        firing = [
            Alert(
                alert["labels"].get("alertname", ""),
                alert["labels"].get("severity", ""),
                alert.get("annotations", {}).get("summary", ""),
                datetime.fromisoformat(alert["activeAt"]).timestamp(),
                alert["labels"],
            )
            for alert in self._prometheus.firing()
        ]
        ranks = {severity: rank for rank, severity in enumerate(_SEVERITIES)}
        shown = (alert for alert in firing if alert.name != UNSEEN)
        return sorted(shown, key=lambda alert: (ranks.get(alert.severity, len(ranks)), -alert.since))

    def _slow(self) -> dict[str, Slow]:
        asked = " or ".join(f'label_replace({query}, "is", "{name}", "", "")' for name, query in _SAID.items())
        numbers: defaultdict[str, dict[str, float]] = defaultdict(dict)
        words: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for labels, value in self._prometheus.at(asked):
            run = labels.get("run", "")
            numbers[run][labels.get("is", "")] = value
            words[run].update((name, labels[name]) for name in ("host", "text") if name in labels)
        slow = {}
        for run, known in numbers.items():
            begin = known.get("begin", 0.0)
            end = known.get("end", 0.0) - _HELD
            if "text" in known or "slow" in known:
                text, host = words[run].get("text", ""), words[run].get("host", "")
                slow[run] = Slow(known.get("since", begin), None, text, known.get("usual"), host)
            elif end - begin >= _COUNTS:
                slow[run] = Slow(begin, end)
        if hosts := {re.escape(one.host) for one in slow.values() if one.host and not one.text}:
            which = quoted("|".join(sorted(hosts)))
            busy = {labels.get("host"): value for labels, value in self._prometheus.at(_BUSY % (which, which))}
            for run, one in slow.items():
                if not one.text:
                    slow[run] = one._replace(busy=busy.get(one.host))
        return slow

    def _usual(self, slow: Mapping[str, Slow]) -> dict[tuple[str, ...], float]:
        """Of slow runs, and of vdisks while one is slow, as of the begin: later, the medians take in what is slow."""
        begins = {run: one.begin for run, one in slow.items() if one.end is None}
        if time.monotonic() >= self._due:
            self._medians.pop(None, None)
            self._due = time.monotonic() + _USUAL_EVERY
        wanted = {None, *begins.values()}
        for begin in wanted - self._medians.keys():
            self._medians[begin] = self._prometheus.at(_USUAL, begin)
        self._medians = {begin: self._medians[begin] for begin in wanted}
        first = min(begins.values(), default=None)
        found = {}
        for begin, medians in self._medians.items():
            for labels, value in medians:
                if begin == (begins.get(labels["run"]) if "run" in labels else first):
                    names = ("__name__", "run", "worker", "job", "op", "cvm", "vdisk")
                    found[usual_key(*(labels.get(name, "") for name in names))] = value
        return found
