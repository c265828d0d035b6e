"""Says each second why active runs are slow, from a Prometheus that scrapes them, and exports what it says.

Cheap first: one instant query a second. Raw samples are asked for only of runs that are slow by the rules, were slow
within 5 min, or are younger than their own usual; those of their machines, while they are slow. It runs in a thread of
its own: no scrape and no alert waits for it.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from ..metrics.prometheus import Prometheus, PrometheusError
from ..metrics.samples import Sample
from .explanation import BELOW, NONE, Explanation, sentence
from .exported import INFO, MESSAGE, SECONDS, SINCE, UP
from .judging import BEFORE, FIRST, LOOKED, OVER, slow, usual_of_kin, why
from .seen import Seen, samples_of_run, seen_run, surrounded
from .slow_times import USUAL, JudgedSeconds
from .waits import Waits

_log = logging.getLogger(__name__)

_NOW = '{__name__=~"run:benchmark_slow:info|run:benchwatch_run_state:begun"}'
"""The runs that are active, and those of them that are slow by the rules."""
TIMEOUT = 2.0
"""Seconds for an answer."""
_KEPT, _ANEW = 420.0, 3.0
"""Seconds of samples: kept, and asked for again each second."""
_YOUNG = 45.0
"""Seconds for which a run is watched closely."""
_HELD, _SETTLED, _CHANGES = 5.0, 15.0, 10.0
"""Seconds since a slow time began: for which people are not told yet, as the first seconds show neither the process
that competes nor always the right layer; after which its sentence is written once more, with figures that have settled;
up to which another layer may be named, unless it is the one below a device, which a CVM shows later.
"""
_LASTS, _SELDOM, _AFTERWARDS = 20.0, 5.0, 2.0
"""Seconds of a slow time after which it is looked at more seldom: how many, and how often then; how often after its
end, while the usual of the rules has its seconds and they may see no other.
"""
_DEVICES = frozenset({"log_device", "data_device"})
_FORGOTTEN = 600.0


class Spoken(NamedTuple):
    """What is exported of a slow run. The text changes seldom: with the layer, as people are told, and once more."""

    explanation: Explanation
    text: str
    since: float
    """The begin of the slow time as first seen, Unix seconds."""
    age: float
    """Seconds of the slow time after which the text was written."""
    told: bool = False
    """Whether people are told of it."""
    corrected: bool = False
    """Whether people were told of another layer before."""

    @property
    def where(self) -> tuple[str, str]:
        """The machine, and its layer."""
        return self.explanation.facts.server, self.explanation.cause.layer


class _Watched:
    """One active run."""

    def __init__(self, prometheus: Prometheus, run: str, now: float) -> None:
        self._prometheus = prometheus
        self._run = run
        self.first = now
        self.slow_at = 0.0
        self.spoken: Spoken | None = None
        self._seen, self._asked, self._asked_around = Seen(kept=_KEPT), 0.0, 0.0
        self._judged: dict[tuple[str, ...], JudgedSeconds] = {}
        self._kin: Waits | None = None
        self._kin_asked = False
        self._layer = ""
        """That of the last second."""

    def look(self, now: float) -> None:
        """Look at it if it may be slow. Raises PrometheusError."""
        closely = now - self.first < _YOUNG
        slow_lately = now - self.slow_at
        if slow_lately >= USUAL and not closely:
            self.spoken, self._seen, self._asked, self._asked_around = None, Seen(kept=_KEPT), 0.0, 0.0
            self._judged.clear()
            return
        lasts = self.spoken is not None and now - self.spoken.since > _LASTS
        wait = _SELDOM if lasts else 0.0 if slow_lately < OVER or closely else _AFTERWARDS
        if now - self._asked >= wait:
            self._explain(now)

    def _explain(self, now: float) -> None:
        """Ask for what is new; first, for as much as says what is usual beside earlier slow times."""
        self._seen.add(samples_of_run(self._prometheus, self._run, max(self._asked - _ANEW, now - _KEPT), now))
        self._asked = now
        of = seen_run(self._seen, self._run, now - _KEPT, now)
        if of.parts and not self._kin_asked:
            self._kin, self._kin_asked = usual_of_kin(self._prometheus, of, now), True
        times = slow(of, self._kin, self._judged)
        when = next((one for one in reversed(times) if one.end >= now - OVER), None)
        if when is None or when.end - when.begin < FIRST:
            self.spoken = None  # a single slow second wakes nobody
            return
        of = surrounded(self._prometheus, of, max(self._asked_around - _ANEW, when.begin - BEFORE), now)
        self._asked_around = now
        self.slow_at = max(self.slow_at, when.end)
        if self.spoken and self.spoken.explanation.begin < when.begin - OVER:
            self.spoken = None
        found = why(of, when, times, now, self._kin)
        if found:
            again, self._layer = self._layer == found.cause.layer, found.cause.layer
            self.spoken = _spoken(self.spoken, found, again, now - found.begin)


def _spoken(old: Spoken | None, found: Explanation, again: bool, age: float) -> Spoken | None:
    """What to export next: a layer that was found twice in a row (`again`), and one other layer later."""
    layer = found.cause.layer
    if layer == NONE and (old or age < _SETTLED):
        return old
    if old is None:
        return Spoken(found, sentence(found), found.begin, age) if again else None
    known = old.explanation.cause.layer
    if layer == known:
        # Sentence and stages are of one moment, so that a latency is the same number in both.
        if any(old.age < moment <= age for moment in (_HELD, _SETTLED, LOOKED)):
            return old._replace(explanation=found, text=sentence(found), age=age)
        return old
    # The one other layer is kept for what a CVM shows below, which is the same for both devices.
    other_device = {known, layer} <= _DEVICES and found.facts.machine
    better = known == NONE or (layer in BELOW and known not in BELOW) or (age <= _CHANGES and not other_device)
    if not better or not again or old.corrected:
        return old
    return Spoken(found, sentence(found), old.since, age, old.told, old.told)


class Engine:
    """The engine, and its metrics as a source (see samples.Source)."""

    labels: tuple[tuple[str, str], ...] = ()

    def __init__(self, prometheus: Prometheus, clock: Callable[[], float] = time.time) -> None:
        self._prometheus = prometheus
        self._clock = clock
        self._runs: dict[str, _Watched] = {}
        self._told_of: dict[tuple[str, str], str] = {}
        """Runs that people are told of, by machine and layer."""
        self._problem: str | None = None
        self._exported: tuple[Sample, ...] = (Sample(UP, (), 0),)
        self._stop = threading.Event()

    @property
    def version(self) -> tuple[Sample, ...]:
        """See Source."""
        return self._exported

    def samples(self) -> Iterator[Sample]:
        """See Source."""
        return iter(self._exported)

    def start(self) -> None:
        """Begin, in a thread."""
        threading.Thread(target=self._run, name="why", daemon=True).start()

    def stop(self) -> None:
        """End at the next second."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(1 - self._clock() % 1):
            try:
                self.look()
            except Exception:
                _log.exception("why: a second is left out; please report this")
                self._exported = (Sample(UP, (), 0),)

    def look(self) -> None:
        """Look once at all runs."""
        now = self._clock()
        try:
            self._ask(now)
            problem = ""
        except PrometheusError as error:
            problem = str(error)
        if problem != self._problem:
            self._problem = problem
            if problem:
                _log.warning("cannot tell why runs are slow: %s", problem)
        self._exported = tuple(self._samples(now))

    def _ask(self, now: float) -> None:
        found = self._prometheus.at(_NOW, now)
        named = [(labels.get("run", ""), labels.get("__name__", "")) for labels, _ in found]
        active = {run for run, _ in named if run}
        for run in sorted(active - self._runs.keys()):
            self._runs[run] = _Watched(self._prometheus, run, now)
        for run in self._runs.keys() - active:
            if now - self._runs[run].first > _FORGOTTEN or self._runs[run].spoken is None:
                del self._runs[run]
        for run, name in named:
            if run and "slow" in name:
                self._runs[run].slow_at = now
        for watched in self._runs.values():
            watched.look(now)

    def _samples(self, now: float) -> Iterator[Sample]:
        yield Sample(UP, (), int(not self._problem))
        spoken = {run: watched.spoken for run, watched in self._runs.items() if watched.spoken}
        for run, one in spoken.items():
            of = one.explanation
            yield Sample(INFO, (run, *one.where, one.text), 1)
            yield Sample(SINCE, (run,), of.begin)
            for when, waits in (("usual", of.usual), ("now", of.now)):
                for stage, seconds in waits.stages.items():
                    yield Sample(SECONDS, (run, stage, when), seconds)
        # One message for each machine and layer; the run that people were told of first stays.
        layers = {run: one.where for run, one in spoken.items()}
        self._told_of = {where: run for where, run in self._told_of.items() if layers.get(run) == where}
        for run, one in spoken.items():
            if one.where[1] == NONE or now - one.since < _HELD or self._told_of.setdefault(one.where, run) != run:
                continue
            self._runs[run].spoken = one._replace(told=True)
            since = f"{datetime.fromtimestamp(one.since, UTC):%H:%M:%S}"
            yield Sample(MESSAGE, (run, *one.where, since, "yes" if one.corrected else ""), 1)
