"""Every way in which a page may be written or differ, against the parsers."""

from functools import cache
from typing import Any

import pytest

from benchwatch.nutanix.pages.main_page import MainPage, read_main_page
from benchwatch.nutanix.pages.tables import Unrecognised
from benchwatch.nutanix.pages.vdisk_page import VdiskStats, read_vdisk_page
from benchwatch.nutanix.simulator.cluster import Cluster
from benchwatch.nutanix.simulator.page_html import PageDocument, render
from benchwatch.nutanix.simulator.scenes import SCENES as SIMULATED
from tests.support.cvm.page_variations import PAGE_VARIATIONS, write
from tests.support.cvm.published_cluster import PublishedCluster
from tests.support.vdisks import row_values

SAME = [name for name, variation in PAGE_VARIATIONS.items() if not variation.absent]
"""After these, the parsers must read exactly what they read before."""
SCENES = ("published", "checkpoint")
SECOND = 45
"""In the middle of a burst, when all tables have numbers."""

Fields = dict[Any, Any]


@cache
def documents(scene: str) -> tuple[PageDocument, PageDocument, str]:
    """Main page, page of its first vdisk, and that vdisk's id."""
    now = [0.0]
    cluster = (
        PublishedCluster() if scene == "published" else Cluster(scene, cvms=1, vdisks=4, seed=3, clock=lambda: now[0])
    )
    now[0] = SECOND
    vdisk = cluster.vdisks[0]
    page = cluster.vdisk(0, vdisk)
    assert page is not None
    return cluster.main(0), page, vdisk


def main_fields(page: MainPage) -> Fields:
    """What was read of a main page, independent of the order of rows and columns."""
    found: Fields = {("overview", key): value for key, value in page.overview.values.items()}
    found |= {("overview", key): getattr(page.overview, key) for key in ("version", "svm_id", "incarnation", "start")}
    found |= {("disk", disk.disk): disk for disk in page.disks.values()}
    for section, table in (("hosted", page.hosted), ("frontend", page.frontend)):
        for index, row in enumerate(table.rows):
            key = row.label.partition(" (")[0]
            found |= {(section, key, field): value for field, value in row_values(table, index).items()}
            found[section, key, "links"] = row.links
    return found


def vdisk_fields(stats: VdiskStats) -> Fields:
    return {(family.name.removeprefix("nutanix_vdisk_"), *labels): value for (family, labels), value in stats.items()}


def assert_same(found: Fields, expected: Fields) -> None:
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert found[key] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value), key


@cache
def read(scene: str, variation: str) -> tuple[Fields, Fields, list[Unrecognised]]:
    main, vdisk, identity = documents(scene)
    main_page = read_main_page(write(main, [variation]).encode())
    vdisk_page = read_vdisk_page(write(vdisk, [variation]).encode())
    refused = [*main_page.unrecognised, *vdisk_page.unrecognised]
    stats = vdisk_page.vdisks.get(identity, {})
    return main_fields(main_page), vdisk_fields(stats), refused


@pytest.mark.parametrize("scene", SCENES)
def test_a_page_as_it_is_known_is_understood_whole(scene: str) -> None:
    main, vdisk, refused = read(scene, "")
    assert refused == []
    assert len(main) > 60
    assert len(vdisk) > 10


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("name", SAME)
def test_a_variation_changes_nothing_of_what_is_read(name: str, scene: str) -> None:
    plain_main, plain_vdisk, _ = read(scene, "")
    main, vdisk, refused = read(scene, name)
    if name == "rows-extra":
        main, vdisk = dict(main), dict(vdisk)
        assert main.pop(("frontend", "Something new", "links")) == ()
        main = {key: value for key, value in main.items() if "Something new" not in key}
        for kind in ("read_source", "write_destination"):
            new = [key for key in vdisk if key[0].startswith(kind) and key[1] == "something_new"]
            assert new or scene == "published"
            vdisk = {key: value for key, value in vdisk.items() if key not in new}
    assert_same(main, plain_main)
    assert_same(vdisk, plain_vdisk)
    known_to_be_noted = ("columns-extra", "rows-extra", "rows-duplicate")
    assert bool(refused) == (name in known_to_be_noted), refused


