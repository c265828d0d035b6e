"""The table of tools. A new tool is a package beside this file and a line here."""

from .api import Tool
from .fio import FIO
from .pgbench import PGBENCH

TOOLS: tuple[Tool, ...] = (PGBENCH, FIO)
