"""Lines of pgbench about the course of a run: steps of an initialisation, errors that end a run or a client.

From pgbench.c 9.3 - 18. Up to 12 messages have no prefix, from 13 `pgbench: error: `, `pgbench: fatal: ` (13, 14) or
`pgbench: `.

    [Cc]lient 3 aborted in state 0: ERROR:  ...                             up to 9.6
    client 3 aborted in command 0 (SQL) of script 0; ERROR:  ...            10+
    client 3 script 0 aborted in command 0 query 0: ERROR:  ...             12+
    client 3 aborted while establishing connection
    Run was aborted; the above results are incomplete.                      12+, before the report in one file
    Run was aborted due to an error in thread 2                             17+ --exit-on-abort; no final report follows
    connection to server at "h", port p failed: ... | could not create connection for setup
    /usr/bin/pgbench: invalid option -- 'Q'                                 from getopt, with the path of the program

The text of another error does not show whether it ends the run: it does unless the benchmark had begun, so the state
decides. pgbench announces the one exception, if there is nothing to vacuum: `(ignoring this error and continuing
anyway)`.

`pgbench -i` prints its steps on stderr (9.3 - 18). A scale factor of 1 is 100000 rows. On a terminal these lines end in
a carriage return (13+).

    [dropping old tables... |] creating tables... | creating 3 partitions... | generating data (client-side)...
    100000 of 200000 tuples (50%)[ of pgbench_accounts] done (elapsed 0.01 s, remaining 0.01 s)[.]
                                              every 100000 rows, with -q every 5 s
    vacuuming... | vacuum... | set primary keys... | creating primary keys... | creating foreign keys...
    done.                                     up to 12
    done in 0.33 s (drop tables 0.01 s, ...). 13+
"""

import re
from typing import NamedTuple

ROWS_PER_SCALE = 100_000


class ClientAborted(NamedTuple):
    """A client that ended with an error; the others continue."""

    client: int
    message: str


class Failure(NamedTuple):
    """An error. `fatal`: it certainly ended the run."""

    message: str
    fatal: bool


class Ignored(NamedTuple):
    """The previous failure did not matter."""


class Reconnected(NamedTuple):
    """The previous failures are those of starts that found no server; pgbench was started again."""


class RunAborted(NamedTuple):
    """pgbench's last message after a client aborted."""

    message: str


class VacuumStarted(NamedTuple):
    """A benchmark begins (unless -n); its connection is established."""


class InitialisationStep(NamedTuple):
    """A step of `pgbench -i` began."""


class Generated(NamedTuple):
    """`rows` of `of` rows are in the table, `elapsed` seconds after the first."""

    rows: int
    of: int
    elapsed: float


class Initialised(NamedTuple):
    """`pgbench -i` is done; `duration` in seconds, None up to 12."""

    duration: float | None


Initialisation = InitialisationStep | Generated | Initialised

Message = ClientAborted | Failure | Ignored | Reconnected | RunAborted | VacuumStarted

VACUUM_START = "starting vacuum"

