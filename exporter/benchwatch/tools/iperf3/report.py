"""What iperf3 says of a test: its figures, and its JSON as far as it is read: a document, its parts, and events."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import msgspec

from ..kit import Families, ToolFigure
from ..roles import Roles, Unit

WAY = ("direction",)
WAYS = {True: "send", False: "receive"}
"""The direction by whether this process sends."""
BPS, NO_REPEATS = "throughput_bytes_per_second", "absent without a byte, when iperf3 repeats the last value"


def _counted(group: str, whose: str) -> dict[str, ToolFigure]:
    rate = f"Bytes{whose} (bytes / seconds of the sum, Bitrate)"
    total = f"Bytes without omitted intervals{whose} (bytes of the sums, only in JSON)"
    name = f"{group}bytes"
    return {
        f"{group}rate": ToolFigure(rate, BPS, labels=WAY, group=group, rate=True),
        name: ToolFigure(total, total="bytes", result="bytes", labels=WAY, group=group, added=True, number=name),
    }


FIGURES = {
    **_counted("", ""),
    **_counted("server_", ", of a server, whose client counts the same"),
    "jitter": ToolFigure("Jitter of the UDP datagrams received, seconds (jitter_ms)", live="jitter_seconds"),
    "rtt": ToolFigure(
        f"Smoothed round-trip time, seconds, mean of the streams (rtt); {NO_REPEATS}", live="rtt_seconds"
    ),
    "window": ToolFigure(
        f"Congestion windows of all streams, bytes (snd_cwnd); {NO_REPEATS}", live="congestion_window_bytes"
    ),
    "retransmits": ToolFigure(
        "TCP segments that this process sent again (Retr)", total="retransmits", added=True, number="settled"
    ),
    "packets": ToolFigure("Datagrams sent, or received and lost (UDP)", total="packets", labels=WAY, added=True),
    "lost": ToolFigure("Datagrams lost on their way here (UDP)", total="lost_packets", labels=WAY, added=True),
    "streams": ToolFigure("Parallel streams in each direction (num_streams)", setting="streams"),
    "target": ToolFigure("Rate asked for (-b), bytes a second", setting="target_bytes_per_second", labels=WAY),
    "sent_again": ToolFigure("Segments that the sender sent again (TCP)", result="retransmits", labels=WAY),
    "seconds": ToolFigure("How long the sender measured, seconds", result="duration_seconds", labels=WAY),
    "lost_ratio": ToolFigure("Part of the datagrams that did not arrive (UDP)", result="lost_ratio", labels=WAY),
    "last_jitter": ToolFigure("Jitter at the receiver, seconds (UDP)", result="jitter_seconds", labels=WAY),
    "cpu": ToolFigure("Processor seconds a second (cpu_utilization_percent)", result="cpu_ratio", labels=("host",)),
}
FAMILIES = Families("iperf", FIGURES)
AGAIN, MISSING = "segments were sent again: {} a second", "datagrams did not arrive: {}"


def roles(group: str) -> Roles:
    """The roles of a client, or of a server: `server_`."""
    return FAMILIES.roles(
        Unit("bit/s", in_bytes=True),
        "bytes",
        {"rate": f"{group}rate", "done": f"{group}bytes", "number": f"{group}bytes", "time": "seconds"},
        labels=WAY,
        observer=bool(group),
        fixed_rate=(FAMILIES.family("setting", "target"),),
        lost={
            "retransmits": FAMILIES.lost("retransmits", result="sent_again", remark=AGAIN),
            "lost packets": FAMILIES.lost("lost", "packets", result="lost_ratio", remark=MISSING, bad=True),
        },
        sources={"rate": "All streams of a direction, from iperf3's own reports."},
    )


Number = Annotated[int, msgspec.Meta(ge=0, le=10**18)] | Annotated[float, msgspec.Meta(ge=0, le=1e18)]
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
    lost_packets: Annotated[int, msgspec.Meta(ge=-(10**18), le=10**18)] | None = None  # below 0: more came late
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

    def sums(self) -> Iterator[tuple[Sum, bool]]:
        """Each, and whether the sender says it."""
        for total, sent, received in (
            (self.sum, self.sum_sent, self.sum_received),
            (self.sum_bidir_reverse, self.sum_sent_bidir_reverse, self.sum_received_bidir_reverse),
        ):
            for each, of_sender in ((sent or total, True), (received or total, False)):
                if each:  # in UDP, `sender` of sum_sent is true whoever reports
                    each.sender, each.seconds = (total or sent or each).sender, each.seconds or each.end
                    yield each, of_sender


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
    """A document, or a part of it; an event is the part that it repeats."""

    start: Start | None = None
    intervals: Sequence[Interval] | None = None
    end: End | None = None
    error: Text | None = None


EVENT = re.compile(rb'\{"event":"(\w{1,40})","data":(.*)\}$', re.DOTALL)


def of_json(text: bytes) -> IperfDocument:
    """A document, or an event as the part of one, which is empty if it says nothing of use. Raises ValueError."""
    if event := EVENT.match(text):
        form = b'{"intervals":[%s]}' if event[1] == b"interval" else b'{"' + event[1] + b'":%s}'
        return msgspec.json.decode(form % event[2], type=IperfDocument)
    document = msgspec.json.decode(text, type=IperfDocument)
    if document == IperfDocument():
        raise ValueError("expected start, intervals or end")
    return document
