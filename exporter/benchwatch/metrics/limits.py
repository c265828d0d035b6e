"""The bounds of the page of metrics: the key `runs.limits` of the configuration.

Workers beyond a bound are left off /metrics, counted and named; `compare` and `report` have everything.
"""

from typing import Annotated

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The longest label value and the most series."""

    value_length: Annotated[int, msgspec.Meta(ge=256, le=65_536)] = 2000
    """Characters of a label's value; longer ones are cut, with a checksum of the whole at the end."""
    series: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 200_000
    """Series of the whole page; beyond, the earliest finished runs are dropped first."""


DEFAULT = Limits()
