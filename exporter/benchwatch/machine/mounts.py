"""The file system, mount, block device and I/O scheduler below a path, from mountinfo (proc(5)) and /sys.

node_exporter names a disk as /proc/diskstats and /sys/class/block do: `sda` for its partitions too (which it leaves
out), `dm-0` for a logical volume or another mapping, `md127` for an array.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path

_ESCAPED = re.compile(r"\\([0-7]{3})")


class Storage:
    """The mounts and block devices of a machine."""

    def __init__(self, proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> None:
        self._mounts = proc / "self/mountinfo"
        self._blocks = sys / "dev/block"
        self._names = sys / "class/block"

    def facts(self, path: Path, prefix: str) -> dict[str, str]:
        """Facts about what is below a folder, a file (existing or not) or a block device; names begin with `prefix`."""
        return {f"{prefix}.{name}": value for name, value in self._facts(path) if value}

    def disk(self, path: Path) -> str:
        """The disk below a folder, a file (existing or not) or a block device, by its name in node_exporter.

        Empty if there is no disk (tmpfs, NFS), or the file system lies on several disks.
        """
        device = self._device(path)
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

    def _facts(self, path: Path) -> Iterator[tuple[str, str]]:
        if not _number_of(path) and (mount := self._mount(Path(os.path.realpath(path)))):
            _, point, options, filesystem, _, more_options = mount
            yield "mount_point", point
            yield "filesystem", filesystem
            yield "mount_options", ",".join(dict.fromkeys([*options.split(","), *more_options.split(",")]))
        device = self._device(path)
        if not device:
            return
        below = sorted(path.name for path in (device / "slaves").glob("*"))
        yield "device", device.name + (f" on {','.join(below)}" if below else "")
        disk = _disk((device / "slaves" / below[-1]).resolve() if below else device)
        try:
            scheduler = (disk / "queue/scheduler").read_text()
        except OSError:
            return
        yield "scheduler", choice(scheduler) or scheduler.strip()

    def _device(self, path: Path) -> Path | None:
        """The folder in /sys of the block device that the path names or lies on."""
        number = _number_of(path)
        if not number and (mount := self._mount(Path(os.path.realpath(path)))):
            number, _, _, _, source, _ = mount
            if number.startswith("0:"):  # some file systems, such as btrfs, have their own numbers
                number = _number_of(Path(source)) if source.startswith("/dev/") else ""
        device = self._blocks / number
        return device.resolve() if number and device.exists() else None

    def _mount(self, path: Path) -> tuple[str, str, str, str, str, str] | None:
        """Device number, mount point, options, file system, source and the file system's options; the last mount."""
        best = None
        for line in self._mounts.read_text(errors="replace").splitlines():
            left, _, right = line.partition(" - ")
            _, _, number, _, point, options, *_ = left.split(" ")
            filesystem, source, more_options = [*right.split(" "), ""][:3]
            point = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), point)
            if path.is_relative_to(point) and (best is None or len(point) >= len(best[1])):
                best = (number, point, options, filesystem, source, more_options)
        return best


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
