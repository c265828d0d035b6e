"""What iperf3 says in any of its forms: JSON lines, one JSON document, text.

Directions are those of the process that reports. Figures are rate, bytes, packets, retransmits, lost, jitter, rtt and
window, in bytes and seconds; unknown ones are absent.
"""

from collections.abc import Mapping
from typing import NamedTuple

KNOWN = {"sender": ("retransmits", "rtt", "window"), "receiver": ("lost", "jitter")}
"""What only this end of a direction can know."""
BOTH = ("rate", "bytes", "packets")
"""What both count."""
DIRECTIONS = {True: "send", False: "receive"}


class Beginning(NamedTuple):
    """What is known of a test before its first interval."""

    version: str = ""
    begun: float | None = None  # Unix seconds
    parameters: Mapping[str, str] = {}  # with the role: client, server
    figures: Mapping[str, float] = {}  # interval; streams in each direction; target, the rate asked for of one stream
    cookie: str = ""  # differs in each test


class Iperf3Interval(NamedTuple):
    """One direction of a report: its end, seconds since the start of the test, and its length.

    iperf3 itself counts from 0 again after omitted intervals.
    """

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
