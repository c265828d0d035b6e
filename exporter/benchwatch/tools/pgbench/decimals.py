"""Decimal numbers out of text, many at a time.

Eight digits are one 64-bit word. With the first digit in its lowest byte, three multiplications join neighbours: eight
numbers of one digit become four of two, two of four, one of eight. A word that ends where the number ends is read from
any byte of the text; what precedes the number is shifted out.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

PADDING = b"\n" * 16
"""What must stand before the text, so that a word can be read at any number's end."""

Integers = NDArray[np.int64]
_DIGIT_0 = ord("0")

_STEPS = tuple(
    (np.uint64(mask), np.uint64(factor), np.uint64(shift))
    for mask, factor, shift in (
        (0x0F0F0F0F0F0F0F0F, 10 * 2**8 + 1, 8),
        (0x00FF00FF00FF00FF, 100 * 2**16 + 1, 16),
        (0x0000FFFF0000FFFF, 10000 * 2**32 + 1, 32),
    )
)


def words(padded: bytes, size: int = 8) -> NDArray[Any]:
    """The bytes up to each position of the text, so many: element i ends before byte i of what follows the PADDING."""
    ends = len(padded) - len(PADDING) + 1
    return np.ndarray((ends,), f"<u{size}", padded, offset=len(PADDING) - size, strides=(1,))


def decimals(padded: bytes, ends: Integers, lengths: Integers) -> Integers:
    """The numbers that end before `ends` and have `lengths` digits, 1 to 16; every byte of them must be a digit."""
    longest = int(lengths.max()) if len(ends) else 0
    if longest == 1:
        return words(padded, 1)[ends].astype(np.int64) - _DIGIT_0
    text = words(padded)
    if longest <= 8:
        return _eight(text[ends], lengths)
    low = _eight(text[ends], np.minimum(lengths, 8))
    long = np.flatnonzero(lengths > 8)
    low[long] += 100_000_000 * _eight(text[ends[long] - 8], lengths[long] - 8)
    return low


def _eight(word: NDArray[np.uint64], lengths: Integers) -> Integers:
    outside = (64 - 8 * lengths).view(np.uint64)
    word >>= outside
    word <<= outside
    for mask, factor, shift in _STEPS:
        word &= mask
        word *= factor
        word >>= shift
    return word.view(np.int64)
