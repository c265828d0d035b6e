"""The lines of a text tool, as its parser reads them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .templates import Template
from .tool_figures import Families

NEVER = r"(?!)"
"""A pattern that no line has."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Forms:
    """Patterns are regular expressions from a line's beginning, templates see there."""

    families: Families
    banner: str = NEVER
    """A tool's first line; its groups become settings, `version` and `begun` (Unix seconds) among them."""
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
    carriage_returns: bool = False
    """Whether a carriage return ends its reports."""

    @cached_property
    def report_templates(self) -> Sequence[Template]:
        """Those of `reports`."""
        return [Template(text, self.families.figures) for text in self.reports]

    @cached_property
    def summary_templates(self) -> Sequence[Template]:
        """Those of `summary`."""
        return [Template(text, self.families.figures) for text in self.summary]
