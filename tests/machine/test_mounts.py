from pathlib import Path

import pytest

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
