"""The form of what a command prints, as its user chooses it."""

import argparse
from collections.abc import Iterable

from .as_markdown import markdown
from .as_text import colourful, text
from .content import Block


def add_form(parser: argparse._ActionsContainer, *forms: str) -> None:
    """Add --format with these forms beside the terminal's, and --csv and --json as short ones for theirs."""
    parser.add_argument(
        "--format",
        choices=("terminal", *forms),
        default="terminal",
        metavar="FORMAT",
        help=f"{', '.join(('terminal', *forms[:-1]))} or {forms[-1]} (default: terminal)",
    )
    for form in forms:
        if form in ("csv", "json"):
            parser.add_argument(
                f"--{form}", action="store_const", const=form, dest="format", help=f"the same as --format {form}"
            )


def written(blocks: Iterable[Block], form: str) -> str:
    """The blocks for people: as Markdown, or for a terminal in colours if it has them."""
    return markdown(blocks) if form == "markdown" else text(blocks, colour=colourful())
