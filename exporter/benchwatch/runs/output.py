"""The output of a worker: its streams, and the state of the last run of the tool in them.

Times are Unix seconds. When the clock is set, they are moved by the same amount.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..tools.api import Begin, Misread, State, Written
from ..tools.registry import TOOLS
from ..values.printable import printable
from .files import FileStatus, Rewritten
from .layout import StreamPlan
from .stream import Stream

_LINES_OF_OTHERS = 1000
"""Lines that are not understood, among which the output of another tool is looked for."""
_SETTLED_AFTER = 1.0
"""Seconds of silence after which a last line that lacks only its newline counts."""


class Output:
    """What one process has printed so far, and when it last printed something."""

    def __init__(
        self,
        plans: Sequence[StreamPlan],
        folder: Path,
        new_state: Callable[[], State],
        open_stream: Callable[[StreamPlan, Path], Stream],
    ) -> None:
        self.streams = [open_stream(plan, folder) for plan in plans]
        self.state = new_state()
        """The state of the last run of the tool."""
        self.reruns = 0
        """Number of runs of the tool before the last one."""
        self.changes = 0
        """Grows with each change outside the state."""
        self.caught_up = False
        """Whether all existing output has been read; until then, growing counters would look like a burst."""
        self.faults: dict[str, str] = {}
        """Faults for the log: the first sentence of each reason since they were last removed."""
        self.cut_off: bool | None = None
        """Whether it ends in the middle of a line or document; None until it is closed."""
        self.written = 0.0
        """When one of its files was last written."""
        self.heard = 0.0
        """When new bytes were last read."""
        self.reported: float | None = None
        """When new bytes last held something that a parser understood."""
        self.now: float | None = None
        """The time of the last tick."""
        self._folder = folder
        self._new_state = new_state
        self._recorded: tuple[float | None, float | None] = None, None

    @property
    def plans(self) -> list[StreamPlan]:
        """The plans of its streams."""
        return [stream.plan for stream in self.streams]

    @property
    def repetition(self) -> tuple[int, int]:
        """The number of the run of the tool that is shown, from 1, and the number of runs."""
        cuts = [stream.plan.cut for stream in self.streams if stream.plan.cut]
        last = self.reruns + 1
        return max(((cut.number, cut.of) for cut in cuts), default=(last, last))

    @property
    def unreadable(self) -> list[str]:
        """For each file that cannot be read at the moment, a clause that says why."""
        return [f"{stream.plan.name} cannot be read: {why}" for stream in self.streams if (why := stream.unreadable)]

    @property
    def size(self) -> int:
        """Bytes read so far."""
        return sum(stream.size for stream in self.streams)

    def follow(self, plans: Sequence[StreamPlan]) -> bool:
        """Continue with new plans; returns False if that is impossible and everything must be read again."""
        known = {stream.plan.name: stream for stream in self.streams}
        if plans[0].tool is not self.streams[0].plan.tool or not known.keys() <= {plan.name for plan in plans}:
            return False
        if not all(known[plan.name].follow(plan, self._folder) for plan in plans if plan.name in known):
            return False
        self.streams = [known.get(plan.name) or Stream(plan, self._folder) for plan in plans]
        return True

    def date(self, start: float | None, end: float | None) -> None:
        """Apply the start and end in the run's records."""
        self._recorded = start, end
        for stream in self.streams:
            self._date(stream)

    def read(self, limit: int, files: Mapping[str, FileStatus], now: float) -> int:
        """Read up to `limit` new bytes of each stream; returns the number of bytes. `files` is the current listing.

        Raises Rewritten if everything must be read again from the start.
        """
        taken, more, runs = 0, False, self.reruns
        for stream in self.streams:
            try:
                data, modified = stream.read(limit, files)
            except FileNotFoundError:  # removed after the folder was listed: the next look drops it
                continue
            except OSError as error:
                if not stream.unreadable:
                    self._misread(stream, "unreadable", f"{stream.plan.name}: cannot be read: {error.strerror}")
                stream.unreadable = str(error.strerror)
                continue
            stream.unreadable = ""
            taken += stream.compared
            if data and (self.cut_off is not None or (stream.settled and data[:1] not in b"\r\n")):
                raise Rewritten  # its parser was closed, or has settled a line that now continues
            if data:
                self._take(stream, data, min(modified, now), now)
                taken += len(data)
                more |= len(data) == limit or stream.in_older_part
            elif (written := stream.written_since(files)) is not None:
                if self.cut_off is not None:
                    raise Rewritten  # its parser was closed, and it may go on
                self._note_time(stream, min(written, now), min(written, now), reported=stream.parser.records > 0)
        more |= self.reruns != runs and any(stream.plan.is_log for stream in self.streams)  # they are read again
        self.caught_up |= not more
        return taken

    def _take(self, stream: Stream, data: bytes, arrived: float, now: float) -> None:
        stream.settled = False
        before = stream.parser.records
        self._apply(stream, stream.feed(data), arrived)
        # What was not there at the last look is newer than that look, even if the file's time is older.
        came = arrived if self.now is None else max(arrived, min(self.now, now))
        self._note_time(stream, arrived, came, reported=stream.parser.records != before)
        self.changes += 1

    def _note_time(self, stream: Stream, written: float, came: float, *, reported: bool) -> None:
        """Note when a stream was last written, and when that was seen."""
        stream.written = written
        self.written = max(written, self.written)
        self.heard = max(came, self.heard)
        if reported:
            self.reported = max(came, self.reported or 0.0)
        self._date(stream)

    def _date(self, stream: Stream) -> None:
        """Give the state the time at which the last text read from a stream was written."""
        if stream.written is None or stream.plan.is_log or stream.run != self.reruns:
            return
        start, end = self._recorded
        last = stream.written if end is None else min(stream.written, end)
        begun, recorded = stream.begun(start)
        self.state.written(stream.plan.name, Written(last, begun, recorded, stream.parser.undated))

    def _apply(self, stream: Stream, records: Sequence[Any], arrived: float) -> None:
        name = stream.plan.name
        for record in records:
            if isinstance(record, Misread):
                what = record.reason.replace("_", " ")
                self._misread(stream, record.reason, f"{name}, {record.where}: {what}: {record.text}")
                if record.reason == "other_text":
                    self._look_for_other_tool(stream, record)
            elif isinstance(record, Begin):
                stream.run += 1
                self._begin(stream.run)
            elif stream.plan.is_log or stream.run == self.reruns:
                self.state.apply(record, name, arrived)

    def _look_for_other_tool(self, stream: Stream, record: Misread) -> None:
        """Say once that a second tool wrote to this stream."""
        if "other_tool" in stream.errors or stream.errors["other_text"] > _LINES_OF_OTHERS:
            return
        text = record.text.encode() + b"\n"
        others = [tool.name for tool in TOOLS if tool is not stream.plan.tool and tool.recognise(text)]
        if others:
            sentence = (
                f"{stream.plan.name}, {record.where}: other tool: the output of {others[0]} begins here, but only that "
                f"of {stream.plan.tool.name}, which comes first, is read: write each to a file of its own"
            )
            self._misread(stream, "other_tool", sentence)

    def _begin(self, run: int) -> None:
        """Begin the state of another run in the same output. Logs belong to the last run, so read them again for it."""
        if run <= self.reruns:
            return
        self.reruns = run
        self.state = self._new_state()
        for stream in self.streams:
            if stream.plan.is_log:
                stream.restart()
                self.caught_up = False

    def _misread(self, stream: Stream, reason: str, text: str) -> None:
        stream.errors[reason] += 1
        self.faults.setdefault(reason, printable(text))
        self.changes += 1

    def tick(self, now: float) -> None:
        """Advance the clock: settle last lines, close windows."""
        if self.now is not None and now < self.now:
            self.clock_was_set(now - self.now)
        self.now = now
        if now - self.heard >= _SETTLED_AFTER:
            self.settle()
        self.state.tick(now)

    def settle(self) -> None:
        """Count last lines that lack only their newline. If such a line continues later, everything is read again."""
        for stream in self.streams:
            if not stream.settled and (records := stream.settle()):
                stream.settled = True
                self._apply(stream, records, self.written)
                self._date(stream)
                self.changes += 1

    def over(self) -> None:
        """Treat it as complete, even if the last line lacks its newline."""
        self.settle()
        self.state.over()

    def close(self) -> None:
        """Close it: what is incomplete now counts as truncated."""
        self.cut_off = False
        for stream in self.streams:
            records = stream.close()
            self.cut_off |= any(isinstance(record, Misread) and "truncated" in record.reason for record in records)
            self._apply(stream, records, self.written)

    def clock_was_set(self, by: float) -> None:
        """Move times by the seconds that the clock was set forward (negative: back), so that is not silence."""
        self.reported = None if self.reported is None else self.reported + by
        self.heard += by
        self.now = None if self.now is None else self.now + by
