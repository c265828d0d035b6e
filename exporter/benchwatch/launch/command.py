"""`benchwatch run [options] -- <tool> ...`: its options, and the series of runs that they request."""

import argparse
import shutil
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..results.command import add_require
from ..settings.record import NAME, SUFFIX, SweepPoint, check_label
from ..tools.invocation import Benchmark, find_benchmark
from ..tools.registry import TOOLS, named, names
from ..values.arguments import CommandParser, count, duration, moment, pair
from ..values.durations import Duration
from ..values.errors import NOT_MET, UserError
from ..values.interrupts import tidy_up
from ..values.names import check_name
from .record import Place, RunRecord
from .sweep import (
    LABEL,
    ORDERS,
    Point,
    SweepOrder,
    check_is_alone,
    earlier_run,
    name_of,
    order_of,
    parameter,
    points_of,
    substituted,
)

_EXAMPLES = (
    "benchwatch run --name test1 -- pgbench -T 600 -c 32 mydb",
    "benchwatch run --name base --repeat 5 --pause 1m --warmup 60s -- pgbench -T 600 -c 32 mydb",
    "benchwatch run --name curve --sweep clients=1..64x2 --repeat 3 -- pgbench -T 60 -c {clients} mydb",
    "benchwatch run --objective 1ms --disk sdb=log --push host:19777 -- fio job.fio",
)


def add_parser(add: Any, _: argparse.ArgumentParser) -> None:
    """Register the command `run`."""
    parser = add(
        usage=f"benchwatch run [options] -- {'|'.join(tool.name for tool in TOOLS)} ...",
        description=f"Starts {names()}, adds reporting flags that are missing, and records it.",
        examples=_EXAMPLES,
    )
    run = parser.add_argument_group("names")
    run.add_argument("--name", help="name of the run (default: the tool, date and time)")
    run.add_argument("--worker", metavar="NAME", help="name of this process in the run (default: the tool)")
    pairs = {"action": "append", "default": [], "type": pair, "metavar": "NAME=VALUE"}
    run = parser.add_argument_group("when it starts")
    run.add_argument(
        "--at",
        type=moment,
        metavar="TIME",
        help="prepare everything, then start exactly at this time: 18:00, 2026-11-22T18:00:00Z, +90s or Unix seconds; "
        "applies to the first run of a series",
    )
    run = parser.add_argument_group("what is recorded")
    run.add_argument("--label", help="additional label of the run; can be repeated", **pairs)
    run.add_argument("--parameter", help="parameter that benchwatch cannot find out; can be repeated", **pairs)
    run.add_argument(
        "--host", metavar="NAME", help="machine whose disks and processors it uses (default: found automatically)"
    )
    run.add_argument("--client", metavar="NAME", help="machine of the benchmark itself (default: found automatically)")
    run.add_argument("--vm", metavar="NAME", help="name that the mapping of vdisks has for the host")
    run.add_argument("--disk", help="role of a disk of the host, such as sdb=log; can be repeated", **pairs)
    run.add_argument("--objective", type=_objective, metavar="TIME", help="latency objective, such as 1ms")
    run.add_argument("--warmup", type=duration, metavar="TIME", help="time at the start to leave out of results")
    run.add_argument(
        "--percentiles",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="count the latency of each transaction or I/O (default: yes)",
    )
    run = parser.add_argument_group("where the record goes")
    run.add_argument(
        "--runs.path",
        dest="runs_path",
        type=Path,
        default=Path("runs"),
        metavar="DIR",
        help="folder of runs (default: runs)",
    )
    run.add_argument(
        "--push", default="", metavar="URL", help="also send everything to this exporter, such as host:19777"
    )
    run.add_argument("--open", action="store_true", help="open the page of the run, or of all runs, in a browser")
    run = parser.add_argument_group("repeats and sweeps")
    run.add_argument("--repeat", type=count, metavar="N", help="number of runs, named NAME-1 to NAME-N (default: 1)")
    run.add_argument(
        "--pause", type=duration, default=Duration(0), metavar="TIME", help="time between runs (default: 0)"
    )
    run.add_argument(
        "--sweep",
        action="append",
        default=[],
        type=parameter,
        metavar="NAME=VALUES",
        help="run with each value, such as clients=1,2,4 or 1..64x2, in place of {NAME} in the command; at most twice",
    )
    run.add_argument("--order", choices=ORDERS, help="order of the runs of a sweep (default: shuffled)")
    run.add_argument("--seed", type=int, metavar="N", help="seed of the shuffled order (default: a new one)")
    add_require(run)
    run.add_argument("--overwrite", action="store_true", help="replace a run (and worker) of this name that has ended")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.set_defaults(func=partial(_run, parser))


