"""iperf3 3.1 - 3.22, client or server: the events of `--json-stream` (3.17+), the document of `-J`, which has the same
parts, and text, in any mixture and several tests one after the other.

    {"event":"start","data":{"connected":[...],"version":"iperf 3.18","timestamp":{...},"test_start":{...},...}}
    {"event":"interval","data":{"streams":[...],"sum":{...},"sum_bidir_reverse":{...}}}
    {"event":"end","data":{"sum_sent":{...},"sum_received":{...},"cpu_utilization_percent":{...},...}}
    {"event":"error","data":"control socket has closed unexpectedly"}
    or {"start":{...},"intervals":[{...}],"end":{...},"error":"..."}
    Connecting to host 127.0.0.1, port 24507                 or: Accepted connection from 127.0.0.1, port 55594
    [  5]   0.00-1.00   sec  23.9 MBytes   200 Mbits/sec    0    767 KBytes       (omitted)      TCP, sent
    [SUM][RX-C]   0.00-1.00   sec  4.81 MBytes  40.4 Mbits/sec  0.020 ms  0/154 (0%)             UDP, received
    [  5]   0.00-4.00   sec  95.4 MBytes   200 Mbits/sec    0             sender                 the whole test

`sum` flows from the client to the server, or back with -R; `sender` says whether this process sends it. With --bidir,
`sum_bidir_reverse` is the other direction. If the figures of the other end are unknown, its bytes are 0. A document
that repeats the events before it (--json-stream-full) says nothing new; one that is cut off counts as far as it goes.

In text, bytes count in 1024, bits in 1000, with three digits: within 0.5 %, so that no byte is counted exactly. A
direction with several streams has a [SUM]; --timestamps puts any text before each line. Lines after `Server output:`
(--get-server-output) are the other end's. UDP of 3.1 has one row for both ends, without `sender` or `receiver`.

Directions are those of the process that reports. A server counts what its client counts, so figures that a sum would
count twice have families of their own for servers. Omitted intervals (-O) are shown while they last, but neither
counted nor part of a result. iperf3 prints the last interval again if the connection is lost. A start event, a document
or the first line of a text begins another test if the test before is over or has a role. Errors of a server between two
tests belong to neither.
"""

import getopt
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from ..machine.host import Host
from ..values.errors import UserError
from .api import Begin, Kind, Misread, Tool
from .invocation import Benchmark
from .kit import Failed, Families, Key, KitState, Said, ToolFigure, ToolReport, ToolResult
from .kit import Record as KitRecord
from .launcher import Command, Facts, LogRoom, NotUnderstood, Preparation, server_host
from .lines import EXCERPT, LineParser, recognise_lines
from .roles import Roles, Unit

WAY = ("direction",)
BPS, NO_REPEATS = "throughput_bytes_per_second", "absent without a byte, when iperf3 repeats the last value"


def _of(group: str, whose: str) -> dict[str, ToolFigure]:
    rate = f"Bytes{whose} (bytes / seconds of the sum, Bitrate)"
    total = f"Bytes without omitted intervals{whose} (bytes of the sums, only in JSON)"
    more: dict[str, Any] = {"labels": WAY, "group": group}
    return {
        f"{group}rate": ToolFigure(rate, BPS, "", BPS, rate=True, **more),
        f"{group}bytes": ToolFigure(total, "", "bytes", "bytes", added=True, settles=f"{group}bytes", **more),
    }


