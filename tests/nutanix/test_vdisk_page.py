from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.metrics.samples import Family
from benchwatch.nutanix import families as f
from benchwatch.nutanix.families import Series
from benchwatch.nutanix.pages.tables import Unrecognised
from benchwatch.nutanix.pages.vdisk_page import VdiskPage, VdiskStats, read_vdisk_page
from tests.support.vdisks import of_family

VDISK = "31181841"
MIB = 1024**2
MILLISECONDS = ("0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1", "+Inf")


@pytest.fixture
def published(recordings: Path) -> VdiskStats:
    page = read_vdisk_page((recordings / "nutanix/vdisk-2015.html").read_bytes())
    assert page.unrecognised == []
    assert list(page.vdisks) == [VDISK]
    return page.vdisks[VDISK]


def section(title: str, header: str, *rows: str) -> VdiskPage:
    """A page of one section of vdisk 5: labels and cells separated by |."""
    head = f"<tr>{''.join(f'<th>{label}' for label in header.split('|'))}" if header else ""
    body = "".join(f"<tr>{''.join(f'<td>{cell}' for cell in row.split('|'))}" for row in rows)
    return read_vdisk_page(f"<h2>VDisk 5 {title}</h2><table>{head}{body}</table>".encode())


def latencies(*rows: str) -> VdiskPage:
    return section("Frontend Read Latency", "Latency Range|Average Bucket Latency|Number of Read IOs", *rows)


def test_published_randomness(published: VdiskStats) -> None:
    assert of_family(published, f.RANDOM) == {("read",): 1, ("write",): 1}
    assert of_family(published, f.SEQUENTIAL) == {("read",): 0, ("write",): 0}


def cumulative(stats: VdiskStats, op: str, family: Family = f.FRONTEND_LATENCY_WINDOW) -> dict[str, float]:
    return {le: ios for (of, le), ios in of_family(stats, family).items() if of == op}


def test_published_latency_histograms(published: VdiskStats) -> None:
    ios = (6211, 6582, 6717, 6723, 6723, 6723, 6723, 6723)
    assert cumulative(published, "read") == dict(zip(MILLISECONDS, ios, strict=True))
    ios = (0, 167, 2265, 2827, 2915, 2921, 2921, 2921)
    assert cumulative(published, "write") == dict(zip(MILLISECONDS, ios, strict=True))
    assert of_family(published, f.FRONTEND_LATENCY) == {("read",): 0.000401, ("write",): 0.0042}
    averages = of_family(published, f.FRONTEND_LATENCY_RANGE)
    read = {le: average for (op, le), average in averages.items() if op == "read"}
    assert read == dict(zip(MILLISECONDS, (0.000286, 0.001362, 0.002855, 0.005433), strict=False))
    write = {le: average for (op, le), average in averages.items() if op == "write"}
    assert write == dict(zip(MILLISECONDS[1:], (0.001724, 0.003422, 0.006369, 0.012297, 0.023386), strict=False))


def test_published_read_source_and_up_migrations(published: VdiskStats) -> None:
    assert of_family(published, f.READ_SOURCE_RATIO) == {("cache_dram",): 0.75}
    assert of_family(published, f.READ_SOURCE_BYTES) == {("cache_dram",): 7 * MIB}
    assert of_family(published, f.UP_MIGRATIONS) == {("300s",): 0, ("3600s",): 18, ("86400s",): 18}
    assert of_family(published, f.WRITE_DESTINATION_RATIO) == {}
    assert of_family(published, f.WORKING_SET) == {}


