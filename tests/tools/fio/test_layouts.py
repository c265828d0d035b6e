"""fio's documents as other programs store them: layouts, wrappers. They are read once all are there."""

import json
import re
from collections.abc import Callable
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.history.find import read_runs
from benchwatch.metrics.buckets import Buckets
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.fio import FIO
from benchwatch.tools.fio.counters import Counters
from benchwatch.tools.fio.parser import FioParser

from .recordings import ROOT, comparable, data_of, documents_of, misread, parse, plain, read, state_of, texts_of, values

NAME = "jsonplus-si1-libaio-qd16-3.33.out"
DATA = data_of(NAME)
DOCUMENTS = documents_of(NAME)
AS_PRINTED = ("as a list by hand", "with carriage returns", "with no newline at the end")
LAYOUTS: dict[str, Callable[[list[Any]], str]] = {
    "compact": lambda trees: "".join(json.dumps(tree, separators=(",", ":")) + "\n" for tree in trees),
    "on one line each": lambda trees: "".join(json.dumps(tree) + "\n" for tree in trees),
    "indented by four": lambda trees: "".join(json.dumps(tree, indent=4) + "\n" for tree in trees),
    "with sorted keys": lambda trees: "".join(json.dumps(tree, indent=2, sort_keys=True) + "\n" for tree in trees),
    "compact and sorted": lambda trees: "".join(json.dumps(tree, sort_keys=True) + "\n" for tree in trees),
    "in an array": lambda trees: json.dumps(trees, indent=2),
    "in a compact array": lambda trees: json.dumps(trees),
    "in an object": lambda trees: json.dumps({"host": "vm1", "results": {"fio": trees}}, indent=2, sort_keys=True),
    "in a compact object": lambda trees: json.dumps({"fio": trees, "other": [1, None, "}"]}),
    "as a list by hand": lambda _: "[\n" + ",\n".join(text.decode() for text in texts_of(DATA)) + "]\n",
    "indented as a whole": lambda _: re.sub("^", "    ", DATA.decode(), flags=re.MULTILINE),
    "with carriage returns": lambda _: DATA.decode().replace("\n", "\r\n"),
    "with no newline at the end": lambda _: DATA.decode().rstrip("\n"),
    "compact with no newline at the end": lambda trees: "\n".join(json.dumps(tree) for tree in trees),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_documents_in_any_layout_say_the_same(layout: str) -> None:
    data = LAYOUTS[layout](DOCUMENTS).encode()
    kind = FIO.recognise(data[: 64 * 1024])
    assert kind == ("text" if layout in AS_PRINTED else "stored")
    assert misread(data, kind) == []
    state, expected = state_of(data, kind=kind), state_of(DATA)
    assert state.outcome == "finished"
    assert values(state) == values(expected)
    assert state.figures() == expected.figures()
    assert list(state.history) == list(expected.history)
    assert state.parameters() == expected.parameters()


def test_documents_that_jq_wrote_say_the_same() -> None:
    state = state_of((ROOT / "stored-jq-3.33.json").read_bytes(), kind="stored")
    assert values(state) == values(state_of(DATA))


def test_a_document_that_was_damaged_does_not_take_its_neighbours_along() -> None:
    trees = [*DOCUMENTS[:2], {**DOCUMENTS[2], "jobs": "none"}]
    compact = LAYOUTS["compact"](trees).encode()
    assert misread(compact, "stored") == ["bad_document"]
    assert len([record for record in parse(compact, kind="stored") if isinstance(record, Counters)]) == 2
    array = json.dumps(trees).encode()
    assert misread(array, "stored") == ["bad_document"]
    assert len([record for record in parse(array, kind="stored") if isinstance(record, Counters)]) == 2


def test_a_stored_document_of_fio_2_is_refused_in_words() -> None:
    (told,) = parse(b'{"b": 1, "fio version" : "fio-2.1.3"}\n', kind="stored")
    assert isinstance(told, Misread)
    assert told.reason == "bad_document"


def test_two_fios_in_one_array_are_two_runs() -> None:
    other = documents_of("json-trim-null-3.33.out")
    records = parse(json.dumps([*DOCUMENTS, *other]).encode(), kind="stored")
    assert [type(record) for record in records] == 4 * [Counters] + [Begin] + len(other) * [Counters]
    assert len(read(json.dumps([*DOCUMENTS, *other]).encode(), kind="stored")) == 2


def test_stored_documents_count_once_the_stream_settles() -> None:
    data = LAYOUTS["compact"](DOCUMENTS).encode()
    parser = FIO.parser("stored")
    assert [*parser.feed(data[:-2]), *parser.settle(), *parser.feed(data[-2:-1])] == []
    assert [type(record) for record in parser.settle()] == len(DOCUMENTS) * [Counters]
    assert [*parser.feed(b"\n"), *parser.settle(), *parser.close()] == []


@pytest.mark.parametrize("layout", ["compact", "in an array", "in a compact object", "with sorted keys"])
def test_a_stored_document_that_was_cut_off_is_a_misreading(layout: str) -> None:
    data = LAYOUTS[layout](DOCUMENTS[:1]).encode()[:-4]
    assert misread(data, "stored") == ["bad_document"]


def test_documents_before_one_that_was_cut_off_are_read() -> None:
    data = LAYOUTS["compact"](DOCUMENTS).encode()[:-4]
    assert [type(record) for record in parse(data, kind="stored")] == (len(DOCUMENTS) - 1) * [Counters] + [Misread]


STREAMS = [b"Jobs: 1 (f=1)\r{\nfio: x\n" + texts_of(data_of("json-trim-null-3.33.out"))[0]]


@settings(max_examples=60)
@given(st.sampled_from(STREAMS), st.lists(st.integers(0, 20_000), max_size=12))
def test_records_do_not_depend_on_chunk_borders(data: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    parser = FioParser()
    records = [record for start, stop in pairwise(places) for record in parser.feed(data[start:stop])]
    assert comparable([*records, *parser.close()]) == comparable(parse(data))


@pytest.mark.parametrize("data", STREAMS)
def test_records_do_not_depend_on_the_arrival_of_single_bytes(data: bytes) -> None:
    assert comparable(parse(data, range(len(data)))) == comparable(parse(data))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_stored_documents_are_dated_by_the_last_one(layout: str) -> None:
    data = LAYOUTS[layout](DOCUMENTS).encode()
    found = list(FIO.moments(FIO.recognise(data), data))
    times = [document["timestamp_ms"] / 1000 for document in DOCUMENTS]
    assert [moment.time for moment in found] == (times if layout in AS_PRINTED else times[-1:])
    assert len(data.rstrip(b"] \r\n")) <= found[-1].offset <= len(data)


@pytest.mark.parametrize("layout", ["in an array", "compact with no newline at the end"])
def test_a_file_of_another_layout_is_shown_offline(layout: str, tmp_path: Path) -> None:
    (tmp_path / "vm1.json").write_text(LAYOUTS[layout](DOCUMENTS))
    ((worker,),) = (run.workers for run in read_runs([tmp_path / "vm1.json"], RunsSettings(), Buckets()))
    assert worker.state.figures() == state_of(DATA).figures()
    assert worker.faults == {}


def test_a_document_whose_times_were_left_out_ended_with_its_jobs_and_not_in_1970() -> None:
    document = {name: value for name, value in deepcopy(DOCUMENTS[-1]).items() if not name.startswith("time")}
    (job,) = document["jobs"]
    ended = 1795168000.0 + max(job[operation]["runtime"] for operation in ("read", "write")) / 1000
    job["job_start"] = 1795168000_000
    state = state_of(json.dumps(document).encode(), kind="stored")
    assert (state.start, state.last_report) == (1795168000.0, ended)
    state.over()
    assert state.end == ended


def test_documents_whose_times_were_left_out_are_of_one_run() -> None:
    trees = [{name: value for name, value in tree.items() if not name.startswith("time")} for tree in DOCUMENTS]
    state = state_of(json.dumps(trees).encode(), kind="stored")
    assert state.start is not None
    assert state.last_report == state.start + trees[-1]["jobs"][0]["elapsed"]


def test_plain_is_what_was_printed() -> None:
    assert [plain(text) for text in texts_of(DATA)] == DOCUMENTS