@pytest.mark.parametrize(
    ("name", "absent"),
    [
        ("missing-overview", lambda key: key[0] == "overview"),
        ("missing-cluster-state", lambda key: key[0] == "disk"),
        ("missing-nfs", lambda key: key[0] == "frontend"),
        ("missing-hosted-vdisks", lambda key: key[0] == "hosted"),
        ("missing-ops-and-randomness", lambda key: key[0] in ("random_ratio", "sequential_ratio")),
        ("missing-frontend-read-latency", lambda key: key[0].startswith("frontend_latency") and key[1] == "read"),
        ("missing-read-source", lambda key: key[0].startswith("read_source")),
        ("missing-extent-group-up-migration", lambda key: key[0] == "extent_group_up_migrations"),
        (
            "columns-missing",
            lambda key: (
                key[-1] in ("usage_bytes", "operation_size_bytes", "busy_ratio")
                or key[0] in ("read_source_ratio", "write_destination_ratio")
                or (key[0] == "working_set_bytes" and key[2] == "3600s")
            ),
        ),
        (
            "units-unknown",
            lambda key: (
                key[0] in ("frontend_latency_seconds", "frontend_latency_range_seconds")
                or ("latency_seconds" in key[-1] or "bytes_per_second" in key[-1])
            ),
        ),
    ],
)
def test_what_a_variation_leaves_out_is_absent_and_nothing_else(name: str, absent: Any) -> None:
    plain_main, plain_vdisk, _ = read("checkpoint", "")
    main, vdisk, refused = read("checkpoint", name)
    expected = {key: value for key, value in (plain_main | plain_vdisk).items() if not absent(key)}
    if name == "missing-overview":
        main = {key: value for key, value in main.items() if value not in ("", None)}
    assert len(expected) < len(plain_main | plain_vdisk)
    assert_same(main | vdisk, expected)
    assert bool(refused) == (name == "units-unknown")


def test_missing_rows_leave_the_others() -> None:
    plain_main, plain_vdisk, _ = read("checkpoint", "")
    main, vdisk, refused = read("checkpoint", "rows-missing")
    assert main["overview", "start"] is None
    assert {key[1] for key in main if key[0] == "hosted"} == {"40043", "50000", "50013"}
    assert all(plain_main[key] == value for key, value in main.items() if value is not None)
    assert not [key for key in vdisk if "window" in key[0] or "range" in key[0]]
    assert all(plain_vdisk[key] == value for key, value in vdisk.items())
    assert {text for _, text in refused} == {"ranges: none begins at 0"}


def test_split_sources_go_by_their_new_names() -> None:
    _, plain, _ = read("checkpoint", "")
    _, vdisk, refused = read("checkpoint", "local-and-remote")
    assert vdisk["read_source_ratio", "estore_ssd_local"] == plain["read_source_ratio", "estore_ssd"]
    assert ("read_source_ratio", "estore_ssd") not in vdisk
    assert refused == []


@pytest.mark.parametrize("name", ["names-plain", "names-nested"])
def test_names_of_any_form_join_the_two_views(name: str) -> None:
    plain, _, _ = read("checkpoint", "")
    main, _, refused = read("checkpoint", name)
    assert refused == []
    assert_same(main, plain)


def test_two_forms_of_a_name_are_one_vdisk_in_both_views() -> None:
    main, _, _ = documents("checkpoint")
    found = read_main_page(write(main, ["names-differ"]).encode())
    assert [row.name for row in found.hosted.rows] != [row.name for row in found.frontend.rows]
    assert found.frontend_labels == [row.id for row in found.hosted.rows]
    assert found.unmatched == []


@pytest.mark.parametrize("scene", SIMULATED)
@pytest.mark.parametrize("second", [0, 19, 30, 61, 130, 4000])
def test_every_scene_is_understood_at_any_time(scene: str, second: int) -> None:
    now = [0.0]
    cluster = Cluster(scene, cvms=1, vdisks=12, seed=1, clock=lambda: now[0])
    now[0] = second
    main = read_main_page(render(cluster.main(0)).encode())
    assert main.unrecognised == []
    assert len(main.hosted.rows) == 12
    for row in main.hosted.rows:
        document = cluster.vdisk(0, row.id)
        assert document is not None
        assert read_vdisk_page(render(document).encode()).unrecognised == []
