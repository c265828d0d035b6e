"""The kit of text tools: a tool that prints lines is described on one page, and this reads it (docs/adding-a-tool.md).

A line becomes one of five records: Begin (another run), ToolReport (an interval), ToolResult (of the whole run), Said
(a setting) or Failed. `KitState` turns them into samples. Only what no line pattern can express needs code: a subclass
of KitParser.
"""

from ..api import Begin
from .state import KitState
from .tool import KitParser, TextTool
from .tool_figures import Failed, Families, Key, Record, Said, ToolFigure, ToolReport, ToolResult

__all__ = [
    "Begin",
    "Failed",
    "Families",
    "Key",
    "KitParser",
    "KitState",
    "Record",
    "Said",
    "TextTool",
    "ToolFigure",
    "ToolReport",
    "ToolResult",
]
