"""iperf3's text.

    Connecting to host 127.0.0.1, port 24507                 or: Accepted connection from 127.0.0.1, port 55594
    [  5] local 127.0.0.1 port 35902 connected to 127.0.0.1 port 24507
    [  5]   0.00-1.00   sec  23.9 MBytes   200 Mbits/sec    0    767 KBytes       (omitted)      TCP, sent
    [  5]   0.00-1.00   sec  23.9 MBytes   200 Mbits/sec                                         TCP, received
    [  5]   0.00-1.00   sec  5.97 MBytes  50.1 Mbits/sec  191                                    UDP, sent
    [SUM][RX-C]   0.00-1.00   sec  4.81 MBytes  40.4 Mbits/sec  0.020 ms  0/154 (0%)             UDP, received
    [  5]   0.00-4.00   sec  95.4 MBytes   200 Mbits/sec    0             sender                 the whole test

Bytes count in 1024, bits in 1000, with three digits: within 0.5 %, so that no byte is counted exactly. A direction with
several streams has a [SUM]. --timestamps puts any text before each line, without a space.
"""

import re

from .records import Beginning, Flow, Iperf3Done, Iperf3Failure, Iperf3Interval, Iperf3Result, Record

_ROW = re.compile(
    r"\[(?P<id>SUM| *\d{1,9})\](?:\[(?P<way>[RT]X)-[CS]\])? +(?P<start>\d{1,9}\.\d\d)- *(?P<end>\d{1,9}\.\d\d)"
    r" +sec +[\d.]{1,9} [KMGTP]?(?:Bytes|bits) +(?P<rate>\d{1,12}(?:\.\d{1,9})?)"
    r" (?P<unit>[KMGTP]?)(?P<bits>Bytes|bits)/sec"
    r"(?: +(?P<jitter>\d{1,9}\.\d{3}) ms +(?P<lost>-?\d{1,15})/(?P<total>\d{1,15}) \(\S{1,20}\))?"
    r"(?: +(?P<count>\d{1,15})(?![\d.]))?(?: +(?P<window>\d{1,12}(?:\.\d{1,9})?) (?P<scale>[KMGTP]?)Bytes)?"
    r" *(?P<of>sender|receiver)? *(?P<omitted>\(omitted\))?\s*$"
)
_ROW_LIKE = re.compile(r"\[(?:SUM| *\d{1,9})\](?:\[[RT]X-[CS]\])? +\d+\.")
_CONNECTED = re.compile(r"\[ *\d+\] local \S+ port \d+ connected to \S+ port \d+")
_ROLE = re.compile(r"(?:(Connecting to host)|Accepted connection from) \S+, port \d+\s*$")
LISTENING = re.compile(r"Server listening on \d+")
_VERSION = re.compile(r"iperf (3\.\S+)(?: \(.*\))?\s*$")
_DONE = re.compile(r"iperf Done\.\s*$")
_FAILURE = re.compile(
    r"iperf3: (?:error - )?((?<=error - ).+|(?:interrupt|parameter error) - .+|the (?:client|server) .+)"
)
INTERRUPTED = "interrupt - "
"""How the reason begins that iperf3 gives when a signal has told it to stop."""
_KNOWN = re.compile(
    r"(?:- ){5}|-{20}|\[ ID\]|Test Complete|Starting Test: |Linux |FreeBSD |Darwin |Control connection MSS|Time: \w"
    r"|\s+(?:Cookie|TCP MSS|Target Bitrate): |CPU Utilization: |(?:snd|rcv)_tcp_congestion|iperf3: |Server output:"
    r"|Reverse mode, |Server listening on \d|^(?:\d+|.*\d\d:\d\d:\d\d.*)?$"  # at last an empty line with its time
)
_STAMP = re.compile(r"[\w :./+,-]*")


def recognised(text: str) -> bool:
    """Whether a line is surely one of iperf3's."""
    found = (pattern.search(text) for pattern in (_ROW, _CONNECTED, LISTENING, _FAILURE, _ROLE))
    return any(match and _STAMP.fullmatch(text, 0, match.start()) for match in found)


def row_like(text: str) -> bool:
    """Whether a line begins as one with figures does."""
    return _ROW_LIKE.search(text) is not None


def whole(text: str) -> bool:
    """Whether a line that lacks its end lacks nothing else."""
    return bool(_DONE.search(text) or (_ROW.search(text) and text.endswith(("sender", "receiver"))))


class Iperf3Text:
    """Reads the lines of one test."""

    def __init__(self) -> None:
        self._sending = self._udp = self._several = self._counted = False
        self._connections = self._window = 0
        self._last: dict[str, str] = {}  # by direction: the stream of the last row

    def read(self, text: str) -> list[Record] | None:
        """The content of a line; None if it is not iperf3's."""
        if row := _ROW.search(text):
            return self._row(row)
        if _CONNECTED.search(text):
            self._connections += 1
            return []
        if match := _ROLE.search(text):
            self._sending = bool(match[1])
            return [Beginning(role="client" if match[1] else "server")]
        if match := _VERSION.search(text):
            return [Beginning(version=match[1])]
        if match := _FAILURE.search(text):
            return [Iperf3Failure(match[1].strip())]
        if _DONE.search(text):
            return [Iperf3Done()]
        self._sending &= "Reverse mode, " not in text
        self._udp |= "Datagrams" in text
        return [] if _KNOWN.search(text) else None

    def _row(self, row: re.Match[str]) -> list[Record]:
        """A line with figures counts if it is of all streams of its direction."""
        number = {name: float(value) for name, value in row.groupdict().items() if value and value[-1].isdigit()}
        count = {name: int(number[name]) for name in ("count", "lost", "total") if name in number}
        self._udp |= "lost" in count
        if row["way"]:
            self._sending = row["way"] == "TX"
        elif count and not row["of"]:
            self._sending = "lost" not in count
        self._window += round(number.get("window", 0) * _factor(row["scale"], 1024))
        if not self._is_all(row):
            return []
        window, self._window = self._window or None, 0
        flow = Flow(
            "send" if self._sending else "receive",
            number["rate"] * (_factor(row["unit"], 1000) / 8 if row["bits"] == "bits" else _factor(row["unit"], 1024)),
            retransmits=None if self._udp else count.get("count"),
            packets=count.get("total", count.get("count")) if self._udp else None,
            lost=count.get("lost") if count.get("total") else None,
            jitter=number["jitter"] / 1e3 if count.get("total") else None,
            window=window,
        )
        if row["of"]:
            of_this_end = (row["of"] == "sender") == self._sending
            found = flow if of_this_end else flow._replace(rate=None, packets=None)
            found = found._replace(lost=None, jitter=None) if row["of"] == "sender" else found
            return [Iperf3Result(number["end"] if of_this_end else None, found)]
        streams = self._connections // (2 if row["way"] else 1) or None
        told, self._counted = [] if self._counted else [Beginning(streams=streams)], True
        return [*told, Iperf3Interval(number["start"], number["end"], row["omitted"] is not None, (flow,))]

    def _is_all(self, row: re.Match[str]) -> bool:
        way, stream = row["way"] or "", row["id"]
        self._several |= stream == "SUM"
        if self._several or self._connections:
            return stream == "SUM" or self._connections == (2 if way else 1)
        again = self._last.get(way) == stream  # nothing says how many there are: the first line is left out
        self._last[way] = stream
        return again


def _factor(prefix: str | None, base: int) -> float:
    return float(base ** " KMGTP".index(prefix or " "))
