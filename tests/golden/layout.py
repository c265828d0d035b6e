"""The recordings as runs: which there are, how their files are laid out, and when they were written.

A recording is a folder, or the files of one name (`x.out`, `x.err`, `x.json`, `x.server.out`) beside its command,
`x.cmd`. Each becomes the run of its name. Recordings of one command with several versions of a tool form a group
(`tpcb-13.16`, `tpcb-15.18`); those of tools of which there is one version form one by their first word.
"""

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchwatch.values.names import natural
from tests.support.places import RECORDINGS

TOOLS = (
    *("benchbase", "fio", "go-ycsb", "hammerdb", "iperf3", "memtier", "pgbench", "redis-benchmark", "sysbench"),
    *("vdbench", "ycsb"),
)
_OF_VERSIONS = ("fio", "iperf3", "pgbench")
END = 1_795_190_000.0
"""When a recording was written whose command does not say so, Unix seconds; later than the others."""
_NO_OUTPUT = (".cmd", "timing.log")
_VERSION = re.compile(r"-(\d[\d.]*(?:bp)?)$")
_TIMES = re.compile(r"start=([\d.]+) end=([\d.]+)")
_READ_FIRST = 0.6
"""The part of each file that is there in mid-run."""


class Recording(NamedTuple):
    """One recording: its name, its files by their names in the run, and when it took place (Unix seconds)."""

    name: str
    files: Mapping[str, Path]
    start: float
    end: float

    @property
    def middle(self) -> float:
        """When the first part of each file had been written."""
        return self.start + _READ_FIRST * (self.end - self.start)

    def put(self, root: Path, *, whole: bool = True) -> Path:
        """Lay it out in `root`, as it was at its end or in mid-run; returns the run's folder."""
        folder = root / self.name
        folder.mkdir(parents=True, exist_ok=True)
        moment = self.end if whole else self.middle
        for name, source in self.files.items():
            if whole:
                shutil.copyfile(source, folder / name)
            else:
                data = source.read_bytes()
                (folder / name).write_bytes(data[: int(_READ_FIRST * len(data))])
            os.utime(folder / name, (moment, moment))
        os.utime(folder, (moment, moment))
        return folder


@cache
def groups() -> Mapping[str, Sequence[Recording]]:
    """All recordings by group, named `<tool>/<group>`; in a group, in the order of versions."""
    found: dict[str, list[Recording]] = defaultdict(list)
    for tool in TOOLS:
        commands = (RECORDINGS / tool).rglob("*.cmd")
        for command in sorted(commands, key=lambda path: natural(path.stem)):
            found[f"{tool}/{_group(tool, command.stem)}"].append(_recording(command))
    (command,) = (RECORDINGS / "dashboards").glob("*.cmd")
    folder = {path.name: path for path in sorted(command.with_suffix("").parent.glob(f"{command.stem}/*"))}
    found["pgbench/rate-retries"].append(Recording(command.stem, folder, *_times(command)))
    return {name: recordings for name, recordings in found.items() if any(one.files for one in recordings)}


def _group(tool: str, name: str) -> str:
    return _VERSION.sub("", name) if tool in _OF_VERSIONS else name.partition("-")[0]


def _recording(command: Path) -> Recording:
    inside = command.parent.name == command.stem
    beside = command.parent.glob("*" if inside else f"{command.stem}.*")
    files = {path.name: path for path in sorted(beside) if not path.name.endswith(_NO_OUTPUT)}
    return Recording(command.stem, files, *_times(command))


def _times(command: Path) -> tuple[float, float]:
    found = _TIMES.search(command.read_text())
    return (float(found[1]), float(found[2])) if found else (END - 10.0, END)
