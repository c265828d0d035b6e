"""The meaning of the lines between fio's documents.

fio's messages have no common form (log.c, init.c, backend.c, stat.c). These matter here: `fio: ...` (errors and
warnings), `fio: terminating on signal N`, `note: both iodepth >= 1 and synchronous I/O engine are selected ...`. Other
known lines are ignored: ETA (`Jobs: 1 (f=1): ...`), terse output (`3;fio-3.33;...`), of which only the error of each
job is read, and the normal report, which `report` reads.
According to the sources of 3.42, fio ends before it starts a job after `fio: ` lines with errors in options, in the job
file, and in loading or setting up the I/O engine.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Meaning = Literal["fatal", "interrupted", "depth_note", "terse", "known", "continued", "unknown"]


class Message(NamedTuple):
    """A line between the documents.

    `fatal`: fio gives up before it starts a job; `text` is the line. `interrupted`: signal `number` stopped fio, and
    its final document follows. `depth_note`: a synchronous I/O engine was combined with a queue depth above 1. `terse`:
    results of the job `text`, with the errno `number` (None: not printed). `continued`: it is indented, so that it
    belongs to the previous line.
    """

    meaning: Meaning
    text: str
    number: int | None = None


_HOST = r"(?:<[^>]*> )?"
_PROGRAM = r"(?:\S*/)?fio(?:-\d[\w.]*)?: "
_FATAL = re.compile(
    _PROGRAM
    + r"(?:.*(?:failed parsing|failed to load engine|not loadable|is not a directory|job file|unrecognized option|"
    r"option requires an argument|requires a runtime|mutually exclusive|invalid output format|interval too small|"
    r"output file open error|outside of|init failed|conflicts with specified IO engine)|(?!pid=)\S+\.c:\d+, func=)"
    r"|Bad option <|No job\(?s\)? defined"
)
_INTERRUPTED = re.compile(r"fio: terminating on signal (?P<number>\d{1,3})")
_DEPTH_NOTE = re.compile(r"note: both iodepth >= 1 and synchronous I/O engine")
_RESULTS = re.compile(r".*: \(groupid=\d+, jobs=\d+\): err= ?")
_TERSE = re.compile(r"(?:[345];fio-\d[^;]*|2(?=;(?:[^;]*;){40}));(?P<job>[^;]*);[^;]*;(?P<number>\d{1,9}(?=;))?")
_BY_ITS_BEGIN = re.compile(
    _HOST + r"(?:" + _PROGRAM + r"|Jobs: -?\d+ \(f=|fio-\d+\.\d+|"
    r"hostname=\S+, be=\d, .*, fio=fio-|verify: |note: both iodepth)"
)
"""Lines that fio alone prints."""
_JOB = re.compile(r".*: (?:\(g=\d+\): rw=|Laying out IO file)")
"""What only fio prints after the name of a job."""
_NAMED = re.compile(r"[^|:\]>\s]+: (?:\(g=\d+\): rw=|Laying out IO file)")
"""The same, after a name that cannot contain a prefix of another program."""
_BEHIND = re.compile(r"(?:\S\s+|\x1b\[[\d;]*m)(?:fio-\d+\.\d+\S*$|hostname=\S+, be=\d)")
"""The beginning of a line that only fio prints, after something else."""
_MESSAGE = re.compile(_PROGRAM)
_NO_MESSAGE = re.compile(
    _PROGRAM + r"(?:$|[\s{}\[\]\"]|fio[-:]|Starting \d|hostname=|.*: (?:\(g=\d+\): rw=|\(groupid=\d+, jobs=)|Jobs: )"
)
"""Lines that are not messages, after `fio: `, which is therefore a prefix that something else added."""
_ALSO_FIO = re.compile(
    _HOST + r"(?:\.\.\.$|$|Starting \d+ (?:process|thread)|Run status group \d+|Disk stats |CPU idleness|All clients: |"
    r"Did you mean |Client: |smalloc: |Waiting for |\s+valid values: )"
)
"""Lines that other programs print too, but that are fio's in a stream of fio."""
INTRUSION = re.compile(rb"\r?\n?(?:fio: |note: both iodepth|verify: |Jobs: \d+ \(f=)[^\r\n]*[\r\n]+")
"""A message that another process of fio wrote into the middle of a document."""

_MEANINGS: tuple[tuple[Meaning, re.Pattern[str]], ...] = (
    ("fatal", _FATAL),
    ("interrupted", _INTERRUPTED),
    ("depth_note", _DEPTH_NOTE),
    ("known", _RESULTS),
    ("terse", _TERSE),
    ("known", _BY_ITS_BEGIN),
    ("known", _JOB),
    ("known", _ALSO_FIO),
)
_ALONE = (_FATAL, _DEPTH_NOTE, _TERSE, _NAMED, _BY_ITS_BEGIN)


def read(line: str) -> Message:
    """What a line means."""
    for meaning, pattern in _MEANINGS:
        if match := pattern.match(line):
            found = match.groupdict()
            return Message(meaning, found.get("job", line), int(found["number"]) if found.get("number") else None)
    return Message("continued" if line[:1].isspace() else "unknown", line)


def is_fio(lines: Sequence[str]) -> bool:
    """Whether fio printed these lines, because only fio prints such lines and no prefix precedes them."""
    behind_program = any(_NO_MESSAGE.match(line) for line in lines)
    alone = (line for line in lines if any(pattern.match(line) for pattern in _ALONE))
    if any(not (behind_program and _MESSAGE.match(line)) for line in alone):
        return True
    # The name of a job may be anything, even a prefix.
    return any(_RESULTS.match(line) for line in lines) and not any(_BEHIND.search(line) for line in lines)
