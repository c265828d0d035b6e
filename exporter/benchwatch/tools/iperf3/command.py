"""iperf3's command line (3.9 - 3.22): which reporting flags are missing, and how long it will run.

Options are read with getopt_long's rules. `--json-stream` reports best, but came with 3.17; text is flushed at every
report only with `--forceflush`. What a user asked for (-J, -V, -f, --timestamps ...) stays.
"""

import getopt
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...machine.host import Host
from ...values.errors import UserError
from ...values.numbers import bandwidth
from ..api import Begin, Misread
from ..invocation import Benchmark
from ..launcher import Command, Display, Facts, LogRoom, Preparation, not_understood
from .parser import Iperf3Parser
from .state import Iperf3State

_SHORT = "p:f:i:I:F:A:B:VJvhsD1c:X:ub:t:n:k:l:P:Rw:C:M:N46S:L:ZO:T:dm"
_LONG = """
    port= format= interval= pidfile= file= affinity= bind= bind-dev= verbose json json-stream json-stream-full logfile=
    forceflush timestamps rcv-timeout= snd-timeout= debug version help server daemon one-off server-bitrate-limit=
    idle-timeout= server-max-duration= rsa-private-key-path= authorized-users-path= time-skew-threshold= client= sctp
    xbind= nstreams= udp connect-timeout= bitrate= pacing-timer= fq-rate= time= bytes= blockcount= length= cport=
    parallel= reverse bidir window= congestion= set-mss= no-delay version4 version6 tos= dscp= flowlabel= zerocopy
    skip-rx-copy omit= title= extra-data= get-server-output udp-counters-64bit repeating-payload dont-fragment mptcp
    gsro username= rsa-public-key-path= use-pkcs1-padding cntl-ka"""
_LETTERS = {
    **{"i": "interval", "V": "verbose", "J": "json", "f": "format", "d": "debug", "T": "title", "D": "daemon"},
    **{"s": "server", "c": "client", "t": "time", "n": "bytes", "k": "blockcount", "O": "omit", "v": "version"},
    "h": "help",
}
_OPTIONAL = re.compile(r"(--(?:timestamps|debug)|-d)=.*", re.DOTALL)
"""Options whose value may be left out, which Python's getopt does not know."""
_AS_TEXT = frozenset({"verbose", "format", "debug", "title", "timestamps", "forceflush"})
_KERNEL = ("net.ipv4.tcp_congestion_control", "net.core.rmem_max", "net.core.wmem_max")
_DEFAULT_TIME = 10.0


@dataclass(frozen=True)
class Iperf3Command(Command):
    """What is given, by the long options' names; a switch has an empty value."""

    options: Mapping[str, str] = field(default_factory=dict)
    version: tuple[int, int] | None = None
    understood: bool = True

    @property
    def length(self) -> float | None:
        """Seconds, with those that are omitted (-t, -O); None of a server, or if an amount is given (-n, -k)."""
        if "client" not in self.options or self.options.keys() & {"bytes", "blockcount"}:
            return None
        try:
            seconds = float(self.options.get("time", _DEFAULT_TIME))
            return seconds + float(self.options.get("omit", 0)) if seconds else None
        except ValueError:
            return None

    @property
    def output(self) -> str:
        """See Command."""
        return self.options.get("logfile", "")

    def prepare(self, percentiles: bool, room: LogRoom | None) -> Preparation:
        """See Command."""
        if not self.understood:
            return not_understood()
        given, remarks = self.options.keys(), []
        if self.options.get("interval") in ("0", "0.0"):
            remarks.append("iperf3 -i 0 reports only at the end: nothing is seen while it runs")
        if given & {"json-stream", "json-stream-full"}:
            return Preparation(remarks=tuple(remarks))
        if "json" in given:
            remarks.append(
                "iperf3 -J prints one document at the end: nothing is seen while it runs without --json-stream"
            )
            return Preparation(remarks=tuple(remarks))
        if self.version and self.version >= (3, 17) and not given & _AS_TEXT:
            return Preparation(("--json-stream",), tuple(remarks), display=_DISPLAY)
        flush = () if "forceflush" in given else ("--forceflush",)
        return Preparation((*flush, *(() if "interval" in given else ("-i", "1"))), tuple(remarks))

    def facts(self, benchmark: Benchmark, host: Host) -> Facts:
        """What this end's kernel does with connections."""
        files = {name: Path("/proc/sys", name.replace(".", "/")) for name in _KERNEL}
        known = {} if benchmark.elsewhere else {name: file for name, file in files.items() if file.is_file()}
        return Facts({name: file.read_text().strip() for name, file in known.items()}, here=True)


def read(arguments: Sequence[str], version: str) -> Iperf3Command:
    """See Launcher."""
    number = re.match(r"iperf (\d+)\.(\d+)", version)
    try:
        found, _ = getopt.gnu_getopt([_OPTIONAL.sub(r"\1", word) for word in arguments], _SHORT, _LONG.split())
    except getopt.GetoptError:
        return Iperf3Command(understood=False)
    options = {_LETTERS.get(name.lstrip("-"), name.lstrip("-")): value for name, value in found}
    for name in ("version", "help", "daemon"):
        if name in options:
            why = "leaves its output behind" if name == "daemon" else "is no benchmark"
            raise UserError(f"iperf3 --{name} {why}: start it without `benchwatch run`")
    return Iperf3Command(options, (int(number[1]), int(number[2])) if number else None)


def _closing(path: Path, warmup: float | None = None) -> str:
    """The result in recorded output, one line; empty if there is none."""
    state, parser = Iperf3State(), Iperf3Parser()
    for record in (*parser.feed(path.read_bytes()), *parser.close()):
        if isinstance(record, Begin):
            state = Iperf3State()
        elif not isinstance(record, Misread):
            state.apply(record, path.name, time.time())
    rate = state.figures().throughput
    if not state.outcome or rate is None:
        return f"iperf3: {state.reason}" if state.reason else ""
    included = f", the warm-up of {warmup:g} s included" if warmup else ""
    return f"iperf3 over the whole run{included}: {bandwidth(rate)}"


_DISPLAY = Display(lambda _: len, _closing)  # no event reaches the terminal
