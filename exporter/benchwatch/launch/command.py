"""`benchwatch run [options] -- <tool> ...`: its options, and the series of runs that they request."""

import argparse
import shutil
import time
from functools import partial
from pathlib import Path
from typing import Any

from ..results.command import add_require
from ..settings.record import NAME, SUFFIX, check_label
from ..tools.invocation import Benchmark, find_benchmark
from ..tools.registry import TOOLS, named, names
from ..values.arguments import CommandParser, count, duration, pair
from ..values.durations import Duration
from ..values.errors import NOT_MET, UserError
from ..values.interrupts import tidy_up
from ..values.names import check_name
from .record import RunRecord

_EXAMPLES = (
    "benchwatch run --name test1 -- pgbench -T 600 -c 32 mydb",
    "benchwatch run --name base --repeat 5 --pause 1m --warmup 60s -- pgbench -T 600 -c 32 mydb",
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
    run = parser.add_argument_group("what is recorded")
    run.add_argument("--label", help="additional label of the run; can be repeated", **pairs)
    run.add_argument("--parameter", help="parameter that benchwatch cannot find out; can be repeated", **pairs)
    run.add_argument("--host", metavar="NAME", help="machine whose disks and processors it uses (default: as found)")
    run.add_argument("--client", metavar="NAME", help="machine of the benchmark itself (default: as found)")
    run.add_argument("--vm", metavar="NAME", help="virtual machine that the host is, in the mapping of vdisks")
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
    run = parser.add_argument_group("repeats")
    run.add_argument("--repeat", type=count, metavar="N", help="number of runs, named NAME-1 to NAME-N (default: 1)")
    run.add_argument(
        "--pause", type=duration, default=Duration(0), metavar="TIME", help="time between repeats (default: 0)"
    )
    add_require(run)
    run.add_argument("--overwrite", action="store_true", help="replace a run (and worker) of this name that is over")
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.set_defaults(func=partial(_run, parser))


def _run(parser: CommandParser, options: argparse.Namespace) -> int:
    from .launch import Place, Plan, check, launch
    from .outcome import Outcomes, read_requirements
    from .terminal import Terminal

    tidy_up()
    if options.pause and options.repeat is None:
        raise UserError("--pause requires --repeat, such as --repeat 5")
    repeat = options.repeat or 1
    words = options.command[1:] if options.command[:1] == ["--"] else options.command
    if words is options.command and words[:1] and words[0].startswith("-"):
        parser.refuse(words)
    if not words:
        advice = "\n".join(("For example:", *(f"  {example}" for example in _EXAMPLES)))
        raise UserError("no benchmark is given: write its command after --", advice=advice)
    benchmark = find_benchmark(words, {tool.name for tool in TOOLS})
    if shutil.which(benchmark.command[0]) is None:
        raise UserError(f"{benchmark.command[0]} was not found: expected a program on PATH, or its path")
    check(benchmark)
    required = read_requirements(options.require, named(benchmark.tool))
    name, worker = _names(options, benchmark)
    series = [name] if repeat == 1 else [f"{name}-{number + 1}" for number in range(repeat)]
    records = [RunRecord(options.runs_path, run, worker) for run in series]
    for record in records:
        record.check_is_new(options.overwrite)
    if repeat > 1 and (older := RunRecord(options.runs_path, f"{name}-{repeat + 1}", worker)).path.exists():
        raise UserError(f"{older.path} is of an earlier, longer series {name}: choose another --name, or remove it")
    for label, _ in options.label:
        check_label(label, "--label")
    plan = Plan(
        benchmark,
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
            "repeat_of": name if repeat > 1 else "",
            "parameters": dict(options.parameter),
        },
        options.overwrite,
    )
    code = 0
    with Terminal() as terminal, Outcomes(terminal, required) as outcomes:
        for number, record in enumerate(records, 1):
            ending = launch(plan, record, terminal, Place(number, repeat, options.pause))
            code = ending.exit_code or code
            outcomes.add(record)
            if ending.told or number == repeat:
                break
            if received := outcomes.pause(options.pause):
                code = code or 128 + received
                break
        met = outcomes.together(name, repeat)
    return code or (0 if met else NOT_MET)


def _names(options: argparse.Namespace, benchmark: Benchmark) -> tuple[str, str]:
    name = options.name or f"{benchmark.tool}-{time.strftime('%Y%m%d-%H%M%S')}"
    worker = options.worker or benchmark.tool
    try:
        check_name("run", f"{name}-{options.repeat}" if (options.repeat or 1) > 1 else name)
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
