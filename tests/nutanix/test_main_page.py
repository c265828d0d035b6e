from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.nutanix import families as f
from benchwatch.nutanix.pages.main_page import Disk, MainPage, VdiskRow, read_main_page
from benchwatch.nutanix.pages.tables import Unrecognised
from tests.support.vdisks import row_values

GIB = 1024**3
MIB = 1024**2
BUSY = "NFS:31181823 (1a8ef41c-ae3f-4293-a46e-49d7e6c1c907)"
IDLE = "NFS:20581239 (a849adb6-3809-423e-a89c-dd2f02d665d6)"


@pytest.fixture
def published(recordings: Path) -> MainPage:
    return read_main_page((recordings / "nutanix/main-2015.html").read_bytes())


def page(header: str, *rows: str, title: str = "Hosted VDisks") -> MainPage:
    """A main page with one table: labels and cells separated by |."""
    head = "".join(f"<th>{label}</th>" for label in header.split("|"))
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row.split('|'))}</tr>" for row in rows)
    return read_main_page(f"<h2>{title}</h2><table><tr>{head}</tr>{body}</table>".encode())


def test_everything_on_the_published_page_is_understood(published: MainPage) -> None:
    assert published.unrecognised == []
    assert {section: len(labels) for section, labels in published.recognised.items()} == {
        "overview": 20,
        "cluster_state": 10,
        "nfs": 16,
        "hosted_vdisks": 21,
    }


def test_of_two_rows_of_the_overview_with_one_label_the_first_is_kept_and_the_other_noted() -> None:
    rows = "".join(f"<tr><td>{label}<td>{value}" for label, value in (("SVM id", 7), ("SVM id", 8)))
    rows += "".join(f"<tr><td>NFS cache usage<td>{value} MB" for value in (1, 2))
    found = read_main_page(f"<table>{rows}</table>".encode())
    assert (found.overview.svm_id, found.overview.values) == ("7", {(f.NFS_CACHE_BYTES, ()): MIB})
    assert [entry.text for entry in found.unrecognised] == [
        "row 'SVM id': a second row with this name",
        "row 'NFS cache usage': a second row with this name",
    ]


@pytest.mark.parametrize(("label", "size"), [("SSD (TB)", 2 * 1024 * GIB), ("SSD", 2 * GIB), ("SSD (jars)", None)])
def test_disks_are_in_the_unit_of_their_column(label: str, size: int | None) -> None:
    found = page(f"SVM Id|{label}", "7|5 (1/2)", title="Cluster State")
    assert [disk.size for disk in found.disks.values()] == ([] if size is None else [size])
    assert len(found.unrecognised) == (size is None)


@pytest.mark.parametrize(
    ("label", "rate", "refused"),
    [
        ("MB/s", MIB, ""),
        ("Mb/s", None, "column 'Mb/s / Read': the unit 'mb/s' is not known"),
        ("Rate (Kb/s)", None, "column 'Rate (Kb/s) / Read': the unit 'kb/s' is not known"),
    ],
)
def test_a_unit_that_may_be_bits_is_refused(label: str, rate: int | None, refused: str) -> None:
    html = f"<h2>Hosted VDisks</h2><table><tr><th>VDisk Id<th>{label}<tr><th><th>Read<tr><td>7<td>1</table>"
    found = read_main_page(html.encode())
    assert row_values(found.hosted, 0) == ({} if rate is None else {"read_bytes_per_second": rate})
    assert [entry.text for entry in found.unrecognised] == list(filter(None, [refused]))


def test_of_two_columns_with_one_name_none_is_read() -> None:
    found = page("VDisk Id|Dedup (GB)|Dedup (MB)|% busy", "1|2|0|50")
    assert row_values(found.hosted, 0) == {"busy_ratio": 0.5}
    refused = "column 'Dedup (MB)': a second column with this name, so none of them is read"
    assert found.unrecognised == [Unrecognised("hosted_vdisks", refused)]


