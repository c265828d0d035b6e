"""Regular expressions for names that a CVM prints, limited to expressions that are fast on any name.

Python's `re` tries all ways in which an expression can divide a text, has no time limit, and blocks all other threads
meanwhile: `(a+)+b` takes years on 100 times `a`. So the ways are counted before an expression is used, for a name of
LONGEST characters: the ways of a sequence are multiplied; a repetition raises them to the power of its maximum. An
expression with more than MOST ways is refused. A longer name matches nothing.
"""

import re
from collections.abc import Iterable
from re import _constants, _parser  # type: ignore[attr-defined]  # the same since 3.11, but not documented
from typing import Any

from ..values.errors import excerpt

LONGEST = 200
"""Characters of a name that can match."""
MOST = 3e7
"""Ways to divide a name: enough for three times `.*` beside a choice of three words, or for 24 optional letters."""
_ENOUGH = 32
"""Repetitions of two ways that exceed MOST."""


def compiled(pattern: str) -> re.Pattern[str]:
    """The expression. Raises ValueError, a sentence, if it is invalid or may take too long."""
    try:
        expression = re.compile(pattern)
        ways = _ways(_parser.parse(pattern))
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{excerpt(pattern)} is not a regular expression: {error}") from None
    if ways > MOST:
        raise ValueError(
            f"{excerpt(pattern)} can divide a name in too many ways to be tried; expected no repetition or choice"
            " within a repetition, and at most three times .* or the like"
        )
    return expression


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
