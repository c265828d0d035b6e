"""pgbench's command line: which reporting flags are missing, how long it will run, what it connects to.

Options follow getopt_long's rules (bundles such as -lP1, values separate or attached, long options abbreviated). They
are those of pgbench 9.3 - 18: `-P` exists since 9.4, `--progress-timestamp` since 9.6, `--log-prefix` since 10; `-d`
means debug up to 16, and the database since 17.
"""

import getopt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ...machine.host import Host
from ...values.errors import UserError
from .. import postgres
from ..invocation import Benchmark
from ..launcher import Command, ExtraLog, Facts, LogRoom, NotUnderstood, Preparation

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


@dataclass(frozen=True)
class PgbenchCommand(Command):
    """The given options by their long names; the value of a switch is empty."""

    options: dict[str, str]
    database: str
    """Name or connection string; empty if none is given."""
    version: tuple[int, int] | None

    @property
    def connection(self) -> list[str]:
        """Arguments with which psql connects to the same database."""
        given = [f"--{name}={self.options[name]}" for name in ("host", "port", "username") if name in self.options]
        return given + ([f"--dbname={self.database}"] if self.database else [])

    @property
    def length(self) -> float | None:
        """Seconds (-T)."""
        return self._number("time")

    @property
    def log(self) -> ExtraLog:
        """The transaction log; its size is exact to a few bytes, or assumes the rate above."""
        clients = self._number("client") or 1
        if self.length is None:
            count = clients * (self._number("transactions") or _DEFAULT_TRANSACTIONS)
        else:
            count = self.length * (self._number("rate") or _RATE * min(self._number("jobs") or 1, clients))
        prefix = self.options.get("log-prefix", "pgbench_log") if "log" in self.options else ""
        return ExtraLog("transaction log", prefix, count * _LINE_BYTES, "log-prefix" in self.options)

    def _number(self, option: str) -> float | None:
        try:
            return float(self.options[option]) or None
        except (KeyError, ValueError):
            return None

    def prepare(self, percentiles: bool, room: LogRoom | None, own: object = None) -> Preparation:
        """See Command."""
        options, version = self.options, self.version or (18, 0)
        added, remarks = [], []
        if "progress" not in options and version >= (9, 4):
            added += ["-P", "1"]
        if "progress-timestamp" not in options and version >= (9, 6):
            added.append("--progress-timestamp")
        wanted = room is not None and not options.keys() & {"log", "log-prefix", "sampling-rate", "aggregate-interval"}
        uses_log = wanted and version >= (10, 0)
        if room is not None and uses_log:
            added += ["-l", f"--log-prefix={room.prefix}"]
            size = self.log.size
            if size > room.room:
                rate = next((f"{rate:g}" for rate in (0.1, 0.01) if size * rate <= room.room), "0.001")
                added.append(f"--sampling-rate={rate}")
        elif wanted:
            remarks.append(
                "pgbench before 10 has no --log-prefix, so its transaction log cannot be placed: no "
                "percentiles without -l"
            )
        if "aggregate-interval" in options:
            remarks.append("the log of --aggregate-interval appears when the run is over: no live percentiles")
        return Preparation(tuple(added), tuple(remarks), uses_log)

    def facts(self, benchmark: Benchmark, host: Host) -> Facts:
        """What the server reports about itself, and the storage of its files."""
        return postgres.facts(benchmark, self.connection, host, _SCALE)


def read(arguments: Sequence[str], version: str) -> PgbenchCommand | NotUnderstood:
    """See Launcher. Raises UserError if the arguments do not ask for a benchmark."""
    match = _VERSION.match(version)
    number = (int(match[1]), int(match[2] or 0)) if match else None
    old = number is not None and number < (17, 0)
    try:
        found, rest = getopt.gnu_getopt(list(arguments), _SHORT + ("d" if old else "d:"), _LONG.split())
    except getopt.GetoptError:
        return NotUnderstood()
    options = {_LETTERS.get(name.lstrip("-"), name.lstrip("-")): value for name, value in found}
    if "initialize" in options:
        raise UserError("pgbench -i fills tables and measures nothing: start it without `benchwatch run`")
    for name in _NO_BENCHMARK:
        if name in options or options.get("builtin") == "list":
            raise UserError(f"pgbench --{name} is not a benchmark: start it without `benchwatch run`")
    database = options.get("dbname") or ("" if old else options.get("d", "")) or (rest[0] if rest else "")
    return PgbenchCommand(options, database, number)