def test_overview_of_the_published_page(published: MainPage) -> None:
    overview = published.overview
    assert overview.version == "el6-release-master-038d4c7d75cbc6ed21e64d357c94303350159807"
    assert (overview.svm_id, overview.incarnation) == ("7", "30986558")
    assert overview.start == 1434651172.0  # 2015-06-18 18:12:52 UTC
    assert overview.values == {
        (f.STARGATE_START, ()): 1434651172.0,
        (f.CACHE_HITS, ("nondedup",)): 0.8617,
        (f.CACHE_PAGEIN, ("nondedup",)): 0.0,
        (f.CACHE_HITS, ("dedup",)): 0.0,
        (f.CACHE_PAGEIN, ("dedup",)): 0.0,
        (f.CACHE_BYTES, ("memory",)): 3220 * MIB,
        (f.CACHE_BYTES, ("physical_memory",)): 3224 * MIB,
        (f.CACHE_BYTES, ("flash",)): 0.0,
        (f.STARGATE_QUEUE, ("qos", "queued")): 0.0,
        (f.STARGATE_QUEUE, ("qos", "admitted")): 72.0,
        (f.STARGATE_QUEUE, ("oplog_qos", "queued")): 0.0,
        (f.STARGATE_QUEUE, ("oplog_qos", "admitted")): 0.0,
        (f.STARGATE_QUEUE, ("nfs_flush", "queued")): 0.0,
        (f.STARGATE_QUEUE, ("nfs_flush", "admitted")): 0.0,
        (f.NFS_CACHE_BYTES, ()): 0.0,
    }


def test_disks_of_the_published_page(published: MainPage) -> None:
    assert tuple(published.disks.values()) == (
        Disk("7", "154", "SSD-SATA", 188 * GIB, 209 * GIB),
        Disk("7", "153", "SSD-SATA", 188 * GIB, 209 * GIB),
        Disk("7", "152", "DAS-SATA", 477 * GIB, 862 * GIB),
        Disk("7", "151", "DAS-SATA", 477 * GIB, 862 * GIB),
        Disk("7", "150", "DAS-SATA", 477 * GIB, 862 * GIB),
        Disk("7", "149", "DAS-SATA", 438 * GIB, 782 * GIB),
    )


def test_front_end_view_of_the_published_page(published: MainPage) -> None:
    assert published.frontend.rows == [VdiskRow("", BUSY, ())]
    assert row_values(published.frontend, 0) == {
        "unstable_bytes": 0,
        "unstable_ops_per_second": 0,
        "unstable_bytes_per_second": 0,
        "read_outstanding_ops": 0,
        "write_outstanding_ops": 6,
        "read_ops_per_second": 2192,
        "write_ops_per_second": 986,
        "errors_per_second": 0,
        "read_bytes_per_second": 8768 * 1024,
        "write_bytes_per_second": 3944 * 1024,
        "read_latency_seconds": 0.000104,
        "write_latency_seconds": 0.002198,
        "operation_size_bytes": 4096,
        "queue_length": 1,
        "busy_ratio": 0.82,
    }


def test_back_end_view_of_the_published_page(published: MainPage) -> None:
    assert published.hosted.rows == [
        VdiskRow("31181823", BUSY, ("/vdisk_stats?vdisk_id=31181823",)),
        VdiskRow("15432793", IDLE, ("/vdisk_stats?vdisk_id=15432793",)),
    ]
    assert row_values(published.hosted, 0) == {
        "usage_bytes": 2 * GIB,
        "dedup_bytes": 0,
        "oplog_bytes": 198372 * 1024,
        "oplog_fragments": 49593,
        "oplog_ops_per_second": 990,
        "oplog_bytes_per_second": 3960 * 1024,
        "read_outstanding_ops": 0,
        "read_outstanding_bytes": 0,
        "write_outstanding_ops": 0,
        "write_outstanding_bytes": 0,
        "estore_outstanding_ops": 0,
        "read_ops_per_second": 2192,
        "write_ops_per_second": 1,
        "errors_per_second": 0,
        "random_ops_per_second": 2193,
        "read_bytes_per_second": 8768 * 1024,
        "write_bytes_per_second": 320 * 1024,
        "latency_seconds": 0.000046,
        "operation_size_bytes": 4243,
        "queue_length": 0,
        "busy_ratio": 0.1,
    }


def test_an_idle_vdisk_has_rates_of_0_and_no_averages(published: MainPage) -> None:
    idle = row_values(published.hosted, 1)
    assert idle["read_ops_per_second"] == idle["write_ops_per_second"] == idle["oplog_bytes"] == 0
    assert not {"latency_seconds", "operation_size_bytes", "random_ops_per_second"} & idle.keys()


def test_a_latency_of_0_counts_when_operations_were_done() -> None:
    found = page("VDisk Id|Ops/s Read|Ops/s Write|Avg latency (usec)", "1|5|0|0", "2|0|0|0", "3|0|0|7")
    assert [row_values(found.hosted, row).get("latency_seconds") for row in range(3)] == [0, None, 0.000007]


