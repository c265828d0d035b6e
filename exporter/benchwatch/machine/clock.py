"""How far this machine's clock may be off, as its kernel knows: adjtimex(2).

Whatever keeps the clock (chrony, ntpd, systemd-timesyncd, PTP's phc2sys) tells the kernel whether it is synchronised
and, all but timesyncd, how far it may be off at most; the kernel lets that bound grow by 500 ppm until it is told
again. No daemon has to be asked, and every user may read it. Bounds of timesyncd begin at 0 and so lack the way to the
server.
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
    """Seconds that the clock is off at most; None if it is not synchronised, or the kernel does not say."""
    answer = _Timex()
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.byref(answer))
    except (OSError, AttributeError):  # another kernel or library
        return None
    if state == _FAILED or answer.status & _UNSYNCHRONISED:
        return None
    left = abs(answer.offset) * (1e-9 if answer.status & _NANOSECONDS else 1e-6)
    return float(answer.largest_error * 1e-6 + left)