FIGURES = {
    **_of("", ""),
    **_of("server_", ", of a server, whose client counts the same"),
    "jitter": ToolFigure("Jitter of the UDP datagrams received, seconds (jitter_ms)", "jitter_seconds"),
    "rtt": ToolFigure(f"Smoothed round-trip time, seconds, mean of the streams (rtt); {NO_REPEATS}", "rtt_seconds"),
    "window": ToolFigure(
        f"Congestion windows of all sending streams, bytes (snd_cwnd); {NO_REPEATS}", "congestion_window_bytes"
    ),
    "retransmits": ToolFigure(
        "TCP segments that this process sent again (retransmits, Retr)", total="retransmits", added=True
    ),
    "packets": ToolFigure("Datagrams sent, or received and lost (UDP)", total="packets", labels=WAY, added=True),
    "lost": ToolFigure(
        "Datagrams lost on their way to this process; of its own only the other end knows (UDP)",
        total="lost_packets",
        labels=WAY,
        added=True,
    ),
    "streams": ToolFigure("Parallel streams in each direction (num_streams)", setting="streams"),
    "target": ToolFigure("Rate asked for (-b), bytes a second", setting="target_bytes_per_second", labels=WAY),
    "sent_again": ToolFigure("Segments that the sender sent again (TCP)", result="retransmits", labels=WAY),
    "settled": ToolFigure("", settles="retransmits"),
    "seconds": ToolFigure("How long the sender measured, seconds", result="duration_seconds", labels=WAY),
    "lost_ratio": ToolFigure("Part of the datagrams that did not arrive (UDP)", result="lost_ratio", labels=WAY),
    "last_jitter": ToolFigure("Jitter at the receiver, seconds (UDP)", result="jitter_seconds", labels=WAY),
    "cpu": ToolFigure(
        "Processor seconds a second at an end (cpu_utilization_percent)", result="cpu_ratio", labels=("host",)
    ),
}
FAMILIES = Families("iperf", FIGURES)
AGAIN, MISSING = "segments were sent again: {} a second", "datagrams did not arrive: {}"


def _roles(group: str, *, observer: bool) -> Roles:
    return FAMILIES.roles(
        Unit("bit/s", in_bytes=True),
        "bytes",
        {"rate": f"{group}rate", "done": f"{group}bytes", "number": f"{group}bytes", "time": "seconds"},
        labels=WAY,
        observer=observer,
        fixed_rate=(FAMILIES.family("setting", "target"),),
        lost={
            "retransmits": FAMILIES.lost("retransmits", result="sent_again", remark=AGAIN),
            "lost packets": FAMILIES.lost("lost", "packets", result="lost_ratio", remark=MISSING, bad=True),
        },
        sources={"rate": "All streams of a direction, from iperf3's own reports."},
    )


CLIENT, SERVER = _roles("", observer=False), _roles("server_", observer=True)


class _Beginning(NamedTuple):
    """What is known of a test before its first interval."""

    version: str = ""
    begun: float = 0.0  # Unix seconds
    parameters: Mapping[str, str] = {}  # with the role: client, server
    figures: Mapping[str, float] = {}  # those of test_start: interval, num_streams, target_bitrate ...
    cookie: str = ""  # differs in each test


class _Part(NamedTuple):
    """One direction of an interval or, with an `end`, what the sender or the receiver says of the whole test.

    Figures are rate, bytes, packets, retransmits, lost, jitter, rtt and window, in bytes and seconds; unknown ones are
    absent.
    """

    time: float | None
    """Its end, seconds since the start, also after omitted intervals; of the whole test only if it is this process's.
    """
    direction: str
    figures: Mapping[str, float]
    length: float = 0.0
    omitted: bool = False
    end: str = ""


class _Ending(NamedTuple):
    """The test is over; without results, it failed. Processor seconds per second, by host: local, remote."""

    load: Mapping[str, float] = {}
    error: str = ""


_Record = _Beginning | _Part | _Ending
WAYS = {True: "send", False: "receive"}
BOTH = ("rate", "bytes", "packets")
KNOWN_TO = {"sender": ("retransmits", "seconds"), "receiver": ("lost", "jitter")}
"""Figures of a result that both ends have, and those that only one of them knows."""
RESULTS = {"rate": "rate", "bytes": "bytes", "retransmits": "sent_again", "jitter": "last_jitter"}
RESULTS |= {"seconds": "seconds", "packets": "packets"}