def test_front_end_rows_belong_to_the_hosted_vdisk_of_their_name(published: MainPage) -> None:
    assert published.frontend_labels == ["31181823"]
    assert published.unmatched == []


def test_a_front_end_row_of_no_or_of_several_hosted_vdisks_goes_by_its_name() -> None:
    hosted = "<h2>Hosted VDisks</h2><table><tr><th>VDisk Id<th>VDisk Name<tr><td>1<td>a<tr><td>2<td>a<tr><td>3<td>b"
    nfs = "</table><h2>NFS Worker</h2><table><tr><th>VDisk Name<th>% busy<tr><td>a<td>1<tr><td>b<td>2<tr><td>c<td>3"
    found = read_main_page((hosted + nfs).encode())
    assert found.frontend_labels == ["a", "3", "c"]
    assert [row.name for row in found.unmatched] == ["a", "c"]


A, B = "5f0d7d8e-3a52-4c0b-9f0e-00000000000a", "5f0d7d8e-3a52-4c0b-9f0e-00000000000b"


def views(hosted: dict[str, str], frontend: list[str]) -> MainPage:
    """A page with these hosted vdisks (name by id) and front-end rows (names)."""
    back = "".join(f"<tr><td>{identity}<td>{name}" for identity, name in hosted.items())
    front = "".join(f"<tr><td>{name}<td>{index}" for index, name in enumerate(frontend))
    return read_main_page(
        f"<h2>NFS Slave</h2><table><tr><th>VDisk Name<th>% busy{front}</table>"
        f"<h2>Hosted VDisks</h2><table><tr><th>VDisk Id<th>VDisk Name{back}</table>".encode()
    )


@pytest.mark.parametrize(
    ("hosted", "frontend", "labels", "unmatched"),
    [
        (
            {"40043": f"NFS:4:0:40043 ({A})", "2": f"NFS:4:0:2 ({B})"},
            [f"NFS:40043 ({A})", f"NFS:2 ({B})"],
            "40043 2",
            0,
        ),
        ({"1": f"NFS:4:0:1 ({A.upper()})"}, [f"NFS:1 ({A})"], "1", 0),
        ({"1": f"NFS:4:0:1 ({A})"}, [A], "1", 0),
        ({"1": f"x ({A})", "2": f"y ({A})"}, [f"z ({A})"], f"z ({A})", 1),  # whose?
        ({"1": f"x ({A})", "2": f"y ({A})"}, [f"y ({A})"], "2", 0),
        ({"1": f"x ({A})"}, [f"y ({A})", f"z ({A})"], f"y ({A})|z ({A})", 2),
        ({"1": f"x ({A})"}, [f"y ({A})", f"x ({A})"], f"y ({A})|1", 1),
        ({"1": "x (vm.vmdk)"}, ["y (vm.vmdk)"], "y (vm.vmdk)", 1),  # a file name is not unique in a cluster
        ({"1": f"x ({A})"}, [f"y ({A})", "1"], f"y ({A})|1", 1),
        ({"1": f"x ({A})"}, ["1", f"y ({A})"], f"1|y ({A})", 1),
        ({}, ["a"], "a", 1),
    ],
)
def test_front_end_rows_that_name_a_vdisk_in_another_form_are_joined_by_its_uuid(
    hosted: dict[str, str], frontend: list[str], labels: str, unmatched: int
) -> None:
    found = views(hosted, frontend)
    assert found.frontend_labels == labels.split("|" if "|" in labels or "(" in labels else " ")
    assert len(found.unmatched) == unmatched
    assert found.unrecognised == []


def test_without_a_table_of_hosted_vdisks_no_row_is_called_unmatched() -> None:
    found = page("VDisk Name|% busy", "a|1", title="NFS Worker")
    assert found.frontend_labels == ["a"]
    assert found.unmatched == []


_NAMES = st.sampled_from(["1", "2", "x", f"x ({A})", f"y ({A})", f"z ({A})", f"x ({B})", A, B, f"{A} {B}"])


@given(st.dictionaries(st.sampled_from(["1", "2", "3"]), _NAMES), st.lists(_NAMES, unique=True))
def test_no_two_front_end_rows_are_one_vdisk(hosted: dict[str, str], frontend: list[str]) -> None:
    labels = views(hosted, frontend).frontend_labels
    assert len(set(labels)) == len(labels) == len(frontend)


