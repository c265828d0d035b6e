"""What a path lies on: file system, mount, block device and I/O scheduler, from mountinfo (proc(5)) and /sys."""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

_ESCAPED = re.compile(r"\\([0-7]{3})")


class Storage:
    """The mounts and block devices of a machine."""

    def __init__(self, proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> None:
        self._mounts = proc / "self/mountinfo"
        self._blocks = sys / "dev/block"

    def facts(self, path: Path, prefix: str) -> dict[str, str]:
        """What a folder, a file (existing or not) or a block device lies on; names begin with `prefix`."""
        return {f"{prefix}.{name}": value for name, value in self._facts(path) if value}

    def _facts(self, path: Path) -> Iterator[tuple[str, str]]:
        try:
            status = path.stat()
        except OSError:
            status = None
        if status and stat.S_ISBLK(status.st_mode):
            yield from self._device(f"{os.major(status.st_rdev)}:{os.minor(status.st_rdev)}")
            return
        mount = self._mount(Path(os.path.realpath(path)))
        if not mount:
            return
        number, point, options, filesystem, source, more_options = mount
        yield "mount_point", point
        yield "filesystem", filesystem
        yield "mount_options", ",".join(dict.fromkeys([*options.split(","), *more_options.split(",")]))
        if number.startswith("0:") and source.startswith("/dev/"):  # btrfs, for example, has numbers of its own
            try:
                found = Path(source).stat().st_rdev
                number = f"{os.major(found)}:{os.minor(found)}"
            except OSError:
                return
        yield from self._device(number)

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

    def _device(self, number: str) -> Iterator[tuple[str, str]]:
        device = self._blocks / number
        if not device.exists():
            return
        device = device.resolve()
        disk = device if (device / "queue").is_dir() else device.parent
        below = sorted(path.name for path in (device / "slaves").glob("*"))
        yield "device", device.name + (f" on {','.join(below)}" if below else "")
        for name in below:
            inner = (device / "slaves" / name).resolve()
            disk = inner if (inner / "queue").is_dir() else inner.parent
        try:
            scheduler = (disk / "queue/scheduler").read_text()
        except OSError:
            return
        chosen = re.search(r"\[(.*?)\]", scheduler)
        yield "scheduler", chosen[1] if chosen else scheduler.strip()