_Number = Annotated[int, msgspec.Meta(ge=0, le=10**18)] | Annotated[float, msgspec.Meta(ge=0, le=1e18)]
_Difference = Annotated[int, msgspec.Meta(ge=-(10**18), le=10**18)]
_Text = Annotated[str, msgspec.Meta(max_length=1000)]
_Object = Mapping[str, Any]


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


def of_json(text: bytes) -> list[_Record]:
    """The records of an event (none if it says nothing of use), a document or parts of it. Raises ValueError."""
    data = msgspec.json.decode(text, type=dict[str, Any])
    if "event" in data:
        part = data.get("data")
        data |= {"intervals": [part]} if data["event"] == "interval" else {str(data["event"]): part}
    document = msgspec.convert(data, _Document)
    found: list[_Record] = [_beginning(document.start)] if document.start else []
    for report in document.intervals:
        streams = msgspec.convert(report.get("streams", ()), Sequence[_Sum])
        for total in filter(None, (_sum(report, "sum"), _sum(report, "sum_bidir_reverse"))):
            figures = total.figures([stream for stream in streams if stream.sender == total.sender])
            found.append(_Part(total.end, WAYS[total.sender], figures, total.end - total.start, total.omitted))
    if document.error:
        found.append(_Ending(error=document.error))
    if document.end is not None:
        found += _end(document.end)
    if not found and data.get("event") in (None, "start", "interval", "end", "error"):
        raise ValueError("expected start, intervals or end")
    return found


def _sum(part: _Object, name: str) -> _Sum | None:
    return msgspec.convert(part.get(name), _Sum | None)


def _beginning(start: _Start) -> _Beginning:
    better = {"blksize": "block_size", "num_streams": "streams"}
    numbers = {name: each for name, each in start.test_start.items() if each and not isinstance(each, str)}
    settings = {name: each for name, each in start.test_start.items() if isinstance(each, str)}
    settings |= {better.get(name, name): f"{each:.15g}" for name, each in numbers.items()}
    role = {"role": "client"} if start.connecting_to else {"role": "server"} if start.accepted_connection else {}
    begun = float(start.timestamp.get("timemillisecs", 0)) / 1000 or float(start.timestamp.get("timesecs", 0))
    target = {"target_bitrate": start.target_bitrate} if start.target_bitrate else {}
    return _Beginning(start.version.removeprefix("iperf "), begun, role | settings, numbers | target, start.cookie)


def _end(end: _Object) -> Iterator[_Record]:
    for back in ("", "_bidir_reverse"):
        total = _sum(end, f"sum{back}")
        ends = {"sender": _sum(end, f"sum_sent{back}") or total, "receiver": _sum(end, f"sum_received{back}") or total}
        for name, each in ends.items():
            if each:
                sends = (total or ends["sender"] or each).sender  # in UDP, that of sum_sent is true whoever reports
                time = each.seconds or each.end if sends == (name == "sender") else None
                figures = each.figures() | {"seconds": each.seconds or each.end} if each.bytes else {}
                yield _Part(time, WAYS[sends], figures, end=name)
    percent = msgspec.convert(end.get("cpu_utilization_percent", {}), Mapping[str, _Number])
    load = {"local": percent.get("host_total"), "remote": percent.get("remote_total")}
    yield _Ending({host: value / 100 for host, value in load.items() if value})


