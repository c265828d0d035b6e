"""Says each second why active runs are slow, from a Prometheus that scrapes them, and exports what it says.

Cheap first: one instant query a second. Raw samples are asked for only while a run is slow by the rules or younger than
its own usual, and once a minute for what is usual. It runs in a thread of its own: no scrape and no alert waits for it.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ..metrics.samples import Family, Sample
from .explanation import NONE, Explanation
from .judging import FIRST, seen_run, slow, steadier, usual_before, why
from .prometheus import Prometheus, PrometheusError
from .questions import Questions
from .reported import SlowTime
from .seen import Seen
from .telling import sentence
from .waits import Picture

_log = logging.getLogger(__name__)

INFO = Family(
    "benchwatch_run_why_info",
    "gauge",
    "1 while a run is slow; why: the server, the slow layer (none: no layer explains it) and a sentence.",
    ("run", "host", "layer", "text"),
)
SECONDS = Family(
    "benchwatch_run_why_seconds",
    "gauge",
    "What a mean operation of a slow run waits for, by stage, usually and now; the stages add up to its latency.",
    ("run", "stage", "when"),
)
SINCE = Family(
    "benchwatch_run_why_since_timestamp_seconds", "gauge", "Since when the run has been slow, Unix time.", ("run",)
)
UP = Family("benchwatch_why_up", "gauge", "1 if Prometheus answered all questions of the last second about slow runs.")
FAMILIES = (INFO, SECONDS, SINCE, UP)

_NOW = '{__name__=~"run:benchmark_slow:info|run:benchwatch_run_state:begun"}'
"""The runs that are active, and those of them that are slow by the rules."""
_TIMEOUT, _BACK, _KEPT, _ANEW = 2.0, 130.0, 420.0, 3.0
"""Seconds: for an answer; asked for first, kept, and asked for again each second."""
_YOUNG, _DUE, _OVER = 45.0, 60.0, 8.0
"""Seconds: for which a run is watched closely; between two usual values; without a slow second before it is over."""
_SETTLED = 15.0
"""Seconds of a slow time after which its sentence is written once more, with figures that have settled."""
_FORGOTTEN = 600.0
_KINDS = 500


class Spoken(NamedTuple):
    """What is exported of a slow run. The text changes seldom: with the layer, and once as its figures have settled."""

    explanation: Explanation
    text: str
    settled: bool


@dataclass
class _Watched:
    """One run."""

    questions: Questions
    seen: Seen = field(default_factory=Seen)
    asked: float = 0.0
    first: float = 0.0
    usual_at: float = 0.0
    slow_at: float = 0.0
    since: float = 0.0
    said: Spoken | None = None


class Engine:
    """The engine, and its metrics as a source (see samples.Source)."""

    labels: tuple[tuple[str, str], ...] = ()

    def __init__(self, url: str, clock: Callable[[], float] = time.time) -> None:
        self._prometheus = Prometheus(url, 0.0, 0.0, _TIMEOUT)
        self._clock = clock
        self._runs: dict[str, _Watched] = {}
        self._kinds: dict[object, Picture] = {}
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
                _log.warning("why runs are slow is not known: %s", problem)
        self._exported = tuple(self._samples(now))

    def _ask(self, now: float) -> None:
        found = self._prometheus.at(_NOW, now)
        slow_runs = {labels["run"] for labels, _ in found if "slow" in labels.get("__name__", "")}
        active = {labels["run"] for labels, _ in found if labels.get("run")}
        for run in active - self._runs.keys():
            self._runs[run] = _Watched(Questions(self._prometheus, run), first=now)
        for run in self._runs.keys() - active:
            if now - self._runs[run].first > _FORGOTTEN or self._runs[run].said is None:
                del self._runs[run]
        problems = []
        for run, watched in self._runs.items():
            if run in slow_runs:
                watched.slow_at = now
                watched.since = watched.since or now
            try:
                self._look_at(run, watched, now)
            except PrometheusError as error:
                problems.append(error)
        if problems:
            raise problems[0]

    def _look_at(self, run: str, watched: _Watched, now: float) -> None:
        closely = now - watched.first < _YOUNG
        if now - watched.slow_at < _OVER or closely:
            self._explain(run, watched, now)
            return
        watched.said, watched.since = None, 0.0
        if now - watched.usual_at >= _DUE:
            watched.usual_at, watched.seen = now, Seen()
            self._refresh(watched, now, _DUE)
            of = seen_run(watched.seen, run, now - _DUE, now)
            usual = usual_before(of, now)
            if usual is not None:
                while len(self._kinds) >= _KINDS:
                    del self._kinds[next(iter(self._kinds))]
                self._kinds[of.facts.kind] = usual
            watched.seen, watched.asked = Seen(), 0.0

    def _refresh(self, watched: _Watched, now: float, back: float) -> None:
        """Ask for what is new."""
        begin = watched.asked - _ANEW if watched.asked else now - back
        watched.seen.add(watched.questions.samples_of_run(begin, now), _KEPT)
        watched.seen.add(watched.questions.samples_around(watched.seen, begin, now), _KEPT)
        watched.asked = now

    def _explain(self, run: str, watched: _Watched, now: float) -> None:
        self._refresh(watched, now, _BACK)
        of = seen_run(watched.seen, run, now - _KEPT, now)
        before = self._kinds.get(of.facts.kind)
        times = slow(of, before)
        recent = [one for one in times if one.end >= now - _OVER]
        if recent:
            watched.slow_at, when = max(watched.slow_at, recent[-1].end), recent[-1]
        elif now - watched.slow_at < _OVER and watched.since:
            when = SlowTime(watched.since, now, "its own last minutes")
        else:
            watched.said = None
            return
        watched.since = when.begin
        said = watched.said
        if said and said.explanation.begin < when.begin - _OVER:
            said = None  # of the slow time before
        new = why(of, when, now, before, [one for one in times if one.end < when.begin])
        watched.said = self._told(said, steadier(said.explanation if said else None, new), now)

    def _told(self, old: Spoken | None, new: Explanation | None, now: float) -> Spoken | None:
        """What to export: nothing as long as nothing is known, at most for _SETTLED seconds."""
        if new is None or (new.cause.layer == NONE and now - new.begin < _SETTLED):
            return old
        settled = now - new.begin >= _SETTLED
        if old and old.explanation.cause.layer == new.cause.layer and (old.settled or not settled):
            return old._replace(explanation=new)
        return Spoken(new, sentence(new), settled) if now - new.begin >= FIRST else old

    def _samples(self, now: float) -> Iterator[Sample]:
        yield Sample(UP, (), int(not self._problem))
        for run, watched in self._runs.items():
            if watched.said is None:
                continue
            of = watched.said.explanation
            yield Sample(INFO, (run, of.facts.server, of.cause.layer, watched.said.text), 1)
            yield Sample(SINCE, (run,), of.begin)
            for when, picture in (("usual", of.usual), ("now", of.now)):
                for stage, seconds in picture.stages.items():
                    yield Sample(SECONDS, (run, stage, when), seconds)
