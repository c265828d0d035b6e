"""What iperf3 says in any of its forms, and its JSON: the events of `--json-stream` (3.17+), and the document of `-J`,
which has the same parts.

    {"event":"start","data":{"connected":[...],"version":"iperf 3.18","timestamp":{...},"test_start":{...},...}}
    {"event":"interval","data":{"streams":[...],"sum":{...},"sum_bidir_reverse":{...}}}
    {"event":"end","data":{"sum_sent":{...},"sum_received":{...},"cpu_utilization_percent":{...},...}}
    {"event":"error","data":"control socket has closed unexpectedly"}
    or {"start":{...},"intervals":[{...}],"end":{...},"error":"..."}

`sum` flows from the client to the server, or back with -R; `sender` says whether this process sends it. With --bidir,
`sum_bidir_reverse` is the other direction. If the figures of the other end are unknown, its bytes are 0.

Directions are those of the process that reports. Figures are rate, bytes, packets, retransmits, lost, jitter, rtt and
window, in bytes and seconds; unknown ones are absent.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import msgspec

BOTH = ("rate", "bytes", "packets")
KNOWN = {"sender": ("retransmits", "seconds"), "receiver": ("lost", "jitter")}
"""Figures of a result that both ends have, and those that only one of them knows."""
DIRECTIONS = {True: "send", False: "receive"}


class Beginning(NamedTuple):
    """What is known of a test before its first interval."""

    version: str = ""
    begun: float = 0.0  # Unix seconds
    parameters: Mapping[str, str] = {}  # with the role: client, server
    figures: Mapping[str, float] = {}  # those of test_start: interval, num_streams, target_bitrate ...
    cookie: str = ""  # differs in each test


class Iperf3Interval(NamedTuple):
    """One direction of a report: its end, seconds since the start (also after omitted intervals), and its length."""

    time: float
    length: float
    omitted: bool
    direction: str
    figures: Mapping[str, float]


class Iperf3Result(NamedTuple):
    """What one end, sender or receiver, says of a direction at the end; `time` only if this is the present process."""

    time: float | None
    direction: str
    end: str
    figures: Mapping[str, float]


class Iperf3Done(NamedTuple):
    """The test is over; without results, it failed. Processor seconds per second, by host: local, remote."""

    load: Mapping[str, float] = {}


class Iperf3Failure(NamedTuple):
    """An error that ended the test."""

    message: str


Record = Beginning | Iperf3Interval | Iperf3Result | Iperf3Done | Iperf3Failure

_Number = Annotated[int, msgspec.Meta(ge=0, le=10**18)] | Annotated[float, msgspec.Meta(ge=0, le=1e18)]
_Difference = Annotated[int, msgspec.Meta(ge=-(10**18), le=10**18)]
_Text = Annotated[str, msgspec.Meta(max_length=1000)]
_Object = Mapping[str, Any]
_SETTINGS = {"blksize": "block_size", "num_streams": "streams"}  # better names for test_start


class _Sum(msgspec.Struct):
    end: _Number = 0
    start: _Number = 0
    seconds: _Number = 0
    bytes: _Number = 0
    sender: bool = True
    omitted: bool = False
    retransmits: _Number | None = None
    packets: _Number | None = None
    lost: _Difference | None = msgspec.field(name="lost_packets", default=None)  # below 0 if more came late than lost
    jitter_ms: _Number | None = None
    rtt: _Number = 0  # microseconds
    snd_cwnd: _Number = 0

    def figures(self, streams: Sequence["_Sum"] = ()) -> dict[str, float]:
        """What these streams, the parts of this sum, did."""
        known = {name: getattr(self, name) for name in ("bytes", "packets", "retransmits", "lost")}
        trips = [stream.rtt for stream in streams if stream.rtt]
        known["rate"] = self.bytes / self.seconds if self.seconds else 0.0
        known["jitter"] = None if self.jitter_ms is None else self.jitter_ms / 1e3
        known["rtt"] = sum(trips) / len(trips) / 1e6 if trips else None
        known["window"] = sum(stream.snd_cwnd for stream in streams) or None
        return {name: value for name, value in known.items() if value is not None}


class _Start(msgspec.Struct):
    version: _Text = ""
    cookie: _Text = ""
    timestamp: Mapping[str, _Number | _Text] = {}
    connecting_to: _Object | None = None
    accepted_connection: _Object | None = None
    test_start: Mapping[str, _Number | bool | _Text] = {}
    target_bitrate: _Number = 0


class _Document(msgspec.Struct):
    start: _Start | None = None
    intervals: Sequence[_Object] = ()
    end: _Object | None = None
    error: _Text = ""


def of_json(text: bytes) -> list[Record]:
    """The records of an event (none if it says nothing of use), a document or parts of it. Raises ValueError."""
    data = msgspec.json.decode(text, type=dict[str, Any])
    if "event" in data:
        part = data.get("data")
        data |= {"intervals": [part]} if data["event"] == "interval" else {str(data["event"]): part}
    document = msgspec.convert(data, _Document)
    found: list[Record] = [_beginning(document.start)] if document.start else []
    for report in document.intervals:
        streams = msgspec.convert(report.get("streams", ()), Sequence[_Sum])
        for total in filter(None, (_sum(report, "sum"), _sum(report, "sum_bidir_reverse"))):
            figures = total.figures([stream for stream in streams if stream.sender == total.sender])
            times = total.end, total.end - total.start, total.omitted
            found.append(Iperf3Interval(*times, DIRECTIONS[total.sender], figures))
    if document.error:
        found.append(Iperf3Failure(document.error))
    if document.end is not None:
        found += _end(document.end)
    if not found and data.get("event") in (None, "start", "interval", "end", "error"):
        raise ValueError("expected start, intervals or end")
    return found


def _sum(part: _Object, name: str) -> _Sum | None:
    return msgspec.convert(part.get(name), _Sum | None)


def _beginning(start: _Start) -> Beginning:
    numbers = {name: each for name, each in start.test_start.items() if each and not isinstance(each, str)}
    settings = {name: each for name, each in start.test_start.items() if isinstance(each, str)}
    settings |= {_SETTINGS.get(name, name): f"{each:.15g}" for name, each in numbers.items()}
    role = {"role": "client"} if start.connecting_to else {"role": "server"} if start.accepted_connection else {}
    begun = float(start.timestamp.get("timemillisecs", 0)) / 1000 or float(start.timestamp.get("timesecs", 0))
    target = {"target_bitrate": start.target_bitrate} if start.target_bitrate else {}
    return Beginning(start.version.removeprefix("iperf "), begun, role | settings, numbers | target, start.cookie)


def _end(end: _Object) -> Iterator[Record]:
    for back in ("", "_bidir_reverse"):
        total = _sum(end, f"sum{back}")
        ends = {"sender": _sum(end, f"sum_sent{back}") or total, "receiver": _sum(end, f"sum_received{back}") or total}
        for name, each in ends.items():
            if each:
                sends = (total or ends["sender"] or each).sender  # in UDP, that of sum_sent is true whoever reports
                time = each.seconds or each.end if sends == (name == "sender") else None
                figures = each.figures() | {"seconds": each.seconds or each.end} if each.bytes else {}
                yield Iperf3Result(time, DIRECTIONS[sends], name, figures)
    percent = msgspec.convert(end.get("cpu_utilization_percent", {}), Mapping[str, _Number])
    load = {"local": percent.get("host_total"), "remote": percent.get("remote_total")}
    yield Iperf3Done({host: value / 100 for host, value in load.items() if value})
