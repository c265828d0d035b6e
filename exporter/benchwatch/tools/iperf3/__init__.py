"""iperf3 3.9 - 3.22, client or server: its JSON lines (`--json-stream`), JSON document (`-J`) and text."""

import re
from collections.abc import Iterator, Sequence
from mmap import mmap

from ...metrics.buckets import Buckets
from ...metrics.exposition import Family
from ...metrics.limits import DEFAULT, Limits
from ..api import Moment
from .metrics import FAMILIES
from .parser import Iperf3Parser, moments
from .state import Iperf3State
from .text import recognised

_JSON = re.compile(
    rb'^(?:\{"event":"(?:start|interval|end|error|server_output_(?:json|text))","data":'
    rb'|\{\s*"start":\s*\{\s*"connected":\s*\[)',
    re.MULTILINE,
)


class _Iperf3:
    """See tools.Tool. Its one kind of stream, `text`, is standard output or error, or both in one."""

    name = "iperf3"
    throughput_unit = "B/s"
    log_prefix = ""
    families: Sequence[Family] = FAMILIES

    def recognise(self, head: bytes) -> str:
        """See tools.Tool."""
        lines = re.split(r"[\r\n]+", head.decode("utf-8", "replace"))
        return "text" if _JSON.search(head) or any(recognised(line) for line in lines) else ""

    def parser(self, kind: str) -> Iperf3Parser:
        """See tools.Tool."""
        return Iperf3Parser()

    def moments(self, kind: str, data: bytes | mmap) -> Iterator[Moment]:
        """See tools.Tool."""
        return moments(data)

    def state(self, buckets: Buckets, limits: Limits = DEFAULT) -> Iperf3State:
        """See tools.Tool."""
        return Iperf3State()


IPERF3 = _Iperf3()
