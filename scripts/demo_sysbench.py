"""sysbench in the demo: transactions on the demo's PostgreSQL, reads and writes of files, and the processor, at given
rates, so that pgbench and fio keep most of the machine."""

from collections.abc import Iterator

from demo_postgres import USER
from demo_runs import Benchmark, Part, Place

_REPORTS = ("--report-interval=1", "--percentile=99", "--histogram=on")


def benchmarks(place: Place) -> Iterator[Benchmark]:
    """Three, as each has a unit of its own."""
    files = place.folder / "sysbench"
    files.mkdir(exist_ok=True)
    server = {
        "host": "127.0.0.1",
        "port": place.postgres.port,
        "user": USER,
        "db": "sbtest",
    }  # the password: PGPASSFILE
    database = ["oltp_read_write", "--db-driver=pgsql", *(f"--pgsql-{name}={value}" for name, value in server.items())]
    database += ["--tables=2", "--table-size=5000", "--threads=2"]
    file = ["fileio", "--file-total-size=32M", "--file-num=4", "--file-test-mode=rndrw", "--file-fsync-freq=50"]
    place.postgres.make_database("sbtest")
    yield _benchmark("sysbench-oltp", "db1", [*database, "--rate=40"], "100ms", [*database, "prepare"])
    yield _benchmark("sysbench-fileio", "disk1", [*file, "--rate=300"], "", [*file, "prepare"])._replace(folder=files)
    yield _benchmark("sysbench-cpu", "cpu1", ["cpu", "--cpu-max-prime=2000", "--rate=200"], "", [])


def _benchmark(name: str, worker: str, words: list[str], objective: str, preparation: list[str]) -> Benchmark:
    def parts(seconds: int) -> list[Part]:
        return [Part(worker, ["sysbench", *words, *_REPORTS, f"--time={seconds}", "run"])]

    return Benchmark(name, parts, objective, preparation=["sysbench", *preparation] if preparation else ())