def test_sizes_are_in_bytes_though_the_header_says_latency() -> None:
    rows = ("0 <= x < 4 kB||", "4 kB <= x < 512 kB|8192|30", "512 kB <= x < 1 MB||", "1 MB <= x < inf|2097152|10")
    page = section(
        "Write Size Distribution", "Latency Range|Average Bucket Latency|Number of Write IOs", *rows, "Total|530432|40"
    )
    edges = ("4095", "524287", "1048575", "+Inf")  # whole bytes: below 4096 is up to 4095
    assert cumulative(page.vdisks["5"], "write", f.SIZE_WINDOW) == dict(zip(edges, (0, 30, 30, 40), strict=True))
    assert of_family(page.vdisks["5"], f.SIZE_RANGE) == {("write", "524287"): 8192, ("write", "+Inf"): 2097152}


def test_a_histogram_without_any_io_is_absent() -> None:
    page = latencies("0 <= x < 1 ms||", "1 ms <= x < inf||", "Total||")
    assert page.vdisks["5"] == {}
    assert page.unrecognised == []


@pytest.mark.parametrize(
    ("rows", "refusal"),
    [
        (("0 <= x < 1 ms|9|1",), "ranges: none begins at 0.001"),
        (("1 ms <= x < inf|9|1",), "ranges: none begins at 0"),
        (("0 <= x < 1 ms|9|1", "2 ms <= x < inf|9|1"), "ranges: none begins at 0.001"),
        (("0 <= x < 1 ms|9|many", "1 ms <= x < inf|9|1"), "cell 'many' of row '0 <= x < 1 ms'"),
    ],
)
def test_a_histogram_with_a_hole_is_left_out_aloud(rows: tuple[str, ...], refusal: str) -> None:
    page = latencies(*rows)
    assert page.vdisks["5"] == {}
    assert Unrecognised("frontend_read_latency", refusal) in page.unrecognised


def test_a_total_that_differs_from_the_ranges_is_noted() -> None:
    page = latencies("0 <= x < 1 ms|9|10", "1 ms <= x < inf|2000|20", "Total|1300|31")
    assert cumulative(page.vdisks["5"], "read") == {"0.001": 10, "+Inf": 30}
    assert page.unrecognised == [Unrecognised("frontend_read_latency", "row 'Total': 31 IOs, but 30 in the ranges")]


def test_counts_that_are_no_parts_of_their_total_are_left_out_aloud() -> None:
    page = latencies("0 <= x < 1 ms|9|1", "1 ms <= x < inf|2000|3", "Total|1300|3")  # cumulative
    assert page.vdisks["5"] == {}
    assert page.unrecognised == [Unrecognised("frontend_read_latency", "row 'Total': 3 IOs, but 4 in the ranges")]


def test_an_unknown_row_of_a_histogram_does_not_spoil_it() -> None:
    page = latencies("0 <= x < 1 ms|9|1", "1 ms <= x < inf|2000|2", "Median|5|1")
    assert cumulative(page.vdisks["5"], "read") == {"0.001": 1, "+Inf": 3}
    assert page.unrecognised == [Unrecognised("frontend_read_latency", "row 'Median'")]


def test_working_sets_are_bytes_by_span() -> None:
    page = section("Working Set Sizes", "|2 min|1 hr", "Read WSS (MB)|1|20", "Write WSS (GB)|2|", "Union WSS (MB)|3|40")
    assert of_family(page.vdisks["5"], f.WORKING_SET) == {
        ("read", "120s"): MIB,
        ("read", "3600s"): 20 * MIB,
        ("write", "120s"): 2 * 1024**3,
        ("union", "120s"): 3 * MIB,
        ("union", "3600s"): 40 * MIB,
    }


def test_sources_go_by_their_labels_and_the_total_is_left_out() -> None:
    rows = ("Estore SSD Local|3|60%", "Estore SSD Remote|2|40", "Zeroes||", "Total|5|100%")
    page = section("Read Source", "Source|Data (MB/s)|Percent", *rows)
    assert page.vdisks["5"] == {
        (f.READ_SOURCE_BYTES, ("estore_ssd_local",)): 3 * MIB,
        (f.READ_SOURCE_RATIO, ("estore_ssd_local",)): 0.6,
        (f.READ_SOURCE_BYTES, ("estore_ssd_remote",)): 2 * MIB,
        (f.READ_SOURCE_RATIO, ("estore_ssd_remote",)): 0.4,
    }
    page = section("Write Destination", "Destination|Data (KB/s)|Percent", "Oplog|7|", "Block Store||1%")
    assert page.vdisks["5"] == {
        (f.WRITE_DESTINATION_BYTES, ("oplog",)): 7 * 1024,
        (f.WRITE_DESTINATION_RATIO, ("block_store",)): 0.01,
    }


