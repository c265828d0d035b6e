import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.metrics.exposition import Exposition
from benchwatch.nutanix import families as f
from benchwatch.nutanix.cvm_snapshot import CvmSource, Detail, Snapshot, Status
from benchwatch.nutanix.families import FAMILIES
from benchwatch.nutanix.pages.main_page import read_main_page
from benchwatch.nutanix.pages.oplog_page import read_oplog_page
from benchwatch.nutanix.pages.vdisk_page import read_vdisk_page
from benchwatch.nutanix.simulator.cluster import Cluster
from benchwatch.nutanix.simulator.page_html import render
from benchwatch.settings.cvm_settings import VdiskDisk

GOLDEN = Path(__file__).parent / "published.prom"
VDISK = "31181823"
MAPPING = {"1a8ef41c-ae3f-4293-a46e-49d7e6c1c907": VdiskDisk(vm="db1", disk="scsi.1", role="data")}


def exposed(snapshot: Snapshot) -> str:
    source = CvmSource("cvm-a", MAPPING)
    source.status = Status(
        up=True,
        last_success=1_790_000_000.5,
        snapshot=snapshot,
        polled={
            (f.CVM_POLL_DURATION, ()): 0.25,
            (f.CVM_UNMATCHED_ROWS, ()): 0,
            (f.CVM_PAGE_ERRORS, ("main", "timeout")): 2,
            (f.CVM_UNRECOGNISED_ROWS, ("hosted_vdisks",)): 5,
        },
    )
    return Exposition().render([source])


def published(recordings: Path) -> Snapshot:
    folder = recordings / "nutanix"
    detail = read_vdisk_page((folder / "vdisk-2015.html").read_bytes().replace(b"31181841", VDISK.encode()))
    return Snapshot(
        time=1_790_000_000.5,
        main=read_main_page((folder / "main-2015.html").read_bytes()),
        details={VDISK: Detail(1_790_000_001.5, detail.vdisks[VDISK])},
        oplog=Detail(1_790_000_001.5, read_oplog_page((folder / "oplog_flush_stats.html").read_bytes()).values),
    )


def simulated() -> Snapshot:
    """All sections, in the middle of a burst."""
    now = [0.0]
    cluster = Cluster("checkpoint", cvms=1, vdisks=4, seed=1, clock=lambda: now[0])
    now[0] = 45
    details = {}
    for vdisk in cluster.vdisks:
        document = cluster.vdisk(0, vdisk)
        assert document is not None
        details[vdisk] = Detail(1.0, read_vdisk_page(render(document).encode()).vdisks[vdisk])
    main = read_main_page(render(cluster.main(0)).encode())
    oplog = read_oplog_page(render(cluster.oplog(0)).encode())
    return Snapshot(1.0, main, details, Detail(1.0, oplog.values))


def test_the_published_pages_give_this_exposition(recordings: Path) -> None:
    assert exposed(published(recordings)) == GOLDEN.read_text()


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool")
@pytest.mark.parametrize("page", ["published", "simulated"])
def test_promtool_finds_nothing_to_complain_of(page: str, recordings: Path) -> None:
    text = exposed(published(recordings) if page == "published" else simulated())
    done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_all_families_are_used_and_no_series_is_there_twice() -> None:
    text = exposed(simulated())
    lines = [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(lines) == len(set(lines))
    never_seen = {
        "nutanix_vdisk_frontend_outstanding_bytes"
    }  # if its cells were `0, 0KB`, as those of Hosted VDisks are
    assert {line.partition("{")[0] for line in lines} == {family.name for family in FAMILIES} - never_seen


def test_latency_comes_from_the_vdisks_page_where_the_front_end_view_has_it_not(recordings: Path) -> None:
    snapshot = published(recordings)
    html = (
        (recordings / "nutanix/main-2015.html")
        .read_text()
        .replace("NFS&nbsp;Slave", "")
        .replace("VDisk Name</th><th colspan=3", "X")
    )
    without = Snapshot(snapshot.time, read_main_page(html.encode()), snapshot.details)
    assert list(without.main.frontend.rows) == []
    name = "nutanix_vdisk_frontend_latency_seconds"
    found = [line for line in exposed(without).splitlines() if line.startswith(name)]
    assert found == [
        f'{name}{{cvm="cvm-a",vdisk="{VDISK}",op="read"}} 0.000401',
        f'{name}{{cvm="cvm-a",vdisk="{VDISK}",op="write"}} 0.0042',
    ]


def test_disks_of_other_cvms_are_left_to_their_own_pages() -> None:
    cluster = Cluster("idle", cvms=3, vdisks=2, seed=1, clock=lambda: 0.0)
    page = read_main_page(render(cluster.main(1)).encode())
    assert len({disk.svm_id for disk in page.disks.values()}) == 3
    text = exposed(Snapshot(0, page))
    assert 'nutanix_disk_size_bytes{cvm="cvm-a",disk="164",tier="SSD-SATA"}' in text
    assert text.count("\nnutanix_disk_size_bytes{") == 6


@settings(max_examples=100)
@given(st.data())
def test_a_damaged_page_gives_an_exposition_without_duplicates(data: st.DataObject) -> None:
    html = bytearray((Path(__file__).parent.parent / "recordings/nutanix/main-2015.html").read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        start = data.draw(st.integers(0, len(html) - 1))
        html[start : start + data.draw(st.integers(0, 60))] = data.draw(
            st.sampled_from([b"", b"<td>", b"\xce\x94", b"</tr><tr>"])
        )
    lines = [line.rpartition(" ")[0] for line in exposed(Snapshot(0, read_main_page(bytes(html)))).splitlines()]
    series = [line for line in lines if not line.startswith("#")]
    assert len(series) == len(set(series))


def test_nothing_measured_is_nothing_shown() -> None:
    source = CvmSource("cvm-a", {})
    assert Exposition().render([source]) == ""
    source.status = Status(up=False)
    assert "nutanix_cvm_up" in Exposition().render([source])
