"""Why a run is slow: what its operations wait for now and usually, the cause, and the sentence that says so."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from ..show.content import Column, Table, TableRow
from ..values import numbers
from .seen import RunFacts
from .window import STAGES, Waits

NONE = "none"
"""The layer of a slow time that no layer explains."""
NAMES = {
    "client_cpu": "processors of the client",
    "server_cpu": "processors of the server",
    "server": "server",
    "memory": "memory",
    "database": "database",
    "network": "network",
    "log_device": "log device",
    "data_device": "data device",
    "path": "path between guest and storage",
    "frontend": "vdisk",
    "oplog": "oplog",
    "read_source": "read source",
    "cvm_queue": "CVM queue",
    "backend": "back end",
}
"""Layers for people."""
BELOW = frozenset({"path", "frontend", "oplog", "read_source", "cvm_queue", "backend"})
"""Layers below a device of the guest."""
PART, STANDS_OUT = 0.3, 3.0
"""The part of what a run is slower that a layer must explain; the multiple of the usual at which something stands out.
"""
_NOTICEABLE, _ALL, _SHOWN = 0.1, 0.995, 0.005
"""The parts of the usual latency that are noticeable; of an increase that are said to be all of it; of the longer
operation that a stage must have to be shown.
"""


class Cause(NamedTuple):
    """A layer, what happens there (a clause), and the seconds of an operation that it explains; None: not known."""

    layer: str
    text: str
    seconds: float | None = None


class Explanation(NamedTuple):
    """Why a run was slow from a moment on, as looked at up to another, Unix seconds; `armed` says whose usual it is
    compared with, `unseen` what is not measured (a clause each), and `ruled_out` is a sentence: what is not the cause.
    """

    facts: RunFacts
    begin: float
    moment: float
    usual: Waits
    now: Waits
    armed: str
    unseen: tuple[str, ...] = ()
    cause: Cause = Cause(NONE, "")
    ruled_out: str = ""
    end: float = 0.0
    """When the slow time ended, or up to when it is known; 0: not looked for."""
    over: bool = False
    """Whether it has ended."""

    def more(self) -> Mapping[str, float]:
        """Seconds that each stage takes more than usual; the sum is what the operation takes more."""
        return {stage: self.now.stages[stage] - self.usual.stages.get(stage, 0.0) for stage in STAGES}

    @property
    def slower(self) -> float:
        """Seconds that an operation takes more than usual; 0: not noticeably more, so that there are fewer of them."""
        more = self.now.latency - self.usual.latency
        return more if more >= _NOTICEABLE * self.usual.latency else 0.0


def sentence(of: Explanation) -> str:
    """Why, such as: pgbench on db1 takes 49 ms a transaction, usually 6 ms. 38 ms of the 43 ms increase are ..."""
    facts, now = of.facts, of.now
    who = f"{facts.tool or 'the benchmark'}{f' on {facts.server}' if facts.server else ''}"
    one = (facts.roles.operations if facts.roles else "operations").removesuffix("s")
    usual = f"{numbers.rate_in_full(of.usual.rate)} {one}s/s"
    # The seconds of which a figure is the mean: those of the slow time up to now, or its first ones.
    first = "the first " if of.over and of.end > of.moment + 2 else ""
    window = f"mean of {first}{(min(of.moment, of.end) if of.over else of.moment) - of.begin:.0f} s"
    if now.stuck:
        said = f"{who} completes next to nothing for {numbers.duration(of.moment - of.begin)}, usually {usual}."
    elif of.slower:
        article = "an" if one[0] in "aeiouI" else "a"
        said = f"{who} takes {time(now.latency)} {article} {one} ({window}), usually {time(of.usual.latency)}."
    else:
        said = f"{who} does {numbers.rate_in_full(now.rate)} {one}s/s ({window}), usually {usual}."
    found = [said, _said_of_cause(of), of.ruled_out]
    if facts.objective is not None:
        missed = "missed" if now.stuck or now.latency > facts.objective else "met"
        found.append(f"The objective, a mean below {time(facts.objective)}, is {missed}.")
    if of.unseen:
        found.append(f"Not seen: {', '.join(of.unseen)}.")
    return " ".join(filter(None, found))


def _said_of_cause(of: Explanation) -> str:
    whole = 0.0 if of.now.stuck else of.slower
    layer, text, seconds = of.cause
    if layer == NONE:
        stages = sorted(((more, stage) for stage, more in of.more().items() if more > 0.1 * whole > 0), reverse=True)
        listed = ", ".join(f"{stage} {time(more)}" for more, stage in stages[:3])
        return "No layer explains it." + (f" Of the {time(whole)} increase: {listed}." if listed else "")
    name = NAMES[layer]
    if seconds is None or not whole or seconds <= 0:
        return f"{name[0].upper()}{name[1:]}: {text}."
    part = f"{time(seconds)} of the {time(whole)} increase are" if seconds < _ALL * whole else "All of the increase is"
    return f"{part} due to the {name}: {text}."


def period(of: Explanation, date: bool = False) -> str:
    """From when to when, UTC: slow since 18:05:12, still slow; was slow 18:05:12 to 18:06:01 (49 s), over."""
    begin, end = (datetime.fromtimestamp(moment, UTC) for moment in (of.begin, of.end))
    day = f"{begin:%Y-%m-%d} " if date else ""
    if not of.over:
        return f"slow since {day}{begin:%H:%M:%S} UTC, still slow"
    return f"was slow {day}{begin:%H:%M:%S} to {end:%H:%M:%S} UTC ({numbers.duration(of.end - of.begin)}), over"


def waterfall(of: Explanation) -> Table:
    """The stages of an operation, usually and while it is slow; each column adds up to its last row."""
    names = "usually", "slow" if of.over else "now", "more"
    stages = {**shown_stages(of), "total": (of.usual.latency, of.now.latency)}
    return Table(
        [Column("a mean operation waits for", right=False), *map(Column, names)],
        [
            TableRow([stage, *(f"{1000 * seconds:.2f} ms" for seconds in (before, now, now - before))])
            for stage, (before, now) in stages.items()
        ],
    )


def shown_stages(of: Explanation) -> dict[str, tuple[float, float]]:
    """Seconds of an operation that each stage takes, usually and now, without those that are next to nothing."""
    least = _SHOWN * max(of.now.latency, of.usual.latency)
    both = {stage: (of.usual.stages.get(stage, 0.0), of.now.stages[stage]) for stage in STAGES}
    return {stage: seconds for stage, seconds in both.items() if max(seconds) >= least}


def time(seconds: float) -> str:
    """A latency in words: 74.7 ms."""
    return numbers.trimmed(numbers.latency(max(0.0, seconds)))
