"""What iperf3's output says in any of its forms: JSON lines, one JSON document, text.

Directions are those of the process that reports: send, receive. Rates are bytes a second, times seconds.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Beginning(NamedTuple):
    """What is known of a test before its first interval."""

    version: str = ""
    time: float | None = None  # Unix time, from which the intervals count
    role: str = ""  # client, server
    parameters: Mapping[str, str] = {}
    streams: int | None = None  # in each direction
    interval: float | None = None
    target: float | None = None  # rate asked for of one stream


class Flow(NamedTuple):
    """All streams of one direction together; None: not known."""

    direction: str
    rate: float | None = None
    bytes: int | None = None
    retransmits: int | None = None
    packets: int | None = None
    lost: int | None = None
    jitter: float | None = None
    rtt: float | None = None  # mean of the streams
    window: int | None = None  # sum of the streams' congestion windows, bytes


class Iperf3Interval(NamedTuple):
    """One report. Times count from the start of the test; iperf3's own begin at 0 again behind omitted intervals."""

    start: float
    end: float
    omitted: bool
    flows: tuple[Flow, ...]


class Iperf3Result(NamedTuple):
    """Something of the whole test."""

    end: float | None
    flow: Flow


class Iperf3Done(NamedTuple):
    """The test is over; without a result it failed. Processor seconds a second, by host: local, remote."""

    load: Mapping[str, float] = {}


class Iperf3Failure(NamedTuple):
    """An error that ended the test."""

    message: str


Record = Beginning | Iperf3Interval | Iperf3Result | Iperf3Done | Iperf3Failure
