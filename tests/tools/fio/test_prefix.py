"""fio's output behind what a program that passed it on wrote before every line (see benchwatch.runs.prefix)."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.runs.prefix import Prefix, Unprefixed, find_prefix
from benchwatch.tools.api import Misread
from benchwatch.tools.fio import FIO
from benchwatch.tools.registry import TOOLS

from .recordings import comparable, data_of, documents_of, parse, state_of, texts_of

NAME = "jsonplus-si1-libaio-qd16-3.33.out"
DATA = data_of(NAME)
DOCUMENTS = documents_of(NAME)
TRIM = "json-trim-null-3.33.out"
CLOCK = "2026-05-01T10:00:{:02d}.{}Z stdout F "
PREFIXES: dict[str, Callable[[int], str]] = {
    "docker compose": lambda _: "fio-1  | ",
    "docker compose in colour": lambda _: "\x1b[36mfio-1  | \x1b[0m",
    "kubectl --prefix": lambda _: "[pod/fio-7d9f/fio] ",
    "kubectl --timestamps": lambda number: CLOCK.format(number % 60, 1 + 7 * number),
    "syslog": lambda number: f"Nov 20 09:58:{number % 60:02d} vm1 fio[123]: ",
    "logger with a level": lambda number: f"2026-11-20 09:58:{number % 60:02d},{number % 1000:03d} INFO  fio: ",
}


def prefixed(data: bytes, prefix: Callable[[int], str]) -> bytes:
    lines = data.decode().splitlines()
    return "".join(f"{prefix(number)}{line}\n" for number, line in enumerate(lines)).encode()


def compact(trees: list[Any]) -> bytes:
    return "".join(json.dumps(tree, separators=(",", ":")) + "\n" for tree in trees).encode()


def found_in(data: bytes, kind: str = "text") -> Prefix:
    assert not any(tool.recognise(data[: 64 * 1024]) for tool in TOOLS)
    found = find_prefix(data[: 64 * 1024], TOOLS)
    assert found is not None
    assert (found[0], found[1]) == (FIO, kind)
    return found[2]


def records_behind(data: bytes, prefix: Prefix, *cuts: int, kind: str = "text") -> list[Any]:
    parser = Unprefixed(FIO.parser(kind), prefix)
    places = [0, *sorted(cuts), len(data)]
    records = [record for start, stop in pairwise(places) for record in parser.feed(data[start:stop])]
    return comparable([*records, *parser.close()])


@pytest.mark.parametrize("prefix", PREFIXES)
def test_documents_behind_a_prefix_say_the_same_and_the_prefix_is_named(prefix: str) -> None:
    data = prefixed(DATA, PREFIXES[prefix])
    found = found_in(data)
    assert records_behind(data, found) == comparable(parse(DATA))
    assert found.example == PREFIXES[prefix](0).replace("\x1b[36m", "").replace("\x1b[0m", "")


@pytest.mark.parametrize("prefix", PREFIXES)
def test_compact_documents_behind_a_prefix_are_read(prefix: str) -> None:
    data = prefixed(compact(DOCUMENTS), PREFIXES[prefix])
    found = records_behind(data, found_in(data, "stored"), kind="stored")
    assert found == comparable(parse(compact(DOCUMENTS), kind="stored"))


@pytest.mark.parametrize("prefix", PREFIXES)
def test_normal_output_behind_a_prefix_names_its_jobs_without_it(prefix: str) -> None:
    text = data_of("normal-si1-3.33.out")
    data = prefixed(text, PREFIXES[prefix])
    assert len(parse(text)) == 4
    assert records_behind(data, found_in(data)) == comparable(parse(text))


def test_messages_around_documents_behind_a_prefix_are_read() -> None:
    *earlier, last = texts_of(DATA)
    text = b"fio: a warning\n" + b"".join(earlier) + b"\nfio: terminating on signal 2\n" + last
    data = prefixed(text, PREFIXES["docker compose"])
    assert records_behind(data, found_in(data)) == comparable(parse(text))
    assert state_of(text).reason == "interrupted by signal 2"


def test_documents_of_another_container_are_left_as_they_are() -> None:
    mine, other = PREFIXES["kubectl --timestamps"], PREFIXES["docker compose"]
    data = prefixed(texts_of(data_of(TRIM))[0], mine) + prefixed(compact(documents_of(TRIM)[:1]), other)
    records = records_behind(data, found_in(data))
    assert len([record for record in records if isinstance(record, bytes)]) == 1
    assert [record.reason for record in records if isinstance(record, Misread)] == ["other_text"]


STREAMS = [
    prefixed(texts_of(data_of(TRIM))[0], PREFIXES["kubectl --timestamps"]),
    prefixed(b"Jobs: 1 (f=1)\r{\nfio: x\n" + texts_of(data_of(TRIM))[0], PREFIXES["syslog"]),
]


@settings(max_examples=60)
@given(st.sampled_from(STREAMS), st.lists(st.integers(0, 20_000), max_size=12))
def test_records_do_not_depend_on_chunk_borders(data: bytes, cuts: list[int]) -> None:
    prefix = found_in(data)
    assert records_behind(data, prefix, *(cut % (len(data) + 1) for cut in cuts)) == records_behind(data, prefix)


@pytest.mark.parametrize("data", STREAMS)
def test_records_do_not_depend_on_the_arrival_of_single_bytes(data: bytes) -> None:
    prefix = found_in(data)
    assert records_behind(data, prefix, *range(len(data))) == records_behind(data, prefix)


def test_the_moments_behind_a_prefix_are_the_times_of_the_documents() -> None:
    data = prefixed(DATA, PREFIXES["docker compose"])
    found = list(found_in(data).moments(FIO, "text", data))
    assert [moment.time for moment in found] == [document["timestamp_ms"] / 1000 for document in DOCUMENTS]
    assert all(data[: moment.offset].endswith(b"fio-1  | }\n") for moment in found)


def test_a_document_behind_a_prefix_counts_before_its_line_has_ended() -> None:
    data = prefixed(DATA, PREFIXES["docker compose"])
    parser = Unprefixed(FIO.parser("text"), found_in(data))
    assert len(parser.feed(data[:-1])) == len(DOCUMENTS) - 1
    (last,) = parser.settle()
    assert [*parser.settle(), *parser.feed(data[-1:]), *parser.close()] == []
    assert comparable([last]) == comparable(parse(DATA)[-1:])


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(
    "name", [NAME, "normal-si1-3.33.out", "client-normal-3.33.out", "merged-normal-json-eta-3.33.out"]
)
def test_what_the_prefix_is_does_not_depend_on_how_much_has_come(name: str, prefix: str) -> None:
    lines = prefixed(data_of(name), PREFIXES[prefix]).splitlines(keepends=True)
    heads = [b"".join(lines[:number]) for number in range(1, 30)]
    assert not any(tool.recognise(head) for head in heads for tool in TOOLS)
    found = [find_prefix(head, TOOLS) for head in heads]
    assert {each[2].shape for each in found if each} == {found_in(b"".join(lines)).shape}