class _Step(NamedTuple):
    """One run of a series."""

    record: RunRecord
    benchmark: Benchmark
    content: dict[str, Any]
    """What its record contains besides that of the series."""
    overwrite: bool
    done: bool
    """Whether an earlier start of the same sweep has finished it."""
    length: float | None
    """Seconds that it will take, if known."""


def _run(parser: CommandParser, options: argparse.Namespace) -> int:
    from .launch import launch
    from .outcome import Outcomes, read_requirements
    from .preparation import Plan, planned_length
    from .terminal import Terminal

    tidy_up()
    for option, given in (("--order", options.order), ("--seed", options.seed)):
        if given is not None and not options.sweep:
            raise UserError(f"{option} requires --sweep, such as --sweep clients=1,2,4,8")
    if options.pause and options.repeat is None and not options.sweep:
        raise UserError("--pause requires --repeat, such as --repeat 5")
    words = options.command[1:] if options.command[:1] == ["--"] else options.command
    if words is options.command and words[:1] and words[0].startswith("-"):
        parser.refuse(words)
    if not words:
        advice = "\n".join(("For example:", *(f"  {example}" for example in _EXAMPLES)))
        raise UserError("no benchmark is given: write its command after --", advice=advice)
    points = points_of(options.sweep, words)
    known = {tool.name for tool in TOOLS}
    benchmarks = [find_benchmark(substituted(words, point), known) for point in points]
    lengths = []
    for benchmark in benchmarks:
        if shutil.which(benchmark.command[0]) is None:
            program = benchmark.command[0]
            raise UserError(f"{program} was not found: install it, or write its path; expected a program on PATH")
        lengths.append(planned_length(benchmark))
    required = read_requirements(options.require, named(benchmarks[0].tool))
    name, worker = _names(options, benchmarks[0], points)
    for label, _ in options.label:
        check_label(label, "--label")
    steps, order = _steps(options, name, worker, points, [*zip(benchmarks, lengths, strict=True)])
    plan = Plan(
        benchmarks[0],
        options.percentiles,
        options.push,
        {
            "labels": dict(options.label),
            "latency_objective": None if options.objective is None else float(options.objective),
            "host": options.host,
            "client": options.client,
            "vm": options.vm,
            "disks": dict(options.disk),
            "warmup": None if options.warmup is None else float(options.warmup),
            "parameters": dict(options.parameter),
        },
    )
    todo = [step for step in steps if not step.done]
    code, done, opened = 0, len(steps) - len(todo), False
    with Terminal() as terminal, Outcomes(terminal, required) as outcomes:
        for step in steps:
            if step.done:
                outcomes.add(step.record, shown=False)
        if order:
            terminal.say(f"sweep {name}: {_extent(len(steps), len(points), done)}, {order}")
        for number, step in enumerate(todo, done + 1):
            own = plan.content | step.content | {"labels": plan.content["labels"] | step.content.get("labels", {})}
            this = plan._replace(benchmark=step.benchmark, content=own, overwrite=step.overwrite)
            if options.open and not opened:
                this = this._replace(page=step.record.run if len(steps) == 1 else "")
            opened = True
            place = Place(number, len(steps), _together(todo[number - done :], options.pause))
            ending = launch(this, step.record, terminal, place, options.at if step is todo[0] else None)
            code = ending.exit_code or code
            outcomes.add(step.record)
            if ending.told or number == len(steps):
                break
            if received := outcomes.pause(options.pause):
                code = code or 128 + received
                break
        met = outcomes.together(name, repeated=not order and len(steps) > 1, swept=bool(order))
    return code or (0 if met else NOT_MET)


