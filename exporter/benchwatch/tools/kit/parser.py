"""Reads a stream of a text tool."""

import re
from collections.abc import Sequence

from ..api import Begin
from ..lines import LineParser
from .forms import Forms
from .records import MOST, Failed, Record, Said, ToolReport, ToolResult
from .templates import read_first
from .tool_figures import Key


class KitParser(LineParser):
    """See tools.Parser. A tool with lines that no template can express has a subclass."""

    _DATED = (ToolReport, ToolResult)
    _TORN = (ToolReport, ToolResult, Said)

    def __init__(self, forms: Forms) -> None:
        super().__init__()
        self.forms = forms
        self._is_begun = False  # whether a line has said anything of this run
        self._is_closing = False
        self.begin()

    def begin(self) -> None:
        """Set what is known of a run when it begins."""
        self.entries: dict[Key, float] = {}
        """What the final report has said so far, if its last line is known."""
        self.version = ""
        """As the tool prints it."""
        self.continues = False
        """Whether lines of any form continue the message in the last one."""
        self._unix_begun: float | None = None  # Unix seconds
        self._reported = 0.0  # the time of the last report

    def line(self, text: str) -> Sequence[Record] | None:
        """The records of a line that is no report by the templates; None: the other patterns are to read it.

        Raises ValueError if the line is none that the tool prints.
        """
        return None

    def derive(self, figures: dict[Key, float]) -> None:
        """Change the figures of a report as its line needs it."""

    def finish(self) -> Sequence[Record]:
        """The result, once the last line of the final report was read; the entries have `time`, seconds."""
        figures, self.entries = self.entries, {}
        return [ToolResult(figures, figures.get(("time",)), final=bool(figures))]

    def feed(self, data: bytes) -> list[Record]:
        """See Parser."""
        return super().feed(data.replace(b"\r", b"\n") if self.forms.carriage_returns else data)

    def close(self) -> list[Record]:
        """See Parser."""
        self._is_closing = True
        return super().close()

    def _is_whole(self, line: bytes) -> bool:
        text = line.decode("utf-8", "replace")
        if self.forms.last and re.match(self.forms.last, text):
            return True
        return any(template.is_whole and template.read(text) for template in self.forms.report_templates)

    def _is_dated(self, record: Record) -> bool:
        return super()._is_dated(record) and record.time is not None  # type: ignore[union-attr]

    def _misread(self, reason: str, text: str) -> None:
        if reason == "other_text" and re.match(self.forms.like, text):
            reason = "interval_line"
        super()._misread("truncated_line" if self._is_closing else reason, text)

    def _read(self, text: str) -> Sequence[Record] | None:
        continued, self.continues = self.continues, False
        if (found := self.known(text)) is None:
            self.continues = continued
            return [] if continued else None
        self.continues |= any(isinstance(record, Failed) for record in found)
        self._is_begun |= bool(found)
        return self._in_order(found)

    def known(self, text: str) -> Sequence[Record] | None:
        """The records of a line; None if the tool does not print such lines."""
        forms = self.forms
        if report := self._by_template(text):
            return [report]
        try:
            found = self.line(text)
        except ValueError:  # what looks like a number or a day is none
            return None
        if found is not None:
            return found
        if banner := re.match(forms.banner, text):
            return self._banner(banner.groupdict())
        if forms.last and re.match(forms.last, text):
            return self.finish()
        if line := read_first(forms.summary_templates, text):
            if not forms.last:
                return [ToolResult(line.figures, line.time)]
            if len(self.entries) < MOST:
                self.entries |= line.figures if line.time is None else {**line.figures, ("time",): line.time}
            return []
        if forms.start and text == forms.start:
            return [ToolResult({}, 0.0, final=False)]
        if failed := re.match(forms.fatal, text):
            return [Failed((failed[failed.lastindex or 0] or text).strip())]
        said = [Said(name, match[1]) for name, form in forms.settings.items() if (match := re.match(form, text))]
        return said if said or re.match(forms.known, text) else None

    def _by_template(self, text: str) -> ToolReport | None:
        """The report in a line; None if it has none."""
        line = read_first(self.forms.report_templates, text)
        if line is None:
            return None
        self.derive(line.figures)
        if line.unix is None:
            return ToolReport(line.time or 0.0, line.figures)
        self._unix_begun = line.unix if self._unix_begun is None else self._unix_begun
        return ToolReport(line.unix - self._unix_begun, line.figures)

    def _banner(self, groups: dict[str, str | None]) -> list[Record]:
        again: list[Record] = [Begin()] if self._is_begun else []
        self.begin()
        self.version = groups.get("version") or ""
        if begun := groups.get("begun"):
            self._unix_begun = float(begun)
        return [*again, *(Said(name, value) for name, value in groups.items() if value)]

    def _in_order(self, found: Sequence[Record]) -> Sequence[Record]:
        """The same, where a report that is earlier than the one before begins another run."""
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
