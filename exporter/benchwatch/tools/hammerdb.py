"""HammerDB 4.1 to 6.0, TPROC-C by its command line (`hammerdbcli tcl auto script.tcl`).

stdout has what the virtual users say, and the transaction counter (`tcstart`), each line after a
carriage return:

    45240 PostgreSQL tpm
    Vuser 1:Beginning rampup time of 2 minutes
    Vuser 1:Timing test period of 5 in minutes
    Vuser 2:New Order Procedure Error set RAISEERROR for Details
    Vuser 1:TEST RESULT : System achieved 18065 NOPM from 41175 PostgreSQL TPM

A line of the counter covers one refresh interval (`tcset refreshrate`, 10 s unless set) but is scaled to
a minute. It counts the commits and rollbacks of all databases of the server, those of other users and of
the counter itself too: an idle PostgreSQL shows 60 to 120. The first line is always 0; what the counter
says after the result is not the run's. Nothing has a date: line n is n refresh intervals after the
counter's start. HammerDB ends with exit code 0 although every connection failed. A script may build a schema first, or
run in a loop: virtual users created after a result are another run. An asynchronous client says `Vuser 2:Payment in
vuser2:ac1 : ERROR: ...` where a procedure failed. With the time profile
(`pg_timeprofile`), a later file has the latency of each procedure; its summary of all virtual users is
read where it is part of the output (`cat /tmp/hdbxtprofile.log`).
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from ..machine.host import Host
from ..values import numbers
from . import postgres
from .invocation import Benchmark
from .kit import Begin, Failed, Families, Key, KitParser, Record, Said, TextTool, ToolFigure, ToolReport, ToolResult
from .kit.templates import milliseconds, quantile
from .launcher import Command, CommandLine, Facts, server_host
from .roles import Numbers, Unit

DB, PROCEDURE = ("database",), ("procedure",)
FAMILIES = Families(
    "hammerdb",
    {  # help; name of the gauges, name of the counter
        "rate": ToolFigure(
            "Transactions per minute of all databases of the server (tpm)",
            live="transactions_per_minute",
            result="tpm",
            labels=DB,
            rate=True,
        ),
        "nopm": ToolFigure("New orders per minute (NOPM)", result="nopm"),
        "errors": ToolFigure("Procedures that failed", total="errors", labels=PROCEDURE, added=True),
        "users": ToolFigure("Virtual users without the monitor", setting="virtual_users"),
        "ramp": ToolFigure("1 while it ramps up, which the result leaves out", live="rampup"),
        "calls": ToolFigure("Calls of the time profile (CALLS)", result="calls", labels=PROCEDURE),
        "average": ToolFigure(
            "Mean time of the time profile, seconds (AVG)", result="latency_average_seconds", labels=PROCEDURE
        ),
        "highest": ToolFigure(
            "Highest time of the time profile, seconds (MAX)", result="latency_max_seconds", labels=PROCEDURE
        ),
        "times": ToolFigure(
            "Times of the time profile, seconds (P50, P95, P99)",
            result="latency_seconds",
            labels=(*PROCEDURE, "quantile"),
        ),
    },
)
REFRESH = 10.0
COUNTER = re.compile(r"(\d{1,15}) ([\w ]{1,40}?) tpm(?: @ .*)?$")
RATE = re.compile(r"Transaction Counter refresh rate set to (\d{1,6})$")
WRONG = re.compile(
    r"Vuser \d+:(?:(?P<sync>.{1,60}?) Procedure Error|Error in \S+ (?P<oracle>[A-Z][\w ]{1,60}?) : "
    r"|(?P<async>[A-Z][a-z]+(?: [A-Z][a-z]+)??)(?: Fetch| Bind/Exec)? in \S+ : |\S+:(?P<login>login) failed:)"
)
NUMBER = r"(\d{1,15}(?:\.\d{1,20})?)"
RESULT = re.compile(
    rf"Vuser \d+:TEST RESULT : System achieved {NUMBER} "
    rf"(?:NOPM from {NUMBER} (.{{1,40}}?) TPM|(.{{1,40}}?) TPM at {NUMBER} NOPM)"
)
CREATED = re.compile(r"Vuser 1 created")
USERS = re.compile(r"(\d{1,9}) Virtual Users Created( with Monitor VU)?")
PHASE = re.compile(r"Vuser \d+:(Beginning rampup|Rampup complete|Timing test period)")
PROFILE = re.compile(r">>>>> (?:(SUMMARY)|(VIRTUAL USER)|PROC: (\w{1,60}))")
TIME = r"(\d{1,12}(?:\.\d{1,9})?)ms"
TIMES = re.compile(rf"CALLS: (\d{{1,15}})\s+MIN: [\d.]+ms\s+AVG: {TIME}\s+MAX: {TIME}")
QUANTILE = re.compile(rf"P(\d\d): {TIME}")


def _further(finals: Sequence[Numbers], _: Mapping[str, str]) -> Iterator[str]:
    """NOPM, which can be compared between databases, and the procedures of the time profile."""
    for final in finals:
        if nopm := final.get("hammerdb_result_nopm"):
            yield f"{numbers.rate_in_full(nopm[()])} NOPM"
        p99 = final.get("hammerdb_result_latency_seconds", {})
        for (name,), mean in final.get("hammerdb_result_latency_average_seconds", {}).items():
            yield f"{name}: mean {numbers.latency(mean)}, p99 {numbers.latency(p99.get((name, '0.99')))}"


class HammerLines(KitParser):
    """Reads the counter, errors, phases and the result of one stream."""

    def __init__(self, tool: TextTool) -> None:
        self._set: dict[str, Said] = {}
        super().__init__(tool)

    def begin(self) -> None:
        """See KitParser."""
        super().begin()
        self._refresh = REFRESH
        self._counted = 0  # of the counter, after the first
        self._is_ramping = self._is_over = self._counts = False
        self._errors: dict[Key, float] = {}  # since the last line of the counter
        self._has_result = False
        self._failed = ""  # what a virtual user says that failed
        self._procedure: str | None = None  # of the time profile; None outside its summary

    def known(self, text: str) -> Sequence[Record] | None:
        """See KitParser. What was set counts for all runs of a script."""
        if self._is_over and CREATED.match(text):
            refresh = self._refresh
            self.begin()
            self._refresh = refresh
            return [Begin(), *self._set.values()]
        found = super().known(text)
        self._set |= {record.name: record for record in found or () if isinstance(record, Said)}
        return found

    def line(self, text: str) -> Sequence[Record] | None:
        """See KitParser."""
        if counter := COUNTER.match(text):
            return self._counter(float(counter[1]), counter[2])
        if wrong := WRONG.match(text):
            key = "errors", wrong[wrong.lastgroup or 0]
            self._errors[key] = self._errors.get(key, 0.0) + 1
            return []
        if result := RESULT.match(text):
            return self._result(result)
        if re.match(r"Vuser \d+:FINISHED FAILED", text):
            self._failed = text
            return []
        if text == "ALL VIRTUAL USERS COMPLETE":
            return self._end()
        if phase := PHASE.match(text):
            self._is_ramping = phase[1] == "Beginning rampup"
            return []
        if users := USERS.match(text):
            return [ToolResult({("users",): max(0.0, float(users[1]) - bool(users[2]))}, final=False)]
        if rate := RATE.match(text):
            self._refresh = float(rate[1]) or REFRESH
            return []
        return self._profile(text)

    def _counter(self, tpm: float, database: str) -> Sequence[Record]:
        if self._is_over:
            return []
        if not self._counts:  # the first line is 0
            self._counts = True
            return [ToolReport(0.0, {})]
        self._counted += 1
        figures = {("rate", database): tpm, ("ramp",): float(self._is_ramping), **self._errors}
        self._errors = {}
        return [ToolReport(self._counted * self._refresh, figures, length=self._refresh)]

    def _result(self, found: re.Match[str]) -> Sequence[Record]:
        self._has_result = self._is_over = True
        nopm, tpm, database = (found[1], found[2], found[3]) if found[2] else (found[5], found[1], found[4])
        failed = [] if float(nopm) else [Failed("no new order succeeded: 0 NOPM")]
        return [*self._rest(), *failed, ToolResult({("nopm",): float(nopm), ("rate", database): float(tpm)})]

    def _end(self) -> Sequence[Record]:
        self._is_over = True
        if self._has_result:
            return self._rest()
        failed = [Failed(self._failed)] if self._failed else []
        return [*self._rest(), *failed, ToolResult({})]

    def _rest(self) -> list[Record]:
        """The errors since the last line of the counter."""
        errors, self._errors = self._errors, {}
        return [ToolReport(self._counted * self._refresh, errors)] if errors else []

    def _profile(self, text: str) -> Sequence[Record] | None:
        """The summary of the time profile, which has the latency of each procedure."""
        if head := PROFILE.match(text):
            if head[1] or head[2]:
                self._procedure = "" if head[1] else None
            elif self._procedure is not None:
                self._procedure = head[3]
            return []
        found: dict[Key, float] = {}
        if times := TIMES.match(text):
            found["calls", self._procedure or ""] = float(times[1])
            found["average", self._procedure or ""] = milliseconds(times[2])
            found["highest", self._procedure or ""] = milliseconds(times[3])
        for percent, time in QUANTILE.findall(text) if text.startswith("P99: ") else ():
            found["times", self._procedure or "", quantile(percent)] = milliseconds(time)
        if found:
            return [ToolResult(found)] if self._procedure else []
        return None


RECORDED = {"vu": "virtual_users", "count_ware": "warehouses", "total_iterations": "iterations", "bm": "benchmark"}
CONNECTION = {
    "host": "host",
    "port": "port",
    "superuser": "user",
    "superuserpass": "password",
    "defaultdbase": "db",
}


def read(line: CommandLine) -> Command:
    """See Launcher: `hammerdbcli [tcl|py] auto SCRIPT`, as far as what the script sets is plain.

    It sets `diset tpcc pg_duration 5`, or `... duration` for other databases. The length has the ramp-up.
    """
    script = Path(line.arguments[-1]) if line.arguments else Path()
    text = script.read_text("utf-8", "replace") if "auto" in line.arguments and script.is_file() else ""
    lines: list[list[str]] = [re.findall(r"[^\s(),'\"]+", each.partition("#")[0]) for each in text.splitlines()]
    commands = {words[0] for words in lines if words}
    set_to: dict[str, str] = {
        words[-2]: words[-1] for words in lines if len(words) > 2 and words[0] in ("dbset", "diset", "vuset")
    }
    given = {name: value for name, value in set_to.items() if "$" not in value}
    prefix = {"postgresql": "pg"}.get(given.get("db", "").lower(), given.get("db", ""))
    given |= {name.removeprefix(f"{prefix}_"): value for name, value in given.items() if name.startswith(f"{prefix}_")}
    minutes = [given.get(name, "") for name in ("rampup", "duration")]
    is_timed = given.get("driver") == "timed" and all(re.fullmatch(r"\d{1,6}(\.\d+)?", one) for one in minutes)
    places = [Path(place) for name in ("TMP", "TMPDIR") if (place := os.environ.get(name))]
    folder = next((one for one in places if one.is_dir()), Path("/tmp"))
    silent = "the script has no tcstart, so nothing is shown while HammerDB runs"
    return Command(
        length=60 * sum(map(float, minutes)) if is_timed else None,
        remarks=(silent,) if text and "tcstart" not in commands else (),
        writes={"profile": folder / "hdbxtprofile.log"} if given.get("timeprofile") == "true" else {},
        facts=partial(_facts, prefix == "pg", given),
    )


def _facts(is_postgres: bool, given: Mapping[str, str], benchmark: Benchmark, host: Host) -> Facts:
    """What the script sets, and what the server reports."""
    said = {label: given[name] for name, label in RECORDED.items() if given.get(name)}
    if is_postgres:
        words = {key: given.get(name, "") for name, key in CONNECTION.items()}
        return postgres.facts_at(words, said, benchmark, host)
    address = given.get("host") or given.get("server", "")
    server = server_host(address, benchmark, host) if address else ""
    return Facts(said, host=server, client=benchmark.machine(host))


HAMMERDB = TextTool(
    name="hammerdb",
    families=FAMILIES,
    roles=[
        FAMILIES.roles(
            Unit("TPM"),
            "transactions",
            labels=DB,
            database=True,
            whole_server=True,
            lost={"errors": FAMILIES.lost("errors", bad=True)},
            further=_further,
            sources={"rate": "From HammerDB's transaction counter: all databases of the server."},
        )
    ],
    banner=r"HammerDB CLI v(?P<version>\d\S*)",
    begins=r"HammerDB CLI v|Vuser \d+:(?:TEST RESULT|Beginning rampup|Timing test)|.* Hammerdb Time Profile"
    r"|\d{1,15} [\w ]{1,40}? tpm$",
    settings={
        "database": r"Database set to (\S+)$",
        "benchmark": r"Benchmark set to (\S+)",
        "rampup_minutes": r"Vuser \d+:Beginning rampup time of (\S+) minutes",
        "duration_minutes": r"Vuser \d+:Timing test period of (\S+) in minutes",
        "server_version": r"Vuser \d+:DBVersion:(\S+)",
    },
    known=r"Copyright|Type |Initialized |Changed |Value |Script |Transaction Counter |Vuser |Logging |to /"
    r"|Clearing |connection to |\t"
    r"|Cannot detect |vudestroy|Stopping |Closed |Warning: |\+-|PostgreSQL Hammerdb|Hammerdb |Virtual Users? |$",
    fatal=r"Error in Virtual User \d+: (.*)",
    parser=HammerLines,
    carriage_returns=True,
).tool(
    program="hammerdbcli",
    advice="tcset refreshrate 5 and tcstart in the script give",
    example="hammerdbcli tcl auto script.tcl",
    version_option="",
    launcher=read,
    has_server=True,
)
