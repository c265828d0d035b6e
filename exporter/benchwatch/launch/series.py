"""The runs that one `benchwatch run` starts, one after the other: a single run, repeats of it, a sweep, or variants.

All names and commands are checked before the first run starts. A failed run does not end a series; a signal does, and
so does a run that cannot be started. In any case, the end shows what there is.

With `--until-sure`, the series ends after the third round or later, as soon as a verdict about the throughput of each
variant is certain. It is looked at after each round, so that the probability of an error is divided by the number of
looks (Bonferroni): all looks together are wrong in at most 5 % of series.
"""

import argparse
import random
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ..results.requirements import requirement
from ..settings.record import NAME, SUFFIX, SweepPoint, check_label
from ..settings.settings import RunsSettings
from ..tools.invocation import Benchmark, find_benchmark, recordable
from ..tools.registry import TOOLS, named
from ..values.errors import NOT_MET, NOT_RECORDED, UserError
from ..values.names import check_name
from ..values.numbers import duration
from .child import Interrupts
from .launch import launch
from .outcome import Outcomes
from .preparation import Plan, planned_length, run_before
from .setups import ORDERS, ROUNDS, SWEEP, VARIANT, Setup, arranged, check_variants, points_of, substituted
from .sinks import Terminal
from .worker_record import RunRecord, recorded

_FEWEST = 3
"""Rounds before --until-sure may end the series."""
_ERROR = 0.05
_SEEDS = 1 << 32


def run_series(options: argparse.Namespace, words: Sequence[str]) -> int:
    """Run the command `words` as the options say; the exit code. Raises UserError if nothing was started."""
    name = options.name
    if name is None:
        name = f"{_benchmark(words).tool}-{time.strftime('%Y%m%d-%H%M%S')}"
    order, seed = _order(options, name)
    setups = _setups(options, name, words, order, seed)
    rounds = options.repeat or (ROUNDS if options.variant else 1)
    kind = "sweep" if options.sweep else "series"
    if kind == "series" and rounds == 1:
        kind = "run"
    sides = [setup.name for setup in setups] if options.variant else []
    required = [requirement(text, named(setups[0].benchmark.tool)) for text in options.require]
    in_order = [
        _plan(options, setups[place], number + 1 if rounds > 1 else 0)
        for place, number in arranged(len(setups), rounds, order, seed)
    ]
    for alone in sides or [name]:
        _check_is_alone(alone, kind, in_order)
    plans = _numbered(in_order, options)
    code, complete = 0, True
    with Terminal() as terminal, Interrupts() as interrupts:
        outcomes = Outcomes(terminal, required)
        if options.sweep:
            shuffled = order if seed is None else f"{order} with seed {seed}"
            terminal.say(f"sweep {name}: {_extent(plans, len(setups))}, {shuffled}")
        for plan in plans:
            if plan.done:
                outcomes.add(plan.record, plan.setup.name, shown=False)
                continue
            try:
                if plan.setup.variant:
                    _begin_variant(name, plan, options.before, terminal)
                ending, is_complete = launch(plan, terminal)
                code = ending.exit_code or code
                complete &= is_complete
                outcomes.add(plan.record, plan.setup.name)
                if ending.requested or plan.number == plan.of:
                    break
                if options.until_sure and _is_certain(outcomes, plan, sides, rounds):
                    terminal.say(f"{name}: certain after {plan.number // len(sides)} of {rounds} rounds")
                    break
                if received := interrupts.wait(options.pause):
                    code = code or 128 + received
                    break
            except (UserError, KeyboardInterrupt) as error:
                if not outcomes.records:
                    raise
                terminal.say(str(error) or "interrupted")
                code = error.exit_code if isinstance(error, UserError) else 128 + signal.SIGINT
                break
        met = outcomes.conclude(name, kind, sides)
    return code or (0 if complete else NOT_RECORDED) or (0 if met else NOT_MET)


