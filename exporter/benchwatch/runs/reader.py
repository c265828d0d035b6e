"""Reads the output of one worker: its streams, the records parsed from them, and the state that these add up to.

Every read is told the present time, before which everything was written. If an output holds several runs of the tool,
the state is that of the last one. Times are Unix seconds.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..metrics.buckets import Buckets
from ..settings.record import RunFile
from ..tools.api import Begin, Misread
from ..tools.registry import TOOLS
from ..tools.states import State, Written
from ..values.printable import printable
from .files import FileStatus, Rewritten
from .layout import StreamPlan
from .stream import Stream

_LINES_OF_OTHERS = 1000
"""Lines that are not understood, among which the output of another tool is looked for."""


class Reader:
    """The streams of a worker, and the state of the last run of the tool in them."""

    def __init__(self, streams: Sequence[Stream], buckets: Buckets, runfile: RunFile) -> None:
        self.tool = streams[0].plan.tool
        self.streams = list(streams)
        self.runfile = runfile
        """What the run's records say about this worker."""
        self.changes = 0
        """Grows with each change outside the state."""
        self.faults: dict[str, str] = {}
        """What could not be read: by reason, a sentence about the first of its kind."""
        self._buckets = buckets
        self.state: State = self.tool.state(buckets)
        """The state of the last run of the tool in this worker's output."""
        self.reruns = 0
        """Number of runs of the tool before the last one."""
        self.caught_up = False
        """Whether all existing output was read; before, growing counters would look like a burst."""
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

    @property
    def size(self) -> int:
        """Bytes read so far."""
        return sum(stream.size for stream in self.streams)

    @property
    def unreadable(self) -> list[str]:
        """For each file that cannot be read at the moment, a clause that says why."""
        found = ((stream.plan.name, stream.unreadable) for stream in self.streams)
        return [f"{name} cannot be read: {why}" for name, why in found if why]

    def follow(self, plans: Sequence[StreamPlan], folder: Path) -> bool:
        """Continue with new plans; False if that is impossible and everything must be read again."""
        known = {stream.plan.name: stream for stream in self.streams}
        new = {plan.name: plan for plan in plans}
        if plans[0].tool is not self.tool or not known.keys() <= new.keys():
            return False
        if not all(stream.follow(new[name]) for name, stream in known.items()):
            return False
        self.streams = [known.get(name) or Stream(plan, folder) for name, plan in new.items()]
        return True

    def read(self, limit: int, files: Mapping[str, FileStatus], now: float) -> int:
        """Read up to `limit` new bytes of each stream; returns their number. `files` is the listing.

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
            if data:
                self.take(stream, data, min(modified, now), now)
                taken += len(data)
                more |= len(data) == limit or stream.in_older_part
            elif (written := stream.written_since(files)) is not None:
                if self.cut_off is not None:
                    raise Rewritten  # its parser was closed, and it may go on
                written = min(written, now)
                self._note_time(stream, written, written, reported=stream.parser.records > 0)
        if self.reruns != runs:  # logs are read again
            more |= any(stream.plan.is_log for stream in self.streams)
        self.caught_up |= not more
        return taken

    def take(self, stream: Stream, data: bytes, arrived: float, now: float) -> None:
        """Apply the next bytes of a stream, which were written at a time and are there now.

        Raises Rewritten if its parser was closed, or has settled a line that now continues.
        """
        if self.cut_off is not None or (stream.settled and data[:1] not in b"\r\n"):
            raise Rewritten
        stream.settled = False
        before, unfinished = stream.parser.records, data[-1:] not in b"\r\n"
        self._apply(stream, stream.parser.feed(data), arrived)
        # What was not there at the last look is newer than that look, even if the file's time is older.
        came = arrived if self.now is None else max(arrived, min(self.now, now))
        # A line that has begun counts: who reads it with the lines before cannot tell when these were written.
        understood = stream.parser.records
        self._note_time(stream, arrived, came, reported=understood != before or (unfinished and understood > 0))
        self.changes += 1

    def _note_time(self, stream: Stream, written: float, came: float, *, reported: bool) -> None:
        """Note when a stream was last written, and when that was seen."""
        stream.written = written
        self.written = max(written, self.written)
        self.heard = max(came, self.heard)
        if reported:
            self.reported = max(came, self.reported or 0.0)
        self.date(stream)

    def date(self, stream: Stream) -> None:
        """Give the state the time at which the last text read from a stream was written."""
        if stream.written is None or stream.plan.is_log or stream.run != self.reruns:
            return
        last = stream.written if self.runfile.end is None else min(stream.written, self.runfile.end)
        begun, recorded = stream.begun(self.runfile.start)
        self.state.written(stream.plan.name, Written(last, begun, recorded, stream.parser.undated))

    def _apply(self, stream: Stream, records: Sequence[Any], arrived: float) -> None:
        stream.gather(records)
        name = stream.plan.name
        for record in records:
            if isinstance(record, Misread):
                what = record.reason.replace("_", " ")
                self._misread(stream, record.reason, f"{name}, {record.where}: {what}: {record.text}")
                if record.reason == "other_text":
                    self._look_for_other_tool(stream, record)
            elif isinstance(record, Begin):
                stream.run += 1
                self._begin_run(stream.run)
            elif stream.plan.is_log or stream.run == self.reruns:
                self.state.apply(record, name, arrived)

    def _look_for_other_tool(self, stream: Stream, record: Misread) -> None:
        """Say once that a second tool wrote to this stream."""
        if "other_tool" in stream.errors or stream.errors["other_text"] > _LINES_OF_OTHERS:
            return
        text = record.text.encode() + b"\n"
        if other := next((one.name for one in TOOLS if one is not self.tool and one.recognise(text)), ""):
            sentence = (
                f"{stream.plan.name}, {record.where}: other tool: the output of {other} begins here, "
                f"but only that of {self.tool.name}, which comes first, is read: write each to a file of its own"
            )
            self._misread(stream, "other_tool", sentence)

    def _begin_run(self, run: int) -> None:
        """Begin the state of another run in the same output; logs, which are the last run's, again."""
        if run <= self.reruns:
            return
        self.reruns = run
        self.state = self.tool.state(self._buckets)
        for stream in self.streams:
            if stream.plan.is_log:
                stream.restart()
                self.caught_up = False

    def _misread(self, stream: Stream, reason: str, text: str) -> None:
        stream.errors[reason] += 1
        self.faults.setdefault(reason, printable(text))
        self.changes += 1

    def settle(self) -> None:
        """Count last lines that lack only their newline. If one continues later, all is read again."""
        for stream in self.streams:
            if not stream.settled and (records := stream.parser.settle()):
                stream.settled = True
                self._apply(stream, records, self.written)
                self.date(stream)
                self.changes += 1

    def over(self) -> None:
        """Treat it as complete, even if the last line lacks its newline."""
        self.settle()
        self.state.over()

    def close(self) -> None:
        """Close it: what is incomplete now counts as truncated."""
        self.cut_off = False
        for stream in self.streams:
            records = stream.parser.close()
            self.cut_off |= any(isinstance(one, Misread) and "truncated" in one.reason for one in records)
            self._apply(stream, records, self.written)

    def clock_was_set(self, by: float) -> None:
        """Move times by the seconds that the clock was set forward (negative: back): no silence."""
        self.reported = None if self.reported is None else self.reported + by
        self.heard += by
        self.now = None if self.now is None else self.now + by
