"""Reads a stream of a text tool."""

from collections.abc import Callable, Sequence

from ..api import Begin
from ..lines import LineParser
from .patterns import Patterns
from .records import MOST, Failed, Record, Said, ToolReport, ToolResult
from .templates import read_first
from .tool_figures import Key

Hook = Callable[[str], Sequence[Record] | None]
"""Reads a line that is no report by the templates; None: the other patterns are to read it."""


class KitParser(LineParser):
    """See tools.Parser."""

    _DATED = (ToolReport, ToolResult)
    _TORN = (ToolReport, ToolResult, Said)

    def __init__(self, patterns: Patterns, hooks: Sequence[Callable[["KitParser"], Hook]]) -> None:
        super().__init__()
        self.entries: dict[Key, float] = {}
        """What the final report has said so far, if its last line is known."""
        self.next_has_no_rates = False
        """Whether the rates in the next report are wrong."""
        self.version = ""
        """As the tool prints it."""
        self.continues = False
        """Whether lines of any form continue the message in the last one."""
        self._patterns = patterns
        self._makers = hooks
        self._hooks = [make(self) for make in hooks]
        self._is_begun = False  # whether a line has said anything of this run
        self._begun: float | None = None  # Unix seconds
        self._reported = 0.0  # the time of the last report
        self._undated_reports = 0
        self._is_closing = False

    def feed(self, data: bytes) -> list[Record]:
        """See Parser."""
        return super().feed(data.replace(b"\r", b"\n") if self._patterns.carriage_returns else data)

    def _is_whole(self, line: bytes) -> bool:
        text = line.decode("utf-8", "replace")
        if self._patterns.last and self._patterns.last.match(text):
            return True
        return any(template.is_whole and template.read(text) for template in self._patterns.reports)

    def close(self) -> list[Record]:
        """See Parser."""
        self._is_closing = True
        return super().close()

    def _is_dated(self, record: Record) -> bool:
        return super()._is_dated(record) and record.time is not None  # type: ignore[union-attr]

    def _misread(self, reason: str, text: str) -> None:
        if reason == "other_text" and self._patterns.like and self._patterns.like.match(text):
            reason = "interval_line"
        super()._misread("truncated_line" if self._is_closing else reason, text)

    def _read(self, text: str) -> Sequence[Record] | None:
        continued, self.continues = self.continues, False
        if (found := self._known(text)) is None:
            self.continues = continued
            return [] if continued else None
        self.continues |= any(isinstance(record, Failed) for record in found)
        self._is_begun |= bool(found)
        return self._in_order(found)

    def _known(self, text: str) -> Sequence[Record] | None:
        if report := self._report(text):
            return [report]
        for hook in self._hooks:
            if (found := hook(text)) is not None:
                return found
        patterns = self._patterns
        if banner := patterns.banner.match(text):
            return self._banner(banner.groupdict())
        if patterns.last and patterns.last.match(text):
            return self.finish()
        if line := read_first(patterns.summary, text):
            if patterns.last is None:
                return [ToolResult(line.figures, line.time)]
            if len(self.entries) < MOST:
                self.entries |= line.figures if line.time is None else {**line.figures, ("time",): line.time}
            return []
        if patterns.start and text == patterns.start:
            return [ToolResult({}, 0.0, final=False)]
        if patterns.fatal and (failed := patterns.fatal.match(text)):
            return [Failed((failed.group(failed.lastindex or 0) or text).strip())]
        said = [Said(name, match[1]) for name, one in patterns.settings.items() if (match := one.match(text))]
        return said if said or (patterns.known and patterns.known.match(text)) else None

    def _report(self, text: str) -> ToolReport | None:
        """The report in a line; None if it has none."""
        line = read_first(self._patterns.reports, text)
        if line is None:
            return None
        if self._patterns.derive:
            self._patterns.derive(line.figures)
        if self.next_has_no_rates and line.figures:
            self.next_has_no_rates = False
            known = self._patterns.figures
            line = line._replace(figures={key: n for key, n in line.figures.items() if not known[key[0]].rate})
        if line.time is None and line.unix is None:
            self._undated_reports += 1
            return ToolReport(self._undated_reports * self._patterns.every, line.figures)
        if line.unix is None:
            return ToolReport(line.time or 0.0, line.figures)
        self._begun = line.unix if self._begun is None else self._begun
        return ToolReport(line.unix - self._begun, line.figures)

    def finish(self) -> list[Record]:
        """The result, once the last line of the final report was read."""
        figures, self.entries = self.entries, {}
        if self._patterns.derive:
            self._patterns.derive(figures)
        return [ToolResult(figures, figures.get(("time",)), final=bool(figures))]

    def _banner(self, groups: dict[str, str | None]) -> list[Record]:
        again: list[Record] = [Begin()] if self._is_begun else []
        if again:
            self._hooks = [make(self) for make in self._makers]
        self.entries, self._reported, self._begun, self._undated_reports = {}, 0.0, None, 0
        self.version = groups.get("version") or ""
        if begun := groups.get("begun"):
            self._begun = float(begun)
        return [*again, *(Said(name, value) for name, value in groups.items() if value)]

    def _in_order(self, found: Sequence[Record]) -> Sequence[Record]:
        """The same, where a report that is earlier than the one before begins another run."""
        if len(found) == 1 and (not isinstance(found[0], ToolReport) or found[0].time >= self._reported):
            self._reported = found[0].time if isinstance(found[0], ToolReport) else self._reported
            return found
        ordered: list[Record] = []
        for record in found:
            if isinstance(record, Begin):
                self._reported = 0.0
            elif isinstance(record, ToolReport):
                if record.time < self._reported:
                    ordered.append(Begin())
                self._reported = record.time
            ordered.append(record)
        return ordered
