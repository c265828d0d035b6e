import gc
import time
import tracemalloc
from collections.abc import Callable

import pytest

from benchwatch.nutanix.pages.tables import Notes, PageTable, Unrecognised, read_tables


def read(html: str) -> PageTable:
    (table,) = read_tables(html.encode())
    return table


def test_a_header_of_two_rows_gives_group_and_label() -> None:
    table = read(
        "<table><tr><th>Id<th colspan=2>Oplog<th>Busy<tr><th><th>KB<th>Ops/s<th><tr><td>1<td>2<td>3<td>4</table>"
    )
    assert table.columns == ("Id", "Oplog / KB", "Oplog / Ops/s", "Busy")
    assert table.rows == [["1", "2", "3", "4"]]


@pytest.mark.parametrize(
    "title",
    [
        "<h1>Hosted VDisks</h1>",
        "<h3>Hosted&nbsp;VDisks</h3>",
        "<b>Hosted\u00a0VDisks</b>",
        "<p><font size=5>Hosted\n VDisks</font>",
        "<table><tr><td>Hosted VDisks</table>",
        "<table><tr><th>Hosted&nbsp;VDisks</th></tr></table>",
        "<TABLE BORDER=0><TR><TD><B>Hosted VDisks</B></TD></TR></TABLE>",
        "<h2>Hosted <i>VDisks</i><table><tr><td></td></tr></table>",
    ],
)
def test_a_title_is_found_however_it_is_written(title: str) -> None:
    tables = read_tables(f"{title}<table><tr><th>A<th>B<tr><td>1<td>2</table>".encode())
    assert "Hosted VDisks" in [text for table in tables for text in table.titles]
    assert tables[-1].rows == [["1", "2"]]


def test_what_stands_between_title_and_table_is_kept_in_order() -> None:
    table = read(
        "<table><tr><td>Title</table><p>A sentence with <a href=x>a link</a>.<br>Another"
        "<table><tr><th>A<th>B<tr><td>1<td>2</table>"
    )
    assert table.titles == ("Title", "A sentence with a link.", "Another")


def test_unclosed_and_upper_case_tags_and_raw_less_than() -> None:
    table = read(
        "<TABLE BORDER=1><TR><TH>Range<TH>IOs\n<TR><TD>0 <= x < 1 ms<TD>5\n<TR><TD>1 ms <= x < inf<TD> 6 </TABLE>"
    )
    assert table.rows == [["0 <= x < 1 ms", "5"], ["1 ms <= x < inf", "6"]]


def test_links_belong_to_their_row() -> None:
    table = read(
        "<table><tr><th>A<th>B<tr><td><a href=/x>1</a><td>2<tr><td>3<td>4"
        "<tr><td><b><a href='/y?z=1'>5</a></b><td>6</table>"
    )
    assert table.links == {0: ["/x"], 2: ["/y?z=1"]}


def test_numbers_on_two_lines_of_a_cell_do_not_run_together() -> None:
    assert read("<table><tr><th>A<th>B<tr><td>12<br>34<td>5</table>").rows == [["12 34", "5"]]


def test_a_wide_cell_does_not_shift_those_after_it() -> None:
    table = read("<table><tr><th>A<th>B<th>C<tr><td colspan=2>1<td>3<tr><td>4<td>5<td>6</table>")
    assert table.rows == [["1", "", "3"], ["4", "5", "6"]]


def test_a_header_that_is_repeated_is_no_row() -> None:
    assert read("<table><tr><th>A<th>B<tr><td>1<td>2<tr><th>A<th>B<tr><td>3<td>4</table>").rows == [
        ["1", "2"],
        ["3", "4"],
    ]


def test_tables_inside_a_table_that_only_places_them_are_read_one_by_one() -> None:
    inner = "<h2>{0}</h2><table><tr><th>A<th>B<tr><td>{0}1<td>2</table>"
    tables = read_tables(f"<table><tr><td>{inner.format('x')}<td>{inner.format('y')}</table>".encode())
    assert [(table.titles, table.rows) for table in tables] == [(("x",), [["x1", "2"]]), (("y",), [["y1", "2"]])]


@pytest.mark.parametrize(
    "html", ["", "<", "<table>", "<table><tr>", "<p>text", "\x00", "<table><tr><td colspan=99999999999>"]
)
def test_a_page_without_data_has_no_rows(html: str) -> None:
    assert all(not any(map(any, table.rows)) for table in read_tables(html.encode()))


def test_absurd_spans_take_no_absurd_memory() -> None:
    (table,) = read_tables(
        b"<table><tr>" + b"<th colspan=1000>A" * 5000 + b"<tr><td colspan=1000 rowspan=1000>1" * 5000
    )
    assert len(table.columns) == 200
    assert {len(row) for row in table.rows} == {200}


def test_a_row_of_wide_cells_without_end_takes_memory_in_proportion_to_its_size() -> None:
    html = b"<table><tr><td>1<tr>" + b"<td colspan=200>1" * 100_000
    tracemalloc.start()
    try:
        (table,) = read_tables(html)
        assert tracemalloc.get_traced_memory()[1] < 40 * len(html)  # all cells would take 160 MB, 94 times its size
    finally:
        tracemalloc.stop()
    assert [len(row) for row in table.rows] == [1, 200]