def _begin_variant(name: str, plan: Plan, before: str | None, terminal: Terminal) -> None:
    """Say which variant runs next, and run the command `before` it. Raises UserError if that fails."""
    variant = plan.setup.variant
    left = f", {duration(plan.after)} left after it" if plan.after else ""
    terminal.say(f"{name}: run {plan.number} of {plan.of}: {variant}{left}")
    if before:
        plan.content["before"] = run_before(before, variant)


def _is_certain(outcomes: Outcomes, last: Plan, sides: Sequence[str], rounds: int) -> bool:
    """Whether the series may end after this run: at the end of a round, if each variant has a verdict."""
    ended, of_next = divmod(last.number, len(sides))
    if of_next or ended < _FEWEST:
        return False
    looks = rounds - _FEWEST + 1
    return outcomes.are_sure(sides, 1 - _ERROR / looks)


def _numbered(plans: Sequence[Plan], options: argparse.Namespace) -> list[Plan]:
    """The same with their places in the series; what an earlier start finished comes first."""
    done = [plan for plan in plans if plan.done]
    todo = [plan for plan in plans if not plan.done]
    page = None
    if options.open:
        page = plans[0].record.run if len(plans) == 1 else ""
    for number, plan in enumerate(todo):
        rest = todo[number + 1 :]
        lengths = [one.length for one in rest]
        after = None if None in lengths else sum(options.pause + (length or 0.0) for length in lengths)
        todo[number] = plan._replace(number=len(done) + number + 1, of=len(plans), after=after)
    if todo:
        todo[0] = todo[0]._replace(at=options.at, page=page)
    return done + todo


def _extent(plans: Sequence[Plan], points: int) -> str:
    runs, done = len(plans), sum(plan.done for plan in plans)
    extent = f"{runs} run{'s' * (runs > 1)} of {points} point{'s' * (points > 1)}"
    if not done:
        return extent
    return f"{extent}; skips {done} that {'have' if done > 1 else 'has'} finished"


def _setups(options: argparse.Namespace, name: str, words: Sequence[str], order: str, seed: int | None) -> list[Setup]:
    """What the series runs. Raises UserError."""
    if options.sweep:
        setups = []
        for values in points_of(options.sweep, words):
            run = name + "".join(f"-{key}{value}" for key, value in values.items())
            point = SweepPoint(of=name, point=dict(values), order=order, seed=seed)
            setups.append(Setup(run, _benchmark(substituted(words, values)), {SWEEP: name, **values}, point))
        return setups
    benchmark = _benchmark(words)
    if not options.variant:
        return [Setup(name, benchmark)]
    check_variants(options.variant)
    return [
        Setup(f"{name}-{one.name}", one.of(benchmark), {VARIANT: one.name}, variant=one.name) for one in options.variant
    ]


def _benchmark(words: Sequence[str]) -> Benchmark:
    """Raises UserError if the command is no benchmark, or its program is not installed."""
    benchmark = find_benchmark(words, {tool.program or tool.name for tool in TOOLS})
    program = benchmark.command[0]
    if shutil.which(program) is None:
        raise UserError(f"{program} was not found: install it, or write its path")
    return benchmark


def _order(options: argparse.Namespace, name: str) -> tuple[str, int | None]:
    """The order of the runs, and the seed of a random one; a sweep that is continued keeps both. Raises UserError."""
    if not options.sweep:
        return "alternating" if options.variant else "given", None
    order, seed = options.order, options.seed
    if seed is not None and order not in (None, "shuffled"):
        raise UserError(f"--seed requires --order shuffled, got {order}")
    path = options.runs_path / name
    earlier = next((sweep for _, sweep in _runs_of(path) if sweep), None)
    if earlier is not None:
        names = [one.name for one in options.sweep]
        if list(earlier.point) != names:
            both = f"{' and '.join(earlier.point)}, not of {' and '.join(names)}"
            raise UserError(f"{path} is a sweep of {both}: choose another --name")
        if order in (None, earlier.order):
            order = earlier.order or None
            seed = earlier.seed if seed is None else seed
    order = order or ORDERS[0]
    if order != "shuffled":
        return order, None
    if seed is None:
        seed = random.SystemRandom().randrange(_SEEDS)
    return order, seed


