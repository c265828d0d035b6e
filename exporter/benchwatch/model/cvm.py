"""Controller VMs (CVMs) and their vdisks as of the last poll, as pages, `/api/cvms` and `watch` show them.

Base units; times are Unix seconds. None: not measured, or not known.
"""

from collections.abc import Mapping

from msgspec import Struct


class Vdisk(Struct, frozen=True):
    """One vdisk, as its virtual machine sees it. Figures by operation: read, write."""

    cvm: str
    vdisk: str
    vm: str = ""
    disk: str = ""
    role: str = ""
    time: float | None = None
    """When the page was read."""
    rates: Mapping[str, float] = {}
    """Operations per second."""
    latencies: Mapping[str, float] = {}
    """Mean, seconds."""
    random: Mapping[str, float] = {}
    """Share of operations that are random."""
    oplog: float | None = None
    """Share of the writes that went to the oplog."""


class Cvm(Struct, frozen=True):
    """One configured CVM."""

    name: str
    url: str = ""
    up: bool | None = None
    """Whether the last poll succeeded; None before the first."""
    last_success: float | None = None
    error: str = ""
    """Why the last poll failed, one clause."""
    vdisks: tuple[Vdisk, ...] = ()
