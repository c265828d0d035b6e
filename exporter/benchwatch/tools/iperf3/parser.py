"""Reads one stream of iperf3: events, documents and text in any mixture, several tests one after the other.

A line that begins with `{` is an event or a whole document. A line that is only `{` begins a document, which ends with
the next line that is only `}`; a line that is not indented cuts it off. Its start and each interval are read where they
end, so that they have dates of their own and count even if the rest is lost. A document that repeats the events before
it (--json-stream-full) says nothing new. All other lines are text:

    Connecting to host 127.0.0.1, port 24507                 or: Accepted connection from 127.0.0.1, port 55594
    [  5] local 127.0.0.1 port 35902 connected to 127.0.0.1 port 24507
    [  5]   0.00-1.00   sec  23.9 MBytes   200 Mbits/sec    0    767 KBytes       (omitted)      TCP, sent
    [  5]   0.00-1.00   sec  23.9 MBytes   200 Mbits/sec                                         TCP, received
    [  5]   0.00-1.00   sec  5.97 MBytes  50.1 Mbits/sec  191                                    UDP, sent
    [SUM][RX-C]   0.00-1.00   sec  4.81 MBytes  40.4 Mbits/sec  0.020 ms  0/154 (0%)             UDP, received
    [  5]   0.00-4.00   sec  95.4 MBytes   200 Mbits/sec    0             sender                 the whole test

Bytes count in 1024, bits in 1000, with three digits: within 0.5 %, so that no byte is counted exactly. A direction with
several streams has a [SUM]. --timestamps puts any text before each line, without a space.

A start event, a document or the first line of a text begins another test if the test before is over or has a role.
Errors of a server between two tests belong to neither.
"""

import re
from collections.abc import Sequence

from ..api import Begin, Misread
from ..kit import ToolReport
from ..lines import EXCERPT, LineParser
from .both_ends import Iperf3Test
from .records import Beginning, Iperf3Done, Iperf3Failure, Iperf3Interval, Iperf3Result, Record, of_json

_LONGEST = 1 << 24  # bytes of a part of a document; a longer one counts as cut off
_START, _START_ENDS = b'{\n\t"start":\t{\n', b"\t},"
_PARTS = {
    _START_ENDS: (b"}}", b"{\n"),
    b"\t\t}, {": (b"}]}", b'{\n\t"intervals":\t[{\n'),
    b"\t\t}],": (b"}]}", b"{\n"),
    b"}": (b"}", b""),
}
"""By the line that ends a part of a document, as iperf3 indents it: what completes the part, what begins the next."""
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
    r"|Reverse mode, |Server listening on \d|^(?:\d+|.*\d\d:\d\d:\d\d.*)?$"  # at last an empty line with its time
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


class Iperf3Parser(LineParser):
    """See tools.Parser."""

    _TORN = (Misread, ToolReport)

    def __init__(self) -> None:
        super().__init__()
        self._document = bytearray()  # the lines so far of its present part
        self._skipping = False  # the rest of the document
        self._start_test()

    def _start_test(self) -> None:
        self._beginning: Record | None = None
        self._test = Iperf3Test()
        self._role = ""
        self._omitted = 0.0  # seconds
        self._ended = self._done = False
        self._sending = self._udp = self._several = False  # in lines of text that follow
        self._connections = self._window = 0
        self._last: dict[str, str] = {}  # by direction: the stream of the last row

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

    def _read(self, text: str) -> Sequence[Record] | None:
        if row := _ROW.search(text):
            return self._row(row)
        if _CONNECTED.search(text):
            self._connections += 1
        elif match := _ROLE.search(text):
            return [Beginning(parameters={"role": "client" if match[1] else "server"})]
        elif match := _VERSION.search(text):
            return [Beginning(version=match[1])]
        elif match := _FAILURE.search(text):
            return [Iperf3Failure(match[1].strip())]
        elif text.endswith("iperf Done."):
            return [Iperf3Done()]
        elif not _KNOWN.search(text):
            return None
        self._done |= self._ended and _LISTENING.search(text) is not None
        self._sending &= "Reverse mode, " not in text
        self._udp |= "Datagrams" in text
        return []

    def _row(self, row: re.Match[str]) -> list[Record]:
        """A line with figures counts if it is of all streams of its direction."""
        number = {name: float(value) for name, value in row.groupdict().items() if value and value[-1].isdigit()}
        self._udp |= "lost" in number
        if row["way"]:
            self._sending = row["way"] == "TX"
        elif not row["of"] and number.keys() & {"count", "lost"}:
            self._sending = "lost" not in number
        self._window += round(number["window"] * _UNITS[row["scale"]]) if "window" in number else 0
        way, stream = row["way"] or "", row["id"]
        self._several |= stream == "SUM"
        is_all = stream == "SUM" or self._connections == (2 if way else 1)
        if not self._several and not self._connections:  # nothing says how many there are: the first line is left out
            is_all, self._last[way] = self._last.get(way) == stream, stream
        if not is_all:
            return []
        figures: dict[str, float] = {name: int(number[name]) for name in ("packets", "lost") if name in number}
        if "count" in number:
            figures["packets" if self._udp else "retransmits"] = int(number["count"])
        if number.get("packets"):
            figures["jitter"] = number["jitter"] / 1e3
        if self._window:
            figures["window"], self._window = self._window, 0
        figures["rate"] = number["rate"] * _UNITS[row["unit"]]
        direction = "send" if self._sending else "receive"
        if row["of"]:
            figures["seconds"] = round(number["end"] - number["start"], 2)
            is_own = (row["of"] == "sender") == self._sending
            return [Iperf3Result(number["end"] if is_own else None, direction, row["of"], figures)]
        streams = self._connections // (2 if way else 1)
        length = round(number["end"] - number["start"], 2)
        interval = Iperf3Interval(number["end"], length, row["omitted"] is not None, direction, figures)
        return [Beginning(figures={"num_streams": streams}), interval] if streams else [interval]

    def _take(self, found: Sequence[Record]) -> None:
        if found and self._begins(found[0]):
            self._out.append(Begin())
            self._start_test()
        taken: list[Record] = []
        for record in found:
            match record:
                case Iperf3Failure() if self._done:
                    continue
                case Beginning():
                    self._beginning, self._role = record, record.parameters.get("role", self._role)
                    self._sending |= record.parameters.get("role") == "client"
                case Iperf3Interval(omitted=True):
                    self._omitted = record.time
                case Iperf3Interval() | Iperf3Result() if record.time is not None:
                    record = record._replace(time=self._omitted + record.time)
            self._ended |= isinstance(record, Iperf3Result | Iperf3Done | Iperf3Failure)
            self._done |= isinstance(record, Iperf3Done)
            taken.append(record)
        super()._take([one for record in taken for one in self._test.told(record, self._role)])
        self._undated = not any(isinstance(record, Iperf3Interval | Iperf3Result | Iperf3Done) for record in taken)

    def _begins(self, first: Record) -> bool:
        """Whether a line with this record begins another test."""
        if isinstance(first, Beginning) and (first.version or "role" in first.parameters):
            return self._ended or bool(self._role)
        return isinstance(first, Iperf3Failure) and self._done and self._role != "server"
