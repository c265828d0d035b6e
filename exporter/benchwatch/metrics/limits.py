"""The maximum of series per worker and in total: the key `runs.limits` of the configuration.

The defaults exceed what a benchmark produces (pgbench takes at most 128 scripts). Series beyond a limit are left off
/metrics, counted and named; what is read from the files does not change, so `compare` and `report` have everything.
"""

from collections.abc import Mapping
from typing import Annotated

import msgspec

_Count = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]

OTHER = "other"
"""The script under which the transactions of all scripts beyond the bound are counted."""


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All but the last are bounds of one worker."""

    scripts: _Count = 128
    """Scripts with series of their own; in the transaction log those numbered from here on are one, `other`."""
    statements: _Count = 1000
    """Statements of all scripts (`pgbench -r`)."""
    jobs: _Count = 500
    disks: _Count = 200
    parameters: _Count = 2000
    labels: _Count = 50
    """Labels that records add to benchwatch_run_info."""
    value_length: Annotated[int, msgspec.Meta(ge=256, le=65_536)] = 2000
    """Characters of a label's value; longer ones are cut, with a checksum of the whole at the end."""
    series: _Count = 200_000
    """Series of the whole page; beyond, the earliest finished runs are dropped first."""


DEFAULT = Limits()

OF_LABEL: Mapping[str, str] = {
    "script": "scripts",
    "statement": "statements",
    "job": "jobs",
    "disk": "disks",
    "device": "disks",
    "name": "parameters",
}
"""Which of the limits bounds how many values of a label there are, together with those of the labels before it."""
