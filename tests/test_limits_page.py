"""docs/limits.md says what the code does: each default in it is that of the code."""

import re
from pathlib import Path

import pytest

from benchwatch.launch import delivery, facts, sinks
from benchwatch.metrics.limits import Limits
from benchwatch.nutanix import patterns, poller
from benchwatch.nutanix.cvm_settings import LARGEST_PAGE, NutanixSettings
from benchwatch.nutanix.pages import columns, main_page, markup, notes, overview, quantities, tables
from benchwatch.runs import append, files, prefix, watcher, worker
from benchwatch.server import connections, ingest, quiet_log, unpacking, users
from benchwatch.settings.settings import PushSettings, RunsSettings
from benchwatch.tools import api, lines
from benchwatch.tools.fio import document, framing, jobs
from benchwatch.tools.pgbench import lifecycle, results, transactions
from benchwatch.values import bounded_yaml
from benchwatch.watch import sources

PAGE = (Path(__file__).parents[1] / "docs" / "limits.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]
KIB, MIB = 1024, 1024**2


def kib(size: int) -> str:
    return f"{size // KIB} KiB" if size % MIB else f"{size // MIB} MiB"


def seconds(value: float) -> str:
    return f"{value:g} s"


PUSH, CVM = PushSettings(), NutanixSettings()
DEFAULTS = {
    "connections": f"{connections._MOST}, at most half of the file descriptors",
    "a whole request, or a TLS handshake": seconds(connections.HEADERS),
    "silence between two requests": seconds(connections.IDLE),
    "writing an answer": seconds(connections.ANSWER),
    "passwords that wait for their check": f"{users._CHECKS}, of one address {users._CHECKS_OF_ONE_ADDRESS}",
    "wrong passwords remembered": f"{users._WRONG_REMEMBERED:,}",
    "lines of one kind in the log": (
        f"the same one once a minute, {quiet_log._DIFFERENT} different ones, {quiet_log._TRACEBACKS} with a traceback"
    ),
    "`max_push_bytes`": f"{PUSH.max_push_bytes:,}",
    "`max_run_bytes`": f"{PUSH.max_run_bytes:,}",
    "`max_run_files`": f"{PUSH.max_run_files:,}",
    "`max_folder_bytes`": f"{PUSH.max_folder_bytes:,}",
    "`max_runs`": f"{PUSH.max_runs:,}",
    "`keep_free_bytes`": f"{PUSH.keep_free_bytes:,}",
    "a piece, or a record, in time": seconds(ingest._BODY_SECONDS),
    "a piece": kib(append.LARGEST_PIECE),
    "a pushed record": kib(ingest._LARGEST_RECORD),
    "growth of a compressed body": f"{unpacking._EXPANSION} times, from {kib(unpacking._EXPANDED)} on",
    "bytes of a push that wait for the disk": kib(ingest._BEHIND),
    "`keep`": f"{RunsSettings().keep}",
    "checks of runs that left memory": f"{watcher._UNLOADED_A_SECOND} a second",
    "read at a time": f"{kib(watcher.CHUNK)} of a file, {kib(watcher.BUDGET)} a round",
    "bytes by which output is recognised": kib(files.HEAD),
    "a prefix before each line": (
        f"{prefix._LONGEST} bytes, found in the first {prefix._LINES} lines or {kib(prefix._HEAD)}"
    ),
    "reports kept for the small chart": f"{api.HISTORY}",
    "a reason": f"{worker._REASON_LENGTH} characters",
    "a line": kib(lines.LIMIT),
    "digits of a latency in the transaction log, microseconds": f"{transactions._LONGEST[2]}",
    "seconds of a transaction log": f"{transactions._FIRST_SECOND:,} to {transactions._LAST_SECOND:,}",
    "figures of the final report in seconds": f"{results._LONGEST:,.0f}",
    "a statement in a label (`-r`)": f"{results._STATEMENT_LENGTH} characters",
    "first error messages kept for the reason": f"{lifecycle._KEPT}",
    "a document": kib(framing.DOCUMENT_LIMIT),
    "a line of text, or a string": kib(framing.LINE_LIMIT),
    "jobs with a name of their own": f"{jobs.MOST_JOBS}",
    "disks in `disk_util`": f"{jobs.MOST_DISKS}",
    "options as parameters": f"{jobs.MOST_OPTIONS:,}",
    "I/Os and latencies of a document": f"{document._MOST:,}",
    "bytes of a document's I/Os": f"{document._MOST_BYTES:,}",
    "`connect_timeout`": seconds(CVM.connect_timeout),
    "`deadline`": seconds(CVM.deadline),
    "`max_page_bytes`": f"{CVM.max_page_bytes:,} (at most {LARGEST_PAGE:,})",
    "`max_vdisks`": f"{CVM.max_vdisks:,}",
    "`max_detail_pages`": f"{CVM.vdisks.max_detail_pages}",
    "age of numbers": f"{poller.KEEP_INTERVALS} intervals",
    "tables of a page": f"{markup.MAX_TABLES:,}",
    "rows of a table": f"{markup.MAX_ROWS:,}",
    "columns of a table": f"{markup.MAX_COLUMNS}",
    "nested tables": f"{markup.MAX_NESTED}",
    "titles before a table": f"{tables.MAX_TITLES}",
    "rows of the overview": f"{overview.MAX_ROWS}",
    "disks of a cluster": f"{main_page.MAX_DISKS:,}",
    "labelled rows of a vdisk's table": f"{columns.MAX_LABELLED}",
    "a name": f"{quantities.MAX_NAME} characters",
    "a number": f"2^{quantities.LARGEST.bit_length() - 1}",
    "texts kept of what was not recognised": f"{notes.MAX_TEXTS}, of {notes.MAX_TEXT} characters",
    "names matched by `include` and `exclude`": f"{patterns.LONGEST} characters",
    "ways in which a pattern of `include` or `exclude` may divide a name": f"{patterns.MOST:,.0f}",
    "`benchwatch run`: output that waits for a file, terminal or pipe that hangs": kib(sinks._WAITING),
    "`benchwatch run`: time for questions to the server and the machine": seconds(facts._PATIENCE),
    "`benchwatch run --push`: time for the rest at the end": seconds(delivery._LAST_PATIENCE),
    "`benchwatch watch`: a page": kib(sources._LARGEST),
}


@pytest.mark.parametrize("bound", DEFAULTS)
def test_the_default_is_that_of_the_code(bound: str) -> None:
    assert [row[1] for row in ROWS if row[0] == bound] == [DEFAULTS[bound]]


@pytest.mark.parametrize("key", Limits.__struct_fields__)
def test_every_limit_of_series_has_its_row(key: str) -> None:
    (row,) = [row for row in ROWS if row[0] == f"`{key}`"]
    assert re.match(r"\d+(?:,\d{3})*", row[1])[0] == f"{getattr(Limits(), key):,}"  # type: ignore[index]


@pytest.mark.parametrize("what", ["size", "values", "depth"])
def test_the_bounds_of_yaml_are_those_of_the_code(what: str) -> None:
    name = {
        "size": "size",
        "values": "keys and values, aliases written out",
        "depth": "lists and mappings nested in each other",
    }
    (row,) = [row for row in ROWS if row[0] == name[what]]
    found = [getattr(each, what) for each in (bounded_yaml.RECORD, bounded_yaml.CONFIGURATION)]
    assert row[1:3] == [kib(each) if what == "size" else f"{each:,}" for each in found]


def test_every_key_of_pushes_has_its_row() -> None:
    keys = {f"`{key}`" for key in PushSettings.__struct_fields__} - {"`enabled`", "`path`"}
    assert keys <= {row[0] for row in ROWS}


def test_every_metric_that_it_names_is_exported() -> None:
    named = set(re.findall(r"`((?:benchwatch|nutanix|pgbench|fio)_[a-z_]+)", PAGE))
    documented = (Path(__file__).parents[1] / "docs" / "metrics.md").read_text()
    assert len(named) > 15
    assert [name for name in sorted(named) if f"`{name}`" not in documented] == []
