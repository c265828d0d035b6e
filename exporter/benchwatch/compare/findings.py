"""Warnings about the figures: one sentence each, with the numbers that it rests on.

They rest only on what the tools or a run's record measured. In particular, pgbench does not say how busy its own
machine is; `benchwatch run` records the CPU time that it took and the load before the start.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal, NamedTuple

from ..metrics.latencies import Group
from ..metrics.samples import Family
from ..tools.registry import named
from .experiment import Experiment
from .measured import Result
from .measures import THROUGHPUT, of_lost
from .parameters import Difference
from .statistics import FEWEST_BATCHES
from .steadiness import burst, change_of_level, shift_of, silence_at_end, stalled
from .wording import figure, heading, percent, quantity, span, title
from .workers import Finals

Kind = Literal[
    "unfinished",
    "no_verdict",
    "unsteady",
    "overlap",
    "cache",
    "length",
    "warmup",
    "client_cpu",
    "load",
    "option",
    "reading",
    "stall",
    "failed",
    "skipped",
    "lost",
    "version",
    "scale",
    "parameter",
]

_COLD = 0.15
"""Rise of the throughput within a run above which its caches were probably cold at the start."""
_LENGTHS = 0.1
"""Fraction by which lengths may differ."""
_BUSY = 0.95
"""CPUs used per process or thread above which it can hardly do more."""
_MACHINES = ("client.host", "host")
"""Prefixes of facts about the client's machine that `benchwatch run` records; `host` if it is also the server's."""
_VERSION = re.compile(r".*version")
_SCALE = re.compile(r"scale_factor|scale")


class Finding(NamedTuple):
    """One sentence."""

    kind: Kind
    text: str


def findings(sides: Sequence[Experiment], differing: Sequence[Difference] = ()) -> list[Finding]:
    """The warnings about one experiment, or about both sides of a comparison whose `differing` parameters are given."""
    found = [finding for each in sides for run in each.runs for finding in _of_run(run)]
    pair = len(sides) == 2
    found += _mains(*sides) if pair else ()
    found += chain.from_iterable(map(_load, sides))
    found += (*_cache(*sides), *_lengths(*sides)) if pair else ()
    found += (*_failures(sides), *_differing(differing))
    return list(dict.fromkeys(found))


def _of_run(run: Result) -> Iterator[Finding]:
    for group, measure in run.watched():
        if found := change_of_level(run, group, measure):
            course = run.courses[group]
            start = min((one.start for one in run.timelines if one.start is not None), default=course.begin)
            since = course.ends[found.place - 1] - start
            before, after = (figure(value, measure, run.roles) for value in (found.before, found.after))
            change = percent(found.after / found.before - 1)
            text = f"{title(measure, run.roles)} {before} up to {since:.0f} s, then {after} ({change})"
            yield Finding("unsteady", f"{_who(run, group)} is not steady: {text}")
        elif bursts := burst(run, group, measure):
            mean, median = (figure(value, measure, run.roles) for value in bursts)
            text = f"{title(measure, run.roles)} {mean}, {median} in half of its reports"
            yield Finding("unsteady", f"{_who(run, group)} is not steady: {text}")
        elif group in run.fixed_rate and (seconds := stalled(run, group)):
            text = f"stood still for {seconds:.0f} s at a fixed rate"
            yield Finding("unsteady", f"{_who(run, group)} is not steady: {text}")
        yield from _stall(run, group)
    yield from _overlap(run)
    yield from _client(run)
    for final in run.finals:
        yield from _options(run, final)
        for (note,) in final.get("benchwatch_run_note_info", {}):
            yield Finding("reading", f"{run.name}: {note}")
    for count, total in run.cut_off:
        text = f"a log has {count:,} of {total:,.0f} {run.roles.operations}, so there are no percentiles"
        yield Finding("reading", f"{run.name}: {text}")
    if run.warmup and not run.left_out:
        text = f"its figures include the warm-up of {run.warmup:g} s, as it has neither reports nor a transaction log"
        yield Finding("warmup", f"{run.name}: {text}")


def _overlap(run: Result) -> Iterator[Finding]:
    """Workers that ran one after the other, so that the sum of their throughputs was reached for a part of the run."""
    known = [one for one in run.timelines if one.start is not None and not one.by_file_time]
    spans = [(one.start, one.end) for one in known if one.start is not None and one.end is not None]
    if len(spans) < 2:
        return
    starts, ends = zip(*spans, strict=True)
    together = max(0.0, min(ends) - max(starts))
    if together < (1 - _LENGTHS) * max(end - start for start, end in spans):
        length = f"{together:.0f} s of {max(ends) - min(starts):.0f} s"
        text = f"all its workers ran at the same time for only {length}, but their throughputs are added"
        yield Finding("overlap", f"{run.name}: {text}")


def _stall(run: Result, group: Group) -> Iterator[Finding]:
    if seconds := stalled(run, group):
        of = float(run.courses[group].seconds.sum()) + silence_at_end(run)
        yield Finding("stall", f"{_who(run, group)} stood still for {seconds:.0f} s of {of:.0f} s")


def _options(run: Result, final: Finals) -> Iterator[Finding]:
    tool, family = named(run.tool), run.roles.warnings
    for labels in _of(final, family):
        *names, warning = zip(family.labels if family else (), labels, strict=True)
        who = ", ".join((run.name, *(f"{name} {value}" for name, value in names)))
        meaning = tool.warnings.get(warning[1]) if tool else None
        yield Finding("option", f"{who}: {meaning or warning[1].replace('_', ' ')}")


def _of(final: Finals, family: Family | None) -> Mapping[Group, float]:
    return final.get(family.name, {}) if family else {}


def _client(run: Result) -> Iterator[Finding]:
    """A client at its limit, by the CPU time of all its threads in the record, or of each job in the tool's output."""
    roles = run.roles
    for timeline, final in zip(run.timelines, run.finals, strict=True):
        used = timeline.runfile.cpus_used
        if used is not None and (threads := _of(final, roles.threads)):
            cpus = (_number(timeline.runfile.parameters.get(f"{machine}.cpus", "")) for machine in _MACHINES)
            most = min([*threads.values(), *filter(None, cpus)])
            if used >= _BUSY * most:
                text = f"used {used:.2f} of the {most:.0f} CPUs that its threads or its machine allow"
                yield Finding("client_cpu", f"{run.name}: {run.tool} {text}, so the client was the bottleneck")
        for values in _of(final, roles.jobs):
            options = dict(zip(roles.jobs.labels if roles.jobs else (), values, strict=True))
            job, begin = options["job"], (timeline.start or 0.0) + run.warmup
            modes = [one.values[one.times >= begin] for one in timeline.get(roles.cpu, job=job)]
            used = sum(float(values.mean()) for values in modes if len(values)) / int(options["numjobs"] or 1)
            if used >= _BUSY:
                text = f"used {used:.2f} CPUs a process (usr and sys of {run.tool}), so the client was the bottleneck"
                yield Finding("client_cpu", f"{run.name}, job {job} {text}")


