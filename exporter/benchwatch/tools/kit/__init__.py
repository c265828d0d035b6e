"""The kit of text tools: a tool that prints lines is described on one page, and this reads it (docs/adding-a-tool.md).

A line becomes one of five records: Begin (another run), ToolReport (an interval), ToolResult (of the whole run), Said
(a setting) or Failed. `KitState` turns them into samples. Only what no line pattern can express needs code: a subclass
of KitParser.
"""

from ..api import Begin
from .parser import KitParser
from .records import Failed, Record, Said, ToolReport, ToolResult
from .state import KitState
from .tool import TextTool
from .tool_figures import Families, Key, ToolFigure

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
