"""The description of a text tool."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..api import Kind, Tool
from ..launcher import Launcher
from ..roles import Roles
from .parser import KitParser
from .state import KitState
from .templates import Template
from .tool_figures import Families

NEVER = r"(?!)"
"""A pattern that no line has."""


@dataclass(frozen=True, eq=False)
class TextTool:
    """A tool whose output is lines. Patterns are regular expressions from a line's beginning, templates see there."""

    name: str
    families: Families
    roles: Sequence[Roles]
    banner: str = NEVER
    """A tool's first line; its groups become settings, `version` and `begun` (Unix seconds) among them."""
    begins: str = ""
    """What a line begins with that only this tool prints, where banner and reports do not show it: a torn banner."""
    reports: Sequence[str] = ()
    """Templates of the lines that it prints while it runs."""
    summary: Sequence[str] = ()
    """Templates of the lines of its final report."""
    last: str = ""
    """The last line of the final report; without it, each line of the summary is a result of its own."""
    start: str = ""
    """The line with which its clock starts."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """By name of a parameter: its pattern, with the value as group."""
    known: str = NEVER
    """Lines that say nothing."""
    fatal: str = NEVER
    """Errors that end a run; the group is the message, which may continue in lines of any form."""
    like: str = NEVER
    """What a line begins with that should be a report."""
    parser: type[KitParser] = KitParser
    """Reads what no template can express; each stream has its own."""
    rounding: float = 0.0
    """The unit to which it rounds the times in its reports, seconds; 0: they are exact, or it has none."""
    carriage_returns: bool = False
    """Whether a carriage return ends its reports."""
    time_limit: str = ""
    """See Tool, like the following."""
    program: str = ""
    advice: str = ""
    example: str = ""
    version_option: str = "--version"
    has_server: bool = False
    launcher: Launcher | None = None

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

    def tool(self) -> Tool:
        """What the rest of the package knows about it."""
        return Tool(
            name=self.name,
            families=self.families.all,
            roles=self.roles,
            kinds={"text": Kind(lambda: self.parser(self))},
            recognise=self.recognise,
            new_state=lambda _: KitState(self.families, self.roles, self.rounding),
            time_limit=re.compile(self.time_limit) if self.time_limit else None,
            program=self.program,
            advice=self.advice,
            example=self.example,
            version_option=self.version_option,
            has_server=self.has_server,
            launcher=self.launcher,
        )
