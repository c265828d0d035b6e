"""The course of a run according to its messages: initialisation, errors, the end."""

from ..api import Outcome
from .messages import ClientAborted, Failure, Ignored, Reconnected, RunAborted

_KEPT = 100
"""How many errors are kept; the first ones say why the run failed."""


class ProgressCourse:
    """Collects what happened. The outcome does not depend on the order in which the streams were read."""

    def __init__(self) -> None:
        self.complete = False
        """Whether there is a final report."""
        self.initialised = False
        """Whether `pgbench -i` is done."""
        self.benchmark = False
        """Whether the benchmark itself began, not only the initialisation."""
        self.progressed = False
        """Whether transactions were reported or logged, so that an error does not mean that the run could not begin."""
        self.clients: int | None = None
        """Their number, once the final report shows it."""
        self.executed: float | None = None
        """Transactions of the final report."""
        self._aborted: dict[int, str] = {}
        self._run_aborted = ""
        self._failures: list[Failure] = []

    def add(self, message: ClientAborted | Failure | Ignored | Reconnected | RunAborted) -> None:
        """Add a message."""
        if isinstance(message, ClientAborted):
            self._aborted.setdefault(message.client, message.message)
        elif isinstance(message, RunAborted):
            self._run_aborted = message.message
        elif isinstance(message, Failure):
            if len(self._failures) < _KEPT or message.fatal:
                self._failures.append(message)
        elif isinstance(message, Reconnected):
            self._failures.clear()
        elif self._failures:
            self._failures.pop()

    @property
    def outcome(self) -> Outcome:
        """A client that aborts does not end the run: the final report follows when all clients have ended."""
        nothing_came = bool(self._failures) and not (self.progressed or self._aborted or self.complete)
        if nothing_came or self._run_aborted or any(failure.fatal for failure in self._failures):
            return "failed"
        if self.complete:
            return "failed" if self._aborted or self.executed == 0 else "finished"
        return "finished" if self.initialised and not self.benchmark else ""

    @property
    def reason(self) -> str:
        """What went wrong, one clause; empty if nothing did. Aborted clients are named before the outcome."""
        if self._aborted:
            count = len(self._aborted)
            of = f" of {self.clients}" if self.clients else ""
            plural = "" if (self.clients or count) == 1 else "s"
            return f"{count}{of} client{plural} aborted: {next(iter(self._aborted.values()))}"
        if self.outcome != "failed":
            return ""
        fatal = [failure.message for failure in self._failures]
        if len(fatal) > 1 and fatal[0].endswith(":"):
            return f"{fatal[0]} {fatal[1]}"
        return fatal[0] if fatal else self._run_aborted or "no transaction completed"
