"""Says each second why active runs are slow, from a Prometheus that scrapes them, and exports what it says.

Cheap first: one instant query a second. Raw samples are asked for only of runs that are slow by the rules, were slow
within 5 min, or are younger than their own usual. It runs in a thread of its own: no scrape and no alert waits for it.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple

from ..metrics.samples import Sample
from .explanation import BELOW, NONE, Explanation
from .exported import INFO, MESSAGE, SECONDS, SINCE, UP
from .judging import FIRST, seen_run, slow, why
from .kin import usual_of_kin
from .prometheus import Prometheus, PrometheusError
from .questions import Questions
from .reported import USUAL
from .seen import Seen
from .telling import sentence
from .waits import Picture

_log = logging.getLogger(__name__)

_NOW = '{__name__=~"run:benchmark_slow:info|run:benchwatch_run_state:begun"}'
"""The runs that are active, and those of them that are slow by the rules."""
TIMEOUT = 2.0
"""Seconds for an answer."""
_BACK, _KEPT, _ANEW = 130.0, 420.0, 3.0
"""Seconds: asked for first of machines, kept, and asked for again each second."""
_YOUNG, _OVER = 45.0, 8.0
"""Seconds: for which a run is watched closely; without a slow second before it is over."""
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
    corrected: bool = False
    """Whether people were told of another layer before."""


@dataclass
class _Watched:
    """One run."""

    questions: Questions
    seen: Seen = field(default_factory=Seen)
    asked: float = 0.0
    first: float = 0.0
    slow_at: float = 0.0
    kin: Picture | None = None
    """What was usual in the last run of its kind."""
    kin_asked: bool = False
    layer: str = ""
    """That of the last second."""
    spoken: Spoken | None = None
    told: bool = False
    """Whether people are told of it."""


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
        slow_runs = {labels["run"] for labels, _ in found if "slow" in labels.get("__name__", "")}
        active = {labels["run"] for labels, _ in found if labels.get("run")}
        for run in sorted(active - self._runs.keys()):
            self._runs[run] = _Watched(Questions(self._prometheus, run), first=now)
        for run in self._runs.keys() - active:
            if now - self._runs[run].first > _FORGOTTEN or self._runs[run].spoken is None:
                del self._runs[run]
        for run, watched in self._runs.items():
            if run in slow_runs:
                watched.slow_at = now
            self._look_at(run, watched, now)

    def _look_at(self, run: str, watched: _Watched, now: float) -> None:
        closely = now - watched.first < _YOUNG
        slow_lately = now - watched.slow_at
        if slow_lately < USUAL or closely:
            lasts = watched.spoken is not None and now - watched.spoken.since > _LASTS
            wait = _SELDOM if lasts else 0.0 if slow_lately < _OVER or closely else _AFTERWARDS
            if now - watched.asked >= wait:
                self._explain(run, watched, now)
            return
        watched.spoken, watched.seen, watched.asked = None, Seen(), 0.0

    def _refresh(self, watched: _Watched, now: float) -> None:
        """Ask for what is new; first, of the run itself for as much as says what is usual beside earlier slow times."""
        own, around = (watched.asked - _ANEW if watched.asked else now - back for back in (_KEPT, _BACK))
        watched.seen.add(watched.questions.samples_of_run(own, now), _KEPT)
        watched.seen.add(watched.questions.samples_around(watched.seen, around, now), _KEPT)
        watched.asked = now

    def _explain(self, run: str, watched: _Watched, now: float) -> None:
        self._refresh(watched, now)
        of = seen_run(watched.seen, run, now - _KEPT, now)
        if of.parts and not watched.kin_asked:
            watched.kin, watched.kin_asked = usual_of_kin(self._prometheus, of.facts, now), True
        times = slow(of, watched.kin)
        when = next((one for one in reversed(times) if one.end >= now - _OVER), None)
        if when is None or when.end - when.begin < FIRST:
            watched.spoken = None  # a single slow second wakes nobody
            return
        watched.slow_at = max(watched.slow_at, when.end)
        old = watched.spoken if watched.spoken and watched.spoken.explanation.begin >= when.begin - _OVER else None
        new = why(of, when, times, now, watched.kin)
        watched.told = watched.told and old is not None
        watched.spoken = self._told(watched, old, new, now)

    def _told(self, watched: _Watched, old: Spoken | None, new: Explanation | None, now: float) -> Spoken | None:
        """What to export next: a layer that was found twice in a row, and one other layer later."""
        if new is None:
            return old
        age, layer = now - new.begin, new.cause.layer
        again, watched.layer = watched.layer == layer, layer
        if layer == NONE and (old or age < _SETTLED):
            return old
        spoken = Spoken(new, sentence(new), new.begin, age)
        if old is None:
            return spoken if again else None
        spoken = spoken._replace(since=old.since, corrected=old.corrected)
        known = old.explanation.cause.layer
        if layer == known:
            due = any(old.age < moment <= age for moment in (_HELD, _SETTLED))
            return spoken if due else old._replace(explanation=new)
        # The one other layer is kept for what a CVM shows below, which is the same for both devices.
        other_device = {known, layer} <= _DEVICES and new.facts.machine
        better = known == NONE or (layer in BELOW and known not in BELOW) or (age <= _CHANGES and not other_device)
        if not better or not again or old.corrected:
            return old
        return spoken._replace(corrected=watched.told)

    def _samples(self, now: float) -> Iterator[Sample]:
        yield Sample(UP, (), int(not self._problem))
        for run, watched in self._runs.items():
            if watched.spoken is None:
                continue
            of = watched.spoken.explanation
            yield Sample(INFO, (run, of.facts.server, of.cause.layer, watched.spoken.text), 1)
            yield Sample(SINCE, (run,), of.begin)
            for when, picture in (("usual", of.usual), ("now", of.now)):
                for stage, seconds in picture.stages.items():
                    yield Sample(SECONDS, (run, stage, when), seconds)
        yield from self._messages(now)

    def _messages(self, now: float) -> Iterator[Sample]:
        """One for each machine and layer; who was told of first, stays."""
        spoken = {run: watched.spoken for run, watched in self._runs.items() if watched.spoken}
        where = {run: (one.explanation.facts.server, one.explanation.cause.layer) for run, one in spoken.items()}
        self._told_of = {key: run for key, run in self._told_of.items() if where.get(run) == key}
        for run, key in where.items():
            if key[1] == NONE or now - spoken[run].since < _HELD:
                continue
            if self._told_of.setdefault(key, run) == run:
                self._runs[run].told = True
                since = f"{datetime.fromtimestamp(spoken[run].since, UTC):%H:%M:%S}"
                corrected = "yes" if spoken[run].corrected else ""
                yield Sample(MESSAGE, (run, *key, since, corrected), 1)
