"""The table of tools. A new tool is a package beside this file and a line here."""

from .api import Tool
from .fio import FIO
from .iperf3 import IPERF3
from .pgbench import PGBENCH

TOOLS: tuple[Tool, ...] = (PGBENCH, FIO, IPERF3)
