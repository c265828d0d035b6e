"""What is known of one CVM at one moment; made by the poller's thread, read by others, never changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .main_page import MainPage
from .oplog_page import OplogPage
from .vdisk_page import VdiskStats


@dataclass(frozen=True)
class Detail:
    """One vdisk's page, read at `time` (Unix seconds)."""

    time: float
    stats: VdiskStats


@dataclass(frozen=True)
class Snapshot:
    """The last pages that were read. `time` (Unix seconds) is the main page's; details are by vdisk id."""

    time: float
    main: MainPage
    details: Mapping[str, Detail] = field(default_factory=dict)
    oplog: OplogPage | None = None


@dataclass(frozen=True)
class Status:
    """The state of polling one CVM after `polls` polls.

    `up`: the last poll read and understood the main page. `duration`: seconds the last poll took. `last_success`: Unix
    seconds. `snapshot` is None before the first success and when the last one is too old to be shown.
    """

    polls: int = 0
    up: bool = False
    duration: float = 0.0
    last_success: float | None = None
    snapshot: Snapshot | None = None
    error: str = ""
    """Why the last poll failed, one clause; else empty."""
    errors: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Pages that could not be used, by (page, reason)."""
    unrecognised: Mapping[str, int] = field(default_factory=dict)
    """Rows, columns and tables left out, by section; summed over all polls."""
    unmatched: int = 0
    """Front-end rows without a hosted vdisk, summed over all polls."""
