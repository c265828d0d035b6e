"""From raw samples to explanations: what is usual in a run, when it was slow, and why."""

import math
from collections.abc import Iterator

from ..metrics.prometheus import Prometheus, Seen, text
from .causes import causes, ruled_out
from .explanation import Explanation
from .seen import SeenRun, samples_of_runs, seen_run, surrounded
from .slow_times import USUAL, JudgedSeconds, SlowTime, slow_times
from .window import TimeWindow, Waits, below, nothing, waits

_BEFORE, _GAP, _FEWEST = 120.0, 3.0, 8
"""Seconds before a slow time that say what is usual: how many, how many at its edge are left out, the fewest."""
BEFORE, LOOKED = 130.0, 35.0
"""Seconds before a slow time from which on its machines are looked at, as rates need a sample before; seconds from its
beginning that an explanation covers.
"""
FIRST, _ONSET, OVER = 2.0, 4.0, 8.0
"""Seconds of a slow time before anything is said of it; after which its first second, which is usual in part, is left
out; without a slow second before it is over.
"""
_MUCH = 2.0
"""The ratio of latency or rate to the usual one below which nothing is said: single seconds stood out from noise."""
_KIN, _OBJECTIVE = "the last run of its kind", "its objective"
_RETENTION = "15d"  # how far back runs are looked for
_LAST, _AT_THE_END, _EARLIER_RUNS = 95.0, 5.0, 5
"""Seconds of a run that say what is usual in it, and at its end that do not; runs that are looked at."""
_PIECE, _LONGEST = 6 * 3600.0, 30 * 86400.0
"""Seconds of a run that one answer covers, and that are looked at: the last ones. A start of 1970 is a clock or a
record that is wrong.
"""
_YOUNG = 35.0  # seconds into a run in which it has no usual of its own
MOST = 30  # slow times that are explained: the longest


class Judge:
    """Judges a run, and remembers what it found. `kin`: what was usual in a run of its kind, for its first seconds."""

    def __init__(self, kin: Waits | None = None) -> None:
        self.kin = kin
        self._times: list[SlowTime] = []
        self._judged: dict[tuple[str, ...], JudgedSeconds] = {}
        self._usual: dict[tuple[float, float], Waits] = {}

    def slow(self, of: SeenRun) -> list[SlowTime]:
        """When the run was slow, as far as it is seen."""
        usual, armed = (self.kin.latency, _KIN) if self.kin else (of.facts.objective, _OBJECTIVE)
        self._times = slow_times(of.parts, usual, armed, self._judged)
        return self._times

    def usual(self, of: SeenRun, begin: float) -> Waits | None:
        """What was usual before a moment: up to two minutes, from the end of the last slow time on."""
        last = begin - _GAP
        since = max((one.end + _GAP for one in self._times if one.end + _GAP <= last - _FEWEST), default=0.0)
        first = max(begin - _BEFORE, since, of.facts.start or 0.0)
        if (first, last) not in self._usual:
            found = waits(of, first, last) if last - first >= _FEWEST else None
            if found is None:
                return None
            self._usual[first, last] = found
        return self._usual[first, last]

    def why(self, of: SeenRun, when: SlowTime, moment: float) -> Explanation | None:
        """Why the run is slow in one of its slow times, as far as that can be seen at a moment of it; None: too early,
        no usual, hardly slower than usual, or far more is done.
        """
        if moment < when.begin + FIRST:
            return None
        usual, armed = self.usual(of, when.begin), when.armed
        if usual is None or armed == _KIN:
            usual = self.kin or usual
        if usual is None and of.facts.objective:
            usual, armed = Waits(nothing(of.facts), of.facts.objective, 0.0, {}), _OBJECTIVE
        if usual is None:
            return None
        end = min(moment, when.begin + LOOKED, max(when.end, when.begin + FIRST) + 1)
        now = waits(of, when.begin + (1 if end - when.begin >= _ONSET else 0), end, usual)
        if now is None or (now.latency < _MUCH * usual.latency and now.rate > usual.rate / _MUCH):
            return None
        if usual.rate and now.rate > _MUCH * usual.rate:
            return None  # it makes up for time that it lost, or was given more to do
        found = Explanation(of.facts, when.begin, end, usual, now, armed, tuple(_unseen(now.window)))
        found = found._replace(cause=next(causes(found), found.cause))
        found = found._replace(ruled_out=ruled_out(found))
        if any(vdisk in usual.window.vdisks for vdisk in now.window.vdisks):
            found = found._replace(usual=below(usual), now=below(now))
        return found


def _unseen(window: TimeWindow) -> Iterator[str]:
    facts = window.facts
    if window.rate("node_cpu_seconds_total", host=facts.server) is None:
        yield "the server (no node_exporter)"
    elif not facts.devices:
        yield "its disks (without roles)"
    if facts.database and window.active is None:
        yield "the database (no postgres_exporter)"


def usual_of_kin(prometheus: Prometheus, of: SeenRun, now: float) -> Waits | None:
    """What was usual in the last run of the same kind: same tool, machine and parameters; None: no such run among the
    last ones on its machine that ended before it began. Raises PrometheusError.
    """
    facts = of.facts
    if not facts.server or facts.start is None:
        return None
    of_host = f"last_over_time(benchwatch_run_host_info{{host={text(facts.server)}}}[{_RETENTION}])"
    ends = f"last_over_time(benchwatch_run_end_timestamp_seconds[{_RETENTION}])"
    found = prometheus.at(f"max by (run) ({ends} and on (run) {of_host})", now)
    earlier = sorted(((end, labels["run"]) for labels, end in found if end <= facts.start), reverse=True)
    for end, run in earlier[:_EARLIER_RUNS]:
        begin, last = end - _AT_THE_END - _LAST, end - _AT_THE_END
        other = seen_run(Seen(samples_of_runs(prometheus, [run], begin, end)), run, begin, end)
        if other.facts.kind == facts.kind:
            (around,) = surrounded(prometheus, [other], begin, last)
            return waits(around, begin, last)
    return None


def explanations(
    prometheus: Prometheus, run: str, begin: float | None, end: float | None, now: float
) -> list[Explanation] | None:
    """Why a run of the past was slow, in order; None: no such run. Raises PrometheusError."""
    starts, ends = (
        [moment for _, moment in prometheus.at(f"last_over_time({family}[{_RETENTION}])", now) if math.isfinite(moment)]
        for family in (f"benchwatch_run_{edge}_timestamp_seconds{{run={text(run)}}}" for edge in ("start", "end"))
    )
    if not starts:
        return None
    start, ended = min(starts), max(ends, default=0.0)
    last = min(ended if ended > start else now, end or now)
    first = max(start, (begin or start) - USUAL, last - _LONGEST)
    seen, at = Seen(), first
    while at < last:
        seen.add(samples_of_runs(prometheus, [run], at, min(at + _PIECE, last)))
        at += _PIECE
    of = seen_run(seen, run, first, last)
    if not of.parts:
        return None
    judge = Judge(usual_of_kin(prometheus, of, now) if first - start < _YOUNG else None)
    asked = [one for one in judge.slow(of) if one.end >= (begin or 0.0) and one.begin <= last]
    found = []
    for when in sorted(sorted(asked, key=lambda one: one.begin - one.end)[:MOST]):
        until = min(when.end, when.begin + LOOKED, last) + 1
        (around,) = surrounded(prometheus, [of._replace(seen=Seen(seen.all()))], when.begin - BEFORE, until)
        if one := judge.why(around, when, when.end + 1):
            found.append(one._replace(end=when.end, over=ended > start or when.end < last - OVER))
    return found
