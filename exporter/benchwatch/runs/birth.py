"""When a file was created: Linux knows it for most file systems (ext4, xfs, btrfs, tmpfs), but Python cannot ask.

statx(2), from <linux/stat.h>: with the mask STATX_BTIME the kernel puts the birth time at byte 80 of `struct statx`,
seconds (signed, 64 bits) and nanoseconds (32 bits), and sets the same bit of the mask at byte 0 if it knows one.
"""

import ctypes
import os
import struct
from pathlib import Path

_AT_FDCWD = -100
_STATX_BTIME = 0x800
_SIZE = 256
_BTIME = 80

_CLOCKS_DIFFER = 10.0

_libc = ctypes.CDLL(None)
_statx = getattr(_libc, "statx", None)


def birth(path: Path) -> float | None:
    """When the file was created, Unix seconds; None if it is gone or the system does not know."""
    if _statx is None:
        try:
            return getattr(path.stat(), "st_birthtime", None)
        except OSError:
            return None
    found = ctypes.create_string_buffer(_SIZE)
    if _statx(_AT_FDCWD, os.fsencode(path), 0, _STATX_BTIME, found) != 0:
        return None
    (known,) = struct.unpack_from("=I", found, 0)
    if not known & _STATX_BTIME:
        return None
    seconds, nanoseconds = struct.unpack_from("=qI", found, _BTIME)
    return float(seconds + nanoseconds / 1e9)


def clock_behind(born: float, written: float, begun: float, reported: float) -> float:
    """Seconds by which the clock in a file is behind that of its file system; negative: ahead; 0: as far as known none.

    The file was created and last written at the first two times, the benchmark began and last reported at the others,
    by its own clock. Both ends must differ alike: a copy has the right clock, but was written in a moment.
    """
    first, last = born - begun, written - reported
    alike = abs(first - last) < _CLOCKS_DIFFER / 2 < written - born
    return first if alike and abs(first) > _CLOCKS_DIFFER else 0.0
