"""When a run began whose output says only how long it has been running: estimated from the times of its files.

A tool writes the line `5.0 s` when the run is 5 s old. So the run began

- 5 s before the last write to the file, if that line is the last thing in it. This is exact to the rounding of the
  line, but later text, such as an error, moves the time of the last write.
- about when the file was created: the shell creates it and starts the benchmark, which connects and perhaps vacuums
  before it counts. Nothing moves that time; but if a file was copied, or rewritten in place, it was created at another
  time.

Readers share no state, so each of them must make the same choice from the file as it is: the creation if the two
estimates agree within PUNCTUAL seconds (this does not apply to a final report, which nothing follows), otherwise the
last write. If text of unknown time follows the line, the creation may be up to SILENT seconds earlier (or as many
report intervals, if that is longer).

A `start` in the run's record replaces the creation of the file, and counts unless it is impossible: the last write
is more than SLOW seconds later, as in a copy, or text follows the line.
"""

from typing import NamedTuple

PUNCTUAL = 1.0
SILENT = 10.0
SLOW = 60.0
ROUNDING = 0.1
"""Seconds: twice the rounding error of the times that pgbench prints."""


class Written(NamedTuple):
    """When a stream was written, as far as it was read, according to the file system and the run's record."""

    last: float
    """Time of the last write, Unix seconds."""
    begun: float | None = None
    """When the benchmark's output began, Unix seconds; None if unknown."""
    recorded: bool = False
    """Whether `begun` comes from the record, not from the creation of the file."""
    undated: bool = False
    """Whether anything follows the last record that says how long the benchmark has been running."""


def beginning(elapsed: float, times: Written, tolerance: float, interval: float, rounding: float = ROUNDING) -> float:
    """When the run began, Unix seconds, if its stream was written at these times and a line in it is `elapsed` s old.

    `tolerance`: by how many seconds the two estimates may differ; `interval`: seconds between the run's reports;
    `rounding`: twice the rounding error of `elapsed`, seconds.
    """
    latest = times.last - elapsed
    if times.begun is None:
        return latest
    late = latest - times.begun
    if times.recorded:
        return latest if tolerance < late <= SLOW and not times.undated else times.begun
    longest = SILENT * max(1.0, interval) if times.undated else tolerance
    return times.begun if -rounding <= late <= longest else latest
