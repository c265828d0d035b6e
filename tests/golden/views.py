"""What each view shows of recordings, as text that is the same on any machine.

Commands are called as a user calls them. Two views have no command: the run's page and /metrics, as the watcher sees a
run whose files grow; both are read from the objects that the server serves.
"""

import asyncio
import io
import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import unified_diff
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from benchwatch.cli import main
from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.samples import PARTS
from benchwatch.runs import run_records, stream
from benchwatch.runs.watcher import Runs
from benchwatch.server.exporter import Exporter
from benchwatch.server.looks import Looks
from benchwatch.server.run_page import run_page
from benchwatch.settings.settings import RunsSettings
from benchwatch.values.version import VERSION
from tests.golden.layout import Recording

LATER = 1_800_000_000.0
"""When the views of finished runs are asked for, Unix seconds."""
VIEWS = ("metrics", "live", "show", "show-json", "list", "compare", "report", "page")
_LONG = re.compile(r"(?<![\w.,])(?=[\d.]{15})\d+\.\d+(?:e[+-]?\d+)?(?!\w)")
_BUCKET = re.compile(r'(?P<head>\w+_bucket\{.*),le="(?P<le>[^"]+)"\} (?P<count>\S+)')


def views(recordings: Sequence[Recording], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """What each view shows of a group of recordings, in a folder for the runs."""
    monkeypatch.setattr(time, "time", lambda: LATER)
    for module in (stream, run_records):  # a copy was created today
        monkeypatch.setattr(module, "birth", lambda _path: None)
    for one in recordings:
        one.put(folder / "runs")
    monkeypatch.chdir(folder)
    names = [one.name for one in recordings]
    metrics = {name: exposition(command("metrics", f"runs/{name}"), name) for name in names}
    found = {
        "metrics": sections(metrics),
        "live": sections({one.name: live(one, Path("growing"), metrics[one.name]) for one in recordings}),
        "show": sections({name: command("show", f"runs/{name}") for name in names}),
        "show-json": sections({name: show_json(name) for name in names}),
        "list": command("list", "runs"),
        "compare": sections({f"{a} {b}": command("compare", f"runs/{a}", f"runs/{b}") for a, b in pairwise(names)}),
        "report": report(names),
        "page": sections({name: page(folder / "runs", name) for name in names}),
    }
    return {view: rounded(text.replace(f"{folder.resolve()}/", "")) for view, text in found.items()}


def command(*arguments: str) -> str:
    """What a command prints, and its exit code unless it is 0."""
    with printing() as printed:
        try:
            code = main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        text = printed()
    return text + (f"exit code {code}\n" if code else "")


@contextmanager
def printing() -> Iterator[Callable[[], str]]:
    """Collects standard output and, after it, standard error."""
    before = sys.stdout, sys.stderr
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in before]
    sys.stdout, sys.stderr = streams
    try:
        yield lambda: "".join(one.buffer.getvalue().decode() for one in streams)  # type: ignore[attr-defined]
    finally:
        sys.stdout, sys.stderr = before


def sections(texts: Mapping[str, str]) -> str:
    """Texts below each other, each below its name."""
    return "\n".join(f"== {name}\n{text}" for name, text in texts.items())


def rounded(text: str) -> str:
    """The text without digits that depend on the processor: a number has at most 13."""
    return _LONG.sub(lambda found: f"{float(found[0]):.13g}", text)


def show_json(name: str) -> str:
    """The document, whose short parts take one line each; what is printed beside it follows."""
    text = command("show", "--json", f"runs/{name}")
    try:
        document, end = json.JSONDecoder().raw_decode(text)
    except ValueError:  # there is only a message
        return text
    return folded(document) + text[end:]


def folded(value: Any, indent: str = "") -> str:
    """JSON with a line for each part of at most 120 characters."""
    short = json.dumps(value, ensure_ascii=False)
    if len(short) <= 120 or not isinstance(value, list | dict):
        return short
    inside = f"{indent} "
    if isinstance(value, list):
        lines = [f"{inside}{folded(item, inside)}" for item in value]
    else:
        lines = [f"{inside}{json.dumps(key)}: {folded(item, inside)}" for key, item in value.items()]
    begin, end = "[]" if isinstance(value, list) else "{}"
    return "\n".join([begin, ",\n".join(lines), f"{indent}{end}"])