def _load(experiment: Experiment) -> Iterator[Finding]:
    """A high load average before the start; an earlier run that just ended still counts in it."""
    for machine in _MACHINES:
        known = [
            [_number(run.parameters.get(f"{machine}.{name}", "")) for name in ("load_average", "cpus")]
            for run in experiment.runs
        ]
        busy = [(load, cpus) for load, cpus in known if load >= cpus > 0]
        if busy:
            load, cpus = max(busy)
            who = experiment.name if len(known) == 1 else f"{len(busy)} of {len(known)} runs of {experiment.name}"
            text = f"load average {'up to ' if len(busy) > 1 else ''}{load:g} on {cpus:g} CPUs"
            yield Finding("load", f"the client's machine was already busy before the start of {who}: {text}")


def _cache(base: Experiment, other: Experiment) -> Iterator[Finding]:
    """A throughput that rises in the runs of one side only."""
    for cold, warm in ((base, other), (other, base)):
        if not all(_can_rise(run) for each in (cold, warm) for run in each.runs):
            continue
        rose, stayed = min(map(_rise, cold.runs)), max(map(_rise, warm.runs))
        if rose >= _COLD and stayed < _COLD / 3:
            figures = f"rose by {percent(rose)} within {cold.name}, by {percent(stayed)} within {warm.name}"
            text = f"the cache seems to have been cold in {cold.name} and warm in {warm.name}: the throughput {figures}"
            yield Finding("cache", text)


