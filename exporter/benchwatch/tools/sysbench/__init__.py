"""sysbench 1.0: tests of databases, files, memory, processors and what else is written in Lua."""

import re
from collections.abc import Iterator, Sequence
from mmap import mmap

from ...metrics.buckets import Buckets
from ...metrics.exposition import Family
from ...metrics.limits import DEFAULT, Limits
from ..api import Moment, Parser, State
from .metrics import FAMILIES
from .moments import moments
from .parser import SysbenchParser
from .reports import LINES
from .state import SysbenchState

_BANNER = re.compile(rb"(?:^|[\r\n])sysbench \d[^\r\n]*")


class Sysbench:
    """See tools.Tool. Its one kind of stream, `text`, is standard output or error."""

    name = "sysbench"
    throughput_unit = "TPS"
    log_prefix = ""
    families: Sequence[Family] = FAMILIES

    def recognise(self, head: bytes) -> str:
        """See tools.Tool."""
        if _BANNER.search(head):
            return "text"
        lines = head.decode("utf-8", "replace").splitlines()
        return "text" if any(pattern.match(line) for line in lines for pattern in LINES) else ""

    def parser(self, kind: str) -> Parser:
        """See tools.Tool."""
        return SysbenchParser()

    def moments(self, kind: str, data: bytes | mmap) -> Iterator[Moment]:
        """See tools.Tool."""
        return moments(data)

    def state(self, buckets: Buckets, limits: Limits = DEFAULT) -> State:
        """See tools.Tool: the histogram has sysbench's own bins."""
        return SysbenchState()


SYSBENCH = Sysbench()
