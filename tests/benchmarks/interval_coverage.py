"""How often `benchwatch compare` is wrong about two runs that do not differ, by simulation.

    .venv/bin/python tests/benchmarks/interval_coverage.py [--pairs 1000]

Each pair is two AR(1) series of the same mean, whose reports have a standard deviation of 10 %. Printed, as parts of
all pairs: by reports that are taken for independent (Welch's t) and by batches, intervals of 95 % that leave out the
truth; runs too short or too entangled to tell; and verdicts `better` or `worse` with the allowance of 5 %. Runs may
differ from each other by more than their reports show: `between runs` is the standard deviation of their means. Then
repeats, of both sides or of one, judged by the differences between runs. Last, how many of such runs, none of which
changes, are called unsteady.
"""

import argparse
import sys
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.compare.made import Floats, autoregressive

from benchwatch.compare.statistics import Estimate, against_one, between_runs, change, one_batch, shift, within_run
from benchwatch.compare.steadiness import is_unsteady

ALLOWANCE = 0.05


def independent(values: Floats) -> Estimate:
    """As if every report told something new."""
    return Estimate(values.mean(), values.std(ddof=1) / np.sqrt(len(values)) / values.mean(), len(values) - 1)


def single(size: int, correlation: float, between: float, pairs: int) -> str:
    random = np.random.default_rng(7)
    naive = wrong = silent = verdicts = 0
    for seed in range(pairs):
        means = 1000 * np.exp(between * random.normal(size=2))
        series = [autoregressive(2 * seed + side, size, mean, correlation) for side, mean in enumerate(means)]
        low, high = change(*map(independent, series), 0.95)
        naive += not low <= 0 <= high
        one, two = map(within_run, series)
        if one is None or two is None:
            silent += 1
            continue
        low, high = change(one, two, 0.95)
        wrong += not low <= 0 <= high
        lower, higher = change(one_batch(one), one_batch(two), 0.95)
        verdicts += (low > ALLOWANCE and lower > 0) or (high < -ALLOWANCE and higher < 0)
    parts = (f"{100 * count / pairs:.1f} %" for count in (naive, wrong, silent, verdicts))
    return f"| {size} | {correlation:g} | {100 * between:g} % | {' | '.join(parts)} |"


def repeated(runs: int, others: int, between: float, pairs: int) -> str:
    random = np.random.default_rng(8)
    wrong = 0
    for _ in range(pairs):
        left, right = (1000 * np.exp(between * random.normal(size=size)) for size in (runs, others))
        one, two = between_runs(left), between_runs(right)
        assert one
        low, high = change(one, two, 0.95) if two else change(*against_one(one, *right), 0.95)
        wrong += not low <= 0 <= high
    return f"| {runs} and {others} | {100 * between:g} % | {100 * wrong / pairs:.1f} % |"


def unsteady(size: int, correlation: float, runs: int) -> str:
    found = sum(is_unsteady(shift(autoregressive(seed, size, 1000, correlation))) for seed in range(runs))
    return f"| {size} | {correlation:g} | {100 * found / runs:.1f} % |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulates pairs of runs that do not differ.")
    parser.add_argument("--pairs", type=int, default=1000)
    pairs = parser.parse_args().pairs
    print("| reports | correlation | between runs | as if independent | by batches | no interval | verdict |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for between, size, correlation in product((0.0, 0.02, 0.05), (60, 300), (0.0, 0.5, 0.8)):
        print(single(size, correlation, between, pairs))
    print("\n| runs | between runs | verdict |\n|--:|--:|--:|")
    for runs, others in ((2, 2), (3, 3), (5, 5), (10, 10), (2, 1), (3, 1), (5, 1)):
        print(repeated(runs, others, 0.05, 10 * pairs))
    print("\n| reports | correlation | unsteady |\n|--:|--:|--:|")
    for size, correlation in product((12, 30, 60, 300), (0.0, 0.5, 0.8)):
        print(unsteady(size, correlation, 2 * pairs))


if __name__ == "__main__":
    main()
