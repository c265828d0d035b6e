"""The latencies of a transaction log by second and bin; each second may be divided to the microsecond.

For each second, only its bins are kept, and where its lines are in the file. To divide a second, these lines are read
again, this time with their microseconds.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...metrics.latencies import Dated, Group, Latencies, Piece
from ..api import Content
from .decimals import Integers
from .log import by_value
from .transactions import TransactionParser, Transactions


class LogBins:
    """See tools.Bins."""

    def __init__(self, content: Content) -> None:
        self._content = content
        self._latencies = Latencies()

    def take(self, records: Sequence[Any], begin: int, end: int) -> None:
        """See tools.Bins."""
        found = [record for record in records if isinstance(record, Transactions)]
        for record in found:
            self._latencies.dated(record.end, record.examined, record.missing)
        measured = [record for record in found if len(record.latency)]
        if not measured:
            return
        again = partial(_second, self._content, begin, end, measured[-1].fields)
        seconds, latency, filled = (_joined(measured, name) for name in ("second", "latency", "bins"))
        for second, chosen in by_value(seconds):
            self._latencies.add(Piece.of(second, filled[chosen], latency[chosen], again))

    def found(self) -> Mapping[Group, Latencies]:
        """See tools.Bins."""
        return {(): self._latencies}


def _second(content: Content, begin: int, end: int, fields: int, second: int) -> Dated:
    """The transactions in these bytes of a log that completed in a second of Unix time."""
    parser = TransactionParser(microseconds=True, fields=fields)
    found = [one for one in parser.feed(content(begin, end)) if isinstance(one, Transactions)]
    seconds, microseconds, latency = (_joined(found, name) for name in ("second", "microsecond", "latency"))
    chosen = seconds == second
    return Dated(seconds[chosen] + microseconds[chosen] / 1e6, latency[chosen])


def _joined(records: Sequence[Transactions], name: str) -> Integers:
    return np.concatenate([getattr(one, name) for one in records])
