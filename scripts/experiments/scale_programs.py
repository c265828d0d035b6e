"""Programs of other projects: where they are, and what a running one uses."""

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from demo_processes import Failure

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Usage(NamedTuple):
    """Processor time of a process since its start, seconds, and its memory, bytes."""

    cpu: float
    resident: int


def usage(pid: int) -> Usage:
    """That of a running process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return Usage((int(fields[11]) + int(fields[12])) / _TICKS, pages * _PAGE)


def prometheus() -> str:
    """The program. Raises Failure if there is none."""
    return find(os.environ.get("PROMETHEUS_3") or shutil.which("prometheus"), "Prometheus", "PROMETHEUS_3")


def victoria_metrics(*names: str) -> str | None:
    """A program of VictoriaMetrics: beside the one that VICTORIA_METRICS names, else on PATH."""
    beside = os.environ.get("VICTORIA_METRICS")
    path = str(Path(beside).parent) if beside else None
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


def find(found: str | None, what: str, variable: str) -> str:
    """What was found. Raises Failure if that is nothing."""
    if found is None:
        raise Failure(f"{what} was not found on PATH: install it, or name the program in {variable}")
    return found