def exposition(text: str, run: str) -> str:
    """Samples without help texts (docs/metrics.md has them), each histogram in one line that omits empty buckets.

    An ellipsis stands for the labels run and worker with the name of the run. The exporter's own zeros are left out.
    """
    lines: list[str] = []
    counted: dict[str, str] = {}
    text = text.replace(f'{{run="{run}",worker="{run}"', "{…").replace(f'{{run="{run}",', "{…,")
    for line in text.splitlines():
        if line.startswith("# ") or (line.endswith(" 0") and "{…" not in line):
            continue
        if not (found := _BUCKET.fullmatch(line)):
            lines.append(line)
            continue
        head, le, count = found.groups()
        if head not in counted:
            lines.append(f"{head}}}")
            counted[head] = "0"
        if count != counted[head] or le == "+Inf":
            lines[-1] += f" {le}:{count}"
            counted[head] = count
    return "".join(f"{line}\n" for line in lines)


def live(recording: Recording, root: Path, at_end: str) -> str:
    """/metrics in mid-run, and what it has at the end that differs from `benchwatch metrics`."""
    runs = Runs([recording.put(root, whole=False).parent], RunsSettings(), Buckets())
    middle = exposition(served(runs, recording.middle), recording.name)
    recording.put(root)
    end = exposition(served(runs, recording.end + 1.0), recording.name)
    for path in (root / recording.name).iterdir():
        path.unlink()
    (root / recording.name).rmdir()
    changes = list(unified_diff(at_end.splitlines(), end.splitlines(), "metrics", "live", n=0, lineterm=""))
    differing = [f"{line}\n" for line in changes[2:] if not line.startswith("@@")]
    return "".join([middle, "-- at the end\n", *differing])


def served(runs: Runs, now: float) -> str:
    """What an exporter that watches these runs shows once it has read what there is."""
    while runs.poll(now):
        pass
    return Exporter(runs).render(frozenset(PARTS))


def page(folder: Path, name: str) -> str:
    """The text of a run's page, after its end."""
    runs = Runs([folder], RunsSettings(), Buckets())
    while runs.poll(LATER):
        pass
    exporter = Exporter(runs)
    view, places = exporter.run(name), runs.places(name)
    assert view is not None
    looks = Looks(RunsSettings(), Buckets())

    async def drawn() -> str:
        try:
            parts = await looks.parts(view, places)
            while not parts["course"].version:
                parts = await looks.parts(view, places)
            return run_page(view, parts, now=LATER)
        finally:
            looks.stop()

    return text_of(asyncio.run(drawn()))


def report(names: Sequence[str]) -> str:
    """The text of the report about these runs."""
    printed = command("report", *(f"runs/{name}" for name in names))
    path = Path("report.html")
    return re.sub(r"[\d.]+ MB", "N MB", printed) + (text_of(path.read_text()) if path.exists() else "")


def text_of(html: str) -> str:
    """The text of a page: a line a paragraph, item, row or caption; a plot is what it says to a blind reader."""
    reader = _Text()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).splitlines())
    return "".join(f"{line}\n" for line in lines if line.strip(" |")).replace(VERSION, "VERSION")


class _Text(HTMLParser):
    _SKIPPED = frozenset({"style", "script", "svg"})
    _INLINE = frozenset({"a", "b", "small", "span", "code", "em", "strong", "i", "svg", "img"})
    _CELLS = frozenset({"td", "th"})

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._skipped: list[str] = []

    def handle_starttag(self, tag: str, attrs: Iterable[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in self._SKIPPED or "hidden" in given:
            self._skipped.append(tag)
        said = given.get("aria-label")
        if said and given.get("role") == "img":
            self.parts.append(f"\n[{said}]\n")
        elif not self._skipped and tag not in self._INLINE | self._CELLS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if self._skipped and self._skipped[-1] == tag:
            self._skipped.pop()
        elif tag in self._CELLS:
            self.parts.append(" | ")
        elif not self._skipped and tag not in self._INLINE:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.parts.append(data.replace("\n", " "))