class _Test:
    """One test: what both ends say of it together, each thing once."""

    def __init__(self) -> None:
        self.role = ""
        self.has_ended = self.is_done = False
        self.omitted = 0.0  # seconds
        self._settings: dict[str, float] = {}
        self._shown: dict[str, float] = {}  # settings that were told
        self._last: dict[str, _Part] = {}  # by direction, the last interval without its figures
        self._counted: set[Key] = set()  # figures of intervals and their direction
        self._results: dict[str, dict[str, float]] = defaultdict(dict)
        self._has_results = False

    def told(self, record: _Record) -> Iterator[KitRecord]:
        """A record of the kit for each thing that is new in this one."""
        match record:
            case _Beginning():
                yield from self._begin(record)
            case _Part(end="", time=time, omitted=True):
                self.omitted = time or 0.0
                yield from self._interval(record)
            case _Part(end="", time=time):
                yield from self._interval(record._replace(time=self.omitted + (time or 0.0)))
            case _Part(time=time):
                self.has_ended = self._has_results = True
                yield from self._target(record.direction)
                yield self._result(record, None if time is None else self.omitted + time)
            case _Ending(error=error) if error:
                self.has_ended = True
                yield Failed(error, interrupted=error.startswith("interrupt - "))
            case _Ending(load):
                self.has_ended = self.is_done = True
                yield ToolResult({("cpu", host): value for host, value in load.items()}, final=self._has_results)
                if not self._has_results:
                    yield Failed("it ended without results")

    def _begin(self, record: _Beginning) -> Iterator[KitRecord]:
        self.role = record.parameters.get("role", self.role)
        self._settings |= record.figures
        if record.version:
            yield Said("version", record.version)
        if record.begun:
            yield Said("begun", repr(record.begun))
        yield from (Said(name, value) for name, value in record.parameters.items())
        streams = self._settings.get("num_streams")
        if streams and self._shown.get("streams") != streams:
            self._shown["streams"] = streams
            yield ToolResult({("streams",): streams}, final=False)

    def _target(self, way: str) -> Iterator[KitRecord]:
        rate = self._settings.get("target_bitrate", 0) / 8 * self._settings.get("num_streams", 1)
        if rate and self._shown.get(way) != rate:
            self._shown[way] = rate
            yield ToolResult({("target", way): rate}, final=False)

    def _named(self, figures: Mapping[str, float]) -> dict[str, float]:
        """Those that a server has in families of its own under their names."""
        own = "server_" if self.role == "server" else ""
        return {f"{own}{name}" if name in ("rate", "bytes") else name: value for name, value in figures.items()}

    def _interval(self, record: _Part) -> Iterator[KitRecord]:
        way, said, time = record.direction, record.figures, record.time or 0.0
        if self._last.get(way) == record._replace(figures={}):  # the connection was lost
            yield ToolResult({}, time, final=False)
            return
        self._last[way] = record._replace(figures={})
        yield from self._target(way)
        known = ("rate", "bytes", "packets", "retransmits") if way == "send" else ("rate", "bytes", "packets", "lost")
        found = self._named({name: said[name] for name in known if name in said})
        figures: dict[Key, float] = {(n,) if n == "retransmits" else (n, way): value for n, value in found.items()}
        if said["rate"]:  # without a byte it repeats these
            now = ("rtt", "window") if way == "send" else ("jitter",)
            figures |= {(name,): said[name] for name in now if name in said}
        self._counted |= {(name, way) for name in known if name in said and not record.omitted}
        yield ToolReport(time, figures, counted=not record.omitted, length=record.length)

    def _result(self, record: _Part, time: float | None) -> ToolResult:
        way, found = record.direction, self._results[record.direction]
        known = (*KNOWN_TO[record.end], *(() if time is None else BOTH))
        new = {name: record.figures[name] for name in known if record.figures.get(name, -1) >= 0}
        found |= new
        named = self._named({RESULTS[name]: value for name, value in new.items() if name in RESULTS})
        figures: dict[Key, float] = {(name, way): value for name, value in named.items()}
        if "lost" in new and ("lost", way) in self._counted:
            figures["lost", way] = new["lost"]
        if "retransmits" in new and ("retransmits", way) in self._counted:
            figures["settled",] = new["retransmits"]
        if "lost" in found and found.get("packets"):
            figures["lost_ratio", way] = found["lost"] / found["packets"]
        return ToolResult(figures, time)


