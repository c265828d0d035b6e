"""What others chose (names of runs, of parameters, their values) is shown, and never obeyed."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from benchwatch.cli import main

from .made import place

OSC_52 = "\x1b]52;c;cm0gLXJm\x07"
HOSTILE = [
    OSC_52,
    "\x1b]0;title\x1b\\",
    "\x9b31m\u202e\u2066",
    "one\ntwo\r\n| three | four |\n\n# five",
    "[link](http://evil.example) ![image](http://evil.example/x.png) <http://evil.example>",
    "http://evil.example www.evil.example",
    "<script>alert(1)</script> &lt; &amp; &#124;",
    "a | b \\| c \\\\| d",
    "`code` *bold* _it_ __b__ ~~gone~~ $x$ \\",
    "1. one",
    "123456789) one",
    "- - -",
    "# five",
    "+ plus",
    "====",
    "> quote",
    "    indented",
    "vm.nr_hugepages=8400",
]


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    """Two runs whose parameters differ in hostile names and values; the name of one is hostile too."""
    others = {f"p{number}": text for number, text in enumerate(HOSTILE)} | dict.fromkeys(HOSTILE, "on")
    base = place(tmp_path / "base", 1000.0, record=yaml.safe_dump({"parameters": {"p0": "plain"}}))
    name = f"*x* [y](z) | `q`{OSC_52}"
    other = place(tmp_path / name, 1100.0, record=yaml.safe_dump({"parameters": others, "exit_code": 1}))
    return [str(base), str(other), "--force"]


@pytest.mark.parametrize("form", ["terminal", "markdown", "json"])
def test_no_control_character_is_printed(
    runs: list[str], form: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert main(["compare", *runs, "--format", form]) == 0
    out = capsys.readouterr().out
    assert {character for character in out if not character.isprintable()} == {"\n"}
    if form == "terminal":
        assert "\\x1b]52;c;cm0gLXJm\\x07" in out
        assert "\\u009b31m\\u202e\\u2066" in out


def test_no_control_character_is_in_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in (["compare", "x"], ["report"], ["metrics"], ["backfill"]):
        assert main([*command, str(tmp_path / f"gone{OSC_52}\n")]) == 2
        err = capsys.readouterr().err
        assert {character for character in err if not character.isprintable()} == {"\n"}
        assert err.count("\n") == 1


def test_markdown_renders_what_others_chose_as_text(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *runs, "--format", "markdown"]) == 0
    out = capsys.readouterr().out
    tokens = list(flat(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(out)))
    kinds = {token.type.removesuffix("_open").removesuffix("_close") for token in tokens}
    block = {"heading", "paragraph", "bullet_list", "list_item", "table", "thead", "tbody", "tr", "th", "td"}
    assert kinds <= block | {"inline", "text", "text_special", "strong"}
    assert sum(token.type == "heading_open" for token in tokens) == 1
    assert sum(token.type == "table_open" for token in tokens) == 2
    cells = rendered(out)
    shown = [text.encode("unicode_escape").decode() if "\n" in text else text for text in HOSTILE]
    shown[0] = "\\x1b]52;c;cm0gLXJm\\x07"
    shown[1] = "\\x1b]0;title\\x1b\\"
    shown[2] = "\\u009b31m\\u202e\\u2066"
    assert set(cells) >= {text.strip() for text in shown}
    addresses = re.compile(r"(?<!\\)://|(?<=www)\.", re.IGNORECASE)
    assert not addresses.search(out)  # GitHub makes links of bare addresses


def rendered(document: str) -> list[str]:
    """The texts of all cells."""
    tokens = MarkdownIt("commonmark").enable("table").parse(document)
    inlines = [token for before, token in pairwise(tokens) if before.type in ("td_open", "th_open")]
    return ["".join(child.content for child in token.children or ()) for token in inlines]


def flat(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from flat(token.children or [])
