"""The description of a text tool."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ..api import Kind, Tool
from ..launcher import Launcher
from ..roles import Roles
from .forms import Forms
from .parser import KitParser
from .state import KitState


@dataclass(frozen=True, eq=False, kw_only=True)
class TextTool(Forms):
    """A tool whose output is lines."""

    name: str
    roles: Sequence[Roles]
    begins: str = ""
    """What a line begins with that only this tool prints, where banner and reports do not show it: a torn banner."""
    parser: type[KitParser] = KitParser
    """Reads what no template can express; each stream has its own."""
    rounding: float = 0.0
    """The unit to which it rounds the times in its reports, seconds; 0: they are exact, or it has none."""
    time_limit: str = ""
    """See Tool, like the following."""
    program: str = ""
    advice: str = ""
    example: str = ""
    version_option: str = "--version"
    has_server: bool = False
    launcher: Launcher | None = None

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
            state=lambda _: KitState(self.families, self.roles, self.rounding),
            time_limit=re.compile(self.time_limit) if self.time_limit else None,
            program=self.program,
            advice=self.advice,
            example=self.example,
            version_option=self.version_option,
            has_server=self.has_server,
            launcher=self.launcher,
        )
