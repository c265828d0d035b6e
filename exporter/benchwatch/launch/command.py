"""`benchwatch run [options] -- <tool> ...`: its options."""

import argparse
from functools import partial
from pathlib import Path
from typing import Any

from ..results.command import add_require
from ..tools.registry import TOOLS
from ..values.arguments import CommandParser, count, duration, moment, pair
from ..values.durations import Duration
from ..values.errors import UserError
from ..values.interrupts import tidy_up
from .setups import ORDERS, ROUNDS, parameter, variant, variants_in

_EXAMPLES = (
    "benchwatch run --name test1 -- pgbench -T 600 -c 32 mydb",
    "benchwatch run --name curve --sweep clients=1..64x2 --repeat 3 -- pgbench -T 60 -c {clients} mydb",
    "benchwatch run --name sync --variant on: --variant off:'PGOPTIONS=-c jit=off' -- pgbench mydb",
    "benchwatch run --objective 1ms --disk sdb=log --push host:19777 -- fio job.fio",
)


def add_parser(add: Any, _: argparse.ArgumentParser) -> None:
    """Register the command `run`."""
    parser = add(
        usage=f"benchwatch run [options] -- {TOOLS[0].name}|{TOOLS[1].name}|... ...",
        description="Starts a benchmark with the reporting flags that are missing, and records it.",
        examples=_EXAMPLES,
    )
    run = parser.add_argument_group("names")
    run.add_argument("--name", help="name of the run (default: the tool, date and time)")
    run.add_argument("--worker", metavar="NAME", help="name of this process in the run (default: the tool)")
    run.add_argument("--overwrite", action="store_true", help="replace the worker of this name, if its run has ended")
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
    run.add_argument("--parameter", help="parameter that benchwatch cannot detect; can be repeated", **pairs)
    run.add_argument(
        "--host", metavar="NAME", help="machine whose disks and processors the run uses (default: detected)"
    )
    run.add_argument("--client", metavar="NAME", help="machine that runs the benchmark itself (default: detected)")
    run.add_argument("--vm", metavar="NAME", help="VM name in the vdisk mapping (default: the host's name)")
    run.add_argument("--disk", help="role of a disk of the host, such as sdb=log; can be repeated", **pairs)
    run.add_argument("--objective", type=_objective, metavar="TIME", help="latency objective, such as 1ms")
    run.add_argument("--warmup", type=duration, metavar="TIME", help="exclude this much time at the start from results")
    run.add_argument(
        "--percentiles",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="record the latency of each transaction or I/O (default: yes)",
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
        help="run once for each value of {NAME} in the command: clients=1,2,4 or clients=1..64x2; at most twice",
    )
    run.add_argument("--order", choices=ORDERS, help="order of the runs of a sweep (default: shuffled)")
    run.add_argument("--seed", type=int, metavar="N", help="seed of the shuffled order (default: random)")
    add_require(run)
    run = parser.add_argument_group("variants in turn")
    run.add_argument(
        "--variant",
        action="append",
        default=[],
        type=variant,
        metavar="NAME:DIFFERENCE",
        help="a variant to compare with the first one: a variable of the environment (off:'PGOPTIONS=-c jit=off'), "
        f"arguments (small:'-s 10') or nothing (on:); --repeat sets the number of rounds (default: {ROUNDS})",
    )
    run.add_argument(
        "--variant-file",
        dest="variant",
        action="extend",
        default=[],
        type=variants_in,
        metavar="FILE",
        help="file with one such variant a line; lines that begin with # do not count",
    )
    run.add_argument(
        "--before",
        metavar="COMMAND",
        help="shell command to run before each run, such as a restart; $BENCHWATCH_VARIANT names the variant",
    )
    run.add_argument(
        "--until-sure", action="store_true", help="end as soon as the verdict about each variant is certain"
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.set_defaults(func=partial(_run, parser))


def _run(parser: CommandParser, options: argparse.Namespace) -> int:
    from .series import run_series

    tidy_up()
    for option, given in (("--order", options.order), ("--seed", options.seed)):
        if given is not None and not options.sweep:
            raise UserError(f"{option} requires --sweep, such as --sweep clients=1,2,4,8")
    if options.variant and options.sweep:
        raise UserError("--variant excludes --sweep: give one of them")
    for option, given in (("--before", options.before), ("--until-sure", options.until_sure)):
        if given and not options.variant:
            raise UserError(f"{option} requires --variant, such as --variant on: --variant off:'PGOPTIONS=-c jit=off'")
    if options.pause and options.repeat is None and not (options.sweep or options.variant):
        raise UserError("--pause requires --repeat, such as --repeat 5")
    words = options.command[1:] if options.command[:1] == ["--"] else options.command
    if words is options.command and words[:1] and words[0].startswith("-"):
        parser.refuse(words)
    if not words:
        advice = "\n".join(("For example:", *(f"  {example}" for example in _EXAMPLES)))
        raise UserError("no benchmark given: write its command after --", advice=advice)
    return run_series(options, words)


def _objective(text: str) -> Duration:
    objective = duration(text)
    if not objective:
        raise argparse.ArgumentTypeError(f"expected a latency above 0, such as 1ms, got {text!r}")
    return objective
