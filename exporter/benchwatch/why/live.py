"""Says each second why active runs are slow, from a Prometheus that scrapes them, and exports what it says.

Cheap first: one instant query a second. Raw samples are asked for only of runs that are slow by the rules, were slow
within 5 min, or are younger than their own usual; those of their machines, while they are slow. It runs in a thread of
its own: no scrape and no alert waits for it.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from ..metrics.prometheus import Prometheus, PrometheusError, Samples, Seen
from ..metrics.samples import Sample
from .explanation import BELOW, NONE, Explanation, sentence
from .exported import INFO, MESSAGE, SECONDS, SINCE, UP
from .judging import BEFORE, FIRST, LOOKED, OVER, Judge, usual_of_kin
from .seen import SeenRun, samples_of_runs, seen_run, surrounded
from .slow_times import USUAL

_log = logging.getLogger(__name__)

_NOW = '{__name__=~"run:benchmark_slow:info|run:benchwatch_run_state:begun"}'
"""The runs that are active, and those of them that are slow by the rules."""
TIMEOUT = 2.0  # seconds for an answer
_KEPT, _ANEW, _TOGETHER = 420.0, 3.0, 10.0
"""Seconds of samples: kept; asked for again each second; up to which one question is for several runs."""
_YOUNG = 45.0  # seconds for which a run is watched closely
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


class _Watched:
    """One active run, and what is said of it while it is slow."""

    def __init__(self, run: str, now: float) -> None:
        self.run, self.first, self.slow_at = run, now, 0.0
        self._judge: Judge | None = None
        self._layer = ""
        """That of the last look."""
        self._forget()

    def _forget(self) -> None:
        self.said: Explanation | None = None
        """What is exported, with `text`. Both change seldom and together, so that a latency is one number in both."""
        self._seen, self._asked, self._asked_around = Seen(kept=_KEPT), 0.0, 0.0
        self._judge = self._judge and Judge(self._judge.kin)

    @property
    def where(self) -> tuple[str, str]:
        """The machine and the layer of what is said; empty: nothing is."""
        return (self.said.facts.server, self.said.cause.layer) if self.said else ("", "")

    def asks_from(self, now: float) -> float | None:
        """From when on samples of it are wanted, Unix seconds; None: it is not looked at now, as it cannot be slow.
        First, as much as says what is usual beside earlier slow times; then what is new.
        """
        closely = now - self.first < _YOUNG
        slow_lately = now - self.slow_at
        if slow_lately >= USUAL and not closely:
            self._forget()
            return None
        lasts = self.said is not None and now - self.since > _LASTS
        wait = _SELDOM if lasts else 0.0 if slow_lately < OVER or closely else _AFTERWARDS
        return max(self._asked - _ANEW, now - _KEPT) if now - self._asked >= wait else None

    def look(self, prometheus: Prometheus, new: Iterable[Samples], now: float) -> float | None:
        """Look at it with these new samples. Returns from when on its machines are of interest; None: it is not slow.
        Raises PrometheusError.
        """
        self._seen.add(new)
        self._asked = now
        of = seen_run(self._seen, self.run, now - _KEPT, now)
        if self._judge is None and of.parts:
            self._judge = Judge(usual_of_kin(prometheus, of, now))
        times = self._judge.slow(of) if self._judge else []
        when = next((one for one in reversed(times) if one.end >= now - OVER), None)
        if when is None or when.end - when.begin < FIRST:
            self.said = None  # a single slow second wakes nobody
            return None
        self.slow, self._when = of, when
        return max(self._asked_around - _ANEW, when.begin - BEFORE)

    def explain(self, of: SeenRun, now: float) -> None:
        """Find why it is slow, as seen with what is around it. Say a layer that is found twice in a row, once more when
        its figures have settled, and one other layer later.
        """
        when, self._asked_around = self._when, now
        self.slow_at = max(self.slow_at, when.end)
        if self.said and self.said.begin < when.begin - OVER:
            self.said = None
        found = self._judge.why(of, when, now) if self._judge else None
        if found is None:
            return
        layer, age = found.cause.layer, now - found.begin
        again, self._layer = self._layer == layer, layer
        if self.said is None:
            if again and (layer != NONE or age >= _SETTLED):
                self.since, self.told, self.corrected = found.begin, False, False
                self._say(found, age)
        elif layer == self.where[1] != NONE:
            if any(self._age < moment <= age for moment in (_HELD, _SETTLED, LOOKED)):
                self._say(found, age)
        elif layer != NONE and again and not self.corrected and self._is_better(found, age):
            self.corrected = self.told
            self._say(found, age)

    def _is_better(self, found: Explanation, age: float) -> bool:
        """Whether another layer replaces the one that is said. What a CVM shows below is the same for both devices."""
        known, layer = self.where[1], found.cause.layer
        other_device = {known, layer} <= _DEVICES and found.facts.machine
        return known == NONE or (layer in BELOW and known not in BELOW) or (age <= _CHANGES and not other_device)

    def _say(self, found: Explanation, age: float) -> None:
        self.said, self.text, self._age = found, sentence(found), age


def _together(wanted: Iterable[tuple[float | None, _Watched]], now: float) -> list[tuple[float, list[_Watched]]]:
    """The runs of which samples are wanted from a moment on (None: none), those together whose answers are short."""
    groups: dict[tuple[float, str], list[_Watched]] = {}
    for begin, one in wanted:
        if begin is not None:
            groups.setdefault((begin, "" if now - begin <= _TOGETHER else one.run), []).append(one)
    return [(begin, runs) for (begin, _), runs in groups.items()]


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
        self.version: tuple[Sample, ...] = (Sample(UP, (), 0),)
        """See Source."""
        self._stop = threading.Event()

    def samples(self) -> Iterator[Sample]:
        """See Source."""
        return iter(self.version)

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
                self.version = (Sample(UP, (), 0),)

    def look(self) -> None:
        """Look once at all runs."""
        now = self._clock()
        try:
            self._ask(now)
            problem = ""
        except PrometheusError as error:
            problem = str(error)
        if problem and problem != self._problem:
            _log.warning("cannot tell why runs are slow: %s", problem)
        elif self._problem and not problem:
            _log.info("Prometheus answers again: slow runs are explained")
        self._problem = problem
        self.version = tuple(self._samples(now))

    def _ask(self, now: float) -> None:
        found = ((labels.get("run", ""), labels.get("__name__", "")) for labels, _ in self._prometheus.at(_NOW, now))
        active = sorted((run, name) for run, name in found if run)
        for run, name in active:
            if run not in self._runs:
                self._runs[run] = _Watched(run, now)
            if "slow" in name:
                self._runs[run].slow_at = now
        for run in self._runs.keys() - {run for run, _ in active}:
            if now - self._runs[run].first > _FORGOTTEN or self._runs[run].said is None:
                del self._runs[run]
        around: list[tuple[float | None, _Watched]] = []
        for begin, runs in _together([(one.asks_from(now), one) for one in self._runs.values()], now):
            new = samples_of_runs(self._prometheus, [one.run for one in runs], begin, now)
            for one in runs:
                own = (series for series in new if series.labels.get("run") == one.run)
                around.append((one.look(self._prometheus, own, now), one))
        for begin, runs in _together(around, now):
            for one, of in zip(runs, surrounded(self._prometheus, [one.slow for one in runs], begin, now), strict=True):
                one.explain(of, now)

    def _samples(self, now: float) -> Iterator[Sample]:
        yield Sample(UP, (), int(not self._problem))
        # One message for each machine and layer; the run that people were told of first stays.
        self._told_of = {
            where: run for where, run in self._told_of.items() if run in self._runs and self._runs[run].where == where
        }
        for run, one in self._runs.items():
            if not (of := one.said):
                continue
            yield Sample(INFO, (run, *one.where, one.text), 1)
            yield Sample(SINCE, (run,), of.begin)
            for when, waits in (("usual", of.usual), ("now", of.now)):
                for stage, seconds in waits.stages.items():
                    yield Sample(SECONDS, (run, stage, when), seconds)
            held = one.where[1] == NONE or now - one.since < _HELD
            if not held and self._told_of.setdefault(one.where, run) == run:
                one.told = True
                since = f"{datetime.fromtimestamp(one.since, UTC):%H:%M:%S}"
                yield Sample(MESSAGE, (run, *one.where, since, "yes" if one.corrected else ""), 1)
