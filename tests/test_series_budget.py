"""How many series a worker has while it runs: what docs/scale.md counts with."""

import re
from collections import Counter
from pathlib import Path

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.runs.watcher import Runs
from benchwatch.server.exporter import Exporter
from benchwatch.settings.settings import RunsSettings
from tests.support.places import NOW, RECORDINGS, Place

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
PROGRESS = "".join(
    f"progress: {NOW - 30 + second:.3f} s, 50.0 tps, lat 5.123 ms stddev 1.234, 0 failed\n" for second in range(30)
)
LOG = "".join(f"0 {n} {1000 + n} 0 {int(NOW) - 30 + n // 50} {n:06d}\n" for n in range(1400))


def live(root: Path, buckets: int = 4, state: str = "running") -> Counter[str]:
    """Series of the worker in the fast scrape, by name."""
    runs = Runs([root / "runs"], RunsSettings(), Buckets(buckets))
    while runs.poll(NOW):
        pass
    page = Exporter(runs).render(frozenset({"live"}))
    assert f'benchwatch_run_state{{run="a",worker="db1",state="{state}"}} 1\n' in page
    return Counter(re.findall(r'^(\w+)\{[^}]*worker="db1"', page, re.MULTILINE))


def budget(worker: str) -> int:
    """What the page says of a worker."""
    (found,) = re.findall(rf"^\| {re.escape(worker)} \| (\d+) \|$", PAGE.read_text(), re.MULTILINE)
    return int(found)


@pytest.mark.parametrize(
    ("buckets", "histogram", "name"),
    [(4, 99, "pgbench with its histogram"), (2, 51, "the same"), (1, 27, "the same")],
)
def test_a_pgbench_worker_with_its_histogram(
    tmp_path: Path, place: Place, buckets: int, histogram: int, name: str
) -> None:
    place("a/db1.err", PROGRESS.encode())
    place("a/db1.77", LOG.encode())
    found = live(tmp_path, buckets)
    assert sum(count for name, count in found.items() if name.startswith("pgbench_latency_seconds_")) == histogram
    assert found.total() == 19 + histogram == budget(f"{name}, `buckets_per_octave: {buckets}`")


def test_a_pgbench_worker_without_transaction_log(tmp_path: Path, place: Place) -> None:
    place("a/db1.err", PROGRESS.encode())
    assert live(tmp_path).total() == 13 == budget("pgbench without transaction log")


def test_a_fio_worker_that_reads_and_writes(tmp_path: Path, place: Place) -> None:
    document = (RECORDINGS / "fio" / "jsonplus-si1-libaio-qd16-3.42.out").read_bytes()
    place("a/db1.out", document[: len(document) // 2], NOW)
    assert live(tmp_path).total() == 238 == budget("fio, one job that reads and writes, json+")


def test_a_pgbench_worker_that_has_ended_is_one_series(tmp_path: Path, place: Place) -> None:
    for suffix in ("err", "out"):
        place(f"a/db1.{suffix}", RECORDINGS / "pgbench" / f"tpcb-15.18.{suffix}", NOW - 3600)
    place("a/db1.77", LOG.encode(), NOW - 3600)
    assert live(tmp_path, state="finished") == Counter(benchwatch_run_state=1)
