"""How far this machine's clock may be off, according to the kernel: adjtimex(2).

The program that keeps the clock (chrony, ntpd, systemd-timesyncd, PTP's phc2sys) reports to the kernel whether the
clock is synchronised and, except timesyncd, how far off it may be at most. The kernel lets that bound grow by 500 ppm
until the next report. Every user may read it, without asking a daemon. With timesyncd the bound starts at 0, so it does
not include the delay to the server.
"""

import ctypes

_UNSYNCHRONISED = 0x40
_NANOSECONDS = 0x2000
_FAILED = -1


class _Timex(ctypes.Structure):
    """The beginning of struct timex, and room for the rest."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("frequency", ctypes.c_long),
        ("largest_error", ctypes.c_long),
        ("estimated_error", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 512),
    )


def clock_error() -> float | None:
    """Seconds by which the clock is off at most; None if it is not synchronised or the kernel does not know."""
    answer = _Timex()
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.byref(answer))
    except (OSError, AttributeError):  # another kernel or library
        return None
    if state == _FAILED or answer.status & _UNSYNCHRONISED:
        return None
    left = abs(answer.offset) * (1e-9 if answer.status & _NANOSECONDS else 1e-6)
    return float(answer.largest_error * 1e-6 + left)
