"""How many series one worker may have, and all together: the key `runs.limits` of the configuration.

The defaults are above what a benchmark comes to (pgbench takes at most 128 scripts). What is beyond is left off
/metrics, counted and named; nothing that is read from the files changes, so `compare` and `report` have it all.
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
    """Series of the whole page; beyond, the runs that ended first go first."""


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
