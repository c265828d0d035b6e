from pathlib import Path

import pytest

from benchwatch.machine.disks import check, roles_of
from benchwatch.machine.mounts import Storage

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
30 22 253:3 / {root}/data rw,noatime shared:7 - xfs /dev/mapper/vg-data rw,attr2
31 30 0:40 / {root}/data/my\\040disk rw - tmpfs tmpfs rw,size=1024k
"""


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    proc, sys = tmp_path / "proc", tmp_path / "sys"
    (proc / "self").mkdir(parents=True)
    (proc / "self/mountinfo").write_text(MOUNTS.format(root=tmp_path))
    disks = {name: sys / "devices" / name for name in ("sda", "sdb", "sdc", "dm-3")}
    for name, disk in disks.items():
        (disk / "queue").mkdir(parents=True)
        (disk / "queue/scheduler").write_text("none [mq-deadline] kyber\n" if name in ("sda", "sdb") else "none\n")
    (disks["sda"] / "sda1").mkdir()
    (disks["dm-3"] / "slaves").mkdir()
    (sys / "dev/block").mkdir(parents=True)
    for number, device in (("8:1", disks["sda"] / "sda1"), ("253:3", disks["dm-3"])):
        (sys / "dev/block" / number).symlink_to(device)
    for name in ("sdb", "sdc"):
        (disks["dm-3"] / "slaves" / name).symlink_to(disks[name])
    (disks["dm-3"] / "dm").mkdir()
    (disks["dm-3"] / "dm/name").write_text("vg-data--1\n")
    (sys / "class/block").mkdir(parents=True)
    for disk in (*disks.values(), disks["sda"] / "sda1"):
        (sys / "class/block" / disk.name).symlink_to(disk)
    return Storage(proc, sys)


def test_a_partition_has_the_scheduler_of_its_disk(storage: Storage) -> None:
    assert storage.facts(Path("/etc"), "target") == {
        "target.mount_point": "/",
        "target.filesystem": "ext4",
        "target.mount_options": "rw,relatime,errors=remount-ro",
        "target.device": "sda1",
        "target.scheduler": "mq-deadline",
    }


def test_a_logical_volume_names_the_disks_below(storage: Storage, tmp_path: Path) -> None:
    assert storage.facts(tmp_path / "data/to/be/made", "data") == {
        "data.mount_point": f"{tmp_path}/data",
        "data.filesystem": "xfs",
        "data.mount_options": "rw,noatime,attr2",
        "data.device": "dm-3 on sdb,sdc",
        "data.scheduler": "none",
    }


def test_a_file_system_without_a_device_has_none(storage: Storage, tmp_path: Path) -> None:
    assert storage.facts(tmp_path / "data/my disk/file", "wal") == {
        "wal.mount_point": f"{tmp_path}/data/my disk",
        "wal.filesystem": "tmpfs",
        "wal.mount_options": "rw,size=1024k",
    }


def test_disks_have_the_names_that_node_exporter_shows(storage: Storage, tmp_path: Path) -> None:
    assert storage.disk(Path("/etc")) == "sda", "the disk of the partition"
    assert storage.disk(tmp_path / "data/to/be/made") == "dm-3", "the logical volume, not the disks below"
    assert storage.disk(tmp_path / "data/my disk/file") == "", "tmpfs"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        *[("sda", "sda"), ("sda1", "sda"), ("/dev/sda1", "sda"), ("dm-3", "dm-3")],
        *[("vg-data--1", "dm-3"), ("mapper/vg-data--1", "dm-3"), ("/dev/vg/data-1", "dm-3")],
        *[("sdz", ""), ("vg/other", ""), ("../../proc", ""), ("/etc", ""), ("", ""), ("a\0b", ""), ("x" * 5000, "")],
    ],
)
def test_what_a_user_calls_a_disk_is_resolved_to_that_name(storage: Storage, given: str, named: str) -> None:
    assert storage.named(given) == named


def test_a_disk_with_data_and_log_has_the_role_that_is_named_first(storage: Storage, tmp_path: Path) -> None:
    files = [(Path("/var"), "data"), (Path("/var/pg_wal"), "log"), (tmp_path / "data", "log")]
    assert roles_of(files, storage) == {"sda": "data", "dm-3": "log"}


def test_a_device_that_is_none_and_a_second_role_are_left_out_with_a_sentence_each(storage: Storage) -> None:
    roles, faults = check({"sda": "data", "sdz": "log", "/dev/sda1": "log", "sdb": "log", "sda1": "data"}, storage)
    assert roles == {"sda": "data", "sdb": "log"}
    assert faults == [
        "'sdz' is no disk of this machine: expected a name that lsblk shows",
        "'/dev/sda1' cannot have the role 'log' as well: sda has the role 'data', and a disk has one",
    ]


def test_where_disks_are_not_shown_what_is_given_counts(tmp_path: Path) -> None:
    assert check({"sdz": "log"}, Storage(tmp_path, tmp_path)) == ({"sdz": "log"}, [])


def test_a_long_name_is_cut_where_it_is_complained_of(storage: Storage) -> None:
    _, (fault,) = check({"x" * 100_000: "log"}, storage)
    assert len(fault) < 200