def test_without_io_there_is_neither_random_nor_sequential() -> None:
    page = section("Ops and Randomness", "|Read|Write", "Random %|0|30", "Sequential %|0|70")
    assert page.vdisks["5"] == {(f.RANDOM, ("write",)): 0.3, (f.SEQUENTIAL, ("write",)): 0.7}


def test_up_migrations_of_other_spans_are_read() -> None:
    page = section("Extent Group Up-Migration", "", "Last 5 minutes|1", "Last 2 hours|2", "Since ever|3")
    assert page.vdisks["5"] == {(f.UP_MIGRATIONS, ("300s",)): 1, (f.UP_MIGRATIONS, ("7200s",)): 2}
    assert page.unrecognised == [Unrecognised("extent_group_up_migration", "row 'Since ever | 3'")]


def test_all_vdisks_may_be_on_one_page(recordings: Path) -> None:
    html = (recordings / "nutanix/vdisk-2015.html").read_text()
    page = read_vdisk_page((html + html.replace(VDISK, "77")).encode())
    assert list(page.vdisks) == [VDISK, "77"]
    assert page.vdisks[VDISK] == page.vdisks["77"]


def test_a_section_without_its_title_is_noted() -> None:
    page = read_vdisk_page(b"<table><tr><th>Source<th>Percent<tr><td>Oplog<td>1%</table>")
    assert (page.vdisks, page.unrecognised) == ({}, [Unrecognised("other", "table '' of 1 rows")])


def test_a_section_twice_is_read_once_and_noted(recordings: Path) -> None:
    html = (recordings / "nutanix/vdisk-2015.html").read_bytes()
    page = read_vdisk_page(html + html)
    assert page.vdisks == read_vdisk_page(html).vdisks
    assert len(page.unrecognised) == 5


@settings(max_examples=150)
@given(st.data())
def test_no_damage_to_a_page_raises_or_makes_a_histogram_fall(data: st.DataObject) -> None:
    html = bytearray((Path(__file__).parent.parent / "recordings/nutanix/vdisk-2015.html").read_bytes())
    for _ in range(data.draw(st.integers(1, 12))):
        start = data.draw(st.integers(0, len(html) - 1))
        end = start + data.draw(st.integers(0, 40))
        html[start:end] = data.draw(
            st.sampled_from([b"", b"<", b">", b"<table>", b"</table>", b"<td colspan=3>", b"-7"])
        )
    for stats in read_vdisk_page(bytes(html)).vdisks.values():
        for op in ("read", "write"):
            ios = cumulative(stats, op)
            assert list(ios) == sorted(ios, key=float)
            assert list(ios.values()) == sorted(ios.values())
            assert list(ios)[-1:] in ([], ["+Inf"])


def test_sources_without_end_are_bounded_and_counted() -> None:
    rows = "".join(f"<tr><td>Source {index}<td>1<td>0" for index in range(70))
    html = f"<h2>VDisk 1 Read Source</h2><table><tr><th>Source<th>Data (MB/s)<th>Percent{rows}</table>"
    found = read_vdisk_page(html.encode())
    assert len(of_family(found.vdisks["1"], f.READ_SOURCE_RATIO)) == 64
    assert found.left_out == {"read_source": 6}


