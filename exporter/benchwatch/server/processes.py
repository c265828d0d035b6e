"""Which processes use this machine's processors and disks, by name, while they are busy; a source (see samples.Source).

From the proc file system (proc(5)): `stat` and `diskstats` say whether anything is busy; only then are `<pid>/stat` and
`<pid>/io` read, every few seconds. `<pid>/io` counts what reaches the disks, and can be read of one's own processes, as
root of all. Where there is no such file, its figures are absent.
"""

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ..metrics.samples import Family, Sample

PROCESSORS = Family(
    "benchwatch_process_processors",
    "gauge",
    "Processors that the machine's processes of this name use; the three names that use most, while at least half of "
    "its processors are busy.",
    ("host", "process"),
)
DISK_BYTES = Family(
    "benchwatch_process_disk_bytes_per_second",
    "gauge",
    "Bytes that the machine's processes of this name read from and write to disks; the three names with most, while a "
    "disk is busy for 30 % of the time.",
    ("host", "process"),
)
FAMILIES = (PROCESSORS, DISK_BYTES)
_EVERY, _SOON, _SHARE = 2.0, 0.5, 0.003
"""Seconds between two looks, and after the first one of a busy time; the share of the time that they may take. With
many processes, looks are rarer.
"""
_MOST = 3
_BUSY, _DISK_BUSY = 0.5, 0.3
"""Parts of the time from which on processors and a disk are worth a look at processes."""
_LEAST = {PROCESSORS: 0.1, DISK_BYTES: 1e6}
_TICKS = os.sysconf("SC_CLK_TCK")

Used = dict[str, tuple[str, float]]
"""The name of a process, and its processor seconds or bytes since its start, by its number."""


class Processes:
    """The machine whose name is `host`; `proc` is where its proc file system is."""

    labels: tuple[tuple[str, str], ...] = ()

    def __init__(self, host: str, proc: Path = Path("/proc"), clock: Callable[[], float] = time.monotonic) -> None:
        self._host = host
        self._proc = proc
        self._clock = clock
        self._looked = self._due = clock()
        self._spent: tuple[float, float] | None = None  # ticks of all processors, and idle ones
        self._disks: dict[str, float] = {}  # busy seconds by name
        self._used: dict[Family, Used] = {}
        self._samples: Sequence[Sample] = ()
        self._version = 0

    @property
    def version(self) -> int:
        """See samples.Source."""
        now = self._clock()
        if now >= self._due:
            known = set(self._used)
            samples = tuple(self._look(now - self._looked))
            wait = _SOON if set(self._used) - known else max(_EVERY, (self._clock() - now) / _SHARE)
            self._looked, self._due = now, now + wait
            self._version += samples != self._samples
            self._samples = samples
        return self._version

    def samples(self) -> Iterator[Sample]:
        """See samples.Source."""
        return iter(self._samples)

    def _look(self, seconds: float) -> Iterator[Sample]:
        for family, is_busy, read in (
            (PROCESSORS, self._processors_busy(), _processor_seconds),
            (DISK_BYTES, self._disk_busy(seconds), _disk_bytes),
        ):
            before = self._used.pop(family, None)
            if not is_busy:
                continue
            with os.scandir(self._proc) as found:
                pids = [entry.name for entry in found if entry.name.isdigit()]
            now = self._used[family] = {pid: one for pid in pids if (one := read(f"{self._proc}/{pid}"))}
            if before is not None:
                rates: dict[str, float] = defaultdict(float)
                for pid, (name, used) in now.items():
                    earlier = before.get(pid, ("", 0.0))[1]
                    rates[name] += (used - earlier if used >= earlier else used) / seconds
                for name, rate in sorted(rates.items(), key=lambda item: item[1], reverse=True)[:_MOST]:
                    if rate >= _LEAST[family]:
                        yield Sample(family, (self._host, name), rate)

    def _processors_busy(self) -> bool:
        """Whether at least half of them have been busy since the last look."""
        try:
            ticks = [float(word) for word in (self._proc / "stat").read_text().split("\n", 1)[0].split()[1:9]]
        except (OSError, ValueError):
            return False
        before = self._spent
        spent, idle = self._spent = sum(ticks), ticks[3] + ticks[4]  # the latter wait for disks, or for work
        if before is None or spent <= before[0]:
            return False
        return 1 - (idle - before[1]) / (spent - before[0]) >= _BUSY

    def _disk_busy(self, seconds: float) -> bool:
        """Whether one of its disks has been busy for some of the time since the last look."""
        try:
            rows = [line.split() for line in (self._proc / "diskstats").read_text().splitlines()]
            disks = {row[2]: float(row[12]) / 1000 for row in rows}
        except (OSError, ValueError, IndexError):
            return False
        before, self._disks = self._disks, disks
        return any(name in before and spent - before[name] >= _DISK_BUSY * seconds for name, spent in disks.items())


def _read(path: str) -> bytes:
    """What a file has; nothing if its process is gone meanwhile, or somebody else's."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 (quicker than a Path)
            return file.read(4096) or b""
    except OSError:
        return b""


def _processor_seconds(folder: str) -> tuple[str, float] | None:
    name, words = _stat(folder)
    return (name, (int(words[11]) + int(words[12])) / _TICKS) if name else None


def _disk_bytes(folder: str) -> tuple[str, float] | None:
    words = _read(f"{folder}/io").split()
    if not words:
        return None
    amount = sum(float(words[words.index(name) + 1]) for name in (b"read_bytes:", b"write_bytes:"))
    name = _stat(folder)[0] if amount else ""
    return (name, amount) if name else None


def _stat(folder: str) -> tuple[str, Sequence[bytes]]:
    """The name of a process, and the fields of its `stat` after that; no name: it is gone."""
    head, _, rest = _read(f"{folder}/stat").rpartition(b") ")
    name = head.partition(b" (")[2].decode(errors="replace")
    return name.partition("/")[0], rest.split()  # of kworker/3:1-events, the first word
