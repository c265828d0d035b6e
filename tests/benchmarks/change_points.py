"""Steps in series of results, as `benchwatch history`, apache-otava and ruptures find them.

    .venv/bin/python tests/benchmarks/change_points.py [--series 200] [FILE...]

Made series have a mean of 1,000 and a standard deviation of 10. Printed, for each: points found in series without a
step, for each 1,000 results (all are false; neighbours correlate by 0, 0.3 or 0.6); how often a step is found within
three results of its place, when so many results followed it, and how many false points stood beside it; processor time
for each series of 100. A FILE has a result a line, of runs that nothing changed: the points found in it.

apache-otava is used as it comes (windows of 50, probability 0.001). ruptures has no test of whether there is a step:
PELT with a quadratic cost gets 3 log(n) times the variance, by the differences of neighbours, as its penalty. Both are
left out where they are not installed.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "exporter"))

from benchwatch.compare.statistics import change_points

Finder = Callable[[Sequence[float]], list[int]]
NEAR = 3
REFUSED: list[int] = []
"""The length of each series for which apache-otava fails; none is found in it."""
BEFORE = 40


def finders() -> dict[str, Finder]:
    """Those that can be imported."""
    found: dict[str, Finder] = {"benchwatch": change_points}
    try:
        from otava.analysis import compute_change_points
    except ImportError:
        print("apache-otava is not installed", file=sys.stderr)
    else:

        def otava(values: Sequence[float]) -> list[int]:
            try:
                return [one.index for one in compute_change_points(values)[0]]
            except ValueError:  # two windows found the same point
                REFUSED.append(len(values))
                return []

        found["apache-otava"] = otava
    try:
        import ruptures
    except ImportError:
        print("ruptures is not installed", file=sys.stderr)
    else:

        def pelt(values: Sequence[float]) -> list[int]:
            array = np.array(values)
            penalty = 3 * np.log(len(array)) * np.diff(array).var() / 2
            places: list[int] = ruptures.Pelt(model="l2", jump=1).fit_predict(array, pen=penalty)
            return places[:-1]

        found["ruptures"] = pelt
    return found


def made(
    random: np.random.Generator, size: int, correlation: float = 0.0, step: float = 0.0, at: int = 0
) -> list[float]:
    """A series; from the result `at` on it is lower by `step` standard deviations."""
    noise = random.normal(size=size)
    for place in range(1, size):
        noise[place] = correlation * noise[place - 1] + np.sqrt(1 - correlation**2) * noise[place]
    noise[at:] -= step if at else 0.0
    return [float(value) for value in 1000 + 10 * noise]


def false_alarms(find: Finder, correlation: float, number: int) -> tuple[float, float]:
    """Points per 1,000 results, and seconds of processor time per series."""
    random, found, size = np.random.default_rng(1), 0, 100
    begin = time.process_time()
    for _ in range(number):
        found += len(find(made(random, size, correlation)))
    return 1000 * found / (number * size), (time.process_time() - begin) / number


def steps(find: Finder, step: float, after: int, number: int) -> tuple[float, float]:
    """The part of the steps that are found, and false points per series."""
    random, hits, others = np.random.default_rng(2), 0, 0
    for _ in range(number):
        points = find(made(random, BEFORE + after, step=step, at=BEFORE))
        near = [point for point in points if abs(point - BEFORE) <= NEAR]
        hits += bool(near)
        others += len(points) - bool(near)
    return hits / number, others / number


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("files", nargs="*", type=Path)
    options = parser.parse_args()
    each = finders()
    print(f"| | {' | '.join(each)} |\n|---|{'--:|' * len(each)}")
    for correlation in (0.0, 0.3, 0.6):
        alarms = [false_alarms(find, correlation, options.series) for find in each.values()]
        print(f"| false per 1,000, correlation {correlation:g} | {' | '.join(f'{one:.1f}' for one, _ in alarms)} |")
    print(f"| processor time per series of 100 | {' | '.join(f'{1e3 * cost:.0f} ms' for _, cost in alarms)} |")
    for step in (1.0, 1.5, 2.0, 3.0):
        for after in (5, 10, 30):
            cells = [steps(find, step, after, options.series) for find in each.values()]
            shown = " | ".join(f"{100 * hit:.0f} %, {other:.2f}" for hit, other in cells)
            print(f"| step of {step:g} deviations, {after} results after it: found, false | {shown} |", flush=True)
    print(f"apache-otava failed on {len(REFUSED)} series", file=sys.stderr)
    for path in options.files:
        values = [float(line) for line in path.read_text().split()]
        named = f"{path.name}: {len(values)} results"
        print(f"| {named} | {' | '.join(str(len(find(values))) for find in each.values())} |")


if __name__ == "__main__":
    main()
