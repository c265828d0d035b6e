"""Output that something has passed on: what stands before each line is left out, and that is said."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.exposition import Exposition
from benchwatch.runs.prefix import Unprefixed, find_prefix
from benchwatch.runs.watcher import Runs
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.pgbench import PGBENCH
from benchwatch.tools.registry import TOOLS
from tests.support.places import NOW, RECORDINGS, Place

TEXT = (RECORDINGS / "pgbench" / "tpcb-15.18.err").read_bytes() + (
    RECORDINGS / "pgbench" / "tpcb-15.18.out"
).read_bytes()


def stamp(number: int) -> bytes:
    return b"2026-11-20T10:%02d:%02d.%sZ" % (
        number // 60 % 60,
        number % 60,
        str(number * 123456789).encode().rstrip(b"0"),
    )


PREFIXES: dict[str, Callable[[int], bytes]] = {
    "compose": lambda number: b"pgbench-1  | ",
    "compose, coloured": lambda number: b"\x1b[36mpgbench-1  | \x1b[0m",
    "container log": lambda number: stamp(number) + (b" stdout F " if number % 3 else b" stderr F "),
    "kubectl --timestamps": lambda number: stamp(number) + b" ",
    "logger": lambda number: (
        b"2026-11-20 10:%02d:%02d,%03d " % (number // 60, number % 60, number)
        + (b"INFO     " if number % 5 else b"WARNING  ")
    ),
    "logger with brackets": lambda number: b"[10:%02d:%02d] [INFO] bench: " % (number // 60, number % 60),
    "syslog": lambda number: b"Nov %2d 10:00:%02d host1 pgbench[4711]: " % (number % 28 + 1, number % 60),
    "spaces": lambda number: b"    ",
    "tab": lambda number: b"\t",
    "colours": lambda number: b"\x1b[1;32m",
}


def prefixed(text: bytes, prefix: Callable[[int], bytes]) -> bytes:
    return b"".join(prefix(number) + line for number, line in enumerate(text.splitlines(keepends=True), 1))


@pytest.mark.parametrize("name", PREFIXES)
def test_records_are_those_without_the_prefix_wherever_the_stream_is_cut(name: str) -> None:
    data = prefixed(TEXT, PREFIXES[name])
    assert not any(tool.recognise(data) for tool in TOOLS)
    found = find_prefix(data, TOOLS)
    assert found is not None
    tool, kind, prefix = found
    assert (tool, kind) == (PGBENCH, "text")
    for size in (1, 7, 100_000):
        parser = Unprefixed(tool.parser(kind), prefix)
        records = [record for at in range(0, len(data), size) for record in parser.feed(data[at : at + size])]
        assert [*records, *parser.close()] == [*PGBENCH.parser("text").feed(TEXT)]


def test_the_prefix_is_said_as_it_first_stood() -> None:
    for name, example in (("compose", "pgbench-1  | "), ("compose, coloured", "pgbench-1  | "), ("spaces", "    ")):
        found = find_prefix(prefixed(TEXT, PREFIXES[name]), TOOLS)
        assert found is not None
        assert found[2].example == example
        assert found[2].coloured == ("coloured" in name)


def test_lines_of_another_container_are_left_as_they_are() -> None:
    lines = TEXT.splitlines(keepends=True)
    mixed = b"".join(
        b"pgbench-1  | " + line + (b"postgres-1 | LOG:  checkpoint starting\n" if not number % 3 else b"")
        for number, line in enumerate(lines)
    )
    found = find_prefix(b"Attaching to pgbench-1\n" + mixed, TOOLS)
    assert found is not None
    plain = found[2].plain(mixed)
    assert plain.count(b"\npostgres-1 | LOG:  checkpoint starting\n") == mixed.count(b"postgres-1")
    assert b"pgbench-1" not in plain


@pytest.mark.parametrize(
    "text",
    [
        b"2026-11-20 10:00:00 INFO the benchmark is about to begin\n" * 50,
        b"7 0 1 500 0 1795168190 5\n" * 50,
        b"",
        b"\x1b[32m",
        b"a | b | c\n",
    ],
)
def test_other_text_is_nobodys_with_and_without_what_may_be_a_prefix(text: bytes) -> None:
    assert find_prefix(text, TOOLS) is None


def test_a_fio_document_is_read_behind_a_prefix_too() -> None:
    data = (RECORDINGS / "fio" / "json-si1-randrw-3.33.out").read_bytes()
    found = find_prefix(prefixed(data, PREFIXES["compose"]), TOOLS)
    assert found is not None
    assert (found[0].name, found[2].plain(prefixed(data, PREFIXES["compose"]))) == ("fio", data)


def exported(root: Path) -> str:
    """What is exported of the runs there."""
    runs = Runs([root], RunsSettings(), Buckets())
    while runs.poll(NOW):
        pass
    return Exposition().render(runs.workers, ("live", "runs"))


def of_run(page: str, name: str) -> list[str]:
    """A run's lines without its name, its size, and what is said of its prefix."""
    lines = (line for line in page.splitlines() if f'run="{name}"' in line)
    return [line.replace(name, "") for line in lines if "_bytes_total" not in line and "_note_" not in line]


def test_every_view_of_a_prefixed_file_shows_what_the_plain_one_shows(
    tmp_path: Path, place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = place("plain/db1.log", TEXT)
    behind = place("behind/db1.log", prefixed(TEXT, PREFIXES["container log"]))
    page = exported(tmp_path / "runs")
    assert of_run(page, "plain") == of_run(page, "behind")
    note = "'2026-11-20T10:00:01.123456789Z stdout F ' before each line left out"
    assert f'benchwatch_run_note_info{{run="behind",worker="db1",note="{note}"}} 1\n' in page
    assert main(["compare", str(plain), str(behind)]) == 0
    assert note in " ".join(capsys.readouterr().out.split())
    assert main(["backfill", str(behind)]) == 0
    written = capsys.readouterr().out
    assert 'state="finished"' in written


def test_a_last_line_without_its_end_settles_behind_a_prefix(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "a" / "db1.log"
    path.parent.mkdir(parents=True)
    path.write_bytes(prefixed(TEXT, PREFIXES["compose"]).rstrip(b"\n"))
    os.utime(path, (NOW, NOW))
    runs = Runs([tmp_path / "runs"], RunsSettings(), Buckets())
    while runs.poll(NOW + 2):
        pass
    (worker,) = runs.workers
    assert worker.phase == "finished"


def test_no_prefix_takes_long_on_any_line() -> None:
    numbers = b"1." * 55 + b"1 "
    found = find_prefix(b"".join(numbers + line for line in TEXT.splitlines(keepends=True)), TOOLS)
    assert found is not None
    other = b"1." * 5000 + b"x\n"
    assert found[2].plain(other) == other


def test_documents_of_fio_behind_a_prefix_have_their_times(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    data = (RECORDINGS / "fio" / "jsonplus-si1-libaio-qd16-3.42.out").read_bytes()
    written = []
    for text in (data, prefixed(data, PREFIXES["kubectl --timestamps"])):
        assert main(["backfill", str(place("a/disk1.out", text))]) == 0
        lines = capsys.readouterr().out.splitlines()
        written.append([line for line in lines if "fio_" in line or "run_state" in line])
    assert written[0] == written[1]
    assert len(written[0]) > 1000
