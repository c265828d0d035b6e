"""What was usual in the last run of the same kind: same tool, machine and parameters, as Prometheus recorded it."""

from .judging import seen_run
from .prometheus import Prometheus, text
from .questions import Questions
from .run_facts import RunFacts
from .seen import Seen
from .waits import Picture, picture

RETENTION = "15d"
"""How far back runs are looked for."""
_LAST, _AT_THE_END = 95.0, 5.0
"""Seconds: of a run that say what is usual in it, and at its end that do not."""
_EARLIER_RUNS = 5


def usual_of_kin(prometheus: Prometheus, facts: RunFacts, now: float) -> Picture | None:
    """None: no such run among the last ones on its machine that ended before it began. Raises PrometheusError."""
    if not facts.server or facts.start is None:
        return None
    of_host = f"last_over_time(benchwatch_run_host_info{{host={text(facts.server)}}}[{RETENTION}])"
    ends = f"last_over_time(benchwatch_run_end_timestamp_seconds[{RETENTION}])"
    found = prometheus.at(f"max by (run) ({ends} and on (run) {of_host})", now)
    earlier = sorted(((end, labels["run"]) for labels, end in found if end <= facts.start), reverse=True)
    for end, run in earlier[:_EARLIER_RUNS]:
        questions, seen = Questions(prometheus, run), Seen()
        begin, last = end - _AT_THE_END - _LAST, end - _AT_THE_END
        seen.add(questions.samples_of_run(begin, end))
        other = seen_run(seen, run, begin, end)
        if other.facts.kind == facts.kind:
            seen.add(questions.samples_around(seen, begin, last))
            return picture(seen, other.facts, other.parts, begin, last)
    return None
