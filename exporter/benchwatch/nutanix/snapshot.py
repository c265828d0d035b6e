"""What is known about one CVM at one time: written once by the poller's thread, read by others, never modified."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .pages.main_page import MainPage
from .pages.oplog_page import OplogPage
from .pages.vdisk_page import VdiskStats


@dataclass(frozen=True)
class Detail:
    """One vdisk's page, read at `time` (Unix seconds) and at `read` (monotonic seconds, for its age)."""

    time: float
    stats: VdiskStats
    read: float = 0.0


@dataclass(frozen=True)
class Snapshot:
    """The last pages that were read; details are by vdisk id.

    `time` (Unix seconds) and `read` (monotonic seconds, for its age) are the main page's, `oplog_read` is the oplog's.
    """

    time: float
    main: MainPage
    details: Mapping[str, Detail] = field(default_factory=dict)
    oplog: OplogPage | None = None
    read: float = 0.0
    oplog_read: float = 0.0

    def not_older(self, moment: float, details: float) -> "Snapshot | None":
        """What was read after `moment`, and vdisks' pages read after `details` (monotonic seconds); else None.

        The snapshot itself while nothing of it is older.
        """
        if self.read <= moment:
            return None
        lasting = {vdisk: detail for vdisk, detail in self.details.items() if detail.read > details}
        oplog = self.oplog if self.oplog_read > moment else None
        if len(lasting) == len(self.details) and oplog is self.oplog:
            return self
        return replace(self, details=lasting, oplog=oplog)


@dataclass(frozen=True, eq=False)
class Status:
    """The state of polling one CVM after `polls` polls; another state is another object.

    `up`: the last poll read and understood the main page, and that is not too long ago; None: not yet known.
    `duration`: seconds the last poll took. `last_success`: Unix seconds. `snapshot` is None before the first success
    and when the last one is too old to be shown.
    """

    polls: int = 0
    up: bool | None = None
    duration: float = 0.0
    last_success: float | None = None
    snapshot: Snapshot | None = None
    error: str = ""
    """Why the CVM is not up, one clause; else empty."""
    errors: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Pages that could not be used, by (page, reason)."""
    unrecognised: Mapping[str, int] = field(default_factory=dict)
    """Rows, columns and tables left out, by section; summed over all polls."""
    unmatched: int = 0
    """Front-end rows without a hosted vdisk, summed over all polls."""