def _plan(options: argparse.Namespace, setup: Setup, number: int) -> Plan:
    """One run of a setup; `number` is that of the repeat, 0 for the only one.

    Raises UserError if it cannot have its name, labels or command.
    """
    benchmark = setup.benchmark
    run = f"{setup.name}-{number}" if number else setup.name
    worker = benchmark.tool if options.worker is None else options.worker
    for label, _ in options.label:
        check_label(label, "--label")
        if label in setup.labels:
            user = "variants use" if setup.variant else "the sweep uses"
            raise UserError(f"--label {label}: {user} this label: choose another one")
    try:
        check_name("run", run)
        check_name("worker", worker)
    except ValueError as error:
        raise UserError(str(error)) from None
    if worker + SUFFIX == NAME:
        why = f"{NAME} is the record of the whole run"
        raise UserError(f"worker {worker!r} cannot be recorded: {why}; choose another --worker")
    record = RunRecord(options.runs_path, run, worker)
    earlier = None
    if setup.sweep and not options.overwrite:
        earlier = _earlier_run(record, setup.sweep, benchmark)
    overwrite = options.overwrite or earlier is not None
    if not earlier:
        record.check_is_new(overwrite)
    content = {
        "labels": {**dict(options.label), **setup.labels},
        "latency_objective": None if options.objective is None else float(options.objective),
        "host": options.host,
        "client": options.client,
        "vm": options.vm,
        "disks": dict(options.disk),
        "warmup": None if options.warmup is None else float(options.warmup),
        "parameters": dict(options.parameter),
        "repeat_of": setup.name if number else "",
        "sweep": msgspec.to_builtins(setup.sweep),
    }
    length = planned_length(benchmark)
    return Plan(record, setup, content, options.percentiles, options.push, overwrite, length, done=bool(earlier))


def _earlier_run(record: RunRecord, sweep: SweepPoint, benchmark: Benchmark) -> bool | None:
    """Whether an earlier start of the sweep finished this run; None: it did not start it.

    Raises UserError if it ran another command.
    """
    found = recorded(record.path)
    if not (found and found.sweep and (found.sweep.of, found.sweep.values) == (sweep.of, sweep.values)):
        return None
    before = recordable([*benchmark.wrapper, benchmark.program])
    after = recordable(benchmark.arguments) if benchmark.arguments else []
    words = found.command if isinstance(found.command, list) else []
    same = words[: len(before)] == before and words[len(words) - len(after) :] == after
    if words and not same:
        raise UserError(f"{record.path} ran another command: choose another --name, or add --overwrite")
    return found.exit_code == 0 and not found.signal


def _check_is_alone(name: str, kind: str, plans: Sequence[Plan]) -> None:
    """Raises UserError if views would take other runs for what has that name now: a run, a series or a sweep."""
    record = plans[0].record
    path = record.folder.with_name(name)
    if kind != "run" and path.exists():
        raise UserError(f"{path} is already a run: choose another --name, or remove it")
    planned = {plan.record.run for plan in plans}
    points = [plan.setup.sweep.values for plan in plans if plan.setup.sweep]
    for file, sweep in _runs_of(path):
        what = "sweep" if sweep else "series"
        if what != kind:
            raise UserError(f"{file} belongs to the {what} {name}: choose another --name, or remove it")
        more = file.stem == record.worker and file.parent.name not in planned
        if more and (not sweep or sweep.values in points):
            of = "the same point with another --repeat" if sweep else f"an earlier, longer series {name}"
            raise UserError(f"{file} belongs to {of}: choose another --name, or remove it")


def _runs_of(path: Path) -> Iterator[tuple[Path, SweepPoint | None]]:
    """The records of the series or sweep of that name, each with its place in the sweep (None: a series)."""
    from ..history.find import repeats

    for folder in repeats(path, RunsSettings(), tolerant=True):
        for file in folder.glob(f"*{SUFFIX}"):
            found = recorded(file)
            if found and found.sweep and found.sweep.of == path.name:
                yield file, found.sweep
            elif found and found.repeat_of == path.name:
                yield file, None
