"""The same content as text, Markdown, HTML and CSV."""

import csv
import io

import pytest
from selectolax.lexbor import LexborHTMLParser

from benchwatch.show.as_csv import records
from benchwatch.show.as_html import html
from benchwatch.show.as_markdown import markdown
from benchwatch.show.as_text import text
from benchwatch.show.content import Column, Heading, Sentence, Table, TableRow, table

HOSTILE = "\x1b[2J<b>|*x*\n"
CONTENT = [
    Heading("a: finished"),
    Table(
        [Column("", right=False), Column("TPS"), Column("interval"), Column("better", right=False)],
        [
            TableRow(["read"], heading=True),
            TableRow(["TPS", "982", "", "higher"], "good"),
            TableRow(["latency", "1.2 ms", "", "lower"]),
        ],
    ),
    Sentence("steady: yes"),
    Sentence("2 failed", "warning"),
]


def test_text_aligns_figures_and_leaves_out_empty_columns() -> None:
    assert text(CONTENT).splitlines() == [
        "a: finished",
        "              TPS  better",
        "  read",
        "  TPS         982  higher",
        "  latency  1.2 ms  lower",
        "  steady: yes",
        "  ! 2 failed",
    ]


def test_colours_are_for_terminals_only_and_change_no_column() -> None:
    plain, coloured = text(CONTENT), text(CONTENT, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[1;32mTPS         982  higher\x1b[0m" in coloured
    assert "\x1b[33m! 2 failed\x1b[0m" in coloured


def test_a_long_cell_does_not_push_the_others_away() -> None:
    content = [table(["differs", "base", "other"], [["fsync", "on", "off"], ["command", "x" * 300, "y"]], left=3)]
    assert "  differs  base  other".strip() in text(content).splitlines()[0]


def test_headings_are_apart() -> None:
    assert text([Heading("a"), Sentence("b"), Heading("c")]) == "a\n  b\n\nc\n"


def test_markdown_has_tables_lists_and_bold_verdicts() -> None:
    assert markdown(CONTENT).splitlines() == [
        "## a: finished",
        "",
        "|  | TPS | better |",
        "|---|--:|---|",
        "| **read** |  |  |",
        "| **TPS** | **982** | **higher** |",
        "| latency | 1.2 ms | lower |",
        "",
        "- steady: yes",
        "- 2 failed",
    ]


def test_html_has_heads_and_names_of_rows() -> None:
    tree = LexborHTMLParser(html(CONTENT))
    assert [node.text() for node in tree.css("h3, p")] == ["a: finished", "steady: yes", "2 failed"]
    assert [node.text() for node in tree.css("thead th")] == ["TPS", "better"]
    assert [node.text() for node in tree.css("tbody th")] == ["read", "TPS", "latency"]
    assert [node.text() for node in tree.css("tbody td")] == ["982", "higher", "1.2 ms", "lower"]
    assert tree.css_first("tr.good th").text() == "TPS"


def test_the_last_cell_of_a_marked_row_is_coloured_on_pages_only() -> None:
    rows = [TableRow(["p99", "1 ms", "better"], mark="good"), TableRow(["p50", "1 ms", ""])]
    marked = Table([Column("", right=False), Column("now"), Column("", right=False)], rows)
    tree = LexborHTMLParser(html([marked]))
    assert [node.attributes.get("class") for node in tree.css("tbody td")] == [None, "text good", None, "text"]
    assert "\x1b[1;32m" not in text([marked], colour=True)
    assert "**" not in markdown([marked])


@pytest.mark.parametrize("form", [text, markdown, html])
def test_no_form_lets_text_from_outside_act(form) -> None:  # type: ignore[no-untyped-def]
    written = form([Heading(HOSTILE), Sentence(HOSTILE), table(["", HOSTILE], [[HOSTILE, HOSTILE]])])
    assert "\x1b" not in written
    if form is not text:
        assert "<b>" not in written
    if form is markdown:
        assert "*x*" not in written.replace("\\*", "")
        assert "||" not in written


def test_csv_is_read_back_with_all_digits_and_empty_cells() -> None:
    written = records([{"run": 'a,"b"', "value": 0.1 + 0.2, "met": True, "note": None}])
    assert list(csv.reader(io.StringIO(written))) == [
        ["run", "value", "met", "note"],
        ['a,"b"', "0.30000000000000004", "true", ""],
    ]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "＝1+1"])
def test_a_name_cannot_become_a_formula(name: str) -> None:
    (_, row) = csv.reader(io.StringIO(records([{"run": name, "change": -0.5}])))
    assert row[0][0] not in "=+-@\t\r"
    assert row[1] == "-0.5", "a number stays one"
