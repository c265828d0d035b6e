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

from ..metrics.prometheus import Prometheus, PrometheusError, Samples
from ..metrics.samples import Sample
from .explanation import BELOW, NONE, Explanation, sentence
from .exported import INFO, MESSAGE, SECONDS, SINCE, UP
from .judging import BEFORE, FIRST, LOOKED, OVER, slow, usual_of_kin, why
from .seen import Seen, SeenRun, samples_of_runs, seen_run, surrounded
from .slow_times import USUAL, JudgedSeconds
from .waits import Waits

_log = logging.getLogger(__name__)

_NOW = '{__name__=~"run:benchmark_slow:info|run:benchwatch_run_state:begun"}'
"""The runs that are active, and those of them that are slow by the rules."""
TIMEOUT = 2.0
"""Seconds for an answer."""
_KEPT, _ANEW, _TOGETHER = 420.0, 3.0, 10.0
"""Seconds of samples: kept; asked for again each second; up to which one question is for several runs."""
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


class _Watched:
    """One active run, and what is said of it while it is slow."""

    def __init__(self, prometheus: Prometheus, run: str, now: float) -> None:
        self._prometheus = prometheus
        self._run = run
        self.first = now
        self.slow_at = 0.0
        self._kin: Waits | None = None
        self._kin_asked = False
        self._layer = ""
        """That of the last look."""
        self._forget()

    def _forget(self) -> None:
        self.said: Explanation | None = None
        """What is exported, with `text`. Both change seldom and together, so that a latency is one number in both."""
        self._seen, self._asked, self._asked_around = Seen(kept=_KEPT), 0.0, 0.0
        self._judged: dict[tuple[str, ...], JudgedSeconds] = {}
        self._usual: dict[tuple[float, float], Waits] = {}

    def _say(self, found: Explanation, now: float) -> None:
        if self.said is None:
            self.since, self.told, self.corrected = found.begin, False, False
        self.said, self.text, self._age = found, sentence(found), now - found.begin

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

    def look(self, new: Iterable[Samples], now: float) -> float | None:
        """Look at it with these new samples. Returns from when on its machines are of interest; None: it is not slow.
        Raises PrometheusError.
        """
        self._seen.add(new)
        self._asked = now
        of = seen_run(self._seen, self._run, now - _KEPT, now)
        if of.parts and not self._kin_asked:
            self._kin, self._kin_asked = usual_of_kin(self._prometheus, of, now), True
        times = slow(of, self._kin, self._judged)
        when = next((one for one in reversed(times) if one.end >= now - OVER), None)
        if when is None or when.end - when.begin < FIRST:
            self.said = None  # a single slow second wakes nobody
            return None
        self.slow, self._times, self._when = of, times, when
        return max(self._asked_around - _ANEW, when.begin - BEFORE)

    def explain(self, of: SeenRun, now: float) -> None:
        """Say why it is slow, as seen with what is around it."""
        when, self._asked_around = self._when, now
        self.slow_at = max(self.slow_at, when.end)
        if self.said and self.said.begin < when.begin - OVER:
            self.said = None
        if found := why(of, when, self._times, now, self._kin, self._usual):
            again, self._layer = self._layer == found.cause.layer, found.cause.layer
            self._change(found, again, now)

    def _change(self, found: Explanation, again: bool, now: float) -> None:
        """Say a layer that was found twice in a row (`again`), and one other layer later."""
        layer, age = found.cause.layer, now - found.begin
        if layer == NONE and (self.said or age < _SETTLED):
            return
        if self.said is None:
            if again:
                self._say(found, now)
            return
        known = self.said.cause.layer
        if layer == known:
            if any(self._age < moment <= age for moment in (_HELD, _SETTLED, LOOKED)):
                self._say(found, now)
            return
        # The one other layer is kept for what a CVM shows below, which is the same for both devices.
        other_device = {known, layer} <= _DEVICES and found.facts.machine
        better = known == NONE or (layer in BELOW and known not in BELOW) or (age <= _CHANGES and not other_device)
        if better and again and not self.corrected:
            self._say(found, now)
            self.corrected = self.told


def _together(wanted: Iterable[tuple[float | None, str]], now: float) -> Iterator[tuple[float, list[str]]]:
    """The runs of which samples are wanted from a moment on (None: none), those together whose answers are short."""
    groups: dict[tuple[float, str], list[str]] = {}
    for begin, run in wanted:
        if begin is not None:
            groups.setdefault((begin, "" if now - begin <= _TOGETHER else run), []).append(run)
    return ((begin, runs) for (begin, _), runs in groups.items())


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
        self._problem = problem
        self.version = tuple(self._samples(now))

    def _ask(self, now: float) -> None:
        found = self._prometheus.at(_NOW, now)
        named = [(run, labels.get("__name__", "")) for labels, _ in found if (run := labels.get("run"))]
        for run, _ in sorted(named):
            if run not in self._runs:
                self._runs[run] = _Watched(self._prometheus, run, now)
        for run in self._runs.keys() - {run for run, _ in named}:
            if now - self._runs[run].first > _FORGOTTEN or self._runs[run].said is None:
                del self._runs[run]
        for run, name in named:
            if "slow" in name:
                self._runs[run].slow_at = now
        around: list[tuple[float | None, str]] = []
        for begin, runs in _together([(one.asks_from(now), run) for run, one in self._runs.items()], now):
            new = samples_of_runs(self._prometheus, runs, begin, now)
            for run in runs:
                own = [one for one in new if one.labels.get("run") == run]
                around.append((self._runs[run].look(own, now), run))
        for begin, runs in _together(around, now):
            slow_ones = [self._runs[run] for run in runs]
            seen = surrounded(self._prometheus, [one.slow for one in slow_ones], begin, now)
            for one, of in zip(slow_ones, seen, strict=True):
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
