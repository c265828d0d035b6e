"""The compiled patterns of a text tool: what its parser knows of it."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from .templates import Template
from .tool_figures import Key, ToolFigure


class Patterns(NamedTuple):
    """See TextTool, whose fields have the same names."""

    figures: Mapping[str, ToolFigure]
    banner: re.Pattern[str]
    reports: Sequence[Template]
    summary: Sequence[Template]
    last: re.Pattern[str] | None
    fatal: re.Pattern[str] | None
    known: re.Pattern[str] | None
    like: re.Pattern[str] | None
    settings: Mapping[str, re.Pattern[str]]
    start: str
    derive: Callable[[dict[Key, float]], None] | None
    every: float
    carriage_returns: bool
