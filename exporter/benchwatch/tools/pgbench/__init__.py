"""pgbench 9.3 - 18: its text (progress, final report, initialisation, errors), transaction log and aggregated log."""

import re
from collections.abc import Iterator, Sequence
from mmap import mmap

from ...metrics.buckets import Buckets
from ...metrics.exposition import Family
from ...metrics.limits import DEFAULT, Limits
from ..api import Moment, Parser, State
from .aggregate import AggregateParser, interval
from .metrics import FAMILIES
from .moments import of_aggregate, of_log, of_text
from .state import PgbenchState
from .text import TextParser
from .transactions import TransactionParser, transaction

_TEXT = re.compile(
    rb"(?:^|[\r\n])(?:progress: \d+\.\d+ s, |pgbench \((?!PostgreSQL\))\S|starting vacuum"
    rb"|transaction type: |dropping old tables\.\.\.|creating tables\.\.\."
    rb"|\d+ of \d+ tuples \(\d+%\)"
    rb"|[Cc]onnection to database \"[^\r\n]*\" failed:|[Cc]lient \d+ (?:script \d+ )?aborted )"
)
_MESSAGE = re.compile(rb"(?:^|[\r\n])pgbench: ")
_BEHIND = re.compile(
    rb"(?:^|[\r\n])pgbench: (?:progress: \d|pgbench[ :]|starting vacuum|transaction type: |scaling factor: |"
    rb"query mode: |number of |latency |tps = |duration: |dropping old tables|creating tables|\d+ of \d+ tuples|\r?\n)"
)
"""Other output of pgbench than messages, behind `pgbench: `, which is a prefix then."""


class Pgbench:
    """The tool pgbench."""

    name = "pgbench"
    throughput_unit = "TPS"
    log_prefix = "pgbench_log"
    families: Sequence[Family] = FAMILIES

    def recognise(self, head: bytes) -> str:
        """ "text", "log" (-l), "log aggregate" (-l --aggregate-interval), or empty."""
        head = head.replace(b"\0", b"")
        for line in head.split(b"\n")[:-1]:
            if transaction(line):
                return "log"
            if interval(line):
                return "log aggregate"
        is_text = _TEXT.search(head) or (_MESSAGE.search(head) and not _BEHIND.search(head))
        return "text" if is_text else ""

    def parser(self, kind: str) -> Parser:
        """A new parser for a stream of that kind. Raises KeyError for another."""
        parsers: dict[str, type[Parser]] = {
            "text": TextParser,
            "log": TransactionParser,
            "log aggregate": AggregateParser,
        }
        return parsers[kind]()

    def moments(self, kind: str, data: bytes | mmap) -> Iterator[Moment]:
        """See tools.Tool."""
        return {"text": of_text, "log": of_log, "log aggregate": of_aggregate}[kind](data)

    def state(self, buckets: Buckets, limits: Limits = DEFAULT) -> State:
        """A new, empty state."""
        return PgbenchState(buckets, limits)


PGBENCH = Pgbench()