@pytest.mark.parametrize(
    ("name", "uuid"),
    [
        (f"NFS:1 ({A.upper()})", A),
        (f"NFS:4:0:1 ({A})#77@7", A),
        (A, A),
        (f"{A} (vm.vmdk)", A),
        (f"{A} {B}", ""),
        (f"{A} ({B})", B),
        ("NFS:1 (vm.vmdk)", ""),
        (f"{A}0", ""),
        ("", ""),
    ],
)
def test_the_uuid_of_a_vdisk_is_the_only_one_in_its_name(name: str, uuid: str) -> None:
    assert VdiskRow("", name, ()).uuid == uuid


def test_units_of_labels_are_read() -> None:
    header = (
        "VDisk Id|Usage (TB)|Oplog MB|Ops/s Read|kOps/s Write|MB/s Read|GB/s Write|Avg latency (ms)|Avg op size (KB)"
    )
    assert row_values(page(header, "1|2|3|4|5|6|7|8.5|9").hosted, 0) == {
        "usage_bytes": 2 * 1024**4,
        "oplog_bytes": 3 * MIB,
        "read_ops_per_second": 4,
        "write_ops_per_second": 5000,
        "read_bytes_per_second": 6 * MIB,
        "write_bytes_per_second": 7 * GIB,
        "latency_seconds": 0.0085,
        "operation_size_bytes": 9216,
    }


@pytest.mark.parametrize(
    ("label", "refusal"),
    [
        ("Avg latency (jiffies)", "column 'Avg latency (jiffies)': the unit 'jiffies' is not known"),
        ("XB/s Read", "column 'XB/s Read': the unit 'xb/s' is not known"),
        ("Avg latency", "column 'Avg latency'"),
        ("Avg latency (KB)", "column 'Avg latency (KB)'"),
        ("Usage", "column 'Usage'"),
        ("Colour", "column 'Colour'"),
    ],
)
def test_a_column_that_is_not_understood_is_left_out_aloud(label: str, refusal: str) -> None:
    found = page(f"VDisk Id|% busy|{label}", "1|50|7")
    assert row_values(found.hosted, 0) == {"busy_ratio": 0.5}
    assert found.unrecognised == [Unrecognised("hosted_vdisks", refusal)]


@pytest.mark.parametrize("cell", ["x", "-1", "1,234", "1.2.3", "nan", "inf", "1e999", "12 parsecs", "9" * 5000, "3 ms"])
def test_a_cell_that_is_no_number_is_left_out_aloud(cell: str) -> None:
    found = page("VDisk Id|Oplog KB|% busy", f"1|{cell}|50")
    assert row_values(found.hosted, 0) == {"busy_ratio": 0.5}
    assert [entry.section for entry in found.unrecognised] == ["hosted_vdisks"]
    assert "under 'Oplog KB'" in found.unrecognised[0].text or len(cell) > 200


@pytest.mark.parametrize("cell", ["", "&nbsp;", "-", "N/A", " \n ", "\u00a0"])
def test_signs_for_no_value_are_no_value(cell: str) -> None:
    found = page("VDisk Id|Oplog KB|% busy", f"1|{cell}|50")
    assert row_values(found.hosted, 0) == {"busy_ratio": 0.5}
    assert found.unrecognised == []


@pytest.mark.parametrize("cell", ["2, 8KB", "2,8 KB", "2"])
def test_operations_and_their_bytes_share_a_cell(cell: str) -> None:
    values = row_values(page("VDisk Id|Outstanding ops Read", f"1|{cell}").hosted, 0)
    assert values["read_outstanding_ops"] == 2
    assert values.get("read_outstanding_bytes") == (8192 if "," in cell else None)


@pytest.mark.parametrize(
    ("row", "refusal"),
    [
        ("1|50|7", "row '1 | 50 | 7': 3 cells under 2 columns"),
        ("1", "row '1': 1 cells under 2 columns"),
        ("Total|50", "row 'Total | 50'"),
        ("|50", "row ' | 50'"),
        ("1|50", "row '1 | 50': a second row of this vdisk"),
    ],
)
def test_a_row_that_is_not_understood_is_left_out_aloud(row: str, refusal: str) -> None:
    found = page("VDisk Id|% busy", "1|20", row, "2|30")
    assert [(r.id, row_values(found.hosted, i)["busy_ratio"]) for i, r in enumerate(found.hosted.rows)] == [
        ("1", 0.2),
        ("2", 0.3),
    ]
    assert found.unrecognised == [Unrecognised("hosted_vdisks", refusal)]