@pytest.mark.parametrize(
    ("title", "header", "rows", "series"),
    [
        (
            "Ops and Randomness",
            "|Read|Write",
            ("Random %|30|", "Sequential %|70|", "Random %|90|"),
            (f.RANDOM, ("read",)),
        ),
        ("Working Set Sizes", "|2 min", ("Read WSS (GB)|30", "Read WSS (MB)|90"), (f.WORKING_SET, ("read", "120s"))),
        ("Read Source", "Source|Percent", ("Oplog|30%", "OPLOG|90%"), (f.READ_SOURCE_RATIO, ("oplog",))),
        ("Extent Group Up-Migration", "", ("Last 60 seconds|30", "Last 1 minute|90"), (f.UP_MIGRATIONS, ("60s",))),
    ],
)
def test_of_two_rows_for_one_number_the_first_is_kept_and_the_other_noted(
    title: str, header: str, rows: tuple[str, ...], series: Series
) -> None:
    page = section(title, header, *rows)
    assert page.vdisks["5"][series] in (0.3, 30, 30 * 1024**3)
    assert len(page.unrecognised) == 1


def test_averages_in_another_unit_than_known_are_left_out_aloud_and_the_counts_stay() -> None:
    page = latencies("0 <= x < 1 ms|0.286|6211", "1 ms <= x < inf|1.362|371", "Total|0.346|6582")  # milliseconds
    assert (
        of_family(page.vdisks["5"], f.FRONTEND_LATENCY) == of_family(page.vdisks["5"], f.FRONTEND_LATENCY_RANGE) == {}
    )
    assert cumulative(page.vdisks["5"], "read") == {"0.001": 6211, "+Inf": 6582}
    said = "averages: 1.362e-06 is not within 0.001 to inf, so their unit is not known"
    assert page.unrecognised == [Unrecognised("frontend_read_latency", said)]


def test_an_average_of_all_outside_of_all_ranges_is_left_out_aloud() -> None:
    page = latencies("0 <= x < 1 ms|286|6211", "1 ms <= x < inf||", "Total|346000|6211")
    assert cumulative(page.vdisks["5"], "read") == {"0.001": 6211, "+Inf": 6211}
    assert (
        of_family(page.vdisks["5"], f.FRONTEND_LATENCY) == of_family(page.vdisks["5"], f.FRONTEND_LATENCY_RANGE) == {}
    )
    said = ["averages: 0.346 is not within 0 to 0.001, so their unit is not known"]
    assert [entry.text for entry in page.unrecognised] == said


@pytest.mark.parametrize(("total", "shown"), [("1", "1"), ("0.98", "0.98"), ("50%", "50")])
def test_shares_whose_total_is_not_100_percent_are_left_out_aloud(total: str, shown: str) -> None:
    page = section("Read Source", "Source|Data (MB/s)|Percent", "Oplog|3|0.4", "Cache DRAM|5|0.6", f"Total|8|{total}")
    assert page.vdisks["5"] == {
        (f.READ_SOURCE_BYTES, ("oplog",)): 3 * MIB,
        (f.READ_SOURCE_BYTES, ("cache_dram",)): 5 * MIB,
    }
    assert [entry.text for entry in page.unrecognised] == [f"shares of {shown} % together: expected 100 %"]


def test_shares_of_nothing_are_absent() -> None:
    page = section("Read Source", "Source|Data (MB/s)|Percent", "Oplog|0|0%", "Cache DRAM|0|0%", "Total|0|0%")
    assert {family for family, _ in page.vdisks["5"]} == {f.READ_SOURCE_BYTES}
    assert page.unrecognised == []


def test_random_and_sequential_that_are_no_percentages_are_left_out_aloud() -> None:
    page = section("Ops and Randomness", "|Read|Write", "Random %|0.3|30", "Sequential %|0.7|70")
    assert page.vdisks["5"] == {(f.RANDOM, ("write",)): 0.3, (f.SEQUENTIAL, ("write",)): 0.7}
    assert [entry.text for entry in page.unrecognised] == ["shares of 1 % together: expected 100 %"]
