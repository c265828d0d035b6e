"""The table of tools. A new tool is a package beside this file and a line here."""

from collections.abc import Iterator

from ..values.suggestion import either
from .api import Tool
from .benchbase import BENCHBASE
from .fio import FIO
from .go_ycsb import GO_YCSB
from .hammerdb import HAMMERDB
from .iperf3 import IPERF3
from .memtier import MEMTIER
from .pgbench import PGBENCH
from .redis_benchmark import REDIS_BENCHMARK
from .roles import Roles
from .sysbench import SYSBENCH
from .vdbench import VDBENCH
from .vioperf import VIOPERF
from .ycsb import YCSB

TOOLS: list[Tool] = [
    PGBENCH,
    FIO,
    SYSBENCH,
    IPERF3,
    VDBENCH,
    HAMMERDB,
    YCSB,
    GO_YCSB,
    BENCHBASE,
    REDIS_BENCHMARK,
    MEMTIER,
    VIOPERF,
]
"""A list, because a test adds its own tool; whatever derives from it is therefore made on demand."""


def named(name: str) -> Tool | None:
    """The tool of that name, or whose program has it; None if there is none."""
    return next((tool for tool in TOOLS if name in {tool.name, tool.program} - {""}), None)


def names() -> str:
    """All names, for a sentence: pgbench or fio."""
    return either(tool.name for tool in TOOLS)


def all_roles() -> Iterator[Roles]:
    """The roles of all tools."""
    return (roles for tool in TOOLS for roles in tool.roles)
