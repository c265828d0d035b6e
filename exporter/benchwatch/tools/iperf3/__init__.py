"""iperf3 3.1 - 3.22, client or server: the events of `--json-stream` (3.17+), the document of `-J`, which has the same
parts, and text, in any mixture and several tests one after the other.

    {"event":"start","data":{"connected":[...],"version":"iperf 3.18","timestamp":{...},"test_start":{...},...}}
    {"event":"interval","data":{"streams":[...],"sum":{...},"sum_bidir_reverse":{...}}}
    {"event":"end","data":{"sum_sent":{...},"sum_received":{...},"cpu_utilization_percent":{...},...}}
    {"event":"error","data":"control socket has closed unexpectedly"}
    or {"start":{...},"intervals":[{...}],"end":{...},"error":"..."}
    Connecting to host 127.0.0.1, port 24507                 or: Accepted connection from 127.0.0.1, port 55594
    [  5]   0.00-1.00   sec  23.9 MBytes   200 Mbits/sec    0    767 KBytes       (omitted)      TCP, sent
    [SUM][RX-C]   0.00-1.00   sec  4.81 MBytes  40.4 Mbits/sec  0.020 ms  0/154 (0%)             UDP, received
    [  5]   0.00-4.00   sec  95.4 MBytes   200 Mbits/sec    0             sender                 the whole test

`sum` flows from the client to the server, or back with -R; `sender` says whether this process sends it. With --bidir,
`sum_bidir_reverse` is the other direction. If the figures of the other end are unknown, its bytes are 0. A document
that repeats the events before it (--json-stream-full) says nothing new; one that is cut off counts as far as it goes.

In text, bytes count in 1024, bits in 1000, with three digits: within 0.5 %, so that no byte is counted exactly. A
direction with several streams has a [SUM]; --timestamps puts any text before each line. Lines after `Server output:`
(--get-server-output) are the other end's. UDP of 3.1 has one row for both ends, without `sender` or `receiver`.

Directions are those of the process that reports. A server counts what its client counts, so figures that a sum would
count twice have families of their own for servers. Omitted intervals (-O) are shown while they last, but neither
counted nor part of a result. iperf3 prints the last interval again if the connection is lost. A start event, a document
or the first line of a text begins another test if the test before is over or has a role. Errors of a server between two
tests belong to neither.
"""

import re
from functools import partial
from pathlib import Path

from ...machine.host import Host
from ..invocation import Benchmark
from ..kit import TextTool
from ..kit.options import options, refuse
from ..launcher import Command, CommandLine, Facts, server_host
from .metrics import CLIENT, FAMILIES, SERVER
from .parser import BEGINS, SAYS_NOTHING, Iperf3Parser

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
    for name in ("version", "help", "daemon"):
        if f"--{name}" in given:
            raise refuse(f"iperf3 --{name}")
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


IPERF3 = TextTool(
    name="iperf3",
    families=FAMILIES,
    roles=[CLIENT, SERVER],
    begins=BEGINS,
    known=SAYS_NOTHING,
    parser=Iperf3Parser,
    time_limit=r"(?:^|\s)(?:-t ?|--time[= ])(\S+)",
    rate_limit=r"^(?!.*\s(?:-b ?|--(?:bitrate|bandwidth)[= ])0(?:\s|$))"
    r".*\s(?:-[46RuZNV]*[ub]|--udp|--bitrate|--bandwidth)(?![a-z])",
    advice="--json-stream gives (before 3.17 --forceflush)",
    example="iperf3 -c server --json-stream",
    has_server=True,
    launcher=read,
).tool()
