"""What takes the samples: VictoriaMetrics (single node) and Prometheus, each with empty data in a folder of its own."""

import shutil
import tempfile
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import NamedTuple, Self

import requests

from demo_ports import Ports
from demo_processes import Failure, Processes
from scale_programs import Usage, prometheus, usage, victoria_metrics
from scale_ways import CHECKOUT

_SETTLED = 3.0
"""Seconds without a change, after which a receiver has nothing left to write."""


class Stored(NamedTuple):
    """What is on disk: bytes of samples, bytes of the index of series, and the number of samples."""

    data: int
    index_size: int
    samples: int


class Receiver(ABC):
    """A running one; a context, at the end of which it is gone with its data."""

    name: str
    path: str
    versions: tuple[int, ...] = (1,)
    """Of remote write, that it takes."""

    def __init__(self, folder: Path, *, rules: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="receiver-", dir=folder))
        self._rules = rules
        self._processes = Processes(self.folder, {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)})
        self.port = Ports({"receiver": 0})["receiver"]
        self._session = requests.Session()
        self._session.trust_env = False

    def __enter__(self) -> Self:
        process = self._processes.start("receiver", self._command(), folder=self.folder)
        self._pid = process.popen.pid
        try:
            self._processes.wait_for(process, self._url("/metrics"))
        except Failure:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.stop_all()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def usage(self) -> Usage:
        """Its processor time and memory."""
        return usage(self._pid)

    def metrics(self, family: str) -> dict[str, float]:
        """The samples of a family of its own metrics, by their labels."""
        found = {}
        for line in self._session.get(self._url("/metrics"), timeout=60).text.splitlines():
            name, _, rest = line.partition("{")
            if not rest:
                name = line.partition(" ")[0]
            if name == family:
                series, _, value = line.rpartition(" ")
                found[series.removeprefix(family)] = float(value)
        return found

    @abstractmethod
    def _command(self) -> list[str]: ...

    @abstractmethod
    def active(self) -> int:
        """Series that it knows."""

    @abstractmethod
    def stored(self) -> Stored:
        """What is on disk, after everything has been written there as it will stay."""

    def _url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def _ask(self, path: str, method: str = "GET") -> requests.Response:
        answer = self._session.request(method, self._url(path), timeout=300)
        answer.raise_for_status()
        return answer


class VictoriaMetrics(Receiver):
    """Its single node, with a retention of a year."""

    name = "VictoriaMetrics"
    path = "/api/v1/write"

    def _command(self) -> list[str]:
        program = victoria_metrics("victoria-metrics-prod", "victoria-metrics")
        if program is None:
            raise Failure(
                "victoria-metrics was not found on PATH: name the program in VICTORIA_METRICS, or use "
                "--receiver=prometheus"
            )
        data = f"-storageDataPath={self.folder / 'data'}"
        memory = "-memory.allowedBytes=4GB"
        return [program, data, f"-httpListenAddr=127.0.0.1:{self.port}", "-retentionPeriod=1y", memory]

    def active(self) -> int:
        """See Receiver."""
        return int(self.metrics("vm_new_timeseries_created_total")[""])

    def stored(self) -> Stored:
        """See Receiver."""
        for page in ("force_flush", "force_merge", "force_flush"):
            self._ask(f"/internal/{page}")
            before = None
            while any(self.metrics("vm_active_force_merges").values()) or before != (before := self._sizes()):
                time.sleep(_SETTLED)
        return self._sizes()

    def _sizes(self) -> Stored:
        sizes, rows = self.metrics("vm_data_size_bytes"), self.metrics("vm_rows")
        index = sum(size for labels, size in sizes.items() if "indexdb" in labels)
        samples = sum(count for labels, count in rows.items() if "storage/" in labels)
        return Stored(int(sum(sizes.values()) - index), int(index), int(samples))


class Prometheus(Receiver):
    """As a receiver of remote write; with `rules`, those of prometheus/rules."""

    name = "Prometheus"
    path = "/api/v1/write"
    versions = (1, 2)

    def _command(self) -> list[str]:
        rules = f'rule_files: ["{CHECKOUT}/prometheus/rules/*.yml"]\n' if self._rules else ""
        (self.folder / "prometheus.yml").write_text(f"global: {{scrape_interval: 10s}}\n{rules}")
        files = [f"--config.file={self.folder / 'prometheus.yml'}", f"--storage.tsdb.path={self.folder / 'data'}"]
        listen = [f"--web.listen-address=127.0.0.1:{self.port}", "--web.enable-remote-write-receiver"]
        return [prometheus(), *files, *listen, "--web.enable-admin-api"]

    def active(self) -> int:
        """See Receiver."""
        return int(self.metrics("prometheus_tsdb_head_series")[""])

    def stored(self) -> Stored:
        """See Receiver."""
        name = self._ask("/api/v1/admin/tsdb/snapshot", "POST").json()["data"]["name"]
        blocks = self.folder / "data" / "snapshots" / name
        chunks = sum(path.stat().st_size for path in blocks.glob("*/chunks/*"))
        index = sum(path.stat().st_size for path in blocks.glob("*/index"))
        return Stored(chunks, index, int(sum(self.metrics("prometheus_tsdb_head_samples_appended_total").values())))


RECEIVERS: dict[str, type[Receiver]] = {"victoriametrics": VictoriaMetrics, "prometheus": Prometheus}
