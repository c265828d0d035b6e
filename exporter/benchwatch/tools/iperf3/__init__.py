"""iperf3, client or server. `parser` has the forms of its output, `report` its JSON and what is exported of it."""

from ..kit import TextTool
from .command import read
from .parser import BEGINS, SAYS_NOTHING, Iperf3Parser
from .report import FAMILIES, roles

IPERF3 = TextTool(
    name="iperf3",
    families=FAMILIES,
    roles=[roles(""), roles("server_")],
    begins=BEGINS,
    known=SAYS_NOTHING,
    parser=Iperf3Parser,
).tool(
    time_limit=r"(?:^|\s)(?:-t ?|--time[= ])(\S+)",
    rate_limit=r"^(?!.*\s(?:-b ?|--(?:bitrate|bandwidth)[= ])0(?:\s|$))"
    r".*\s(?:-[46RuZNV]*[ub]|--udp|--bitrate|--bandwidth)(?![a-z])",
    advice="--json-stream gives (before 3.17 --forceflush)",
    example="iperf3 -c server --json-stream",
    has_server=True,
    launcher=read,
)
