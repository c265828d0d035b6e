"""The file system, mount, block device and I/O scheduler below a path, from mountinfo (proc(5)) and /sys.

node_exporter names a disk as /proc/diskstats and /sys/class/block do: `sda` for its partitions too (which it leaves
out), `dm-0` for a logical volume or another mapping, `md127` for an array.
"""

import os
import re
import stat
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

_ESCAPED = re.compile(r"\\([0-7]{3})")


class Storage:
    """The mounts and block devices of a machine."""

    def __init__(self, proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> None:
        self._mounts = proc / "self/mountinfo"
        self._blocks = sys / "dev/block"
        self._names = sys / "class/block"

    def facts(self, path: Path, prefix: str) -> dict[str, str]:
        """Facts about what is below a folder, a file (existing or not) or a block device; names begin with `prefix`."""
        mount, device = self._below(path)
        found = {}
        if mount:
            options = ",".join(dict.fromkeys([*mount.options.split(","), *mount.more_options.split(",")]))
            found = {"mount_point": mount.point, "filesystem": mount.filesystem, "mount_options": options}
        if device:
            parts = sorted(path.name for path in (device / "slaves").glob("*"))
            found["device"] = device.name + (f" on {','.join(parts)}" if parts else "")
            disk = _disk((device / "slaves" / parts[-1]).resolve() if parts else device)
            with suppress(OSError):
                scheduler = (disk / "queue/scheduler").read_text()
                found["scheduler"] = choice(scheduler) or scheduler.strip()
        return {f"{prefix}.{name}": value for name, value in found.items() if value}

    def disk(self, path: Path) -> str:
        """The disk below a folder, a file (existing or not) or a block device, by its name in node_exporter.

        Empty if there is no disk (tmpfs, NFS), or the file system lies on several disks.
        """
        _, device = self._below(path)
        return _disk(device).name if device else ""

    @property
    def lists_disks(self) -> bool:
        """Whether /sys shows the block devices."""
        return any(self._names.glob("*"))

    def named(self, name: str) -> str:
        """The name in node_exporter of a disk given by name, by path in /dev, or by name of a logical volume.

        Empty if this machine has no such disk.
        """
        name = name.removeprefix("/dev/")
        if not name.strip("./") or name.startswith("/") or ".." in name:
            return ""
        with suppress(OSError, ValueError):
            return _disk((self._names / name).resolve(strict=True)).name
        volume = name.removeprefix("mapper/")
        for label in (volume, volume.replace("-", "--").replace("/", "-")):
            if label in self._volumes:
                return self._volumes[label]
        path = Path("/dev", name)
        return self.disk(path) if _number_of(path) else ""

    @cached_property
    def _volumes(self) -> dict[str, str]:
        """The devices of mappings (logical volumes and others), by their names in /dev/mapper."""
        labels = self._names.glob("dm-*/dm/name")
        return {label.read_text(errors="replace").strip(): label.parents[1].name for label in labels}

    def _below(self, path: Path) -> tuple["_Mount | None", Path | None]:
        """The mount on which a path lies (None for a block device), and the folder in /sys of the device below it."""
        mount, number = None, _number_of(path)
        if not number and (mount := self._mount(Path(os.path.realpath(path)))):
            number = mount.number
            if number.startswith("0:"):  # some file systems, such as btrfs, have their own numbers
                number = _number_of(Path(mount.source)) if mount.source.startswith("/dev/") else ""
        device = self._blocks / number
        return mount, device.resolve() if number and device.exists() else None

    def _mount(self, path: Path) -> "_Mount | None":
        """The last mount among those nearest to the path."""
        best = None
        for line in self._mounts.read_text(errors="replace").splitlines():
            left, _, right = line.partition(" - ")
            _, _, number, _, point, options, *_ = left.split(" ")
            filesystem, source, more_options = [*right.split(" "), ""][:3]
            point = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), point)
            if path.is_relative_to(point) and (best is None or len(point) >= len(best.point)):
                best = _Mount(number, point, options, filesystem, source, more_options)
        return best


class _Mount(NamedTuple):
    number: str
    """That of the device."""
    point: str
    options: str
    filesystem: str
    source: str
    more_options: str
    """Those of the file system."""


def choice(text: str) -> str:
    """The choice that the kernel marks with brackets, as in `always [madvise] never`; empty if there is none."""
    match = re.search(r"\[(.*?)\]", text)
    return match[1] if match else ""


def _number_of(path: Path) -> str:
    """`major:minor` of a block device; empty for any other path."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return ""
    return f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}" if stat.S_ISBLK(status.st_mode) else ""


def _disk(device: Path) -> Path:
    """The disk of a partition; any other device itself."""
    return device if (device / "queue").is_dir() else device.parent
