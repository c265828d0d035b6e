"""The command line of iperf3: the reporting flags that it lacks, and facts about its test."""

import re
from functools import partial
from pathlib import Path

from ...machine.host import Host
from ..invocation import Benchmark
from ..kit.options import options, refuse
from ..launcher import Command, CommandLine, Facts, server_host

LETTERS = "p:f:i:I:F:A:B:VJvhsD1c:X:ub:t:n:k:l:P:Rw:C:M:N46S:L:ZO:T:dm"
NAMES = {
    **{"-i": "--interval", "-V": "--verbose", "-J": "--json", "-f": "--format", "-d": "--debug", "-T": "--title"},
    **{"-c": "--client", "-t": "--time", "-n": "--bytes", "-k": "--blockcount", "-O": "--omit"},
    **{"-D": "--daemon", "-v": "--version", "-h": "--help"},
}
AS_TEXT = frozenset({"--verbose", "--format", "--debug", "--title", "--timestamps", "--forceflush"})
KERNEL = ("net.ipv4.tcp_congestion_control", "net.core.rmem_max", "net.core.wmem_max")


def read(line: CommandLine) -> Command:
    """See Launcher. A client measures after the seconds that it omits (-O), or until an amount is sent (-n, -k)."""
    given = options(line.arguments, LETTERS, NAMES)
    refuse("iperf3", given, ("version", "help", "daemon"), dashes="--")
    lasts, omits = given.get("--time", "10"), given.get("--omit", "0")
    is_timed = "--client" in given and not given.keys() & {"--bytes", "--blockcount"}
    is_known = re.fullmatch(r"\d{1,9}(\.\d{1,9})? \d{1,9}(\.\d{1,9})?", f"{lasts} {omits}") and float(lasts)
    command = Command(
        length=float(lasts) + float(omits) if is_timed and is_known else None,
        output=given.get("--logfile", ""),
        facts=partial(_facts, given.get("--client")),
    )
    if given.get("--interval") in ("0", "0.0"):
        command = command.remark("iperf3 -i 0 reports only at the end: nothing is shown while it runs")
    if given.keys() & {"--json-stream", "--json-stream-full"}:
        return command
    if "--json" in given:
        end = "iperf3 -J prints one document at the end: without --json-stream, nothing is shown while it runs"
        return command.remark(end)
    if [int(part) for part in re.findall(r"\d+", line.version)[:2]] >= [3, 17] and not given.keys() & AS_TEXT:
        return command._replace(added=("--json-stream",), display=lambda _: len)
    flags = {"--forceflush": ("--forceflush",), "--interval": ("-i", "1")}
    return command._replace(added=tuple(word for name in flags if name not in given for word in flags[name]))


def _facts(address: str | None, benchmark: Benchmark, host: Host) -> Facts:
    """What this end's kernel does with connections; `address`: that of the other end, to a client."""
    files = {name: Path("/proc/sys", name.replace(".", "/")) for name in KERNEL if not benchmark.elsewhere}
    said = {name: file.read_text().strip() for name, file in files.items() if file.is_file()}
    if address is None:
        return Facts(said, here=True)
    server = server_host(address, benchmark, host)
    return Facts(said, host=server, client=benchmark.machine(host), here=True)
