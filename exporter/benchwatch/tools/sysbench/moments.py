"""When the parts of sysbench's text were written: a line at its elapsed time, a report at the run's total time.

Of several runs in one text only the last is dated.
"""

from collections.abc import Iterator
from mmap import mmap

from ..api import Begin, Moment
from .parser import Complete, SysbenchParser
from .reports import Interval


def moments(data: bytes | mmap) -> Iterator[Moment]:
    """Elapsed seconds by offset, in bytes."""
    found: list[Moment] = []
    parser, offset = SysbenchParser(), 0
    for line in data[:].splitlines(keepends=True):
        offset += len(line)
        for record in [*parser.feed(line), *parser.settle()]:
            if isinstance(record, Begin):
                found.clear()
            elif isinstance(record, Interval | Complete):
                found.append(Moment(offset, record.time, elapsed=True))
    yield from found