_PREFIXES = tuple(enumerate(("", *"KMGTP")))
_UNITS = {f"{prefix}Bytes": 1024.0**power for power, prefix in _PREFIXES}
_UNITS |= {f"{prefix}bits": 1000.0**power / 8 for power, prefix in _PREFIXES}  # in bytes
_ROW = re.compile(
    r"\[(?P<id>SUM| *\d{1,9})\](?:\[(?P<way>[RT]X)-[CS]\])? +(?P<start>\d{1,9}\.\d\d)- *(?P<end>\d{1,9}\.\d\d)"
    r" +sec +[\d.]{1,9} [KMGTP]?(?:Bytes|bits) +(?P<rate>\d{1,12}(?:\.\d{1,9})?)"
    r" (?P<unit>[KMGTP]?(?:Bytes|bits))/sec"
    r"(?: +(?P<jitter>\d{1,9}\.\d{3}) ms +(?P<lost>-?\d{1,15})/(?P<packets>\d{1,15}) \(\S{1,20}\))?"
    r"(?: +(?P<count>\d{1,15})(?![\d.]))?(?: +(?P<window>\d{1,12}(?:\.\d{1,9})?) (?P<scale>[KMGTP]?Bytes))?"
    r" *(?P<of>sender|receiver)? *(?P<omitted>\(omitted\))?\s*$"
)
_CONNECTED = re.compile(r"\[ *\d+\] local \S+ port \d+ connected to \S+ port \d+")
_ROLE = re.compile(r"(?:(Connecting to host)|Accepted connection from) \S+, port \d+\s*$")
_LISTENING = re.compile(r"Server listening on \d+")
_VERSION = re.compile(r"iperf (3\.\d[\w.+-]{0,40})(?: \(.*\))?\s*$")
_FAILURE = re.compile(
    r"iperf3: (?:error - )?((?<=error - ).+|(?:interrupt|parameter error) - .+|the (?:client|server) .+)"
)
_KNOWN = re.compile(
    r"(?:- ){5}|-{20}|\[ ID\]|Test Complete|Starting Test: |Linux |FreeBSD |Darwin |Control connection MSS|Time: \w"
    r"|\s+(?:Cookie|TCP MSS|Target Bitrate): |CPU Utilization: |(?:snd|rcv)_tcp_congestion|iperf3: |Server output:"
    r"|Reverse mode, |Server listening on \d|\[ *\d+\] Sent \d+ datagrams"
    r"|^(?:\d+|.*\d\d:\d\d:\d\d.*)?$"  # at last an empty line with its time
)
_JSON = re.compile(
    r'^(?:\{"event":"(?:start|interval|end|error|server_output_(?:json|text))","data":|'
    r'(?:\{\s*"start":\s*\{|\s{2,})"connected":\s*\[)'
)
_STAMP = re.compile(r"[\w :./+,-]*")


def recognised(text: str) -> bool:
    """Whether a line is surely one of iperf3's: with figures, or JSON."""
    found = (pattern.search(text) for pattern in (_JSON, _ROW, _CONNECTED, _LISTENING, _FAILURE, _ROLE))
    return any(match and _STAMP.fullmatch(text, 0, match.start()) for match in found)


