"""The phase of a worker, and when it changes.

A worker is `running`, then `finished` (final summary or document read), `interrupted` (somebody ended it with Ctrl-C or
SIGTERM) or `failed` (an error, an exit code other than 0, or output that ends in the middle of a document). It is
`stalled` while nothing completes, or nothing is reported for three report intervals, and `abandoned` after a long
silence. The phase is a function of the files, so it is the same after a restart.
"""

from ..settings.record import RunFile
from ..tools.states import State

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


def patience(state: State, record: RunFile) -> tuple[float, float]:
    """Seconds of silence after which it has stalled, and after which nothing more is expected."""
    interval = state.report_interval
    stalled = _STALLED_INTERVALS * (interval or _DEFAULT_INTERVAL) - _TO_LOOK
    return stalled, max(record.abandoned_after, _ABANDONED_INTERVALS * (interval or 0.0))


def judge(
    state: State, record: RunFile, limits: tuple[float, float], silent: float, *, cut_off: bool
) -> tuple[str, str]:
    """The phase after `silent` seconds without a report or byte, and its reason, which may be empty.

    `limits` are those of `patience`; `cut_off` says that the output ends in the middle of a line or document.
    """
    outcome = state.outcome
    if outcome in ("failed", "interrupted"):
        return outcome, state.reason
    code = record.exit_code
    if code:
        by = record.signal
        phase = "interrupted" if by in _TOLD_TO_END else "failed"
        return phase, f"ended by {by}" if by else f"exit code {code}"
    if outcome or code == 0:
        return "finished", state.reason
    stalled, abandoned = limits
    if silent >= abandoned:
        if cut_off:
            return "failed", "its output ends in the middle"
        return "abandoned", f"silent for more than {abandoned:g} s"
    if silent >= stalled and state.last_report is not None:
        return "stalled", f"no report for {_STALLED_INTERVALS} intervals"
    if state.idle_reports >= _STALLED_IDLE_REPORTS:
        return "stalled", IDLE
    return "running", state.reason
