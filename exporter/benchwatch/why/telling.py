"""The sentence that says why a run is slow, and the waterfall of its operations: the only place of both."""

from ..show.content import Column, Table, TableRow
from ..values import numbers
from .causes import time
from .explanation import NONE, Explanation
from .waits import STAGES

_SHOWN = 0.005
"""The part of the longer operation that a stage must have to be shown."""
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


def sentence(of: Explanation) -> str:
    """Why, such as: pgbench on db1 takes 49 ms a transaction, usually 6 ms. 38 ms of the 43 ms increase are ..."""
    who = f"{of.facts.tool or 'the benchmark'}{f' on {of.facts.server}' if of.facts.server else ''}"
    one = (of.facts.roles.operations if of.facts.roles else "operations").removesuffix("s")
    usual = f"{numbers.rate_in_full(of.usual.rate)} {one}s/s"
    if of.now.stuck:
        said = f"{who} completes next to nothing for {numbers.duration(of.moment - of.begin)}, usually {usual}."
    elif of.slower > 0:
        article = "an" if one[0] in "aeiouI" else "a"
        said = f"{who} takes {time(of.now.latency)} {article} {one}, usually {time(of.usual.latency)}."
    else:
        said = f"{who} does {numbers.rate_in_full(of.now.rate)} {one}s/s, usually {usual}."
    return f"{said} {_cause(of)}{_not_seen(of)}"


def _cause(of: Explanation) -> str:
    cause = of.cause
    if cause.layer == NONE:
        if of.slower <= 0 or of.now.stuck:
            return "No layer explains it."
        stages = sorted(
            ((seconds, stage) for stage, seconds in of.more().items() if seconds > 0.1 * of.slower), reverse=True
        )
        listed = ", ".join(f"{stage} {time(seconds)}" for seconds, stage in stages[:3])
        return (
            f"No layer explains it. Of the {time(of.slower)} increase: {listed}." if listed else "No layer explains it."
        )
    name = NAMES[cause.layer].capitalize() if cause.layer not in ("cvm_queue",) else NAMES[cause.layer]
    if cause.seconds is None or of.now.stuck or of.slower <= 0 or cause.seconds <= 0:
        return f"{name}: {cause.text}."
    part, whole = time(min(cause.seconds, of.slower)), time(of.slower)
    increase = "All of the increase is" if part == whole else f"{part} of the {whole} increase are"
    return f"{increase} due to the {NAMES[cause.layer]}: {cause.text}."


def _not_seen(of: Explanation) -> str:
    return f" Not seen: {', '.join(of.now.unseen)}." if of.now.unseen else ""


def waterfall(of: Explanation) -> Table:
    """The stages of an operation, usually and now; each column adds up to its last row."""
    columns = [Column("a mean operation waits for", right=False), Column("usually"), Column("now"), Column("more")]
    rows = [
        TableRow([stage, *map(_ms, (before, now, now - before))]) for stage, (before, now) in shown_stages(of).items()
    ]
    before, now = of.usual.latency, of.now.latency
    return Table(columns, [*rows, TableRow(["total", *map(_ms, (before, now, now - before))])])


def shown_stages(of: Explanation) -> dict[str, tuple[float, float]]:
    """Seconds of an operation that each stage takes, usually and now, without those that are next to nothing."""
    least = _SHOWN * max(of.now.latency, of.usual.latency)
    both = {stage: (of.usual.stages.get(stage, 0.0), of.now.stages.get(stage, 0.0)) for stage in STAGES}
    return {stage: seconds for stage, seconds in both.items() if max(seconds) >= least}


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.2f} ms"
