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

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import msgspec

from ..kit import Begin, Failed, Key, KitParser, Record, Said, TextTool, ToolReport, ToolResult
from ..lines import EXCERPT
from .report import FIGURES, WAYS, IperfDocument, Start, Sum, of_json

PREFIXES = tuple(enumerate(("", *"KMGTP")))
UNITS = {f"{prefix}Bytes": 1024.0**power for power, prefix in PREFIXES}
UNITS |= {f"{prefix}bits": 1000.0**power / 8 for power, prefix in PREFIXES}  # in bytes
ROW = re.compile(
    r"\[(?P<id>SUM| *\d{1,9})\](?:\[(?P<way>[RT]X)-[CS]\])? +(?P<start>\d{1,9}\.\d\d)- *(?P<end>\d{1,9}\.\d\d)"
    r" +sec +[\d.]{1,9} [KMGTP]?(?:Bytes|bits) +(?P<rate>\d{1,12}(?:\.\d{1,9})?)"
    r" (?P<unit>[KMGTP]?(?:Bytes|bits))/sec"
    r"(?: +(?P<jitter_ms>\d{1,9}\.\d{3}) ms +(?P<lost_packets>-?\d{1,15})/(?P<packets>\d{1,15}) \(\S{1,20}\))?"
    r"(?: +(?P<count>\d{1,15})(?![\d.]))?(?: +(?P<snd_cwnd>\d{1,12}(?:\.\d{1,9})?) (?P<scale>[KMGTP]?Bytes))?"
    r" *(?P<of>sender|receiver)? *(?P<is_omitted>\(omitted\))?\s*$"
)
CONNECTED = re.compile(r"\[ *\d+\] local \S+ port \d+ connected to \S+ port \d+")
ROLE = re.compile(r"(?:(Connecting to host)|Accepted connection from) \S+, port \d+\s*$")
LISTENING = re.compile(r"Server listening on \d+")
VERSION = re.compile(r"iperf (3\.\d[\w.+-]{0,40})(?: \(.*\))?\s*$")
FAILURE = re.compile(
    r"iperf3: (?:error - )?((?<=error - ).+|(?:interrupt|parameter error) - .+|the (?:client|server) .+)"
)
SAYS_NOTHING = (
    r".*(?:(?:- ){5}|-{20}|\[ ID\]|Test Complete|Starting Test: |Linux |FreeBSD |Darwin |Control connection MSS"
    r"|Time: \w|\s+(?:Cookie|TCP MSS|Target Bitrate): |CPU Utilization: |(?:snd|rcv)_tcp_congestion|iperf3: "
    r"|Server output:|Reverse mode, |Server listening on \d|\[ *\d+\] Sent \d+ datagrams)"
    r"|\d+$|.*\d\d:\d\d:\d\d"  # the time of an empty line
)
JSON = (
    r'\{"event":"(?:start|interval|end|error|server_output_(?:json|text))","data":|'
    r'(?:\{\s*"start":\s*\{|\s{2,})"connected":\s*\['
)
BEGINS = rf"{JSON}|[\w :./+,-]*?(?:{'|'.join(one.pattern for one in (ROW, CONNECTED, LISTENING, FAILURE, ROLE))})"
BETTER = {"blksize": "block_size", "num_streams": "streams"}
LONGEST = 1 << 24  # bytes of a part of a document; a longer one counts as cut off
START, START_ENDS = b'{\n\t"start":\t{\n', b"\t},"
PARTS = {
    START_ENDS: (b"}}", b"{\n"),
    b"\t\t}, {": (b"}]}", b'{\n\t"intervals":\t[{\n'),
    b"\t\t}],": (b"}]}", b"{\n"),
    b"}": (b"}", b""),
}
"""By the line that ends a part of a document, as iperf3 indents it: what completes the part, what begins the next."""


