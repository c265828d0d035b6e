"""iperf3 3.9 - 3.22, client or server: its JSON lines (`--json-stream`), JSON document (`-J`) and text."""

import re

from ..api import Kind, Tool
from ..kit import KitState
from ..lines import recognise_lines
from . import command, metrics
from .parser import Iperf3Parser, recognised

IPERF3 = Tool(
    name="iperf3",
    families=metrics.FAMILIES.all,
    roles=(metrics.CLIENT, metrics.SERVER),
    kinds={"text": Kind(Iperf3Parser)},
    recognise=recognise_lines(recognised),
    new_state=lambda _: KitState(metrics.FAMILIES, (metrics.CLIENT, metrics.SERVER), 0.0),
    time_limit=re.compile(r"(?:^|\s)(?:-t ?|--time[= ])(\S+)"),
    advice="--json-stream gives (before 3.17 --forceflush)",
    has_server=True,
    launcher=command.read,
    example="iperf3 -c server --json-stream",
)