def test_tables_without_titles_are_known_by_their_labels(recordings: Path, published: MainPage) -> None:
    html = (recordings / "nutanix/main-2015.html").read_text()
    for title in ("Cluster&nbsp;State", "NFS&nbsp;Slave", "Hosted&nbsp;VDisks"):
        html = html.replace(f"<table><tr><td>{title}</td></tr></table>", "")
    assert read_main_page(html.encode()) == published


def test_a_title_decides_where_the_labels_do_not() -> None:
    assert row_values(page("VDisk Name|Ops/s Read", "a|1", title="NFS Worker").frontend, 0) == {
        "read_ops_per_second": 1
    }
    assert page("VDisk Name|Ops/s Read", "a|1", title="Hosted&nbsp;Active&nbsp;VDisks").hosted.rows[0].label == "a"


def test_a_table_with_a_familiar_label_is_no_cvms() -> None:
    found = read_main_page(b"<table><tr><th>Disk<th>Usage (GB)<tr><td>sda<td>5</table>")
    assert found.recognised == {}


def test_an_unknown_table_is_noted() -> None:
    found = read_main_page(
        b"<h2>Weather</h2><table><tr><th>Town</th><th>Rain</th></tr><tr><td>X</td><td>1</td></tr></table>"
    )
    assert found.recognised == {}
    assert found.unrecognised == [Unrecognised("other", "table 'Weather' that begins with 'Town | Rain'")]


@pytest.mark.parametrize(
    ("row", "refusal"),
    [
        ("<td>Moon phase<td>full", "row 'Moon phase': 'full'"),
        ("<td>Start time<td>yesterday", "value of 'Start time': 'yesterday'"),
        ("<td>Content cache memory usage<td>3220", "value of 'Content cache memory usage': '3220'"),
        ("<td>Content cache total hits(Dedup)<td>250%", "value of 'Content cache total hits(Dedup)': '250%'"),
        ("<td>QoS Queue (size/admitted)<td>0", "value of 'QoS Queue (size/admitted)': '0'"),
        ("<td>QoS Queue (length/admitted)<td>0/1", "row 'QoS Queue (length/admitted)': '0/1'"),
        ("<td>SVM id<td>7<td>8", "row 'SVM id | 7 | 8': ''"),
    ],
)
def test_a_row_of_the_overview_that_is_not_understood_is_left_out_aloud(row: str, refusal: str) -> None:
    found = read_main_page(f"<table><tr><td>Incarnation id<td>5<tr>{row}</table>".encode())
    assert found.overview.incarnation == "5"
    assert found.unrecognised == [Unrecognised("overview", refusal)]


@pytest.mark.parametrize("word", ["Content", "Extent", "Unified"])
def test_the_cache_goes_by_the_names_of_all_builds(word: str) -> None:
    found = read_main_page(f"<table><tr><td>{word} cache total hits<td>50%</table>".encode())
    assert found.overview.values == {(f.CACHE_HITS, ("all",)): 0.5}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        (BUSY, "1a8ef41c-ae3f-4293-a46e-49d7e6c1c907"),
        ("NFS:1 (vm (old) 2-flat.vmdk)", "vm (old) 2-flat.vmdk"),
        ("NFS:1 (a-uuid)#77@7", "a-uuid"),
        ("NFS:4:0:123", ""),
        ("NFS:1 )(", ""),
        ("", ""),
    ],
)
def test_the_file_name_stands_in_the_outermost_parentheses(name: str, file: str) -> None:
    assert VdiskRow("", name, ()).file == file


@settings(max_examples=150)
@given(st.data())
def test_no_damage_to_a_page_raises_or_makes_a_number_negative(data: st.DataObject) -> None:
    html = bytearray((Path(__file__).parent.parent / "recordings/nutanix/main-2015.html").read_bytes())
    for _ in range(data.draw(st.integers(1, 12))):
        start = data.draw(st.integers(0, len(html) - 1))
        end = start + data.draw(st.integers(0, 40))
        html[start:end] = data.draw(
            st.sampled_from([b"", b"<", b">", b"<table>", b"</table>", b"<td colspan=3>", b"\xff", b"-7"])
        )
    found = read_main_page(bytes(html))
    for table in (found.hosted, found.frontend):
        assert all(len(numbers) == len(table.rows) for numbers in table.numbers.values())
        assert all(value is None or value >= 0 for numbers in table.numbers.values() for value in numbers)
        assert len({row.label for row in table.rows}) == len(table.rows)


