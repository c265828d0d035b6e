"""Warnings about the figures: one sentence each, with the numbers that it rests on.

They rest only on what the tools or a run's record measured. In particular, pgbench does not say how busy its own
machine is; `benchwatch run` records the CPU time that it took and the load before the start.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..metrics.latencies import Group
from ..tools.registry import named
from .experiment import Experiment
from .measures import THROUGHPUT, Measure, heading, of_lost, percent, quantity, span
from .measures import named as figure_name
from .parameters import Difference
from .result import Result
from .statistics import FEWEST_BATCHES
from .steadiness import shift_of, silence_at_end, stalled, unsteady
from .workers import Finals

_COLD = 0.15
"""Rise of the throughput within a run above which its caches were probably cold at the start."""
_LENGTHS = 0.1
"""Fraction by which lengths may differ."""
_BUSY = 0.95
"""CPUs used per process or thread above which it can hardly do more."""
_DECAY = 180.0
"""Seconds after which the load average (of one minute) no longer contains a run."""
_MACHINES = ("client.host", "host")
"""Prefixes of facts about the client's machine that `benchwatch run` records; `host` if it is also the server's."""


class Finding(NamedTuple):
    """One sentence."""

    kind: str
    """See docs/compare.md."""
    text: str


def findings(sides: Sequence[Experiment], differing: Sequence[Difference] = ()) -> list[Finding]:
    """The warnings about one experiment, or about both sides of a comparison whose `differing` parameters are given."""
    found = [Finding("unfinished", fault) for each in sides for fault in each.faults]
    found += [finding for each in sides for run in each.runs for finding in _of_run(run)]
    pair = len(sides) == 2
    found += _mains(*sides) if pair else ()
    ends = [run.end for each in sides for run in each.runs if run.end is not None]
    found += [finding for each in sides for finding in _load(each, ends)]
    found += (*_cache(*sides), *_lengths(*sides)) if pair else ()
    found += (*_failures(sides), *_differing(differing))
    return list(dict.fromkeys(found))


def _of_run(run: Result) -> Iterator[Finding]:
    for group, measure in run.watched:
        who = f"{run.name}, {heading(group)}," if heading(group) else run.name
        if how := unsteady(run, group, measure):
            yield Finding("unsteady", f"{who} is not steady: {how}")
        if seconds := stalled(run, group):
            of = float(run.courses[group].seconds.sum()) + silence_at_end(run)
            yield Finding("stall", f"{who} stood still for {seconds:.0f} s of {of:.0f} s")
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
    known = [one for one in run.timelines if not one.by_file_time]
    spans = [(one.start, one.end) for one in known if one.start is not None and one.end is not None]
    if len(spans) < 2:
        return
    starts, ends = zip(*spans, strict=True)
    together = max(0.0, min(ends) - max(starts))
    if together < (1 - _LENGTHS) * max(end - start for start, end in spans):
        length = f"{together:.0f} s of {max(ends) - min(starts):.0f} s"
        text = f"all its workers ran at the same time for only {length}, but their throughputs are added"
        yield Finding("overlap", f"{run.name}: {text}")


def _options(run: Result, final: Finals) -> Iterator[Finding]:
    tool, family = named(run.tool), run.roles.warnings
    for labels in final.get(family.name, {}) if family else ():
        *names, (_, warning) = zip(family.labels if family else (), labels, strict=True)
        who = ", ".join((run.name, *(f"{name} {value}" for name, value in names)))
        meaning = tool.warnings.get(warning) if tool else None
        yield Finding("option", f"{who}: {meaning or warning.replace('_', ' ')}")


def _client(run: Result) -> Iterator[Finding]:
    """A client at its limit, by the CPU time of all its threads in the record, or of each job in the tool's output."""
    roles = run.roles
    for timeline, final in zip(run.timelines, run.finals, strict=True):
        used = timeline.runfile.cpus_used
        threads = final.get(roles.threads.name) if roles.threads else None
        if used is not None and threads:
            cpus = (_number(timeline.runfile.parameters.get(f"{machine}.cpus", "")) for machine in _MACHINES)
            most = min([*threads.values(), *filter(None, cpus)])
            if used >= _BUSY * most:
                text = f"used {used:.2f} of the {most:.0f} CPUs that its threads or its machine allow"
                yield Finding("client_cpu", f"{run.name}: {run.tool} {text}, so the client was the bottleneck")
        for values in final.get(roles.jobs.name, {}) if roles.jobs else ():
            options = dict(zip(roles.jobs.labels if roles.jobs else (), values, strict=True))
            job, begin = options["job"], (timeline.start or 0.0) + run.warmup
            modes = [one.values[one.times >= begin] for one in timeline.get(roles.cpu, job=job)]
            used = sum(float(values.mean()) for values in modes if len(values)) / int(options["numjobs"] or 1)
            if used >= _BUSY:
                text = f"used {used:.2f} CPUs a process (usr and sys of {run.tool}), so the client was the bottleneck"
                yield Finding("client_cpu", f"{run.name}, job {job} {text}")


