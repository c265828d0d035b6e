"""Which tool wrote a file: of several the first, also behind a late or partial prefix; and what others are named as."""

import io
import tarfile
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.exposition import Exposition
from benchwatch.runs.prefix import find_prefix
from benchwatch.runs.watcher import Runs
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.registry import TOOLS
from tests.support.places import NOW, RECORDINGS, Place

PGBENCH = (RECORDINGS / "pgbench/tpcb-15.18.err").read_bytes() + (RECORDINGS / "pgbench/tpcb-15.18.out").read_bytes()
SYSBENCH = (RECORDINGS / "sysbench/cpu-1.0.20/cpu-1.0.20.out").read_bytes()
SUMMARY = (RECORDINGS / "sysbench/rw-no-interval-1.0.20/rw-no-interval-1.0.20.out").read_bytes()
FIO = (RECORDINGS / "fio/normal-si1-3.33.out").read_bytes()


def watched(root: Path, now: float = NOW) -> Runs:
    runs = Runs([root], RunsSettings(), Buckets())
    while runs.poll(now):
        pass
    return runs


def tools_of(runs: Runs) -> list[str]:
    page = Exposition().render(runs.workers, ("live", "runs"))
    infos = [line for line in page.splitlines() if line.startswith("benchwatch_run_info{")]
    return [line.partition('tool="')[2].partition('"')[0] for line in infos]


@pytest.mark.parametrize(
    ("first", "second", "tool", "other"),
    [(SYSBENCH, PGBENCH, "sysbench", "pgbench"), (FIO, SYSBENCH, "fio", "sysbench")],
)
def test_the_first_tool_in_a_file_is_read_while_it_is_written_and_after_a_restart(
    first: bytes, second: bytes, tool: str, other: str, place: Place, tmp_path: Path
) -> None:
    path = place("a/db1.out", first)
    live = watched(tmp_path / "runs")
    path.write_bytes(first + second)
    while live.poll(NOW + 1):
        pass
    restarted = watched(tmp_path / "runs", NOW + 1)
    for runs in (live, restarted):
        assert tools_of(runs) == [tool]
        page = Exposition().render(runs.workers, ("live", "runs"))
        assert f'benchwatch_stream_errors_total{{run="a",worker="db1",tool="{tool}",reason="other_tool"}} 1' in page


def test_the_second_tool_in_a_file_is_named(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    path = place("a/db1.out", SYSBENCH + PGBENCH)
    assert main(["metrics", str(path)]) == 0
    (said,) = [record.getMessage() for record in caplog.records if "other tool" in record.getMessage()]
    assert said.endswith(
        "the output of pgbench begins here, but only that of sysbench, which comes first, is read: write each to a "
        "file of its own"
    )


def behind(prefix: bytes, text: bytes) -> bytes:
    return b"".join(prefix + line for line in text.splitlines(keepends=True))


PROSE = b"".join(b"Line %d of a text about databases, and what we did.\n" % number for number in range(30))
LOG = b"".join(b"postgres-1  | 2026-01-02 03:04:05 LOG:  line %d\n" % number for number in range(150))
PLACES = {
    "after 150 lines of another container": (LOG + behind(b"pgbench-1   | ", PGBENCH), "pgbench", "pgbench-1   | "),
    "the banner only": (b"CPU 0 " + SUMMARY, "sysbench", "CPU 0 "),
    "a comment in SQL": (b"select 1;\n" * 60 + behind(b"-- ", PGBENCH), "pgbench", "-- "),
    "code in Markdown by its indentation": (PROSE + behind(b"    ", PGBENCH) + PROSE, "pgbench", "    "),
    "a quotation": (PROSE + behind(b"> ", PGBENCH), "pgbench", "> "),
    "a fence in a list": (PROSE + behind(b"  ", b"```\n" + PGBENCH + b"```\n"), "pgbench", "  "),
    "backticks around each line": (
        PROSE + b"".join(b"`" + line + b"`\n" for line in PGBENCH.splitlines()),
        "pgbench",
        "`",
    ),
}


@pytest.mark.parametrize("where", PLACES)
def test_a_report_is_found_in_other_text(where: str) -> None:
    data, tool, example = PLACES[where]
    found = find_prefix(data, TOOLS)
    assert found is not None
    assert (found[0].name, found[2].example) == (tool, example)
    text = SUMMARY if tool == "sysbench" else PGBENCH
    parser, plain = found[0].parser("text"), found[0].parser("text")
    plain.feed(text)
    parser.feed(found[2].plain(data))
    assert parser.records == plain.records


def test_backticks_in_a_long_line_take_no_time() -> None:
    found = find_prefix(PLACES["backticks around each line"][0], TOOLS)
    assert found is not None
    line = b"`" * 500_000 + b"x\n"
    assert found[2].plain(line) == line[1:]


@pytest.mark.parametrize(
    "text",
    [
        b"we ran pgbench (15.18) and it was fast\n" + PROSE,
        b"I used sysbench 1.0.20 here\n" * 5 + PROSE,
        b"see: iperf 3.12 and fio-3.33\n" + PROSE,
    ],
)
def test_a_tool_that_a_text_mentions_did_not_write_it(text: bytes) -> None:
    assert find_prefix(text, TOOLS) is None


def archive() -> bytes:
    log = b"".join(b"0 %d 1500 0 1795168190 %d\n" % (number, number) for number in range(100))
    found = io.BytesIO()
    with tarfile.open(fileobj=found, mode="w") as tar:
        info = tarfile.TarInfo("pgbench_log.77")
        info.size = len(log)
        tar.addfile(info, io.BytesIO(log))
    return found.getvalue()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (archive(), "it is an archive or compressed: unpack it; "),
        (b"\x1f\x8b\x08" + bytes(range(1, 200)), "it is an archive or compressed: unpack it; "),
        (
            b"-" * 60 + b"\nClient connecting to 10.0.0.2, TCP port 5001\n" + b"-" * 60 + b"\n",
            "it is the output of iperf 2; ",
        ),
        (b"Server listening on TCP port 5001\n", "it is the output of iperf 2; "),
        (b"nothing that anybody knows\n", ""),
    ],
)
def test_a_file_that_no_tool_wrote_is_named(
    data: bytes, what: str, place: Place, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = place("a/x.77", data)
    assert tools_of(watched(tmp_path / "runs", NOW + 3600)) == []
    (said,) = [record.getMessage() for record in caplog.records if "is ignored" in record.getMessage()]
    assert f"{path} is ignored: {what}expected the output of pgbench" in said


def test_a_message_of_pgbench_is_no_prefix_whatever_follows_a_line_that_was_cut_off(
    place: Place, tmp_path: Path
) -> None:
    message = b"pgbench: error: client 1 script 0 aborted in command 0 query 0: ERROR:  no such column\n"
    report = b"transaction type: Custom query\nscaling factor: 1\nquery mode: simple\n"
    path = place("a/db1.out", message * 2 + b"pgbench: ")
    live = watched(tmp_path / "runs")
    path.write_bytes(path.read_bytes() + report)
    while live.poll(NOW + 1):
        pass
    pages = [Exposition().render(runs.workers, ("runs",)) for runs in (live, watched(tmp_path / "runs", NOW + 1))]
    assert pages[0] == pages[1]
    assert "left out" not in pages[1]