class _Lines:
    """The lines of a test in text, which depend on the lines before."""

    def __init__(self) -> None:
        self._sends = self._is_udp = self._has_sums = self._is_others = False
        self._connections = self._window = self._headers = 0
        self._last: dict[str, str] = {}  # by direction: the stream of the last row

    def begins(self, role: str) -> None:
        """Note what this process is: a client sends, unless it says otherwise."""
        self._sends |= role == "client"

    def read(self, text: str) -> Sequence[_Record] | None:
        """The records of a line; None if iperf3 prints no such line."""
        if text.endswith("iperf Done."):
            self._is_others = False
            return [_Ending()]
        if self._is_others and "Connecting to host" not in text:
            return []
        if row := _ROW.search(text):
            return self._row(row)
        if _CONNECTED.search(text):
            self._connections += 1
            return []
        if match := _ROLE.search(text):
            return [_Beginning(parameters={"role": "client" if match[1] else "server"})]
        if match := _VERSION.search(text):
            return [_Beginning(version=match[1])]
        if match := _FAILURE.search(text):
            return [_Ending(error=match[1].strip())]
        if not _KNOWN.search(text):
            return None
        self._is_others = text.endswith("Server output:")
        self._headers += "[ ID]" in text  # the second one precedes the summary
        self._sends &= "Reverse mode, " not in text
        self._is_udp |= "Datagrams" in text
        return []

    def _row(self, row: re.Match[str]) -> list[_Record]:
        """A line with figures counts if it is of all streams of its direction."""
        number = {name: float(value) for name, value in row.groupdict().items() if value and value[-1].isdigit()}
        self._is_udp |= "lost" in number
        ends = [row["of"]] if row["of"] else [*KNOWN_TO] if self._headers > 1 and "lost" in number else []
        if row["way"]:
            self._sends = row["way"] == "TX"
        elif not ends and number.keys() & {"count", "lost"}:
            self._sends = "lost" not in number
        self._window += round(number["window"] * _UNITS[row["scale"]]) if "window" in number else 0
        way, stream = row["way"] or "", row["id"]
        self._has_sums |= stream == "SUM"
        is_all = stream == "SUM" or self._connections == (2 if way else 1)
        if not self._has_sums and not self._connections:  # nothing says how many there are: the first line is left out
            is_all, self._last[way] = self._last.get(way) == stream, stream
        if not is_all:
            return []
        figures: dict[str, float] = {name: int(number[name]) for name in ("packets", "lost") if name in number}
        if "count" in number:
            figures["packets" if self._is_udp else "retransmits"] = int(number["count"])
        if number.get("packets"):
            figures["jitter"] = number["jitter"] / 1e3
        if self._window:
            figures["window"], self._window = self._window, 0
        figures["rate"] = number["rate"] * _UNITS[row["unit"]]
        length = round(number["end"] - number["start"], 2)
        if ends:
            own = "sender" if self._sends else "receiver"
            figures["seconds"] = length
            if not figures["rate"] and figures.get("packets"):  # a server of 3.1 has no bytes in its last row
                del figures["rate"]
            return [_Part(number["end"] if end == own else None, WAYS[self._sends], figures, end=end) for end in ends]
        interval = _Part(number["end"], WAYS[self._sends], figures, length, row["omitted"] is not None)
        streams = self._connections // (2 if way else 1)
        return [_Beginning(figures={"num_streams": streams}), interval] if streams else [interval]


_LONGEST = 1 << 24  # bytes of a part of a document; a longer one counts as cut off
_START, _START_ENDS = b'{\n\t"start":\t{\n', b"\t},"
_PARTS = {
    _START_ENDS: (b"}}", b"{\n"),
    b"\t\t}, {": (b"}]}", b'{\n\t"intervals":\t[{\n'),
    b"\t\t}],": (b"}]}", b"{\n"),
    b"}": (b"}", b""),
}
"""By the line that ends a part of a document, as iperf3 indents it: what completes the part, what begins the next."""