@settings(max_examples=100)
@given(st.binary(max_size=300))
def test_any_bytes_are_a_page_without_anything(html: bytes) -> None:
    assert read_main_page(html).hosted.rows == ()


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("Ops/s Read", cell)
        for cell in (
            "NaN",
            "nan",
            "inf",
            "-1",
            "1e400",
            "1,234",
            "1_000",
            "+5",
            "0x10",
            "9" * 20,
            "9" * 400,
            "9" * 5000,
            "١٢",
            "1e99",
            str(2**64 + 4096),
        )
    ]
    + [("% busy", cell) for cell in ("-1", "9" * 30, "250 KB")]
    + [
        ("Outstanding ops Read", cell)
        for cell in ("1,234", "1,234,567", "2, -8KB", "2, 8XB", "9999999999999999999999, 8KB")
    ],
)
def test_what_no_program_prints_is_left_out_and_counted_once(column: str, cell: str) -> None:
    for other in ("5", "0.5", "-"):  # the other cells decide how the column is read
        found = page(f"VDisk Id|{column}|Usage (GB)", f"1|{cell}|1", f"2|{other}|1")
        values = [row_values(found.hosted, row) for row in range(2)]
        assert set(values[0]) == {"usage_bytes"}
        assert [value["usage_bytes"] for value in values] == [GIB, GIB]
        assert [entry.section for entry in found.unrecognised] == ["hosted_vdisks"]
        assert len(found.unrecognised[0].text) < 300


def test_the_greatest_numbers_that_a_program_prints_are_read() -> None:
    found = page("VDisk Id|Ops/s Read|% busy", f"1|{2**63 - 1}|100", "2|4.5|100%")
    assert [row_values(found.hosted, row) for row in range(2)] == [
        {"read_ops_per_second": 2**63, "busy_ratio": 1},
        {"read_ops_per_second": 4.5, "busy_ratio": 1},
    ]


@pytest.mark.parametrize(("cell", "ratio"), [("101", 1.01), ("100.5", 1.005), ("250%", 2.5)])
def test_a_vdisk_that_is_busier_than_its_interval_is_as_busy_as_the_page_prints(cell: str, ratio: float) -> None:
    for other in ("5", "0.5", "-"):  # the other cells decide how the column is read
        found = page("VDisk Id|% busy", f"1|{cell}", f"2|{other}")
        assert row_values(found.hosted, 0) == {"busy_ratio": ratio}
        assert found.unrecognised == []


def test_vdisks_beyond_the_bound_are_left_out_and_counted() -> None:
    rows = "".join(f"<tr><td>{index}<td>{index % 90}" for index in range(1, 21))
    html = f"<h2>Hosted VDisks</h2><table><tr><th>VDisk Id<th>% busy{rows}</table>".encode()
    found = read_main_page(html, max_vdisks=15)
    assert [row.id for row in found.hosted.rows] == [str(index) for index in range(1, 16)]
    assert found.unrecognised == [Unrecognised("hosted_vdisks", "5 rows after the first 15")]
    assert found.left_out == {"hosted_vdisks": 5}


def test_a_name_is_on_one_line_and_has_nothing_that_a_terminal_obeys() -> None:
    found = page("VDisk Id|VDisk Name", "1|a\x1b]0;title\x07\u202eb\nc")
    assert found.hosted.rows[0].name == r"a\x1b]0;title\x07\u202eb c"
    overview = read_main_page(b"<table><tr><td>Build version<td>v\x1b[2J<tr><td>SVM id<td>7</table>").overview
    assert (overview.version, overview.svm_id) == (r"v\x1b[2J", "7")


def test_names_longer_than_any_are_left_out_and_counted() -> None:
    found = page("VDisk Id|VDisk Name", f"1|{'x' * 501}", f"2|{'x' * 500}")
    assert [row.id for row in found.hosted.rows] == ["2"]
    assert [entry.section for entry in found.unrecognised] == ["hosted_vdisks"]
    found = read_main_page(f"<table><tr><td>Build version<td>{'v' * 501}<tr><td>SVM id<td>7</table>".encode())
    assert (found.overview.version, found.overview.svm_id) == ("", "7")
    assert [entry.section for entry in found.unrecognised] == ["overview"]


def test_an_overview_of_rows_without_end_is_bounded_and_counted() -> None:
    rows = "".join(f"<tr><td>q{index} queue (size/admitted)<td>0/1" for index in range(300))
    found = read_main_page(f"<table>{rows}</table>".encode())
    assert len(found.overview.values) == 2 * 200
    assert found.unrecognised == [Unrecognised("overview", "100 rows after the first 200")]
    assert found.left_out == {"overview": 100}