_CLIENT_ABORTED = re.compile(r"client (?P<client>\d{1,9}) (?:script \d+ )?aborted (?P<where>.*)", re.IGNORECASE)
_RUN_ABORTED = re.compile(r"Run was aborted.*")
_FATAL = re.compile(
    r"pgbench: fatal: (?P<message>.+)"
    r"|^(?:\S*/)?pgbench: (?P<option>(?:invalid|unrecognized) option .+|option .+ (?:requires an argument"
    r"|is ambiguous|doesn't allow an argument).*|option requires an argument .+)"
    r"|(?P<setup>could not create (?:connection|thread)\b.*|Perhaps you need to do initialization\b.*)"
)
_ERROR = re.compile(
    r"pgbench: error: +(?P<message>.+)"
    r"|(?P<connection>[Cc]onnection to (?:database|server) .*failed:.*"
    r"|could not connect to server: .+|could not translate host name .+)"
)
_SERVER_ERROR = re.compile(r"(?:ERROR|FATAL|PANIC):  .+")
_NO_SERVER = re.compile(
    r"connection to (?:database|server)\b|could not (?:connect to server|translate host name)"
    r"|could not create connection for setup",
    re.IGNORECASE,
)
_GENERATED = re.compile(
    r"(?P<rows>\d{1,15}) of (?P<of>\d{1,15}) tuples \(\d+%\)(?: of \w+)? done "
    r"\(elapsed (?P<elapsed>\d{1,8}\.\d\d) s, remaining -?\d+\.\d\d s\)\.?"
)
_DONE = re.compile(r"done(?:\.| in (?P<duration>\d{1,8}\.\d\d) s \(.*\)\.)")
_STEP = re.compile(
    r"(?:dropping old tables|creating tables|creating \d+ partitions|generating data(?: \((?:client|server)-side\))?"
    r"|vacuum(?:ing)?|set primary keys|creating (?:primary|foreign) keys)\.\.\."
)
_IGNORED = "ignoring this error and continuing anyway"
_SPACES = re.compile(r"\s+")

_KNOWN = re.compile(
    r"\s*pgbench:"
    r"|end\.$"
    r"|(?:ERROR|FATAL|PANIC|NOTICE|WARNING|INFO|LOG|DEBUG|DETAIL|HINT|CONTEXT|QUERY|STATEMENT|LOCATION): "
    r"|LINE \d+:|\s*\^\s*$"
    r"|\tIs the server running|\tTCP/IP connections on port"
    r"|Cancel request sent"
    r"|pghost: |client \d+ (?:sending|receiving|executing|sleeping|pipeline)"
    r"|\s*client \d+(?:$| (?:got an error in|repeats the transaction|ends the failed transaction)\b)"
    r"|zipfian cache array overflowed|[Ss]cale option ignored"
)


def message(text: str) -> Message | None:
    """The message in a line; None if it says nothing about the course of the run."""
    if match := _CLIENT_ABORTED.search(text):
        where, separator, cause = _first_of(match["where"])
        return ClientAborted(int(match["client"]), _tidy(cause if separator else where))
    if match := _RUN_ABORTED.search(text):
        return RunAborted(_tidy(match[0]))
    if _IGNORED in text:
        return Ignored()
    if match := _FATAL.search(text):
        return Failure(_tidy(match["message"] or match["option"] or match["setup"]), fatal=True)
    if match := _ERROR.match(text):
        return Failure(_tidy(match["message"] or match["connection"]), fatal=False)
    if text.startswith(VACUUM_START):
        return VacuumStarted()
    return None


def server_error(text: str) -> Failure | None:
    """An error of the server that pgbench prints without a prefix; other programs print the same text."""
    match = _SERVER_ERROR.match(text)
    return Failure(_tidy(match[0]), fatal=False) if match else None


def is_no_server(failure: Failure) -> bool:
    """Whether pgbench found no server, so that it printed nothing on standard output."""
    return _NO_SERVER.match(failure.message) is not None


def known(text: str) -> bool:
    """Whether pgbench or libpq prints such lines without figures: notices, details, -d, --verbose-errors."""
    return _KNOWN.match(text) is not None


def initialisation(text: str) -> Initialisation | None:
    """The content of a line; None if `pgbench -i` does not print it."""
    if match := _GENERATED.fullmatch(text):
        return Generated(int(match["rows"]), int(match["of"]), float(match["elapsed"]))
    if match := _DONE.fullmatch(text):
        return Initialised(float(match["duration"]) if match["duration"] else None)
    return InitialisationStep() if _STEP.fullmatch(text) else None


def _first_of(where: str) -> tuple[str, str, str]:
    """Splits `in command 0 query 0: ERROR: ...` or `in command 0 ...; ERROR: ...` at its first `: ` or `; `."""
    return min((where.partition(separator) for separator in (": ", "; ")), key=lambda parts: len(parts[0]))


def _tidy(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
