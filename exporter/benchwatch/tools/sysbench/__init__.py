"""sysbench 1.0: tests of databases, files, memory, processors and what else is written in Lua.

Here live the parser of its one kind of stream, text, and the state of one process; nothing here reads files or knows of
other tools.
"""

import re
from collections.abc import Iterator, Sequence
from mmap import mmap

from ...metrics.buckets import Buckets
from ...metrics.exposition import Family
from ..api import Moment, Parser, State
from .metrics import FAMILIES
from .moments import moments
from .parser import SysbenchParser
from .reports import ANY
from .state import SysbenchState

_BANNER = re.compile(rb"(?:^|[\r\n])sysbench \d[^\r\n]*")


class Sysbench:
    """See tools.api.Tool."""

    name = "sysbench"
    throughput_unit = "TPS"
    log_prefix = ""
    families: Sequence[Family] = FAMILIES

    def recognise(self, head: bytes) -> str:
        """ "text", or empty."""
        if _BANNER.search(head):
            return "text"
        lines = head.decode("utf-8", "replace").splitlines()
        return "text" if any(ANY.match(line) for line in lines) else ""

    def parser(self, kind: str) -> Parser:
        """A new parser."""
        return SysbenchParser()

    def moments(self, kind: str, data: bytes | mmap) -> Iterator[Moment]:
        """See tools.api.Tool."""
        return moments(data)

    def state(self, buckets: Buckets) -> State:
        """A new, empty state."""
        return SysbenchState(buckets)


SYSBENCH = Sysbench()