class Iperf3Parser(KitParser):
    """Reads rows of text, events and documents.

    A line that begins with `{` is an event or a whole document. A line that is only `{` begins a document, which ends
    with the next line that is only `}`; a line that is not indented cuts it off. Its start and each interval are read
    where they end, so that they have dates of their own.
    """

    def __init__(self, tool: TextTool) -> None:
        super().__init__(tool)
        self._document = bytearray()  # the lines so far of its present part
        self._is_repeated = False  # whether the rest of the document is left out
        self._start: Start | None = None

    def begin(self) -> None:
        """See KitParser."""
        super().begin()
        self._role = ""
        self._target = 0.0  # bytes per second and direction
        self._has_ended = self._is_done = False  # the first: with results, or an error
        self._omitted = 0.0  # seconds
        self._time: float | None = None  # how long it took, once there are results
        self._last: dict[bool, tuple[float, float, bool]] = {}  # by whether it sends: the last interval
        # What the lines of a text said so far:
        self._sends = self._is_udp = self._has_sums = self._is_others = False
        self._connections = self._streams = self._window = self._headers = 0
        self._row_before: dict[str, str] = {}  # by direction: the stream of the last row

    def close(self) -> list[Record]:
        """See Parser."""
        found = super().close()
        self._is_closing = False
        self._cut_off()
        return found + self._taken()

    def _is_whole(self, line: bytes) -> bool:
        if self._document:
            return line == b"}"
        with suppress(ValueError, RecursionError):
            if line[-1:] == b"}":
                return bool(of_json(line))
        row = ROW.search(line.decode("utf-8", "replace"))
        return line.endswith(b"iperf Done.") or bool(row and row["of"])

    def _line(self, line: bytes) -> None:
        line = line.rstrip()
        if (line and not line.startswith((b"\t", b" ", b"}"))) or len(self._document) > LONGEST:
            self._cut_off()
        if line == b"{":
            self._document, self._is_repeated = bytearray(b"{\n"), False
        elif line[:1] == b"{":
            self._json(line)
        elif not self._document:
            super()._line(line)
        elif line not in PARTS or (line == START_ENDS and not self._document.startswith(START)):
            self._document += line + b"\n"
        else:
            closing, following = PARTS[line]
            part, self._document = bytes(self._document + closing), bytearray(following)
            if not self._is_repeated:
                self._json(part)

    def _cut_off(self) -> None:
        """Note that the end of a document is missing."""
        if self._document:
            self._misread("truncated_document", self._document[:EXCERPT].decode("utf-8", "replace"))
            self._document = bytearray()

    def _json(self, text: bytes) -> None:
        try:
            document = of_json(text)
            self._is_repeated = document.start is not None and document.start == self._start
            if not self._is_repeated:
                self._take([*self._of_document(document)])
                self.records -= bool(self._document)  # it counts once, at its end
        except (ValueError, RecursionError) as error:
            self._misread("bad_document", f"{error}: {text[:EXCERPT].decode('utf-8', 'replace')}")
            self._is_repeated = True

    def _of_document(self, document: IperfDocument) -> Iterator[Record]:
        if document.start:
            yield from self._begun(document.start)
        for interval in document.intervals or ():
            for each in filter(None, (interval.sum, interval.sum_bidir_reverse)):
                yield from self._interval(each, [one for one in interval.streams if one.sender == each.sender])
        if document.error:
            yield from self._failed(document.error)
        if document.end:
            for each, of_sender in document.end.sums():
                yield from self._result(each, of_sender=of_sender)
            yield from self._done(document.end.cpu_utilization_percent)

    def _begun(self, start: Start) -> Iterator[Record]:
        """What a document says of a test before its first interval."""
        role = "client" if start.connecting_to else "server" if start.accepted_connection else ""
        yield from self._started(role, start.version.removeprefix("iperf "))
        self._start = start
        if begun := float(start.timestamp.get("timemillisecs", 0)) / 1000 or float(start.timestamp.get("timesecs", 0)):
            yield Said("begun", repr(begun))
        for name, value in start.test_start.items():
            if isinstance(value, str) or value:
                text = value if isinstance(value, str) else f"{value:.15g}"
                yield Said(BETTER.get(name, name), text)
        self._streams = int(start.test_start.get("num_streams", 0))
        target = start.target_bitrate or float(start.test_start.get("target_bitrate", 0))
        self._target = target / 8 * (self._streams or 1)
        if self._streams:
            yield ToolResult({("streams",): self._streams}, final=False)

    def _interval(self, each: Sum, streams: Sequence[Sum]) -> Iterator[Record]:
        """One direction of an interval, in seconds since the start or since the last omitted interval."""
        if each.omitted:
            self._omitted = each.end
        time = each.end if each.omitted else self._omitted + each.end
        said = each.start, each.end, each.omitted
        if self._last.get(each.sender) == said:  # the connection was lost
            yield ToolResult({}, time, final=False)
            return
        figures, way = each.figures(streams), WAYS[each.sender]
        if self._target and each.sender not in self._last:
            yield ToolResult({("target", way): self._target}, final=False)
        self._last[each.sender] = said
        if not figures["rate"]:  # else it repeats these
            figures = {name: figures[name] for name in figures if name not in ("rtt", "window", "jitter")}
        found = {self._key(name, way): value for name, value in figures.items()}
        yield ToolReport(time, found, counted=not each.omitted, length=round(each.end - each.start, 9))

    def _result(self, each: Sum, *, of_sender: bool) -> Iterator[Record]:
        """What the sender or the receiver says of one direction of the whole test; without bytes, it is not known."""
        self._has_ended = True
        is_own, way = each.sender == of_sender, WAYS[each.sender]
        self._time = self._omitted + each.seconds if is_own else self._time
        figures = {} if each.bytes == 0 else each.figures() | {"seconds": each.seconds}
        names = {"retransmits": "sent_again", "seconds": "seconds"} if of_sender else {"jitter": "last_jitter"}
        if is_own:
            names |= {"rate": "rate", "bytes": "bytes", "packets": "packets"}
        if not figures.get("rate") and "packets" in figures:  # a server of 3.1 has no bytes in its last row
            del figures["rate"]
        found = {self._key(shown, way): figures[name] for name, shown in names.items() if name in figures}
        if is_own and "retransmits" in figures:
            found["settled",] = figures["retransmits"]
        lost, packets = figures.get("lost", -1.0), figures.get("packets", 0.0)
        if not of_sender and lost >= 0 and packets:
            found["lost_ratio", way] = lost / packets
            if is_own:
                found["lost", way] = lost
        yield ToolResult(found, self._time)

    def _done(self, load: Mapping[str, float]) -> Iterator[Record]:
        """The test is over; without results, it failed. `load` is in percent of a processor."""
        hosts = {"local": load.get("host_total"), "remote": load.get("remote_total")}
        self._has_ended = self._is_done = True
        found: dict[Key, float] = {("cpu", host): value / 100 for host, value in hosts.items() if value}
        yield ToolResult(found, self._time, final=self._time is not None)
        if self._time is None:
            yield Failed("it ended without results")

    def _key(self, name: str, way: str) -> Key:
        name = f"server_{name}" if self._role == "server" and name in ("rate", "bytes") else name
        return (name, way) if FIGURES[name].labels else (name,)

    def _started(self, role: str = "", version: str = "") -> Iterator[Record]:
        """The first that is said of a test, or more of it."""
        if (role or version) and (self._has_ended or self._role):
            self.begin()
            yield Begin()
        self._role = role or self._role
        self._sends |= role == "client"  # unless it says otherwise
        yield from (Said(name, value) for name, value in (("version", version), ("role", role)) if value)

    def _failed(self, message: str) -> Iterator[Record]:
        if self._is_done:
            if self._role == "server":  # between two tests
                return
            self.begin()
            yield Begin()
        self._has_ended = True
        yield Failed(message, interrupted=message.startswith("interrupt - "))

    def line(self, text: str) -> Sequence[Record] | None:
        """See KitParser."""
        if text.endswith("iperf Done."):
            self._is_others = False
            return [*self._done({})]
        if self._is_others and "Connecting to host" not in text:
            return []
        if row := ROW.search(text):
            return [*self._row(row)]
        if CONNECTED.search(text):
            self._connections += 1
            return []
        if match := ROLE.search(text):
            return [*self._started("client" if match[1] else "server")]
        if match := VERSION.search(text):
            return [*self._started(version=match[1])]
        if match := FAILURE.search(text):
            return [*self._failed(match[1].strip())]
        self._is_done |= self._has_ended and LISTENING.search(text) is not None
        self._is_others = text.endswith("Server output:")
        self._headers += "[ ID]" in text  # the second one precedes the summary
        self._sends &= "Reverse mode, " not in text
        self._is_udp |= "Datagrams" in text
        return None

    def _row(self, row: re.Match[str]) -> Iterator[Record]:
        """A line with figures counts if it is of all streams of its direction."""
        digits = {name: value for name, value in row.groupdict().items() if value and value[-1].isdigit()}
        each = msgspec.convert({name: float(n) if "." in n else int(n) for name, n in digits.items()}, Sum)
        has_losses, way, stream = row["packets"] is not None, row["way"] or "", row["id"]
        ends = [row["of"]] if row["of"] else ["sender", "receiver"] if self._headers > 1 and has_losses else []
        self._is_udp |= has_losses
        if way:
            self._sends = way == "TX"
        elif not ends and (row["count"] or has_losses):
            self._sends = not has_losses
        self._window += round(each.snd_cwnd * UNITS[row["scale"]]) if row["scale"] else 0
        self._has_sums |= stream == "SUM"
        is_all = stream == "SUM" or self._connections == (2 if way else 1)
        if not self._has_sums and not self._connections:  # nothing says how many there are: the first line is left out
            is_all, self._row_before[way] = self._row_before.get(way) == stream, stream
        if not is_all:
            return
        if row["count"] and (self._sends or ends):
            each.packets, each.retransmits = (int(row["count"]), None) if self._is_udp else (None, int(row["count"]))
        each.jitter_ms = each.jitter_ms if each.packets else None
        each.snd_cwnd, self._window = self._window, 0
        each.rate = (each.rate or 0) * UNITS[row["unit"]]
        each.sender, each.omitted = self._sends, row["is_omitted"] is not None
        if not ends:
            streams = self._connections // (2 if way else 1)
            if streams != self._streams:
                self._streams = streams
                yield ToolResult({("streams",): streams}, final=False)
            yield from self._interval(each, [each])
            return
        each.seconds = round(each.end - each.start, 2)
        for end in ends:
            yield from self._result(each, of_sender=end == "sender")
