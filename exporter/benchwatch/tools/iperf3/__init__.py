"""iperf3 3.9 - 3.22, client or server: its JSON lines (`--json-stream`), JSON document (`-J`) and text."""

import re

from ..api import Kind, Tool
from ..roles import Lost, Roles, Unit
from . import command, metrics
from .parser import Iperf3Parser, moments
from .state import Iperf3State
from .text import recognised

_JSON = re.compile(
    rb'^(?:\{"event":"(?:start|interval|end|error|server_output_(?:json|text))","data":'
    rb'|\{\s*"start":\s*\{\s*"connected":\s*\[)',
    re.MULTILINE,
)


def _roles(counted: metrics.Counted) -> Roles:
    return Roles(
        unit=Unit("B/s", in_bytes=True),
        operations="bytes",
        rate=counted.rate,
        result_rate=counted.result_rate,
        labels=("direction",),
        observer=counted is metrics.SERVER,
        total=counted.bytes,
        result_operations=counted.result_bytes,
        target_rate=metrics.TARGET,
        fixed_rate=(metrics.TARGET,),
        lost={
            "retransmits": Lost(
                metrics.RETRANSMITS, result=metrics.RESULT_RETRANSMITS, remark="segments were sent again: {} a second"
            ),
            "lost packets": Lost(
                metrics.LOST,
                of=(metrics.PACKETS,),
                result=metrics.RESULT_LOST,
                remark="datagrams did not arrive: {}",
                bad=True,
            ),
        },
        sources={counted.rate: "All streams of a direction, from iperf3's own reports."},
    )


def _recognise(head: bytes) -> str:
    """Its one kind of stream, "text", is standard output or error, or both in one."""
    lines = re.split(r"[\r\n]+", head.decode("utf-8", "replace"))
    return "text" if _JSON.search(head) or any(recognised(line) for line in lines) else ""


IPERF3 = Tool(
    name="iperf3",
    families=metrics.FAMILIES,
    roles=(_roles(metrics.CLIENT), _roles(metrics.SERVER)),
    kinds={"text": Kind(Iperf3Parser, dated=moments)},
    recognise=_recognise,
    new_state=lambda *_: Iperf3State(),
    time_limit=re.compile(r"(?:^|\s)(?:-t ?|--time[= ])(\S+)"),
    advice="--json-stream gives (before 3.17 --forceflush)",
    has_server=True,
    launcher=command,
    example="iperf3 -c server --json-stream",
)
