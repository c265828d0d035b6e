"""The table and the picture of tests/experiments/density: throughput by the number of databases, against linear.

Linear is what a database of the first step does, times their number. What is missing from it at 80 % of the last step
is what the article takes for the share of the controllers (CVMs): there the databases do not wait for each other yet.
With --prometheus, the controllers' own processor time is measured: their share of that of the databases' hosts and
themselves, over each step.
"""

import argparse
import json
import re
import urllib.parse
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from benchwatch.plots.axes import Axis, count
from benchwatch.plots.plot import Drawing, Plot
from benchwatch.plots.theme import SERIES
from benchwatch.report.picture import picture

_RESULT = re.compile(r"^tps = ([\d.]+)", re.MULTILINE)
_PART = 0.8
_NEAR = 0.1
"""How far from 80 % of the databases a step may be to count for it."""


class Step(NamedTuple):
    """One run."""

    run: str
    rates: Sequence[float]
    """Transactions per second of each database."""
    hosts: Sequence[str]
    start: float
    end: float
    """Unix seconds, when all databases were measured."""
    controllers: float | None = None
    """Their share of the processor time; None: not measured."""

    @property
    def total(self) -> float:
        """Of all databases."""
        return sum(self.rates)


def read_step(folder: Path) -> Step:
    """A run's folder. Raises ValueError if a worker has no result."""
    records = {
        path.stem: yaml.safe_load(path.read_text()) for path in sorted(folder.glob("*.yaml")) if path.stem != "run"
    }
    rates = []
    for worker in records:
        output = folder / f"{worker}.out"
        found = _RESULT.search(output.read_text()) if output.exists() else None
        if not found:
            raise ValueError(f"{folder.name}: {worker} has no result")
        rates.append(float(found[1]))
    if not rates:
        raise ValueError(f"{folder.name}: no result of any database")
    every = list(records.values())
    hosts = sorted({host for one in every if (host := one.get("host") or one.get("found", {}).get("host"))})
    return Step(folder.name, rates, hosts, max(one["start"] for one in every), min(one["end"] for one in every))


def measured(step: Step, prometheus: str, controllers: str) -> Step:
    """With the controllers' share of the processor time; unchanged if Prometheus has no samples of them."""
    seconds = max(1, round(step.end - step.start))
    busy = 'sum(increase(node_cpu_seconds_total{{host=~"{}",mode!~"idle|iowait"}}[{}s]))'
    own = busy.format(controllers, seconds)
    query = f"{own} / ({own} + {busy.format('|'.join(map(re.escape, step.hosts)), seconds)})".replace("\\", "\\\\")
    address = f"{prometheus.rstrip('/')}/api/v1/query?" + urllib.parse.urlencode({"query": query, "time": step.end})
    with urllib.request.urlopen(address, timeout=30) as answer:
        found = json.load(answer)["data"]["result"]
    return step._replace(controllers=float(found[0]["value"][1])) if found else step


def table(steps: Sequence[Step]) -> str:
    """A line for each step."""
    alone = steps[0].total / len(steps[0].rates)
    width = max(len(step.run) for step in steps)
    known = any(step.controllers is not None for step in steps)
    lines = [
        f"{'run':<{width}} {'databases':>9} {'TPS in all':>10} {'per database':>12} {'slowest':>10} {'of linear':>10}"
        + f" {'CVM':>6}" * known
    ]
    for step in steps:
        each = step.total / len(step.rates)
        share = "" if step.controllers is None else f" {100 * step.controllers:>5.1f}%"
        lines.append(
            f"{step.run:<{width}} {len(step.rates):>9} {step.total:>10.1f} {each:>12.1f} {min(step.rates):>10.1f} "
            f"{100 * each / alone:>9.1f}%{share}"
        )
    return "\n".join(lines)


def at_most_of_the_load(steps: Sequence[Step]) -> tuple[Step, float] | None:
    """The step nearest to 80 % of the last, and what it misses of linear; None if none is near."""
    most = len(steps[-1].rates)
    near = min(steps, key=lambda step: abs(len(step.rates) / most - _PART))
    if abs(len(near.rates) / most - _PART) > _NEAR:
        return None
    return near, 1 - near.total / len(near.rates) / (steps[0].total / len(steps[0].rates))


def draw(steps: Sequence[Step], path: Path, title: str) -> None:
    """The picture, PNG; needs Chromium."""
    numbers = np.array([len(step.rates) for step in steps], dtype=float)
    rates = np.array([step.total for step in steps])
    alone = steps[0].total / len(steps[0].rates)
    ends = np.array([0.0, numbers[-1]])
    measured, ideal = SERIES[:2]
    lines = [
        Drawing("one database's TPS times their number", ideal, ends, alone * ends, look="dashed"),
        Drawing("measured", measured, numbers, rates),
        Drawing("", measured, numbers, rates, look="points"),
    ]
    plot = Plot("TPS in all", "", Axis("databases", count), Axis("TPS in all", count), lines, limits=(0.0, numbers[-1]))
    last = steps[-1]
    linear = f"{100 * last.total / alone / len(last.rates):.1f} % of linear"
    found_out = [f"{len(last.rates)} databases", f"{count(last.total)} TPS in all", linear]
    if (found := at_most_of_the_load(steps)) and found[1] > 0:
        found_out.append(f"{100 * found[1]:.1f} % missing at {len(found[0].rates)}")
    if last.controllers is not None:
        found_out.append(f"CVMs {100 * last.controllers:.1f} % of CPU")
    path.write_bytes(picture(title or "Density", [", ".join(found_out)], plot))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--title", default="")
    parser.add_argument("--prometheus", default="")
    parser.add_argument("--controllers", default="")
    parser.add_argument("runs", nargs="+", type=Path)
    options = parser.parse_args()
    try:
        steps = [read_step(run) for run in options.runs]
    except ValueError as error:
        parser.exit(1, f"density: {error}\n")
    if options.prometheus:
        steps = [measured(step, options.prometheus, options.controllers) for step in steps]
    print(table(steps))
    if options.picture and len(steps) > 1:
        if found := at_most_of_the_load(steps):
            print(
                f"{len(found[0].rates)} of {len(steps[-1].rates)} databases miss {100 * found[1]:.1f} % of linear: "
                "on a cluster, what its controllers (CVMs) use"
            )
        draw(steps, options.picture, options.title)
        print(f"picture: {options.picture}")


if __name__ == "__main__":
    main()