@pytest.mark.parametrize("rows", [100, 20_000])
def test_a_header_without_end_takes_memory_in_proportion_to_its_size(rows: int) -> None:
    page = b"<table>" + (b"<tr><th colspan=200>" + b"y" * (2_000_000 // rows)) * rows + b"<tr><td>1"
    tracemalloc.start()
    (table,) = read_tables(page)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(table.columns), table.rows) == (200, [["1"]])
    assert set(table.columns) == {" / ".join(["y" * min(2_000_000 // rows, 200)] * 10)}
    assert peak < 24 * len(page)


def test_deep_nesting_is_survived() -> None:
    read_tables(b"<table><tr><td>" * 3000 + b"x")
    read_tables(b"<b>" * 3000 + b"<i>" * 3000 + b"x")


@pytest.mark.parametrize("tag", [b"<div>", b"<b>", b"<x>", b"<TABLE>"])
def test_a_page_nested_without_end_has_no_tables(tag: bytes) -> None:
    assert read_tables(tag * 300_000 + b"<table><tr><td>1</td></tr></table>") == []


def test_a_page_whose_cells_are_never_closed_is_read() -> None:
    rows = b"<TR><TD>a<TD>1<BR>" * 20_000
    assert len(read_tables(b"<table><tr><th>A<th>B" + rows + b"</table>")[0].rows) == 20_000


@pytest.mark.slow(15)
@pytest.mark.parametrize(
    "part",
    [
        b"<b></p>",
        b"<div>",
        b"<font a=1><p>",
        b"<p><table><tr><td><b>",
        b"<table><tr><td>x</table>",
        b"x<tr>",
        b"<!--",
        b"<",
        b"<a",
        b'<a "<a" "',
        b"<script>",
        b'<tr><td><a href="',
        b"<tr><td colspan=200 rowspan=200>1",
        b"<tr><td>1",
        b" a",
        b"&#99999999",
    ],
)
@pytest.mark.parametrize("before", [b"", b"<table><tr><td>", b"<h2>Hosted VDisks</h2><table><tr><th>VDisk Id<th>x<tr>"])
def test_a_page_takes_time_in_proportion_to_its_size(before: bytes, part: bytes) -> None:
    size = 200_000
    small, large = (before + part * (n // len(part)) for n in (size // 8, size))
    # 8 times the page; 64 times the time if each step looked at all of it. Other threads get several tries to be quiet.
    tries = ([cpu_seconds(read_tables, html) for html in (small, large)] for _ in range(8))
    assert any(large_time < 24 * small_time + 0.1 for small_time, large_time in tries)


def cpu_seconds(work: Callable[[bytes], object], html: bytes) -> float:
    """Processor time without the garbage collector, which also walks what the other tests of the process hold."""
    gc.disable()
    try:
        began = time.thread_time()
        work(html)
        return time.thread_time() - began
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("12<!-- <td> -->", "12"),
        ("1<script>x</td><td></script>2", "1 2"),
        ("&lt;b&gt; &amp; &nbsp;", "<b> &"),
        ("&#" + "9" * 5000 + ";", "&#" + "9" * 5000 + ";"),
        ("x < y", "x < y"),
    ],
)
def test_a_cell_has_the_text_that_browsers_show(cell: str, text: str) -> None:
    assert read(f"<table><tr><th>A<th>B<tr><td>{cell}<td>5</table>").rows == [[text, "5"]]


@pytest.mark.parametrize(
    "row", ["<tr><td>1</td><td>2</td></tr>", "<TR BGCOLOR=red><TD nowrap>1<TD> 2 </TR>\n", "<tr>\n<td>1\n<td>2"]
)
@pytest.mark.parametrize("plain", [True, False])
def test_a_plain_row_is_read_as_any_other(row: str, plain: bool) -> None:
    other = row if plain else row.replace(">1", ">1<br>", 1)
    html = f"<table><tr><th>A<th>B{other}<tr><td><a href='/?a&amp;b' >3</a></td><td>&lt;4</td></tr></table>"
    table = read(html)
    assert table.rows == [["1", "2"], ["3", "<4"]]
    assert table.links == {1: ["/?a&b"]}


def test_rows_beyond_the_bound_are_left_out_and_counted() -> None:
    notes = Notes()
    (table,) = read_tables(b"<table><tr><th>A<th>B" + b"<tr><td>1<td>2" * 100_002 + b"</table>", notes)
    assert len(table.rows) == 99_999  # besides the header
    assert notes.unrecognised == [Unrecognised("other", "3 rows after the first 100000")]
    assert notes.left_out == {"other": 3}


def test_tables_nested_without_end_are_read_one_by_one() -> None:
    found = read_tables(b"<table><tr><td>a" * 2500 + b"</table>" * 2500 + b"<table><tr><td>1<td>2</table>")
    assert [table.rows for table in found] == [[["1", "2"]]]


def test_a_table_that_is_not_closed_takes_no_other_with_it() -> None:
    table = "<b>{0}</b><table><tr><th>A<th>B<tr><td>{0}1<td>2"
    found = read_tables(f"{table.format('x')}<table>{table.format('y')}</table>{table.format('z')}</table>".encode())
    assert [(table.titles[-1], table.rows) for table in found] == [
        ("x", [["x1", "2"]]),
        ("y", [["y1", "2"]]),
        ("z", [["z1", "2"]]),
    ]


def test_labels_that_do_not_fill_the_groups_above_belong_to_none() -> None:
    """A label is missing, and nobody can tell which: each number after it would be another's."""
    table = read("<table><tr><th>Id<th colspan=2>Ops/s<th>Busy<tr><th><th>Write<th><tr><td>1<td>2<td>3<td>4</table>")
    assert table.columns == ("Id", "Ops/s", "Ops/s", "Busy")


def test_a_table_has_the_nearest_titles_only() -> None:
    table = read("".join(f"<h2>{number}</h2>" for number in range(1000)) + "<table><tr><td>1<td>2</table>")
    assert table.titles == tuple(str(number) for number in range(950, 1000))
