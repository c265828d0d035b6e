"""The content of a final report: settings, figures, scripts and statements."""

from collections.abc import Iterator

from ...metrics.samples import Family, Sample
from . import metrics
from .summary import Entry, Statement

_STATEMENT_LENGTH = 200
_LONGEST = 1e8
"""Seconds: three years."""
_BUILTIN = ("<builtin: ", "TPC-B (sort of)", "SELECT only", "Update only pgbench_accounts")
"""How the transaction type of a built-in script begins: first in 9.6+, then in earlier versions."""

_UNKNOWN_SCALE = Entry("scale_factor", "1")
"""What pgbench prints for custom scripts (-f) without asking the server, unless -s says otherwise."""

_SETTINGS = {
    "clients": metrics.CLIENTS,
    "threads": metrics.THREADS,
    "scale_factor": metrics.SCALE_FACTOR,
    "duration": metrics.DURATION,
}
_RUN: dict[str, tuple[Family, tuple[str, ...]]] = {
    "tps": (metrics.RESULT_TPS, ()),
    "latency_average": (metrics.RESULT_LATENCY_AVERAGE, ()),
    "latency_stddev": (metrics.RESULT_LATENCY_STDDEV, ()),
    "transactions": (metrics.RESULT_TRANSACTIONS, ()),
    "connection": (metrics.RESULT_CONNECTION, ()),
    "reconnection": (metrics.RESULT_CONNECTION, ()),
    "late": (metrics.RESULT_LATE, ()),
    "lag_average": (metrics.RESULT_LAG_AVERAGE, ()),
    "lag_max": (metrics.RESULT_LAG_MAX, ()),
    "serialization_failures": (metrics.RESULT_FAILURES, ("serialization",)),
    "deadlock_failures": (metrics.RESULT_FAILURES, ("deadlock",)),
    "other_failures": (metrics.RESULT_FAILURES, ("other",)),
}
_SCRIPT = {
    "transactions": metrics.SCRIPT_TRANSACTIONS,
    "tps": metrics.SCRIPT_TPS,
    "latency_average": metrics.SCRIPT_LATENCY_AVERAGE,
    "latency_stddev": metrics.SCRIPT_LATENCY_STDDEV,
}


class Results:
    """Collects the entries of one final report."""

    def __init__(self) -> None:
        self.parameters: dict[str, str] = {}
        self.figures: dict[str, float] = {}
        self._scripts: dict[int, dict[str, float]] = {}
        self._statements: dict[tuple[int, int], Statement] = {}

    def add(self, entry: Entry | Statement) -> None:
        """Add an entry; repeating it changes nothing."""
        if isinstance(entry, Statement):
            self._statements[entry.script, entry.position] = entry
        elif isinstance(entry.value, str):
            if entry != _UNKNOWN_SCALE or self.parameters.get("transaction_type", "").startswith(_BUILTIN):
                self.parameters[entry.name] = entry.value
        elif entry.script is None:
            self.figures[entry.name] = entry.value
        else:
            self._scripts.setdefault(entry.script, {})[entry.name] = entry.value

    @property
    def length(self) -> float | None:
        """How long the run took, including its initial connections, seconds; None if unknown or impossibly long."""
        found = self._length
        return found if found is not None and found < _LONGEST else None

    @property
    def _length(self) -> float | None:
        """From the number of transactions and their rate."""
        transactions, tps = self.figures.get("transactions"), self.figures.get("tps")
        if with_connections := self.figures.get("tps_with_connections"):
            return transactions / with_connections if transactions else None
        if transactions and tps:
            return transactions / tps + self.figures.get("connection", 0.0)
        duration = self.parameters.get("duration")
        return float(duration.split()[0]) if duration and transactions else None

    def samples(self) -> Iterator[Sample]:
        """The settings and results that the report has."""
        for name, family in _SETTINGS.items():
            if name in self.parameters:
                yield Sample(family, (), int(self.parameters[name].split()[0]))
        for name, (family, labels) in _RUN.items():
            if name in self.figures:
                yield Sample(family, labels, self.figures[name])
        for name, family in _SCRIPT.items():
            for script, figures in sorted(self._scripts.items()):
                if name in figures:
                    yield Sample(family, (str(script),), figures[name])
        yield from self._statement_samples()

    def _statement_samples(self) -> Iterator[Sample]:
        taken: set[tuple[str, str]] = set()
        for (script, position), statement in sorted(self._statements.items()):
            text = statement.text[:_STATEMENT_LENGTH].strip()
            labels = (str(script), text)
            if labels in taken:
                labels = (str(script), f"{position + 1}: {text}")
            taken.add(labels)
            for family, value in (
                (metrics.STATEMENT_LATENCY, statement.latency),
                (metrics.STATEMENT_FAILURES, statement.failures),
                (metrics.STATEMENT_RETRIES, statement.retries),
            ):
                if value is not None:
                    yield Sample(family, labels, value)
