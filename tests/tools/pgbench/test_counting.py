"""The count of transactions behind the progress lines."""

import random
from collections.abc import Callable
from itertools import pairwise

import pytest

from benchwatch.tools.pgbench.progress import Progress, ProgressCount

Jitter = Callable[[random.Random], float]
Rate = Callable[[random.Random, int], float]

JITTERS: dict[str, Jitter] = {
    "one millisecond late": lambda source: source.expovariate(1000),
    "up to 50 ms late": lambda source: source.random() * 0.05,
    "now and then up to 2 s late": lambda source: 0.0005 if source.random() < 0.95 else source.random() * 2,
}
RATES: dict[str, Rate] = {
    "5 % noise": lambda source, _: source.gauss(10_000, 500),
    "on and off": lambda _, number: 20_000 * (number % 2),
    "wild": lambda source, _: source.expovariate(1 / 3000),
    "a few a second": lambda source, _: source.random() * 5,
    "23 a minute": lambda *_: 23 / 60,
    "20 in 7 s": lambda *_: 20 / 7,
    "very fast": lambda source, _: source.gauss(300_000, 10_000),
}


def run(seed: int, interval: int, rate: Rate, jitter: Jitter, epoch: bool) -> list[tuple[int, int]]:
    """True and counted transactions at each line of an hour's run whose lines are printed as pgbench prints them."""
    source = random.Random(seed)
    count = ProgressCount()
    begin = 1_795_168_000 + source.random()
    before = 0.0
    total = 0
    out: list[tuple[int, int]] = []
    due = interval
    while due <= 3600:
        now = due + jitter(source)
        done = int(rate(source, len(out)) * (now - before) + source.random())
        total += done
        time = round(begin + now, 3) if epoch else round(now, 1)
        count.add(Progress(time, epoch, round(done / (now - before), 1), 0.001 if done else None, None))
        out.append((total, count.transactions))
        before = now
        while due <= now:
            due += interval
    return out


@pytest.mark.parametrize("epoch", [False, True], ids=["elapsed", "epoch"])
@pytest.mark.parametrize("interval", [1, 3, 5, 60])
@pytest.mark.parametrize("jitter", JITTERS)
def test_count_is_never_ahead_of_the_truth_nor_goes_back(jitter: str, interval: int, epoch: bool) -> None:
    for seed, rate in enumerate(RATES.values()):
        lines = run(seed, interval, rate, JITTERS[jitter], epoch)
        assert all(counted <= true for true, counted in lines)
        assert all(after[1] >= before[1] for before, after in pairwise(lines))


@pytest.mark.parametrize(("rate", "seconds"), [("5 % noise", 0.6), ("very fast", 0.6), ("wild", 10.0)])
def test_what_is_held_back_after_an_hour_is_soon_made_good(rate: str, seconds: float) -> None:
    lines = run(1, 1, RATES[rate], JITTERS["one millisecond late"], epoch=False)
    true, counted = lines[-1]
    assert true - counted < seconds * true / 3600


def test_few_transactions_are_counted_exactly() -> None:
    lines = run(2, 1, RATES["23 a minute"], JITTERS["one millisecond late"], epoch=False)
    assert all(true == counted for true, counted in lines)


def test_transactions_too_few_for_a_rate_are_counted_once() -> None:
    count = ProgressCount()
    count.add(Progress(60.0, False, 0.0, 31.0, 0.0))
    count.add(Progress(120.0, False, 0.0, None, None))
    assert count.transactions == 1


@pytest.mark.parametrize(
    ("times", "interval"),
    [
        ([1.0], 1),
        ([5.0], 5),
        ([5.0, 10.0, 15.0], 5),
        ([1.0, 2.0, 5.7, 6.0, 7.0, 8.0], 1),  # SIGSTOP for 3.2 s
        ([5.0, 12.2, 15.0, 20.0], 5),
        ([1795168139.483, 1795168140.483], 1),
        ([1795168139.483, 1795168149.484, 1795168159.483], 10),
    ],
)
def test_interval_is_that_of_the_option(times: list[float], interval: float) -> None:
    count = ProgressCount()
    for time in times:
        count.add(Progress(time, time > 1e9, 10.0, 0.001, 0.0))
    assert count.interval == interval


def test_interval_of_a_single_time_stamp_is_not_known() -> None:
    count = ProgressCount()
    count.add(Progress(1795168139.483, True, 10.0, 0.001, 0.0))
    assert count.interval is None
    assert count.start == 1795168138.483


def test_start_by_time_stamps_is_one_interval_before_the_first() -> None:
    count = ProgressCount()
    for time in (1795168140.0, 1795168150.0, 1795168160.0):
        count.add(Progress(time, True, 10.0, 0.001, 0.0))
    assert count.start == 1795168130.0


def test_clock_that_is_set_back_takes_nothing_away() -> None:
    count = ProgressCount()
    for time in (1795168140.0, 1795168141.0, 1795168139.5, 1795168140.5):
        before = count.transactions
        count.add(Progress(time, True, 1000.0, 0.001, 0.0))
        assert count.transactions >= before
