"""Figures of runs on the overview and in watch."""

from benchwatch.model.run import Worker
from benchwatch.results.folded import total


def worker(name: str, whole_server: bool) -> Worker:
    return Worker(
        run="a",
        name=name,
        tool="hammerdb",
        state="running",
        unit="TPM",
        start=100.0,
        throughput=31_000.0,
        whole_server=whole_server,
    )


def test_rates_of_workers_that_ran_together_are_added() -> None:
    assert total([worker("a", False), worker("b", False)]) == 62_000


def test_rates_that_are_those_of_the_whole_server_are_not_added() -> None:
    assert total([worker("a", True), worker("b", True)]) is None
    assert total([worker("a", True)]) == 31_000
