"""iperf3 3.9 - 3.22, client or server: its JSON lines (`--json-stream`), JSON document (`-J`) and text."""

import re
from dataclasses import replace

from ..api import Kind, Tool
from ..roles import Roles, Unit
from . import command, metrics
from .parser import Iperf3Parser, moments
from .state import Iperf3State
from .text import recognised

_JSON = re.compile(
    rb'^(?:\{"event":"(?:start|interval|end|error|server_output_(?:json|text))","data":'
    rb'|\{\s*"start":\s*\{\s*"connected":\s*\[)',
    re.MULTILINE,
)
_ROLES = Roles(
    unit=Unit("B/s", in_bytes=True),
    operations="bytes",
    rate=metrics.THROUGHPUT,
    result_rate=metrics.RESULT_THROUGHPUT,
    labels=("direction",),
    total=metrics.BYTES,
    result_operations=metrics.RESULT_BYTES,
    fixed_rate=(metrics.TARGET,),
    sources={metrics.THROUGHPUT: "All streams of a direction, from iperf3's own reports."},
)
_OF_SERVER = replace(_ROLES, rate=metrics.SERVER_THROUGHPUT, result_rate=metrics.SERVER_RESULT, observer=True)


def _recognise(head: bytes) -> str:
    """Its one kind of stream, "text", is standard output or error, or both in one."""
    lines = re.split(r"[\r\n]+", head.decode("utf-8", "replace"))
    return "text" if _JSON.search(head) or any(recognised(line) for line in lines) else ""


IPERF3 = Tool(
    name="iperf3",
    families=metrics.FAMILIES,
    roles=(_ROLES, _OF_SERVER),
    kinds={"text": Kind(Iperf3Parser, moments)},
    recognise=_recognise,
    new_state=lambda *_: Iperf3State(),
    time_limit=re.compile(r"(?:^|\s)(?:-t ?|--time[= ])(\S+)"),
    advice="--json-stream gives (before 3.17 --forceflush)",
    launcher=command,
    example="iperf3 -c server --json-stream",
)
