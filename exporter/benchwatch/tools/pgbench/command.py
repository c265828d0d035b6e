"""pgbench's command line: which reporting flags are missing, how long it will run, what it connects to.

Options follow getopt_long's rules (bundles such as -lP1, values separate or attached, long options abbreviated). They
are those of pgbench 9.3 - 18: `-P` exists since 9.4, `--progress-timestamp` since 9.6, `--log-prefix` since 10; `-d`
means debug up to 16, and the database since 17.
"""

import getopt
import re
from collections.abc import Mapping

from ...values.errors import UserError
from .. import postgres
from ..launcher import NOT_UNDERSTOOD, Command, CommandLine, ExtraLog, LogRoom

_SHORT = "b:c:CD:f:F:h:iI:j:lL:M:nNp:P:qrR:s:St:T:U:vV?"
_LONG = """
    aggregate-interval= builtin= client= connect continue-on-error dbname= debug define= exit-on-abort
    failures-detailed file= fillfactor= foreign-keys help host= index-tablespace= init-steps= initialize jobs=
    latency-limit= log log-prefix= max-tries= no-vacuum partition-method= partitions= port= progress=
    progress-timestamp protocol= quiet random-seed= rate= report-latencies report-per-command sampling-rate= scale=
    select-only show-script= skip-some-updates tablespace= time= transactions= unlogged-tables username= vacuum-all
    verbose-errors version"""
_LETTERS = {
    **{"b": "builtin", "c": "client", "h": "host", "i": "initialize", "I": "init-steps", "j": "jobs", "l": "log"},
    **{"p": "port", "P": "progress", "R": "rate", "t": "transactions", "T": "time", "U": "username", "V": "version"},
    "?": "help",
}
_NO_BENCHMARK = ("version", "help", "show-script")
_VERSION = re.compile(r"pgbench \(PostgreSQL\) (\d+)(?:\.(\d+))?")
_LINE_BYTES = 32
"""Per transaction in the log: 31 in recordings, up to some 40 with -R."""
_RATE = 50_000
"""Assumed transactions per second and thread if nothing limits them."""
_DEFAULT_TRANSACTIONS = 10
_SCALE = "select 'scale_factor', count(*) from pgbench_branches;\n"


def _prepared(options: Mapping[str, str], version: tuple[int, int], wants_percentiles: bool) -> Command:
    """Its length, its log, and what to add to it; the value of a switch is empty."""
    added, remarks = [], []
    if "progress" not in options and version >= (9, 4):
        added += ["-P", "1"]
    if "progress-timestamp" not in options and version >= (9, 6):
        added.append("--progress-timestamp")
    log, asks = _log(options), not options.keys() & {"log", "log-prefix", "sampling-rate", "aggregate-interval"}
    if asks and version < (10, 0) and wants_percentiles:
        remarks.append(
            "pgbench before 10 has no --log-prefix, so its transaction log cannot be placed: no percentiles without -l"
        )
    if "aggregate-interval" in options:
        remarks.append("the log of --aggregate-interval appears when the run is over: no live percentiles")
    return Command(
        length=_number(options, "time"),
        log=log if log.prefix or (asks and version >= (10, 0)) else None,
        added=tuple(added),
        remarks=tuple(remarks),
    )


def _log(options: Mapping[str, str]) -> ExtraLog:
    """The transaction log; its size is exact to a few bytes, or assumes the rate above."""
    clients, seconds = _number(options, "client") or 1, _number(options, "time")
    if seconds is None:
        count = clients * (_number(options, "transactions") or _DEFAULT_TRANSACTIONS)
    else:
        count = seconds * (_number(options, "rate") or _RATE * min(_number(options, "jobs") or 1, clients))
    size = count * _LINE_BYTES

    def flags(room: LogRoom) -> tuple[str, ...]:
        sampled = next((f"{rate:g}" for rate in (1, 0.1, 0.01) if size * rate <= room.room), "0.001")
        return ("-l", f"--log-prefix={room.prefix}", *([f"--sampling-rate={sampled}"] if sampled != "1" else []))

    prefix = options.get("log-prefix", "pgbench_log") if "log" in options else ""
    return ExtraLog("transaction log", prefix, size, "log-prefix" in options, flags)


def _number(options: Mapping[str, str], name: str) -> float | None:
    try:
        return float(options[name]) or None
    except (KeyError, ValueError):
        return None


def read(line: CommandLine) -> Command:
    """See Launcher. Raises UserError if the arguments do not ask for a benchmark."""
    match = _VERSION.match(line.version)
    version = (int(match[1]), int(match[2] or 0)) if match else (18, 0)
    is_old = match is not None and version < (17, 0)
    try:
        found, rest = getopt.gnu_getopt(list(line.arguments), _SHORT + ("d" if is_old else "d:"), _LONG.split())
    except getopt.GetoptError:
        return NOT_UNDERSTOOD
    options = {_LETTERS.get(name.lstrip("-"), name.lstrip("-")): value for name, value in found}
    if "initialize" in options:
        raise UserError("pgbench -i fills tables and measures nothing: start it without `benchwatch run`")
    for name in _NO_BENCHMARK:
        if name in options or options.get("builtin") == "list":
            raise UserError(f"pgbench --{name} is not a benchmark: start it without `benchwatch run`")
    database = options.get("dbname") or ("" if is_old else options.get("d", "")) or (rest[0] if rest else "")
    connection = [f"--{name}={options[name]}" for name in ("host", "port", "username") if name in options]
    connection += [f"--dbname={database}"] if database else []
    command = _prepared(options, version, line.percentiles)
    return command._replace(facts=lambda benchmark, host: postgres.facts(benchmark, connection, host, _SCALE))
