"""What a parser keeps of a document that never ends, and what a look at its last line costs."""

import tracemalloc

import pytest

from benchwatch.tools.iperf3 import IPERF3

from .recordings import client, data_of, misread, parse

MIB = 1 << 20
START = b'{"event":"start","data":{"version":"iperf 3.18"}}\n'


def kept(data: bytes) -> int:
    """Bytes that a parser holds once it has read `data`, beyond what an idle one holds."""
    tracemalloc.start()
    try:
        parser = IPERF3.parser("text")
        for place in range(0, len(data), MIB):
            parser.feed(data[place : place + MIB])
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("line", [b"\n", b"\t\n", b"\r\n", b"}}\n"], ids=repr)
def test_the_lines_of_a_document_take_no_more_than_their_bytes(line: bytes) -> None:
    assert kept(START + b"{\n" + line * (MIB // 2 // len(line))) < MIB


def test_a_document_that_never_ends_takes_bounded_memory() -> None:
    line = b"\t" + b"x" * 1000 + b"\n"
    assert kept(START + b"{\n" + line * (24 * MIB // len(line))) < 20 * MIB


def test_a_line_that_is_not_indented_cuts_a_document_off() -> None:
    assert misread(START + b"{\n" + data_of(client("stream-tcp-3.18"))) == [("truncated_document", "line 3")]


def test_a_look_at_the_last_line_copies_no_document() -> None:
    parser = IPERF3.parser("text")
    parser.feed(b"{\n" + b'\t"x": 1,\n' * 100_000 + b'\t"last": 1')
    tracemalloc.start()
    try:
        assert parser.settle() == []
        assert tracemalloc.get_traced_memory()[1] < MIB // 10
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("file", ["stream-tcp-3.18", "json-tcp-p2-3.12", "text-tcp-3.12"])
def test_a_last_line_that_lacks_only_its_newline_counts_once(file: str) -> None:
    data = data_of(client(file)).rstrip(b"\n")
    parser = IPERF3.parser("text")
    found = [*parser.feed(data), *parser.settle()]
    assert parser.settle() == [] and [*found, *parser.feed(b"\n"), *parser.close()] == parse(data_of(client(file)))
