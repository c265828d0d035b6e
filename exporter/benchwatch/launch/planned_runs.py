"""The runs that one `benchwatch run` starts, one after the other: a single run, repeats of it, a sweep, or variants.

All names and commands are checked before the first run starts. A failed run does not end a series; a signal does.
"""

import argparse
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..results.requirements import requirement
from ..settings.record import NAME, SUFFIX, SweepPoint, check_label
from ..tools.invocation import Benchmark, find_benchmark
from ..tools.registry import TOOLS, named
from ..values.errors import NOT_MET, NOT_RECORDED, UserError
from ..values.names import check_name
from ..values.numbers import duration
from .launch import launch
from .outcome import Outcomes
from .preparation import Plan, planned_length
from .printing import Terminal
from .sweep_points import (
    LABEL,
    Point,
    SweepOrder,
    check_is_alone,
    earlier_run,
    name_of,
    order_of,
    points_of,
    substituted,
)
from .variants import ERROR, FEWEST, ROUNDS, check, in_turn, run_before
from .variants import LABEL as VARIANT
from .worker_record import RunRecord


def run_series(options: argparse.Namespace, words: Sequence[str]) -> int:
    """Run the command `words` as the options say; the exit code. Raises UserError if nothing was started."""
    points = points_of(options.sweep, words)
    benchmarks = [_benchmark(substituted(words, point)) for point in points]
    if options.variant:
        check(options.variant)
        points = [{} for _ in options.variant]
        benchmarks = [variant.of(benchmarks[0]) for variant in options.variant]
        options.repeat = options.repeat or ROUNDS
    tool = benchmarks[0].tool
    required = [requirement(text, named(tool)) for text in options.require]
    name = f"{tool}-{time.strftime('%Y%m%d-%H%M%S')}" if options.name is None else options.name
    order = SweepOrder("given", None)
    if options.sweep:
        order = order_of(options.runs_path, name, options.sweep, options.order, options.seed)
    plans = _plans(options, name, points, benchmarks, order)
    todo = [plan for plan in plans if not plan.done]
    done = len(plans) - len(todo)
    code, complete = 0, True
    with Terminal() as terminal, Outcomes(terminal, required) as outcomes:
        for plan in plans:
            if plan.done:
                outcomes.add(plan.record, shown=False)
        if options.sweep:
            terminal.say(f"sweep {name}: {_extent(len(plans), len(points), done)}, {order.shown}")
        sides = [f"{name}-{variant.name}" for variant in options.variant]
        for number, plan in enumerate(todo, done + 1):
            left = _length(todo[number - done :], options.pause)
            plan = plan._replace(number=number, of=len(plans), after=left)
            if options.before:
                try:
                    before = run_before(options.before, plan.variant)
                except (UserError, KeyboardInterrupt) as error:
                    terminal.say(str(error) or "interrupted")
                    code = error.exit_code if isinstance(error, UserError) else 128 + signal.SIGINT
                    break
                plan = plan._replace(content=plan.content | {"before": before})
            if plan.variant:
                time_left = f", {duration(left)} left after it" if left else ""
                terminal.say(f"{name}: run {number} of {len(plans)}: {plan.variant}{time_left}")
            if number == done + 1:
                page = (plan.record.run if len(plans) == 1 else "") if options.open else None
                plan = plan._replace(at=options.at, page=page)
            ending, is_complete = launch(plan, terminal)
            code = ending.exit_code or code
            complete &= is_complete
            outcomes.add(plan.record, side=f"{name}-{plan.variant}" if plan.variant else "")
            if ending.requested or number == len(plans):
                break
            rounds, rest = divmod(number, len(sides) or 1)
            if options.until_sure and not rest and rounds >= FEWEST:
                looks = options.repeat - FEWEST + 1
                if outcomes.are_sure(sides, 1 - ERROR / looks):
                    terminal.say(f"{name}: certain after {rounds} of {options.repeat} rounds")
                    break
            if received := outcomes.pause(options.pause):
                code = code or 128 + received
                break
        repeated = not options.sweep and not sides and len(plans) > 1
        met = outcomes.together(name, repeated=repeated, swept=bool(options.sweep), sides=sides)
    return code or (0 if complete else NOT_RECORDED) or (0 if met else NOT_MET)


def _benchmark(words: Sequence[str]) -> Benchmark:
    """Raises UserError if the command is no benchmark, or its program is not installed."""
    benchmark = find_benchmark(words, {tool.program or tool.name for tool in TOOLS})
    program = benchmark.command[0]
    if shutil.which(program) is None:
        raise UserError(f"{program} was not found: install it, or write its path")
    return benchmark