class Iperf3Parser(LineParser):
    """See tools.Parser.

    A line that begins with `{` is an event or a whole document. A line that is only `{` begins a document, which ends
    with the next line that is only `}`; a line that is not indented cuts it off. Its start and each interval are read
    where they end, so that they have dates of their own.
    """

    _TORN = (Misread, ToolReport)

    def __init__(self) -> None:
        super().__init__()
        self._document = bytearray()  # the lines so far of its present part
        self._skipping = False  # the rest of the document
        self._beginning: _Record | None = None
        self._test, self._lines_of = _Test(), _Lines()

    def close(self) -> list[object]:
        """See tools.Parser."""
        found = super().close()
        self._cut_off()
        return found + self._taken()

    def _is_whole(self, line: bytes) -> bool:
        if self._document:
            return line == b"}"
        if line[:1] == b"{" and line[-1:] == b"}":
            try:
                return bool(of_json(line))
            except (ValueError, RecursionError):
                return False
        row = _ROW.search(line.decode("utf-8", "replace"))
        return line.endswith(b"iperf Done.") or bool(row and row["of"])

    def _line(self, line: bytes) -> None:
        line = line.rstrip(b"\r")
        if not line.startswith((b"\t", b" ", b"}")) or len(self._document) > _LONGEST:
            self._cut_off()
        if self._document:
            self._in_document(line)
        elif line == b"{":
            self._document, self._skipping = bytearray(b"{\n"), False
        elif line[:1] == b"{":
            self._json(line)
        else:
            super()._line(line)

    def _in_document(self, line: bytes) -> None:
        closing, following = _PARTS.get(line, (b"", b""))
        if not closing or (line == _START_ENDS and not self._document.startswith(_START)):
            self._document += line + b"\n"
            return
        document = bytes(self._document + closing)
        self._document = bytearray(following)
        if not self._skipping:
            self._json(document)

    def _cut_off(self) -> None:
        """Note that the end of a document is missing."""
        if self._document:
            self._misread("truncated_document", self._document[:EXCERPT].decode("utf-8", "replace"))
            self._document = bytearray()

    def _json(self, text: bytes) -> None:
        try:
            found = of_json(text)
        except (ValueError, RecursionError) as error:
            self._misread("bad_document", f"{error}: {text[:EXCERPT].decode('utf-8', 'replace')}")
            self._skipping = True
            return
        self._skipping = bool(found) and found[0] == self._beginning
        if not self._skipping:
            self._take(found)
            self.records -= bool(self._document)  # it counts once, at its end

    def _read(self, text: str) -> Sequence[_Record] | None:
        self._test.is_done |= self._test.has_ended and _LISTENING.search(text) is not None
        return self._lines_of.read(text)

    def _take(self, found: Sequence[_Record]) -> None:
        if found and self._begins(found[0]):
            self._out.append(Begin())
            self._test, self._lines_of = _Test(), _Lines()
        told: list[KitRecord] = []
        for record in found:
            if isinstance(record, _Ending) and record.error and self._test.is_done:
                continue
            if isinstance(record, _Beginning):
                self._beginning = record
                self._lines_of.begins(record.parameters.get("role", ""))
            told += self._test.told(record)
        super()._take(told)
        self._undated = not any(isinstance(one, _Part) or (isinstance(one, _Ending) and not one.error) for one in found)

    def _begins(self, first: _Record) -> bool:
        """Whether a line with this record begins another test."""
        if isinstance(first, _Beginning) and (first.version or "role" in first.parameters):
            return self._test.has_ended or bool(self._test.role)
        is_error = isinstance(first, _Ending) and bool(first.error)
        return is_error and self._test.is_done and self._test.role != "server"


_SHORT = "p:f:i:I:F:A:B:VJvhsD1c:X:ub:t:n:k:l:P:Rw:C:M:N46S:L:ZO:T:dm"
_LONG = """
    port= format= interval= pidfile= file= affinity= bind= bind-dev= verbose json json-stream json-stream-full logfile=
    forceflush timestamps rcv-timeout= snd-timeout= debug version help server daemon one-off server-bitrate-limit=
    idle-timeout= server-max-duration= rsa-private-key-path= authorized-users-path= time-skew-threshold= client= sctp
    xbind= nstreams= udp connect-timeout= bitrate= pacing-timer= fq-rate= time= bytes= blockcount= length= cport=
    parallel= reverse bidir window= congestion= set-mss= no-delay version4 version6 tos= dscp= flowlabel= zerocopy
    skip-rx-copy omit= title= extra-data= get-server-output udp-counters-64bit repeating-payload dont-fragment mptcp
    gsro username= rsa-public-key-path= use-pkcs1-padding cntl-ka"""
