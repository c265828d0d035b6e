"""The table of tools. A new tool is a package beside this file and a line here."""

from .api import Tool
from .fio import FIO
from .pgbench import PGBENCH
from .sysbench import SYSBENCH

TOOLS: tuple[Tool, ...] = (PGBENCH, FIO, SYSBENCH)


def tool_names() -> str:
    """All of them, for messages: pgbench, fio or sysbench."""
    *names, last = (tool.name for tool in TOOLS)
    return f"{', '.join(names)} or {last}" if names else last
