"""Regular expressions for names that a CVM prints: only those that are fast on any name.

Python's `re` tries all ways in which an expression may divide a text, has no time limit, and lets no other thread run
meanwhile: `(a+)+b` takes years on 100 times `a`. So the ways are counted from the expression, for names of LONGEST
characters: those of a sequence multiply; a repetition raises them to the power of its maximum. Expressions with more
than MOST ways are refused. Longer names match nothing.
"""

import re
from collections.abc import Iterable
from re import _constants, _parser  # type: ignore[attr-defined]  # the same since 3.11, but not documented
from typing import Any

from ..values.errors import excerpt

LONGEST = 200
"""Characters of a name."""
MOST = 3e7
"""Ways to divide a name: three times `.*`, one of three words among them; or 24 optional letters."""
_ENOUGH = 32
"""Repetitions of what has two ways that are more than MOST."""


def compiled(pattern: str) -> re.Pattern[str]:
    """The expression. Raises ValueError, a sentence, if it is invalid or may take too long."""
    try:
        found = re.compile(pattern)
        ways = _ways(_parser.parse(pattern))
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{excerpt(pattern)} is not a regular expression: {error}") from None
    if ways > MOST:
        raise ValueError(
            f"{excerpt(pattern)} can divide a name in too many ways to be tried; expected no repetition or choice"
            " within a repetition, and at most three times .* or the like"
        )
    return found


def matches(pattern: re.Pattern[str], names: Iterable[str]) -> bool:
    """Whether the expression matches one of the names."""
    return any(len(name) <= LONGEST and pattern.fullmatch(name) for name in names)


def _ways(parsed: Any) -> float:
    ways = 1.0
    for what, of in parsed:
        if what in (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT):
            least, most, inner = of
            most = min(int(most), LONGEST)
            ways *= min(_ways(inner) ** min(most, _ENOUGH), 2 * MOST)
            ways *= 1 if what is _constants.POSSESSIVE_REPEAT else max(1, most - int(least) + 1)
        elif what is _constants.BRANCH:
            ways *= sum(_ways(inner) for inner in of[1])
        elif what is _constants.SUBPATTERN:
            ways *= _ways(of[-1])
        elif what is _constants.ATOMIC_GROUP:
            ways *= _ways(of)
        elif what in (_constants.ASSERT, _constants.ASSERT_NOT):
            ways *= _ways(of[1])
        elif what is _constants.GROUPREF_EXISTS:
            ways *= sum(_ways(inner) for inner in of[1:] if inner)
    return min(ways, 2 * MOST)
