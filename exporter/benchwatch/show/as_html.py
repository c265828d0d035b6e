"""Blocks as HTML, for the exporter's pages and the report; `page_style` has the rules of their classes."""

from collections.abc import Iterable

from ..values.printable import in_html
from .content import Block, Column, Heading, Sentence, Table, Tone

_NONE = '<span class="none">–</span>'


def html(blocks: Iterable[Block]) -> str:
    """The elements, one after the other."""
    return "".join(map(_block, blocks))


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h3>{in_html(block.text)}</h3>"
    if isinstance(block, Sentence):
        kind = f' class="{block.tone}"' if block.tone else ""
        return f"<p{kind}>{in_html(block.text)}</p>"
    return table_html(block.filled)


def table_html(table: Table) -> str:
    """A table; a first column that is aligned to the left holds the names of the rows.

    It has a head if a column has a name.
    """
    heads = "".join(
        f'<th scope="col"{_classes(column)}>{chip(column.colour) if column.colour else ""}{in_html(column.name)}</th>'
        if column.name
        else "<td></td>"
        for column in table.columns
    )
    head = f"<thead><tr>{heads}</tr></thead>" if any(column.name for column in table.columns) else ""
    named = not table.columns[0].right
    kind = "numbers" if any(column.right for column in table.columns) else "texts" if head else "pairs"
    body = ""
    for row in table.rows:
        if row.heading:
            body += f'<tr><th scope="rowgroup" colspan="{len(table.columns)}">{in_html(row.cells[0])}</th></tr>'
            continue
        meaning = f' title="{in_html(row.meaning)}"' if row.meaning else ""
        tone = f' class="{row.tone}"' if row.tone else ""
        name = f'<th scope="row"{meaning}>{in_html(row.cells[0])}</th>' if named else ""
        cells = [
            _cell(column, value, row.mark if column is table.columns[-1] else "")
            for column, value in zip(table.columns, row.cells, strict=True)
        ]
        values = "".join(cells[named:])
        body += f"<tr{tone}>{name}{values}</tr>"
    return f'<div class="scroll"><table class="{kind}">{head}<tbody>{body}</tbody></table></div>'


def _cell(column: Column, value: str, tone: Tone) -> str:
    """With the name of its column, which stands beside it where rows are stacked."""
    label = f' data-label="{in_html(column.name)}"' if column.name else ""
    return f"<td{_classes(column, tone)}{label}>{in_html(value) or _NONE}</td>"


def _classes(column: Column, tone: Tone = "") -> str:
    """In a table of figures, cells are aligned to the right unless they say otherwise."""
    found = " ".join(filter(None, ("" if column.right else "text", tone)))
    return f' class="{found}"' if found else ""


def chip(colour: str) -> str:
    """A piece of a line of that colour beside the name of what has it; empty without one."""
    if not colour:
        return ""
    line = f'<path d="M0 4H20" stroke="var({colour})" stroke-width="3"/>'
    return f'<svg class="chip" width="20" height="8" aria-hidden="true">{line}</svg>'
