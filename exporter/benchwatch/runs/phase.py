"""The phase of a worker, and when it changes.

A worker is `running`, then `finished` (final summary or document read), `interrupted` (somebody ended it with Ctrl-C or
SIGTERM) or `failed` (an error, an exit code other than 0, or output that ends in the middle of a document). It is
`stalled` while nothing completes, or nothing is reported for three report intervals, and `abandoned` after a long
silence. The phase is a function of the files, so it is the same after a restart.
"""

from typing import NamedTuple

from ..settings.record import RunFile
from ..tools.api import Outcome

PHASES = ("running", "stalled", "finished", "failed", "interrupted", "abandoned")
ENDED = frozenset({"finished", "failed", "interrupted", "abandoned"})
IDLE = "nothing completes"
"""The reason for a stall that the tool itself reports."""
_TOLD_TO_END = frozenset({"SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"})
"""Signals with which people and service managers end a program; any other signal means a fault."""
_STALLED_INTERVALS = 3
_ABANDONED_INTERVALS = 4
_STALLED_IDLE_REPORTS = 2
_TO_LOOK = 0.3
"""Seconds for polling and reading: a stall is noticed within its three intervals."""
_DEFAULT_INTERVAL = 10.0


class StateSays(NamedTuple):
    """What a state of a given version reports; see tools.State."""

    version: tuple[int, int]
    outcome: Outcome
    reason: str
    start: float | None
    last_report: float | None
    report_interval: float | None
    idle_reports: int


def silence_limit(said: StateSays, record: RunFile) -> float:
    """Seconds of silence after which nothing more is expected."""
    return max(record.abandoned_after, _ABANDONED_INTERVALS * (said.report_interval or 0.0))


def judge(said: StateSays, record: RunFile, silent: float, *, cut_off: bool) -> tuple[str, str]:
    """The phase after `silent` seconds without a report or byte, and its reason, which may be empty.

    `cut_off` says that the output ends in the middle of a line or document.
    """
    if said.outcome in ("failed", "interrupted"):
        return said.outcome, said.reason
    code = record.exit_code
    if code:
        by = record.signal
        return "interrupted" if by in _TOLD_TO_END else "failed", f"ended by {by}" if by else f"exit code {code}"
    if said.outcome or code == 0:
        return "finished", said.reason
    limit = silence_limit(said, record)
    if silent >= limit:
        if cut_off:
            return "failed", "its output ends in the middle"
        return "abandoned", f"silent for more than {limit:g} s"
    interval = said.report_interval or _DEFAULT_INTERVAL
    if said.last_report is not None and silent >= _STALLED_INTERVALS * interval - _TO_LOOK:
        return "stalled", f"no report for {_STALLED_INTERVALS} intervals"
    if said.idle_reports >= _STALLED_IDLE_REPORTS:
        return "stalled", IDLE
    return "running", said.reason