def _together(steps: Sequence[_Step], pause: float) -> float | None:
    """Seconds that these steps take, with the pauses before them; None if not known."""
    lengths = [step.length for step in steps]
    return None if None in lengths else sum(pause + (length or 0.0) for length in lengths)


def _extent(runs: int, points: int, done: int) -> str:
    skipped = f"; skips {done} that {'have' if done > 1 else 'has'} finished" if done else ""
    return f"{runs} run{'s' * (runs > 1)} of {points} point{'s' * (points > 1)}{skipped}"


def _steps(
    options: argparse.Namespace,
    name: str,
    worker: str,
    points: Sequence[Point],
    benchmarks: Sequence[tuple[Benchmark, float | None]],
) -> tuple[list[_Step], str]:
    """The runs in their order, and a sentence about the order; empty without a sweep. Raises UserError."""
    repeat = options.repeat or 1
    order = SweepOrder("given", None)
    if options.sweep:
        order = order_of(options.runs_path, name, options.sweep, options.order, options.seed)
    found = []
    for place, number in order.arranged(len(points), repeat):
        point, (benchmark, length) = points[place], benchmarks[place]
        series = name_of(name, point)
        record = RunRecord(options.runs_path, f"{series}-{number + 1}" if repeat > 1 else series, worker)
        content: dict[str, Any] = {"repeat_of": series if repeat > 1 else ""}
        earlier = None
        if options.sweep:
            at = SweepPoint(of=name, point=dict(point), order=order.order, seed=order.seed)
            content |= {"sweep": msgspec.to_builtins(at), "labels": {LABEL: name, **point}}
            earlier = None if options.overwrite else earlier_run(record, at, benchmark)
        overwrite = options.overwrite or earlier is not None
        if not earlier:
            record.check_is_new(overwrite)
        found.append(_Step(record, benchmark, content, overwrite, bool(earlier), length))
    check_is_alone(options.runs_path, name, repeated=repeat > 1, swept=bool(options.sweep))
    for point in points:
        _check_alone(options.runs_path, name_of(name, point), worker, repeat, swept=bool(options.sweep))
    for label in dict(options.label):
        if options.sweep and label in (LABEL, *points[0]):
            raise UserError(f"--label {label}: the sweep has a label of that name: choose another one")
    how = order.order + (f" with seed {order.seed}" if order.seed is not None else "")
    return found, how if options.sweep else ""


def _check_alone(runs: Path, name: str, worker: str, repeat: int, *, swept: bool) -> None:
    """Raises UserError if there are runs that views would take for further repeats, or for the same thing."""
    if repeat > 1 and (older := RunRecord(runs, f"{name}-{repeat + 1}", worker)).path.exists():
        raise UserError(f"{older.path} is of an earlier, longer series {name}: choose another --name, or remove it")
    other = RunRecord(runs, name if repeat > 1 else f"{name}-1", worker)
    if swept and other.path.exists():
        raise UserError(f"{other.path} is of the same point with another --repeat: choose another --name, or remove it")


def _names(options: argparse.Namespace, benchmark: Benchmark, points: Sequence[Point]) -> tuple[str, str]:
    name = f"{benchmark.tool}-{time.strftime('%Y%m%d-%H%M%S')}" if options.name is None else options.name
    worker = benchmark.tool if options.worker is None else options.worker
    try:
        for point in points:
            run = name_of(name, point)
            check_name("run", f"{run}-{options.repeat}" if (options.repeat or 1) > 1 else run)
        check_name("worker", worker)
    except ValueError as error:
        raise UserError(str(error)) from None
    if worker + SUFFIX == NAME:
        raise UserError(
            f"worker {worker!r} cannot be recorded: {NAME} is the record of the whole run; choose another --worker"
        )
    return name, worker


def _objective(text: str) -> Duration:
    objective = duration(text)
    if not objective:
        raise argparse.ArgumentTypeError(f"expected a latency above 0, such as 1ms, got {text!r}")
    return objective
