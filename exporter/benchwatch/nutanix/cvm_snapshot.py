"""What is known about one CVM at one time: written once by the poller's thread, read by others, never modified."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .pages.main_page import MainPage
from .pages.oplog_page import OplogPage
from .pages.vdisk_page import VdiskStats


@dataclass(frozen=True)
class Detail:
    """The numbers of one vdisk's page, and when it was read: `time` in Unix seconds, `read` in monotonic seconds."""

    time: float
    stats: VdiskStats
    read: float = 0.0


@dataclass(frozen=True)
class Snapshot:
    """The last pages that were read; details are by vdisk id.

    `time` (Unix seconds) and `read` (monotonic seconds) are when the main page was read, `oplog_read` when the oplog's.
    """

    time: float
    main: MainPage
    details: Mapping[str, Detail] = field(default_factory=dict)
    oplog: OplogPage | None = None
    read: float = 0.0
    oplog_read: float = 0.0

    def younger(self, moment: float, details: float) -> "Snapshot | None":
        """The pages read after `moment` and the vdisks' pages read after `details` (monotonic seconds).

        None if the main page is older; the snapshot itself if no page is.
        """
        if self.read <= moment:
            return None
        kept = {vdisk: detail for vdisk, detail in self.details.items() if detail.read > details}
        oplog = self.oplog if self.oplog_read > moment else None
        if len(kept) == len(self.details) and oplog is self.oplog:
            return self
        return replace(self, details=kept, oplog=oplog)


@dataclass(frozen=True, eq=False)
class Status:
    """The state of polling one CVM after `polls` polls; each state is a new object.

    `up`: whether the last poll read and understood the main page, and not too long ago; None before that is known.
    `duration`: seconds that the last poll took. `last_success`: Unix seconds. `snapshot`: None before the first success
    and once its main page is too old to be shown.
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
    """Rows, columns and tables that were left out, by section, summed over all polls."""
    unmatched: int = 0
    """Front-end rows without a hosted vdisk, summed over all polls."""
