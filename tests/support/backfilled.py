"""A Prometheus on series that were never scraped: made as OpenMetrics, turned into blocks by promtool."""

import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import requests

from .grafana import Prometheus
from .ports import free_address
from .programs import program
from .waiting import eventually


class Made(NamedTuple):
    """A series: `value` at each of the times, Unix seconds; none where it gives None."""

    name: str
    labels: str
    value: Callable[[float], float | None]


def write(path: Path, series: Iterable[Made], times: Sequence[float]) -> None:
    """Writes the series as OpenMetrics, each family in one piece."""
    families: dict[str, list[Made]] = {}
    for one in series:
        families.setdefault(one.name, []).append(one)
    with path.open("w") as output:
        for name, every in families.items():
            kind = "counter" if name.endswith("_total") else "unknown"
            output.write(f"# TYPE {name.removesuffix('_total')} {kind}\n")
            for one in every:
                head = f"{name}{{{one.labels}}}"
                samples = ((time, one.value(time)) for time in times)
                output.write("".join(f"{head} {value!r} {time}\n" for time, value in samples if value is not None))
        output.write("# EOF\n")


@contextmanager
def served(
    folder: Path, series: Iterable[Made], times: Sequence[float], name: str = "prometheus"
) -> Iterator[Prometheus]:
    """A Prometheus that has these series, in a folder of that name."""
    here = folder / name
    here.mkdir()
    write(here / "series.txt", series, times)
    blocks = [program("promtool"), "tsdb", "create-blocks-from", "openmetrics", here / "series.txt", here / "data"]
    subprocess.run([*map(str, blocks)], check=True, stdout=subprocess.DEVNULL)
    (here / "prometheus.yml").write_text("{}\n")
    address = free_address()
    storage = [f"--storage.tsdb.path={here / 'data'}", "--storage.tsdb.retention.time=100y"]
    command = [program("prometheus"), f"--config.file={here / 'prometheus.yml'}", *storage]
    with (here / "log").open("w") as log:
        server = subprocess.Popen([*command, f"--web.listen-address={address}"], stderr=log)
    try:
        eventually(lambda: _ready(f"http://{address}/-/ready"), "Prometheus gets ready")
        yield Prometheus(f"http://{address}")
    finally:
        server.terminate()
        server.wait()


def _ready(url: str) -> bool:
    with requests.Session() as session:
        session.trust_env = False
        try:
            return session.get(url, timeout=5).ok
        except requests.RequestException:
            return False