def _length(plans: Sequence[Plan], pause: float) -> float | None:
    """Seconds that these runs take, with the pauses before them; None if not known."""
    lengths = [plan.length for plan in plans]
    return None if None in lengths else sum(pause + (length or 0.0) for length in lengths)


def _extent(runs: int, points: int, done: int) -> str:
    skipped = f"; skips {done} that {'have' if done > 1 else 'has'} finished" if done else ""
    return f"{runs} run{'s' * (runs > 1)} of {points} point{'s' * (points > 1)}{skipped}"


def _plans(
    options: argparse.Namespace, name: str, points: Sequence[Point], benchmarks: Sequence[Benchmark], order: SweepOrder
) -> list[Plan]:
    """The runs in their order. Raises UserError if a run cannot have its name, labels or command."""
    worker = benchmarks[0].tool if options.worker is None else options.worker
    repeat = options.repeat or 1
    names = [f"{name}-{variant.name}" for variant in options.variant] or [name_of(name, point) for point in points]
    _check_names(names, worker, repeat)
    lengths = [planned_length(benchmark) for benchmark in benchmarks]
    content = _content(options)
    plans = []
    for place, number in in_turn(len(names), repeat) if options.variant else order.arranged(len(points), repeat):
        point, benchmark, experiment = points[place], benchmarks[place], names[place]
        record = RunRecord(options.runs_path, f"{experiment}-{number + 1}" if repeat > 1 else experiment, worker)
        own: dict[str, Any] = {"repeat_of": experiment if repeat > 1 else ""}
        earlier = None
        if options.sweep:
            at = SweepPoint(of=name, point=dict(point), order=order.order, seed=order.seed)
            own |= {"sweep": msgspec.to_builtins(at), "labels": content["labels"] | {LABEL: name, **point}}
            earlier = None if options.overwrite else earlier_run(record, at, benchmark)
        variant = options.variant[place].name if options.variant else ""
        if variant:
            own |= {"labels": content["labels"] | {VARIANT: variant}}
        overwrite = options.overwrite or earlier is not None
        if not earlier:
            record.check_is_new(overwrite)
        plans.append(
            Plan(
                *(record, benchmark, content | own, options.percentiles, options.push, overwrite),
                length=lengths[place],
                done=bool(earlier),
                variant=variant,
            )
        )
    for alone in names if options.variant else [name]:
        check_is_alone(options.runs_path, alone, repeated=repeat > 1, swept=bool(options.sweep))
    for experiment in names:
        _check_repeats(options.runs_path, experiment, worker, repeat, swept=bool(options.sweep))
    if options.variant and VARIANT in dict(options.label):
        raise UserError(f"--label {VARIANT}: variants use this label: choose another one")
    for label in dict(options.label):
        if options.sweep and label in (LABEL, *points[0]):
            raise UserError(f"--label {label}: the sweep uses this label: choose another one")
    return plans


def _check_names(names: Sequence[str], worker: str, repeat: int) -> None:
    try:
        for run in names:
            check_name("run", f"{run}-{repeat}" if repeat > 1 else run)
        check_name("worker", worker)
    except ValueError as error:
        raise UserError(str(error)) from None
    if worker + SUFFIX == NAME:
        raise UserError(
            f"worker {worker!r} cannot be recorded: {NAME} is the record of the whole run; choose another --worker"
        )


def _check_repeats(runs: Path, name: str, worker: str, repeat: int, *, swept: bool) -> None:
    """Raises UserError if there are runs that views would take for further repeats, or for the same point."""
    if repeat > 1 and (older := RunRecord(runs, f"{name}-{repeat + 1}", worker)).path.exists():
        raise UserError(
            f"{older.path} belongs to an earlier, longer series {name}: choose another --name, or remove it"
        )
    other = RunRecord(runs, name if repeat > 1 else f"{name}-1", worker)
    if swept and other.path.exists():
        raise UserError(
            f"{other.path} belongs to the same point with another --repeat: choose another --name, or remove it"
        )


def _content(options: argparse.Namespace) -> dict[str, Any]:
    """What the options put into every record."""
    for label, _ in options.label:
        check_label(label, "--label")
    return {
        "labels": dict(options.label),
        "latency_objective": None if options.objective is None else float(options.objective),
        "host": options.host,
        "client": options.client,
        "vm": options.vm,
        "disks": dict(options.disk),
        "warmup": None if options.warmup is None else float(options.warmup),
        "parameters": dict(options.parameter),
    }