def _load(experiment: Experiment, ends: Sequence[float]) -> Iterator[Finding]:
    """A high load average before the start. That of a run soon after one of these `ends` is the earlier run's own."""
    for machine in _MACHINES:
        known = [
            [_number(run.parameters.get(f"{machine}.{name}", "")) for name in ("load_average", "cpus")]
            for run in experiment.runs
            if run.start is None or not any(run.start - _DECAY < end <= run.start for end in ends)
        ]
        busy = [(load, cpus) for load, cpus in known if load >= cpus > 0]
        if busy:
            load, cpus = max(busy)
            number = len(experiment.runs)
            who = experiment.name if number == 1 else f"{len(busy)} of {number} runs of {experiment.name}"
            text = f"load average {'up to ' if len(busy) > 1 else ''}{load:g} on {cpus:g} CPUs"
            yield Finding("load", f"the client's machine was already busy before the start of {who}: {text}")


def _cache(base: Experiment, other: Experiment) -> Iterator[Finding]:
    """A throughput that rises in the runs of one side only."""
    rises = [(each.name, [_rise(run) for run in each.runs]) for each in (base, other)]
    for (cold, of_cold), (warm, of_warm) in (rises, reversed(rises)):
        rose = min(-1.0 if rise is None else rise for rise in of_cold)
        stayed = max(math.inf if rise is None else rise for rise in of_warm)
        if rose >= _COLD and stayed < _COLD / 3:
            text = f"the cache seems to have been cold in {cold} and warm in {warm}: the throughput rose by"
            yield Finding("cache", f"{text} {percent(rose)} within {cold}, by {percent(stayed)} within {warm}")


def _rise(run: Result) -> float | None:
    """How much the throughput rose within the run, as a ratio, at least 0; None if too few reports would show it."""
    mains = [group for group, measure in run.main() if measure is THROUGHPUT]
    if not any(group in run.courses and len(run.courses[group].ends) >= FEWEST_BATCHES for group in mains):
        return None
    shifts = [shift_of(run, group, THROUGHPUT) for group in mains]
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
        key: tuple[Group, Measure] = (), of_lost(word, lost)
        most = [max((run.figures[key].value for run in each.runs if key in run.figures), default=0.0) for each in sides]
        if any(most) and (lost.of or lost.remark):
            texts = (f"{quantity(one, key[1].unit)} in {each.name}" for one, each in zip(most, sides, strict=True))
            kind = word if word in ("failed", "skipped") else "lost"
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
            names = [figure_name(*key, each.runs[0].roles) for key in keys]
            texts.append(f"that of {each.name} is {' and '.join(names) or 'unknown'}")
        yield Finding("no_verdict", f"no verdict, because the main measures differ: {', '.join(texts)}")


def _differing(differing: Sequence[Difference]) -> Iterator[Finding]:
    for one in differing:
        values = f"{one.base or 'unknown'} in BASE, {one.other or 'unknown'} in OTHER"
        if not one.intended:
            advice = f"add --vary {one.name} if that was intended"
            yield Finding("parameter", f"{one.name} differs as well: {values} ({advice})")
        elif one.named or not one.base or not one.other:
            continue
        elif one.name.endswith("version"):
            yield Finding("version", f"different {one.name.replace('_', ' ')}s: {values}")
        elif one.name in ("scale_factor", "scale"):
            yield Finding("scale", f"different scale factors: {values}")


def _number(text: str) -> float:
    """The highest number in a text, which lists the values of all workers; 0 if there is none."""
    return max(map(float, re.findall(r"\d+(?:\.\d+)?", text)), default=0.0)
