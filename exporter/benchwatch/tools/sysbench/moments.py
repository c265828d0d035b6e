"""When the parts of sysbench's text were written: an interval line at its elapsed time, the final report at the run's
total time. Of several runs in one text only the last is dated.
"""

from collections.abc import Iterator
from mmap import mmap

from ..api import Moment
from .parser import BANNER
from .reports import Interval, report
from .summary import Complete, Figure, entries


def moments(data: bytes | mmap) -> Iterator[Moment]:
    """Elapsed seconds by offset, in bytes."""
    found: list[Moment] = []
    offset, length = 0, None
    for line in data[:].splitlines(keepends=True):
        offset += len(line)
        text = line.decode("utf-8", "replace").rstrip()
        if BANNER.match(text):
            found, length = [], None
        elif isinstance(interval := report(text), Interval):
            found.append(Moment(offset, interval.time, elapsed=True))
        else:
            for entry in entries(text) or ():
                if isinstance(entry, Figure) and entry.name == "length":
                    length = entry.value
                elif isinstance(entry, Complete) and length is not None:
                    # A report in mid-run (--report-checkpoints) is followed by lines with later times.
                    found.append(Moment(offset, length, elapsed=True))
    yield from found
