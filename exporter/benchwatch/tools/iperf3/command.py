"""iperf3's command line (3.9 - 3.22): which reporting flags are missing, and how long it will run.

`--json-stream` reports best, but needs 3.17; text is flushed at every report only with `--forceflush`. What a user
asks for (-J, -V, -f, --timestamps ...) stays.
"""

import getopt
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ...machine.host import Host
from ...values.errors import UserError
from ..invocation import Benchmark
from ..launcher import Command, Facts, LogRoom, NotUnderstood, Preparation, server_host

_SHORT = "p:f:i:I:F:A:B:VJvhsD1c:X:ub:t:n:k:l:P:Rw:C:M:N46S:L:ZO:T:dm"
_LONG = """
    port= format= interval= pidfile= file= affinity= bind= bind-dev= verbose json json-stream json-stream-full logfile=
    forceflush timestamps rcv-timeout= snd-timeout= debug version help server daemon one-off server-bitrate-limit=
    idle-timeout= server-max-duration= rsa-private-key-path= authorized-users-path= time-skew-threshold= client= sctp
    xbind= nstreams= udp connect-timeout= bitrate= pacing-timer= fq-rate= time= bytes= blockcount= length= cport=
    parallel= reverse bidir window= congestion= set-mss= no-delay version4 version6 tos= dscp= flowlabel= zerocopy
    skip-rx-copy omit= title= extra-data= get-server-output udp-counters-64bit repeating-payload dont-fragment mptcp
    gsro username= rsa-public-key-path= use-pkcs1-padding cntl-ka"""
_NAMES = "interval verbose json format debug title daemon server client time bytes blockcount omit version help"
_LETTERS = dict(zip("iVJfdTDsctnkOvh", _NAMES.split(), strict=True))
_OPTIONAL = re.compile(r"(--(?:timestamps|debug)|-d)=.*", re.DOTALL)  # values that Python's getopt cannot leave out
_AS_TEXT = frozenset({"verbose", "format", "debug", "title", "timestamps", "forceflush"})
_KERNEL = ("net.ipv4.tcp_congestion_control", "net.core.rmem_max", "net.core.wmem_max")


class Iperf3Command(Command):
    """The options by their long names; a switch has an empty value."""

    def __init__(self, options: Mapping[str, str], version: tuple[int, ...]) -> None:
        self._given, self._version = options, version

    @property
    def length(self) -> float | None:
        """Seconds, with those that are omitted (-t, -O); None for a server, or if an amount is given (-n, -k)."""
        given = [self._given.get("time", "10"), self._given.get("omit", "0")]
        seconds = [float(text) for text in given if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text)]
        limited = "client" in self._given and not self._given.keys() & {"bytes", "blockcount"}
        return sum(seconds) if limited and len(seconds) == 2 and seconds[0] else None

    @property
    def output(self) -> str:
        """See Command."""
        return self._given.get("logfile", "")

    def prepare(self, percentiles: bool, room: LogRoom | None, own: object = None) -> Preparation:
        """See Command."""
        given = self._given
        end = "iperf3 -i 0 reports only at the end: nothing is shown while it runs"
        prepared = Preparation(remarks=(end,) if given.get("interval") in ("0", "0.0") else ())
        if given.keys() & {"json-stream", "json-stream-full"}:
            return prepared
        if "json" in given:
            end = "iperf3 -J prints one document at the end: without --json-stream, nothing is shown while it runs"
            return prepared.remark(end)
        if self._version >= (3, 17) and not given.keys() & _AS_TEXT:
            return prepared._replace(added=("--json-stream",), display=lambda _: len)
        flags = {"forceflush": ("--forceflush",), "interval": ("-i", "1")}
        return prepared._replace(added=tuple(word for name in flags if name not in given for word in flags[name]))

    def facts(self, benchmark: Benchmark, host: Host) -> Facts:
        """What this end's kernel does with connections."""
        files = {name: Path("/proc/sys", name.replace(".", "/")) for name in _KERNEL if not benchmark.elsewhere}
        said = {name: file.read_text().strip() for name, file in files.items() if file.is_file()}
        if (address := self._given.get("client")) is None:
            return Facts(said, here=True)
        own = "" if benchmark.elsewhere else host.name
        return Facts(said, host=server_host(address, benchmark, host), client=own, here=True)


def read(arguments: Sequence[str], version: str) -> Command:
    """See Launcher."""
    try:
        found, _ = getopt.gnu_getopt([_OPTIONAL.sub(r"\1", word) for word in arguments], _SHORT, _LONG.split())
    except getopt.GetoptError:
        return NotUnderstood()
    options = {_LETTERS.get(name.lstrip("-"), name.lstrip("-")): value for name, value in found}
    for name in ("version", "help", "daemon"):
        if name in options:
            raise UserError(f"iperf3 --{name} has no reports to watch: start it without `benchwatch run`")
    number = re.match(r"iperf (\d+)\.(\d+)", version)
    return Iperf3Command(options, tuple(map(int, number.groups())) if number else ())