def _can_rise(run: Result) -> bool:
    """Whether the throughput was free to change and there are enough reports to see it change."""
    courses = [run.courses.get(group) for group, measure in run.main() if measure is THROUGHPUT]
    return any(course is not None and len(course.ends) >= FEWEST_BATCHES for course in courses)


def _rise(run: Result) -> float:
    """How much the throughput rose within the run, as a ratio; 0 if no rise is shown."""
    shifts = [shift_of(run, group, measure) for group, measure in run.main() if measure is THROUGHPUT]
    return max((found.after / found.before - 1 for found in shifts if found and found.before > 0), default=0.0)


def _lengths(base: Experiment, other: Experiment) -> Iterator[Finding]:
    one, two = ([run.seconds for run in each.runs if run.seconds] for each in (base, other))
    if one and two and max(*one, *two) > (1 + _LENGTHS) * min(*one, *two):
        texts = (f"{name} {span(values)}" for name, values in ((base.name, one), (other.name, two)))
        yield Finding("length", f"different lengths: {', '.join(texts)}")


def _failures(sides: Sequence[Experiment]) -> Iterator[Finding]:
    """Operations that failed, were skipped or lost."""
    roles = sides[0].runs[0].roles
    for word, lost in roles.lost.items():
        measure = of_lost(word, lost)
        most = [
            max((run.figures[(), measure].value for run in each.runs if ((), measure) in run.figures), default=0.0)
            for each in sides
        ]
        if any(most) and (lost.of or lost.remark):
            texts = (f"{quantity(one, measure.unit)} in {each.name}" for one, each in zip(most, sides, strict=True))
            kind: Kind = "failed" if word == "failed" else "skipped" if word == "skipped" else "lost"
            yield Finding(kind, (lost.remark or f"{roles.operations} {word}: {{}}").format(", ".join(texts)))


def _mains(base: Experiment, other: Experiment) -> Iterator[Finding]:
    """Different main measures, so that there is no verdict: reads against writes, or a fixed rate on one side only."""
    mains = [dict.fromkeys(key for run in each.runs for key in run.main()) for each in (base, other)]
    if not mains[0] and not mains[1] and all(run.fixed_rate for each in (base, other) for run in each.runs):
        text = f"the command sets the rate and {base.runs[0].tool} measures no latency"
        yield Finding("no_verdict", f"no verdict, because {text}")
    elif not mains[0].keys() & mains[1].keys():
        texts = []
        for each, keys in zip((base, other), mains, strict=True):
            roles = each.runs[0].roles
            names = [f"{heading(group)} {title(measure, roles)}".strip() for group, measure in keys]
            texts.append(f"that of {each.name} is {' and '.join(names) or 'unknown'}")
        yield Finding("no_verdict", f"no verdict, because the main measures differ: {', '.join(texts)}")


def _differing(differing: Sequence[Difference]) -> Iterator[Finding]:
    for one in differing:
        values = f"{one.base or 'unknown'} in BASE, {one.other or 'unknown'} in OTHER"
        if not one.intended:
            yield Finding(
                "parameter", f"{one.name} differs as well: {values} (add --vary {one.name} if that was intended)"
            )
        elif not one.named and one.base and one.other and _VERSION.fullmatch(one.name):
            yield Finding("version", f"different {one.name.replace('_', ' ')}s: {values}")
        elif not one.named and one.base and one.other and _SCALE.fullmatch(one.name):
            yield Finding("scale", f"different scale factors: {values}")


def _who(run: Result, group: Group) -> str:
    return f"{run.name}, {heading(group)}," if heading(group) else run.name


def _number(text: str) -> float:
    """The highest number in a text, which lists the values of all workers; 0 if there is none."""
    return max(map(float, re.findall(r"\d+(?:\.\d+)?", text)), default=0.0)
