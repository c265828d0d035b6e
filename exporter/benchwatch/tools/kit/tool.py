"""The description of a text tool, and the parser that it gives a stream."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..api import Begin, Kind, Tool
from ..launcher import Launcher
from ..lines import LineParser
from ..roles import Roles
from .options import Options
from .state import KitState
from .templates import Template, read_first
from .tool_figures import Failed, Families, Key, Record, Said, ToolReport, ToolResult

_NEVER = r"(?!)"


class KitParser(LineParser):
    """See tools.Parser. A tool with lines that no template can express has a subclass."""

    _DATED = (ToolReport, ToolResult)
    _TORN = (ToolReport, ToolResult, Said)

    def __init__(self, tool: "TextTool") -> None:
        super().__init__()
        self._tool = tool
        self._is_begun = False  # whether a line has said anything of this run
        self._is_closing = False
        self.begin()

    def begin(self) -> None:
        """Set what is known of a run when it begins."""
        self.entries: dict[Key, float] = {}
        """What the final report has said so far, if its last line is known."""
        self.before: dict[Key, float] = {}
        """What the reports on parts of the run have said."""
        self.parts = 0
        """How many of these have begun."""
        self._is_part = False  # whether the report that is being read is one of these
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
        """Add what follows from the figures of a report or of the final report, and take out what is wrong."""

    def finish(self) -> Sequence[Record]:
        """The result, once the last line of a report was read; its entries have `time`, seconds since the start."""
        figures, self.entries = self.entries, {}
        if self.parts:
            figures = self._tool.families.joined(self.before, figures)
        time = figures.get(("time",))
        if self._is_part:
            self.before, self._is_part = figures, False
            return [ToolResult({}, time, final=False)]
        self.derive(figures)
        return [ToolResult(figures, time, final=bool(figures))]

    def feed(self, data: bytes) -> list[Record]:
        """See Parser."""
        return super().feed(data.replace(b"\r", b"\n") if self._tool.carriage_returns else data)

    def close(self) -> list[Record]:
        """See Parser."""
        self._is_closing = True
        return super().close()

    def _is_whole(self, line: bytes) -> bool:
        text = line.decode("utf-8", "replace")
        return self._tool.ends(text) or any(one.is_whole and one.read(text) for one in self._tool.report_templates)

    def _is_dated(self, record: Record) -> bool:
        return super()._is_dated(record) and record.time is not None  # type: ignore[union-attr]

    def _misread(self, reason: str, text: str) -> None:
        if reason == "other_text" and re.match(self._tool.like, text):
            reason = "interval_line"
        super()._misread("truncated_line" if self._is_closing else reason, text)

    def _read(self, text: str) -> Sequence[Record] | None:
        continued, self.continues = self.continues, False
        try:
            found = self.known(text)
        except ValueError:  # what looks like a number or a day is none
            found = None
        if found is None:
            self.continues = continued
            return [] if continued else None
        self.continues |= any(isinstance(record, Failed) for record in found)
        self._is_begun |= bool(found)
        return self._in_order(found)

    def known(self, text: str) -> Sequence[Record] | None:
        """The records of a line; None if the tool does not print such lines."""
        tool = self._tool
        if report := read_first(tool.report_templates, text):
            self.derive(report.figures)
            if report.unix is None:
                return [ToolReport(report.time or 0.0, report.figures)]
            self._unix_begun = report.unix if self._unix_begun is None else self._unix_begun
            return [ToolReport(report.unix - self._unix_begun, report.figures)]
        if (found := self.line(text)) is not None:
            return found
        if banner := re.match(tool.banner, text):
            return self._banner(banner.groupdict())
        if re.match(tool.part, text):
            self.parts += 1
            self._is_part = True
            return []
        if tool.ends(text):
            return self.finish()
        if line := read_first(tool.summary_templates, text):
            if not tool.last:
                return [ToolResult(line.figures, line.time)]
            self.entries |= line.figures if line.time is None else {**line.figures, ("time",): line.time}
            return []
        if tool.start and text == tool.start:
            return [ToolResult({}, 0.0, final=False)]
        if failed := re.match(tool.fatal, text):
            return [Failed((failed[failed.lastindex or 0] or text).strip())]
        said = [Said(name, match[1]) for name, form in tool.settings.items() if (match := re.match(form, text))]
        return said if said or re.match(tool.known, text) else None

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


@dataclass(frozen=True, eq=False, kw_only=True)
class TextTool:
    """A tool whose output is lines. Patterns are regular expressions from a line's beginning, templates see there."""

    name: str
    families: Families
    roles: Sequence[Roles]
    banner: str = _NEVER
    """A tool's first line; its groups become settings, `version` and `begun` (Unix seconds) among them."""
    begins: str = ""
    """What a line begins with that only this tool prints, where banner and reports do not show it: a torn banner."""
    start: str = ""
    """The line with which its clock starts."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """By name of a parameter: its pattern, with the value as group."""
    reports: Sequence[str] = ()
    """Templates of the lines that it prints while it runs."""
    summary: Sequence[str] = ()
    """Templates of the lines of its final report."""
    last: str = ""
    """The last line of the final report; without it, each line of the summary is a result of its own."""
    part: str = _NEVER
    """The line before a report on a part of the run: on what was done since the report before."""
    known: str = _NEVER
    """Lines that say nothing."""
    fatal: str = _NEVER
    """Errors that end a run; the group is the message, which may continue in lines of any form."""
    like: str = _NEVER
    """What a line begins with that should be a report."""
    carriage_returns: bool = False
    """Whether a carriage return ends its reports."""
    parser: type[KitParser] = KitParser
    """Reads what no template can express; each stream has its own."""
    rounding: float = 0.0
    """The unit to which it rounds the times in its reports, seconds; 0: they are exact, or it has none."""

    @cached_property
    def report_templates(self) -> Sequence[Template]:
        """Those of `reports`."""
        return [Template(text, self.families.figures) for text in self.reports]

    @cached_property
    def summary_templates(self) -> Sequence[Template]:
        """Those of `summary`."""
        return [Template(text, self.families.figures) for text in self.summary]

    @cached_property
    def _first_lines(self) -> re.Pattern[str]:
        """Finds a line by which its output is recognised: with many files, this is done most often."""
        forms = [self.begins or self.banner, *(one.pattern.pattern for one in self.report_templates)]
        return re.compile("|".join(f"^(?:{form})" for form in forms), re.MULTILINE)

    def recognise(self, head: bytes) -> str:
        """See Tool."""
        text = head.decode("utf-8", "replace").replace("\r", "\n")
        return "text" if self._first_lines.search(text) else ""

    def ends(self, text: str) -> bool:
        """Whether a line is the last one of the final report."""
        return bool(self.last and re.match(self.last, text))

    def tool(
        self, *, launcher: Launcher | None = None, time_limit: str = "", rate_limit: str = "", **more: Any
    ) -> Tool:
        """What the rest of the package knows about it: `more` are other fields of Tool.

        `time_limit` and `rate_limit` are regular expressions; the first follows from Options with a length.
        """
        if isinstance(launcher, Options) and launcher.length:
            time_limit = rf"{launcher.length}[= ](\d+)"
        found: dict[str, Any] = {
            "kinds": {"text": Kind(lambda: self.parser(self))},
            "recognise": self.recognise,
            "state": lambda _: KitState(self.families, self.roles, self.rounding),
            "time_limit": re.compile(time_limit) if time_limit else None,
            "rate_limit": re.compile(rate_limit) if rate_limit else None,
        }
        return Tool(self.name, self.families.all, self.roles, launcher=launcher, **(found | more))
