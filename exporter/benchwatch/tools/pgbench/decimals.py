"""Decimal numbers in text, many at a time.

Eight digits are one 64-bit word. With the first digit in its lowest byte, three multiplications join neighbours: eight
numbers of one digit become four of two, two of four, one of eight. The word is read so that it ends where the number
ends; digits before the number are shifted out.
"""

from collections.abc import Sequence
from itertools import pairwise
from operator import ge, le
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_PADDING = b"\n" * 16
"""Precedes the text, so that a word can be read at the end of any number."""

Integers = NDArray[np.int64]
_DIGIT_0, _DIGIT_9, _SPACE, _NEWLINE = b"09 \n"
MOST_DIGITS = 16

_STEPS = tuple(
    (np.uint64(mask), np.uint64(factor), np.uint64(shift))
    for mask, factor, shift in (
        (0x0F0F0F0F0F0F0F0F, 10 * 2**8 + 1, 8),
        (0x00FF00FF00FF00FF, 100 * 2**16 + 1, 16),
        (0x0000FFFF0000FFFF, 10000 * 2**32 + 1, 32),
    )
)


class DigitColumns(NamedTuple):
    """Lines of numbers separated by single spaces, with the same number of columns in each line."""

    padded: bytes
    """The lines, after the padding."""
    stops: Integers
    """Where each number ends, as offsets in the lines; one row for each column."""
    lengths: Integers
    """How many digits each has."""

    @staticmethod
    def of(lines: bytes, shortest: Sequence[int], longest: Sequence[int]) -> "DigitColumns | None":
        """The columns of whole lines, at least one; None if any line has another form.

        `shortest` and `longest` are the fewest and most digits of the numbers in each column, at most MOST_DIGITS.
        """
        columns = len(shortest)
        padded = _PADDING + lines
        text = np.frombuffer(padded, np.uint8)[len(_PADDING) :]
        (ends,) = (text < _DIGIT_0).nonzero()
        count, rest = divmod(len(ends), columns)
        if rest or text.max() > _DIGIT_9 or np.count_nonzero(text == _SPACE) != len(ends) - count:
            return None
        lengths = ends.copy()
        lengths[1:] -= ends[:-1] + 1
        stops, lengths = (np.ascontiguousarray(each.reshape(-1, columns).T) for each in (ends, lengths))
        least, most = lengths.min(axis=1).tolist(), lengths.max(axis=1).tolist()
        if not (all(map(le, shortest, least)) and all(map(ge, longest, most))):
            return None
        whole = np.count_nonzero(text[stops[-1]] == _NEWLINE) == count
        return DigitColumns(padded, stops, lengths) if whole else None

    def numbers(self, column: int, lines: slice | Integers = slice(None)) -> Integers:
        """A column, or some of its lines."""
        ends, lengths = self.stops[column, lines], self.lengths[column, lines]
        longest = int(lengths.max()) if len(ends) else 0
        if longest == 1:
            return self._words(1)[ends].astype(np.int64) - _DIGIT_0
        text = self._words(8)
        if longest <= 8:
            return _eight(text[ends], lengths)
        low = _eight(text[ends], np.minimum(lengths, 8))
        long = np.flatnonzero(lengths > 8)
        low[long] += 100_000_000 * _eight(text[ends[long] - 8], lengths[long] - 8)
        return low

    def in_turn(self, column: int) -> tuple[list[int], list[int]]:
        """A column of ten-digit numbers, most of which equal their neighbours: each in turn, with its number."""
        ends = self.stops[column]
        last, first = self._words(8)[ends], self._words(2)[ends - 8]
        (changes,) = ((last[1:] != last[:-1]) | (first[1:] != first[:-1])).nonzero()
        starts = [0, *(changes + 1).tolist()]
        stops = (ends[starts] + len(_PADDING)).tolist()
        values = [int(self.padded[stop - 10 : stop]) for stop in stops]
        return values, [end - begin for begin, end in pairwise([*starts, len(ends)])]

    def _words(self, size: int) -> NDArray[Any]:
        """The `size` bytes before each position of the lines: element i ends before byte i of the lines."""
        ends = len(self.padded) - len(_PADDING) + 1
        return np.ndarray((ends,), f"<u{size}", self.padded, offset=len(_PADDING) - size, strides=(1,))


def _eight(word: NDArray[np.uint64], lengths: Integers) -> Integers:
    outside = (64 - 8 * lengths).view(np.uint64)
    word >>= outside
    word <<= outside
    for mask, factor, shift in _STEPS:
        word &= mask
        word *= factor
        word >>= shift
    return word.view(np.int64)
