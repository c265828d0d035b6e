"""What the lines between fio's documents mean.

fio's messages have no common form (log.c, init.c, backend.c, stat.c). Those that matter here: `fio: ...` (errors and
warnings alike), `fio: terminating on signal N`, `note: both iodepth >= 1 and synchronous I/O engine are selected
...`. The rest that is known is passed over: ETA (`Jobs: 1 (f=1): ...`), normal output (a header with `(g=0): rw=`,
results with `(groupid=0, jobs=1): err=`), terse output (`3;fio-3.33;...`); of these two only the error of each job is
read. Which `fio: ` lines end fio before it starts a job was read from the sources of 3.42: errors of options, of the
job file and of loading or setting up the I/O engine.
"""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Meaning = Literal["fatal", "interrupted", "depth_note", "results", "terse", "known", "continued", "unknown"]


class Fatal(NamedTuple):
    """A message with which fio gives up before it starts a job."""

    text: str


class Interrupted(NamedTuple):
    """A signal stopped fio; its final document follows."""

    signal: int


class TextResults(NamedTuple):
    """fio printed what a job came to, in its normal or terse format; `error` is an errno, 0 if there was none."""

    job: str
    error: int


class DepthNote(NamedTuple):
    """fio says that a synchronous I/O engine was combined with a queue depth above 1."""


_HOST = r"(?:<[^>]*> )?"
_PROGRAM = r"(?:\S*/)?fio(?:-\d[\w.]*)?: "
_FATAL = re.compile(
    _PROGRAM
    + r"(?:.*(?:failed parsing|failed to load engine|not loadable|is not a directory|job file|unrecognized option|"
    r"option requires an argument|requires a runtime|mutually exclusive|invalid output format|interval too small|"
    r"output file open error|outside of|init failed|conflicts with specified IO engine)|(?!pid=)\S+\.c:\d+, func=)"
    r"|Bad option <|No job\(?s\)? defined"
)
_INTERRUPTED = re.compile(r"fio: terminating on signal (\d{1,3})")
_DEPTH_NOTE = re.compile(r"note: both iodepth >= 1 and synchronous I/O engine")
_RESULTS = re.compile(r"(.*): \(groupid=\d+, jobs=\d+\): err= ?(\d{1,9}(?=[: ]))?")
_TERSE = re.compile(r"(?:[345];fio-\d[^;]*|2(?=;(?:[^;]*;){40}));([^;]*);[^;]*;(\d{1,9}(?=;))?")
_BY_ITS_BEGIN = re.compile(
    _HOST + r"(?:" + _PROGRAM + r"|Jobs: -?\d+ \(f=|fio-\d+\.\d+|"
    r"hostname=\S+, be=\d, .*, fio=fio-|verify: |note: both iodepth)"
)
"""Lines that fio alone prints."""
_JOB = re.compile(r".*: (?:\(g=\d+\): rw=|Laying out IO file)")
"""What only fio prints after the name of a job."""
_NAMED = re.compile(r"[^|:\]>\s]+: (?:\(g=\d+\): rw=|Laying out IO file)")
"""The same, where nothing but the name can stand before it."""
_BEHIND = re.compile(r"(?:\S\s+|\x1b\[[\d;]*m)(?:fio-\d+\.\d+\S*$|hostname=\S+, be=\d)")
"""What begins a line that only fio prints, after something else."""
_MESSAGE = re.compile(_PROGRAM)
_NO_MESSAGE = re.compile(
    _PROGRAM + r"(?:$|[\s{}\[\]\"]|fio[-:]|Starting \d|hostname=|.*: (?:\(g=\d+\): rw=|\(groupid=\d+, jobs=)|Jobs: )"
)
"""What looks like a message of fio but is other output after `fio: `, which is then a prefix."""
_ALSO_FIO = re.compile(
    _HOST + r"(?:\.\.\.$|$|Starting \d+ (?:process|thread)|Run status group \d+|Disk stats |CPU idleness|All clients: |"
    r"Did you mean |Client: |smalloc: |Waiting for |\s+valid values: )"
)
"""Lines that are fio's if the stream is."""
INTRUSION = re.compile(rb"\r?\n?(?:fio: |note: both iodepth|verify: |Jobs: \d+ \(f=)[^\r\n]*[\r\n]+")
"""A message written by another process of fio into the middle of a document."""


def meaning(line: str) -> Meaning:
    """What a line says; `continued` if it is indented, so that it belongs to the line before."""
    if _FATAL.match(line):
        return "fatal"
    if _INTERRUPTED.match(line):
        return "interrupted"
    if _DEPTH_NOTE.match(line):
        return "depth_note"
    if _RESULTS.match(line):
        return "results"
    if _TERSE.match(line):
        return "terse"
    if _BY_ITS_BEGIN.match(line) or _JOB.match(line) or _ALSO_FIO.match(line):
        return "known"
    return "continued" if line[:1].isspace() else "unknown"


def record(line: str, found: Meaning) -> Fatal | Interrupted | DepthNote | TextResults | None:
    """The record of a line of that meaning; None if it only had to be known."""
    if found == "fatal":
        return Fatal(line)
    if found in ("results", "terse"):
        result = (_RESULTS if found == "results" else _TERSE).match(line)
        return TextResults(result[1], int(result[2])) if result and result[2] else None
    if found == "depth_note":
        return DepthNote()
    signal = _INTERRUPTED.match(line)
    return Interrupted(int(signal[1])) if signal else None


def is_fio(lines: Sequence[str]) -> bool:
    """Whether only fio prints such lines; they are not fio's if something else precedes them."""
    behind_program = any(_NO_MESSAGE.match(line) for line in lines)
    if any(_alone(line) and not (behind_program and _MESSAGE.match(line)) for line in lines):
        return True
    # A name of a job may be anything, a prefix too.
    return any(_RESULTS.match(line) for line in lines) and not any(_BEHIND.search(line) for line in lines)


def _alone(line: str) -> bool:
    return any(pattern.match(line) for pattern in (_FATAL, _DEPTH_NOTE, _TERSE, _NAMED, _BY_ITS_BEGIN))