_NAMES = "interval verbose json format debug title daemon server client time bytes blockcount omit version help"
_LETTERS = dict(zip("iVJfdTDsctnkOvh", _NAMES.split(), strict=True))
_OPTIONAL = re.compile(r"(--(?:timestamps|debug)|-d)=.*", re.DOTALL)  # values that Python's getopt cannot leave out
_AS_TEXT = frozenset({"verbose", "format", "debug", "title", "timestamps", "forceflush"})
_KERNEL = ("net.ipv4.tcp_congestion_control", "net.core.rmem_max", "net.core.wmem_max")


class Iperf3Command(Command):
    """The options by their long names; a switch has an empty value."""

    def __init__(self, options: Mapping[str, str], version: tuple[int, ...]) -> None:
        self._given, self._version = options, version

    @property
    def length(self) -> float | None:
        """Seconds, with those that are omitted (-t, -O); None for a server, or if an amount is given (-n, -k)."""
        given = [self._given.get("time", "10"), self._given.get("omit", "0")]
        seconds = [float(text) for text in given if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text)]
        limited = "client" in self._given and not self._given.keys() & {"bytes", "blockcount"}
        return sum(seconds) if limited and len(seconds) == 2 and seconds[0] else None

    @property
    def output(self) -> str:
        """See Command."""
        return self._given.get("logfile", "")

    def prepare(self, percentiles: bool, room: LogRoom | None, own: object = None) -> Preparation:
        """See Command."""
        given = self._given
        end = "iperf3 -i 0 reports only at the end: nothing is shown while it runs"
        prepared = Preparation(remarks=(end,) if given.get("interval") in ("0", "0.0") else ())
        if given.keys() & {"json-stream", "json-stream-full"}:
            return prepared
        if "json" in given:
            end = "iperf3 -J prints one document at the end: without --json-stream, nothing is shown while it runs"
            return prepared.remark(end)
        if self._version >= (3, 17) and not given.keys() & _AS_TEXT:
            return prepared._replace(added=("--json-stream",), display=lambda _: len)
        flags = {"forceflush": ("--forceflush",), "interval": ("-i", "1")}
        return prepared._replace(added=tuple(word for name in flags if name not in given for word in flags[name]))

    def facts(self, benchmark: Benchmark, host: Host) -> Facts:
        """What this end's kernel does with connections."""
        files = {name: Path("/proc/sys", name.replace(".", "/")) for name in _KERNEL if not benchmark.elsewhere}
        said = {name: file.read_text().strip() for name, file in files.items() if file.is_file()}
        if (address := self._given.get("client")) is None:
            return Facts(said, here=True)
        own = "" if benchmark.elsewhere else host.name
        return Facts(said, host=server_host(address, benchmark, host), client=own, here=True)


def read(arguments: Sequence[str], version: str) -> Command:
    """See Launcher."""
    try:
        found, _ = getopt.gnu_getopt([_OPTIONAL.sub(r"\1", word) for word in arguments], _SHORT, _LONG.split())
    except getopt.GetoptError:
        return NotUnderstood()
    options = {_LETTERS.get(name.lstrip("-"), name.lstrip("-")): value for name, value in found}
    for name in ("version", "help", "daemon"):
        if name in options:
            raise UserError(f"iperf3 --{name} has no reports to watch: start it without `benchwatch run`")
    number = re.match(r"iperf (\d+)\.(\d+)", version)
    return Iperf3Command(options, tuple(map(int, number.groups())) if number else ())


IPERF3 = Tool(
    name="iperf3",
    families=FAMILIES.all,
    roles=(CLIENT, SERVER),
    kinds={"text": Kind(Iperf3Parser)},
    recognise=recognise_lines(recognised),
    new_state=lambda _: KitState(FAMILIES, (CLIENT, SERVER), 0.0),
    time_limit=re.compile(r"(?:^|\s)(?:-t ?|--time[= ])(\S+)"),
    advice="--json-stream gives (before 3.17 --forceflush)",
    has_server=True,
    launcher=read,
    example="iperf3 -c server --json-stream",
)
