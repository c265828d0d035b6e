"""iperf3's JSON: the events of `--json-stream` (3.17+), and the document of `-J`, which has the same parts.

    {"event":"start","data":{"connected":[...],"version":"iperf 3.18","timestamp":{...},"test_start":{...},...}}
    {"event":"interval","data":{"streams":[...],"sum":{...},"sum_bidir_reverse":{...}}}
    {"event":"end","data":{"sum_sent":{...},"sum_received":{...},"cpu_utilization_percent":{...},...}}
    {"event":"error","data":"control socket has closed unexpectedly"}

    {"start":{...},"intervals":[{...}],"end":{...},"error":"..."}

`sum` flows from client to server, with -R back; `sender` says whether this process sends it. With --bidir
`sum_bidir_reverse` is the other direction. What the other end counted is 0 bytes where it is not known.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec

from .records import Beginning, Flow, Iperf3Done, Iperf3Failure, Iperf3Interval, Iperf3Result, Record

_Number = Annotated[float, msgspec.Meta(ge=0, le=1e18)]
_Difference = Annotated[float, msgspec.Meta(ge=-1e18, le=1e18)]
_Text = Annotated[str, msgspec.Meta(max_length=1000)]
_SETTINGS = {"blksize": "block_size", "num_streams": "streams"}
"""Settings of test_start that have a better name."""


class _Sum(msgspec.Struct):
    end: _Number = 0.0
    start: _Number = 0.0
    seconds: _Number = 0.0
    bytes: _Number = 0.0
    sender: bool = True
    omitted: bool = False
    retransmits: _Number | None = None
    packets: _Number | None = None
    lost_packets: _Difference | None = None  # below 0 where more came late than were lost
    jitter_ms: _Number | None = None
    rtt: _Number = 0.0  # microseconds
    snd_cwnd: _Number = 0.0


class _Interval(msgspec.Struct):
    sum: _Sum
    streams: Sequence[_Sum] = ()
    sum_bidir_reverse: _Sum | None = None


class _End(msgspec.Struct):
    sum: _Sum | None = None  # only of UDP
    sum_sent: _Sum | None = None
    sum_received: _Sum | None = None
    sum_bidir_reverse: _Sum | None = None
    sum_sent_bidir_reverse: _Sum | None = None
    sum_received_bidir_reverse: _Sum | None = None
    cpu_utilization_percent: Mapping[str, _Number] = {}


class _Start(msgspec.Struct):
    version: _Text = ""
    timestamp: Mapping[str, _Number | _Text] = {}
    connecting_to: Mapping[str, Any] | None = None
    accepted_connection: Mapping[str, Any] | None = None
    test_start: Mapping[str, _Number | bool | _Text] = {}
    target_bitrate: _Number = 0.0


class _Document(msgspec.Struct):
    start: _Start | None = None
    intervals: Sequence[_Interval] = ()
    end: _End | None = None
    error: _Text | None = None


class _Event(msgspec.Struct):
    event: str
    data: msgspec.Raw


_PARTS: Mapping[str, Any] = {"start": _Start, "interval": _Interval, "end": _End, "error": _Text}


def of_event(line: bytes) -> list[Record]:
    """The records of an event: none where it says nothing of use. Raises ValueError."""
    event = msgspec.json.decode(line, type=_Event)
    part = _PARTS.get(event.event)  # none for the server's output, which --get-server-output fetches
    return list(_records(msgspec.json.decode(event.data, type=part))) if part else []


def of_document(text: bytes) -> list[Record]:
    """The records of a document, or of some of its parts. Raises ValueError."""
    document = msgspec.json.decode(text, type=_Document)
    parts = (document.start, *document.intervals, document.error, document.end)
    if not any(parts):
        raise ValueError("expected start, intervals or end")
    return [record for part in parts if part is not None for record in _records(part)]


def _records(part: Any) -> Iterator[Record]:
    match part:
        case _Start():
            yield _beginning(part)
        case _Interval(sum=first):
            sums = [each for each in (first, part.sum_bidir_reverse) if each]
            flows = (_flow(each, [s for s in part.streams if s.sender == each.sender]) for each in sums)
            yield Iperf3Interval(first.start, first.end, first.omitted, tuple(flows))
        case _End(cpu_utilization_percent=percent):
            yield from _results(part)
            load = {"local": percent.get("host_total"), "remote": percent.get("remote_total")}
            yield Iperf3Done({host: value / 100 for host, value in load.items() if value})
        case _:
            yield Iperf3Failure(part)


def _beginning(start: _Start) -> Beginning:
    numbers = {name: float(value) for name, value in start.test_start.items() if not isinstance(value, str)}
    settings = {name: f"{value:.15g}" for name, value in numbers.items() if value}
    settings |= {name: value for name, value in start.test_start.items() if isinstance(value, str)}
    times = {name: value for name, value in start.timestamp.items() if isinstance(value, float)}
    return Beginning(
        start.version.removeprefix("iperf "),
        times.get("timemillisecs", 0.0) / 1000 or times.get("timesecs"),
        "client" if start.connecting_to else "server" if start.accepted_connection else "",
        {_SETTINGS.get(name, name): value for name, value in settings.items()},
        int(numbers.get("num_streams", 0)) or None,
        numbers.get("interval") or None,
        (start.target_bitrate or numbers.get("target_bitrate", 0.0)) / 8 or None,
    )


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _flow(part: _Sum, streams: Sequence[_Sum]) -> Flow:
    trips = [stream.rtt for stream in streams if stream.rtt]
    return Flow(
        "send" if part.sender else "receive",
        part.bytes / part.seconds if part.seconds else 0.0,
        int(part.bytes),
        _whole(part.retransmits),
        _whole(part.packets),
        _whole(part.lost_packets),
        None if part.jitter_ms is None else part.jitter_ms / 1e3,
        sum(trips) / len(trips) / 1e6 if trips else None,
        int(sum(stream.snd_cwnd for stream in streams)) or None,
    )


def _results(end: _End) -> Iterator[Iperf3Result]:
    for total, sent, received in (
        (end.sum, end.sum_sent or end.sum, end.sum_received or end.sum),
        (end.sum_bidir_reverse, end.sum_sent_bidir_reverse, end.sum_received_bidir_reverse),
    ):
        if sent and received:
            sending = (total or sent).sender  # in UDP, that of sum_sent is true whoever reports
            own = sent if sending else received
            away, home = _flow(sent, ()), _flow(received, ())
            flow = (away if sending else home) if own.bytes else Flow("send")
            yield Iperf3Result(
                own.seconds or own.end or None,
                flow._replace(
                    direction="send" if sending else "receive",
                    retransmits=away.retransmits if sent.bytes else None,
                    lost=home.lost if received.bytes and received.packets is not None else None,
                    jitter=home.jitter if received.bytes else None,
                ),
            )
