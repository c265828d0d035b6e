"""The JSON of iperf3: a document, its parts, and events, as far as they are read."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

Number = Annotated[int, msgspec.Meta(ge=0, le=10**18)] | Annotated[float, msgspec.Meta(ge=0, le=1e18)]
Difference = Annotated[int, msgspec.Meta(ge=-(10**18), le=10**18)]
Text = Annotated[str, msgspec.Meta(max_length=1000)]


class Sum(msgspec.Struct):
    """All streams of a direction, or one of them; None: not said."""

    start: Number = 0
    end: Number = 0
    seconds: Number = 0
    bytes: Number | None = None
    rate: Number | None = None  # bytes a second; only in text
    sender: bool = True
    omitted: bool = False
    retransmits: Number | None = None
    packets: Number | None = None
    lost_packets: Difference | None = None  # below 0 if more came late than lost
    jitter_ms: Number | None = None
    rtt: Number = 0  # microseconds
    snd_cwnd: Number = 0

    def figures(self, streams: Sequence["Sum"] = ()) -> dict[str, float]:
        """What these streams, the parts of this sum, did."""
        trips = [stream.rtt for stream in streams if stream.rtt]
        known = {
            "rate": (self.bytes or 0) / self.seconds if self.rate is None and self.seconds else self.rate or 0.0,
            "bytes": self.bytes,
            "packets": self.packets,
            "retransmits": self.retransmits,
            "lost": self.lost_packets,
            "jitter": None if self.jitter_ms is None else self.jitter_ms / 1e3,
            "rtt": sum(trips) / len(trips) / 1e6 if trips else None,
            "window": sum(stream.snd_cwnd for stream in streams) or None,
        }
        return {name: value for name, value in known.items() if value is not None}


class Interval(msgspec.Struct):
    """One interval, in both directions."""

    sum: Sum
    sum_bidir_reverse: Sum | None = None
    streams: Sequence[Sum] = ()


class End(msgspec.Struct):
    """What both ends say of the whole test, in both directions."""

    sum: Sum | None = None
    sum_sent: Sum | None = None
    sum_received: Sum | None = None
    sum_bidir_reverse: Sum | None = None
    sum_sent_bidir_reverse: Sum | None = None
    sum_received_bidir_reverse: Sum | None = None
    cpu_utilization_percent: Mapping[str, Number] = {}


class Start(msgspec.Struct):
    """What is known of a test before its first interval."""

    version: Text = ""
    cookie: Text = ""  # differs in each test
    timestamp: Mapping[str, Number | Text] = {}
    connecting_to: Mapping[str, Any] | None = None
    accepted_connection: Mapping[str, Any] | None = None
    test_start: Mapping[str, Number | bool | Text] = {}
    target_bitrate: Number = 0


class IperfDocument(msgspec.Struct):
    """A document, or a part of it; or an event."""

    event: str = ""
    data: msgspec.Raw = msgspec.Raw(b"null")
    start: Start | None = None
    intervals: Sequence[Interval] | None = None
    end: End | None = None
    error: Text | None = None


def of_json(text: bytes) -> IperfDocument:
    """A document, or an event as a document, which is empty if it says nothing of use. Raises ValueError."""
    document = msgspec.json.decode(text, type=IperfDocument)
    if document.event == "interval":
        document.intervals = [msgspec.json.decode(document.data, type=Interval)]
    elif document.event:
        document = msgspec.json.decode(b'{"%s":%s}' % (document.event.encode(), document.data), type=IperfDocument)
    elif document == IperfDocument():
        raise ValueError("expected start, intervals or end")
    return document


def number(values: Mapping[str, float | str], name: str) -> float:
    """One of several values; 0 if there is none, or a text."""
    value = values.get(name, 0.0)
    return 0.0 if isinstance(value, str) else float(value)
