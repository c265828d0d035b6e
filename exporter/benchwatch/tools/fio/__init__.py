"""fio: its JSON documents (`--output-format=json+ --status-interval=1` serves best) in whatever else it prints."""

import re
from collections.abc import Iterator, Sequence
from mmap import mmap

from ...metrics.buckets import Buckets
from ...metrics.exposition import Family
from ...metrics.limits import DEFAULT, Limits
from ..api import Moment
from .framing import START, VERSION
from .metrics import FAMILIES
from .moments import moments
from .parser import FioParser
from .state import FioState
from .text import is_fio

_BEGIN_OF_LINE = re.compile(
    rb"(?:\A|[\r\n])[ \t]{0,64}(?:\{|\[[ \t]{0,64}\{|(?=\"fio version\"))[^\r\n]*?" + VERSION.pattern
)


class _Fio:
    """See tools.Tool. Its one kind of stream, `text`, is standard output or error, the --output file, or all in one."""

    name = "fio"
    throughput_unit = "IOPS"
    log_prefix = ""
    families: Sequence[Family] = FAMILIES

    def recognise(self, head: bytes) -> str:
        """See tools.Tool. Output behind a prefix is none: what tells is where a line begins."""
        if START.search(head) or _BEGIN_OF_LINE.search(head):
            return "text"
        if VERSION.search(head):
            return ""
        lines = re.split(r"[\r\n]+", head.decode("utf-8", "replace"))
        return "text" if is_fio(lines) else ""

    def parser(self, kind: str) -> FioParser:
        """See tools.Tool."""
        return FioParser()

    def moments(self, kind: str, data: bytes | mmap) -> Iterator[Moment]:
        """See tools.Tool."""
        return moments(data)

    def state(self, buckets: Buckets, limits: Limits = DEFAULT) -> FioState:
        """See tools.Tool."""
        return FioState(buckets)


FIO = _Fio()
