"""One test of iperf3 as records of the kit: what both ends say of it together, each thing once.

Omitted intervals (-O) are shown while they last, but neither counted nor part of a result. iperf3 prints the last
interval again if the connection is lost.
"""

from collections import defaultdict
from collections.abc import Iterator

from ..kit import Failed, Key, Record, Said, ToolReport, ToolResult
from .records import BOTH, KNOWN, Beginning, Iperf3Done, Iperf3Failure, Iperf3Interval, Iperf3Result
from .records import Record as Iperf3Record


class Iperf3Test:
    """What was said of the present test."""

    def __init__(self) -> None:
        self._settings: dict[str, float] = {}
        self._shown: dict[str, float] = {}  # settings that were told
        self._last: dict[str, tuple[object, ...]] = {}  # by direction, times of the last interval
        self._counted: set[tuple[str, str]] = set()  # figures of intervals and their direction
        self._results: dict[str, dict[str, float]] = defaultdict(dict)
        self._ended = False

    def told(self, record: Iperf3Record, role: str) -> Iterator[Record]:
        """A record of the kit for each thing that is new in this one."""
        own = "server_" if role == "server" else ""
        match record:
            case Beginning():
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
            case Iperf3Interval() if self._last.get(record.direction) == record[:3]:
                yield ToolResult({}, record.time, final=False)
            case Iperf3Interval():
                self._last[record.direction] = record[:3]
                yield from self._target(record.direction)
                yield self._interval(record, own)
            case Iperf3Result():
                self._ended = True
                yield from self._target(record.direction)
                yield self._result(record, own)
            case Iperf3Done(load):
                yield ToolResult({("cpu", host): value for host, value in load.items()}, final=self._ended)
                if not self._ended:
                    yield Failed("it ended without results")
            case Iperf3Failure(message):
                yield Failed(message, interrupted=message.startswith("interrupt - "))

    def _target(self, way: str) -> Iterator[Record]:
        rate = self._settings.get("target_bitrate", 0) / 8 * self._settings.get("num_streams", 1)
        if rate and self._shown.get(way) != rate:
            self._shown[way] = rate
            yield ToolResult({("target", way): rate}, final=False)

    def _interval(self, record: Iperf3Interval, own: str) -> ToolReport:
        way, said = record.direction, record.figures
        known = ("packets", "retransmits") if way == "send" else ("packets", "lost")
        figures: dict[Key, float] = {(f"{own}{name}", way): said[name] for name in ("rate", "bytes") if name in said}
        figures |= {(name,) if name == "retransmits" else (name, way): said[name] for name in known if name in said}
        if said["rate"]:  # without a byte it repeats these
            now = ("rtt", "window") if way == "send" else ("jitter",)
            figures |= {(name,): said[name] for name in now if name in said}
        self._counted |= {(name, way) for name in known if name in said and not record.omitted}
        return ToolReport(record.time, figures, counted=not record.omitted, length=record.length)

    def _result(self, record: Iperf3Result, own: str) -> ToolResult:
        way, found = record.direction, self._results[record.direction]
        known = (*KNOWN[record.end], *(() if record.time is None else BOTH))
        new = {name: record.figures[name] for name in known if record.figures.get(name, -1) >= 0}
        found |= new
        names = {"rate": f"{own}rate", "bytes": f"{own}bytes", "retransmits": "sent_again", "jitter": "last_jitter"}
        names |= {name: name for name in ("seconds", "packets")}
        figures: dict[Key, float] = {(names[name], way): value for name, value in new.items() if name in names}
        if "lost" in new and ("lost", way) in self._counted:
            figures["lost", way] = new["lost"]
        if "retransmits" in new and ("retransmits", way) in self._counted:
            figures["settled",] = new["retransmits"]
        if "lost" in found and found.get("packets"):
            figures["lost_ratio", way] = found["lost"] / found["packets"]
        return ToolResult(figures, record.time)
