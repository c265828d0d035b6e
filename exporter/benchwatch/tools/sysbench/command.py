"""sysbench's command line: `sysbench [--name=value ...] [test] [command]`, the words in any order.

If an option is repeated, the last one counts; those of a --config-file take its place among them. There is no histogram
without a percentile.
"""

from collections.abc import Sequence
from pathlib import Path

from ...machine.disks import DATA, roles_of
from ...machine.host import Host
from ...values.errors import UserError
from .. import postgres
from ..invocation import Benchmark
from ..launcher import Command, Facts, Preparation, server_host

_NO_BENCHMARK = ("prepare", "cleanup", "prewarm", "help", "version", "without a test")
_NO_DATABASE = frozenset({"cpu", "memory", "threads", "mutex"})
_OLD = {"num-threads": "threads", "max-time": "time", "max-requests": "events", "tx-rate": "rate"}
_RECORDED = ("time", "events", "percentile", "tables", "table-size", "db-driver")
_CONNECTION = {"host": "localhost", "port": "", "user": "sbtest", "db": "sbtest", "password": ""}


class SysbenchCommand(Command):
    """The options without their dashes, and the test."""

    def __init__(self, options: dict[str, str], test: str) -> None:
        self.options = options
        self.test = test

    @property
    def length(self) -> float | None:
        """Seconds (--time; 10 unless given, 0 for no limit)."""
        text = self.options.get("time", "" if "config-file" in self.options else "10")
        return float(text) or None if text.isdecimal() and self.test != "mutex" else None

    def prepare(self, percentiles: bool, room: object) -> Preparation:
        """See Command."""
        given, added, remarks = self.options, [], []
        if "report-interval" not in given:
            added.append("--report-interval=1")
        elif given["report-interval"] == "0":
            remarks.append("with --report-interval=0, sysbench reports nothing before its end")
        if percentiles and "config-file" not in given:
            added += ["--percentile=99"] if "percentile" not in given else []
            added += ["--histogram=on"] if "histogram" not in given and given.get("percentile") != "0" else []
        return Preparation(tuple(added), tuple(remarks))

    def facts(self, benchmark: Benchmark, host: Host) -> Facts:
        """Options of the command, and what the server reports, or the storage of the files."""
        given = self.options
        said = {name.replace("-", "_"): given[name] for name in _RECORDED if name in given} | {"test": self.test}
        if self.test == "fileio":
            if benchmark.elsewhere:
                return Facts(said, here=True)
            roles = roles_of([(Path.cwd(), DATA)], host.storage)
            return Facts(said, host.storage.facts(Path.cwd(), "target"), roles, client=host.name, here=True)
        own = "" if benchmark.elsewhere else host.name
        if self.test in _NO_DATABASE:
            return Facts(said, client=own, here=True)
        if given.get("db-driver") != "pgsql":
            address = given.get("mysql-host", "localhost").split(",")[0]
            return Facts(said, host=server_host(address, benchmark, host), client=own)
        words = {name: given.get(f"pgsql-{name}", default).split(",")[0] for name, default in _CONNECTION.items()}
        words["dbname"] = words.pop("db")
        quoted = (f"{name}='{value}'" for name, value in words.items() if value and "'" not in value)
        found = postgres.facts(benchmark, [f"--dbname={' '.join(quoted)}"], host)
        return found._replace(parameters={**found.parameters, **said})


def read(arguments: Sequence[str], version: str) -> SysbenchCommand:
    """See Launcher."""
    options: dict[str, str] = {}
    for name, _, value in (word[2:].partition("=") for word in arguments if word.startswith("--")):
        options[_OLD.get(name, name)] = value
    words = [word for word in arguments if not word.startswith("--")]
    asked = {*(words[-1:] or ["without a test"]), *options}
    if wrong := next((name for name in _NO_BENCHMARK if name in asked), ""):
        raise UserError(f"sysbench {wrong} is not a benchmark: start it without `benchwatch run`")
    return SysbenchCommand(options, words[0])
