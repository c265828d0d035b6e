"""From raw samples to explanations: a run's slow times, and why each of them."""

from collections.abc import Iterator, Sequence

from ..metrics.prometheus import Prometheus, text
from .causes import causes, ruled_out
from .explanation import Explanation
from .seen import Seen, SeenRun, samples_of_runs, seen_run, surrounded
from .slow_times import JudgedSeconds, SlowTime, slow_times
from .waits import Waits, below, waits
from .window import TimeWindow, nothing

LOOKED = 35.0
"""Seconds of a slow time from its beginning that an explanation covers."""
_BEFORE, _GAP, _FEWEST = 120.0, 3.0, 8
"""Seconds before a slow time that say what is usual: how many, how many at its edge are left out, the fewest."""
BEFORE = 130.0
"""Seconds before a slow time from which on its machines are looked at: rates need a sample before."""
_ONSET = 4.0
"""Seconds after which the first second, which is usual in part, is left out."""
_MUCH = 2.0
"""The ratio of latency or rate to the usual one below which nothing is said: single seconds stood out from noise."""
FIRST, OVER = 2.0, 8.0
"""Seconds of a slow time before anything is said of it; without a slow second before it is over."""
_KIN, _OBJECTIVE = "the last run of its kind", "its objective"
RETENTION = "15d"
"""How far back runs are looked for."""
_LAST, _AT_THE_END, _EARLIER_RUNS = 95.0, 5.0, 5
"""Seconds of a run that say what is usual in it, and at its end that do not; runs that are looked at."""


def usual_of_kin(prometheus: Prometheus, of: SeenRun, now: float) -> Waits | None:
    """What was usual in the last run of the same kind: same tool, machine and parameters; None: no such run among the
    last ones on its machine that ended before it began. Raises PrometheusError.
    """
    facts = of.facts
    if not facts.server or facts.start is None:
        return None
    of_host = f"last_over_time(benchwatch_run_host_info{{host={text(facts.server)}}}[{RETENTION}])"
    ends = f"last_over_time(benchwatch_run_end_timestamp_seconds[{RETENTION}])"
    found = prometheus.at(f"max by (run) ({ends} and on (run) {of_host})", now)
    earlier = sorted(((end, labels["run"]) for labels, end in found if end <= facts.start), reverse=True)
    for end, run in earlier[:_EARLIER_RUNS]:
        begin, last = end - _AT_THE_END - _LAST, end - _AT_THE_END
        other = seen_run(Seen(samples_of_runs(prometheus, [run], begin, end)), run, begin, end)
        if other.facts.kind == facts.kind:
            (around,) = surrounded(prometheus, [other], begin, last)
            return waits(around, begin, last)
    return None


def slow(
    of: SeenRun, kin: Waits | None = None, judged: dict[tuple[str, ...], JudgedSeconds] | None = None
) -> list[SlowTime]:
    """When the run was slow. `kin`: a run of its kind, for its first seconds; `judged`: see slow_times."""
    usual, armed = (kin.latency, _KIN) if kin else (of.facts.objective, _OBJECTIVE)
    return slow_times(of.parts, usual, armed, judged)


def usual_before(
    of: SeenRun, begin: float, times: Sequence[SlowTime] = (), known: dict[tuple[float, float], Waits] | None = None
) -> Waits | None:
    """What was usual before a moment: up to two minutes, from the end of the last slow time on. `known`: what was found
    before, by its begin and end, to which this is added.
    """
    last = begin - _GAP
    since = max((one.end + _GAP for one in times if one.end + _GAP <= last - _FEWEST), default=0.0)
    first = max(begin - _BEFORE, since, of.facts.start or 0.0)
    if known and (first, last) in known:
        return known[first, last]
    found = waits(of, first, last) if last - first >= _FEWEST else None
    if found and known is not None:
        known[first, last] = found
    return found


def why(
    of: SeenRun,
    when: SlowTime,
    times: Sequence[SlowTime],
    moment: float,
    kin: Waits | None = None,
    known: dict[tuple[float, float], Waits] | None = None,
) -> Explanation | None:
    """Why the run is slow in one of its slow times, as far as that can be seen at a moment of it; None: too early, no
    usual, hardly slower than usual, or far more is done. `kin`: a run of its kind; `known`: see usual_before.
    """
    if moment < when.begin + FIRST:
        return None
    armed = when.armed
    usual = usual_before(of, when.begin, times, known)
    if usual is None or armed == _KIN:
        usual = kin or usual
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
