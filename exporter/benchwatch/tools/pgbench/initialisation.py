"""What `pgbench -i` prints, all on stderr (pgbench.c 9.3 - 18).

    [dropping old tables... |] creating tables... | creating 3 partitions... | generating data (client-side)...
    100000 of 200000 tuples (50%)[ of pgbench_accounts] done (elapsed 0.01 s, remaining 0.01 s)[.]
                                              every 100000 rows, with -q every 5 s
    vacuuming... | vacuum... | set primary keys... | creating primary keys... | creating foreign keys...
    done.                                     up to 12
    done in 0.33 s (drop tables 0.01 s, ...). 13+

A scale factor of 1 is 100000 rows. On a terminal these lines end in a carriage return (13+).
"""

import re
from typing import NamedTuple

ROWS_PER_SCALE = 100_000


class InitialisationStep(NamedTuple):
    """A step of `pgbench -i` began."""


class Generated(NamedTuple):
    """`rows` of `of` rows are in the table, `elapsed` seconds after the first."""

    rows: int
    of: int
    elapsed: float


class Initialised(NamedTuple):
    """`pgbench -i` is done; `duration` in seconds, None up to 12."""

    duration: float | None


Initialisation = InitialisationStep | Generated | Initialised

_GENERATED = re.compile(
    r"(?P<rows>\d{1,15}) of (?P<of>\d{1,15}) tuples \(\d+%\)(?: of \w+)? done "
    r"\(elapsed (?P<elapsed>\d{1,8}\.\d\d) s, remaining -?\d+\.\d\d s\)\.?"
)
_DONE = re.compile(r"done(?:\.| in (?P<duration>\d{1,8}\.\d\d) s \(.*\)\.)")
_STEP = re.compile(
    r"(?:dropping old tables|creating tables|creating \d+ partitions|generating data(?: \((?:client|server)-side\))?"
    r"|vacuum(?:ing)?|set primary keys|creating (?:primary|foreign) keys)\.\.\."
)


def initialisation(text: str) -> Initialisation | None:
    """The content of a line; None if `pgbench -i` does not print it."""
    if match := _GENERATED.fullmatch(text):
        return Generated(int(match["rows"]), int(match["of"]), float(match["elapsed"]))
    if match := _DONE.fullmatch(text):
        return Initialised(float(match["duration"]) if match["duration"] else None)
    return InitialisationStep() if _STEP.fullmatch(text) else None
