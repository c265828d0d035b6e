"""Documents and lines in a dirty stream."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.tools.fio.framing import LINE_LIMIT, Framer, Piece, Printed, Text

from .recordings import NAMES, data_of, texts_of

ONE = b'{\n  "fio version" : "fio-3.33",\n  "jobs" : [\n    {\n      "x" : {\n      }\n    }\n  ]\n}'


def frame(data: bytes, cuts: list[int] | None = None, limit: int = 10**6) -> list[Piece]:
    framer = Framer(limit)
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts or ()), len(data)]
    pieces: list[Piece] = []
    for start, stop in pairwise(places):
        pieces += framer.feed(data[start:stop])
    return [piece for piece in [*pieces, *framer.close()] if not isinstance(piece, Text) or piece.data]


def test_a_document_ends_at_the_brace_in_column_0() -> None:
    assert frame(b"fio: a\n" + ONE + b"\nfio: b\n" + ONE) == [
        Text(0, b"fio: a"),
        Printed(7, ONE),
        Text(7 + len(ONE) + 1, b"fio: b"),
        Printed(7 + len(ONE) + 8, ONE),
    ]


def test_a_document_is_given_before_the_line_after_its_brace() -> None:
    assert Framer().feed(ONE) == [Printed(0, ONE)]


def test_windows_line_ends_are_tolerated() -> None:
    data = (b"note: x\n" + ONE + b"\nnote: y\n").replace(b"\n", b"\r\n")
    assert [type(piece) for piece in frame(data)] == [Text, Printed, Text]


def test_a_document_glued_to_an_old_line_is_found() -> None:
    assert frame(b'            "123392"' + ONE) == [Text(0, b'            "123392"'), Printed(20, ONE)]


def test_a_document_cut_off_by_the_next_is_given_with_it() -> None:
    assert frame(ONE[:50] + ONE[:60] + ONE) == [Printed(0, ONE[:50] + ONE[:60] + ONE)]


def test_documents_cut_off_at_the_end_are_given_at_the_end() -> None:
    framer = Framer()
    assert framer.feed(ONE[:50] + ONE[:60]) == []
    assert framer.close() == [Printed(0, ONE[:50] + ONE[:60], "truncated_document")]


def test_a_document_that_will_not_end_is_dropped_and_the_next_is_read() -> None:
    endless = ONE[:-2] + b" " * 1000
    pieces = frame(endless + b"\n" + ONE, limit=500)
    assert pieces[0] == Printed(0, endless[:500], "document_too_long")
    assert pieces[-1] == Printed(len(endless) + 1, ONE)


def test_carriage_returns_end_lines_too() -> None:
    assert frame(b"Jobs: 1\rJobs: 2\r\n\n") == [Text(0, b"Jobs: 1"), Text(8, b"Jobs: 2")]


def test_a_line_without_end_is_cut() -> None:
    data = b"x" * (2 * LINE_LIMIT + 5)
    expected = [Text(0, b"x" * LINE_LIMIT), Text(LINE_LIMIT, b"x" * LINE_LIMIT), Text(2 * LINE_LIMIT, b"x" * 5)]
    assert frame(data) == expected
    assert frame(data, list(range(0, len(data), 4096))) == expected


@pytest.mark.parametrize("name", NAMES)
def test_every_whole_document_of_a_recording_is_framed(name: str) -> None:
    data = data_of(name)
    whole = [piece.data for piece in frame(data, limit=2**26) if isinstance(piece, Printed) and not piece.fault]
    assert [text[text.rindex(b'{\n  "fio version"') :] for text in whole] == [text[:-1] for text in texts_of(data)]


parts = st.sampled_from(
    [
        ONE,
        ONE + b"\n",
        ONE[:20],
        ONE[:60],
        b"{",
        b"{\n",
        b'{\n  "fio',
        b"}\n",
        b"\n}",
        b"fio: x\n",
        b"\r",
        b" ",
        b'"',
        b"x" * 90,
        b'{"fio version" : "fio-3.33"}',
        b'{\n  "disk" : [\n',
        b'{"a": {}}\n',
        b'["',
        b"[\n  {",
        b"]}",
        b"\\",
        b"\n",
    ]
)


@settings(max_examples=400)
@given(
    st.lists(parts, max_size=12).map(b"".join),
    st.lists(st.integers(0, 10**4), max_size=20),
    st.sampled_from([100, 10**6]),
)
def test_pieces_do_not_depend_on_chunk_borders(data: bytes, cuts: list[int], limit: int) -> None:
    assert frame(data, cuts, limit) == frame(data, [], limit)
    assert frame(data, list(range(len(data))), limit) == frame(data, [], limit)


def test_a_list_of_fios_own_documents_is_read_while_it_is_written() -> None:
    framer = Framer()
    assert framer.feed(b"[\n" + ONE + b"\n,\n" + ONE) == [
        Text(0, b"["),
        Printed(2, ONE),
        Text(len(ONE) + 3, b","),
        Printed(len(ONE) + 5, ONE),
    ]
