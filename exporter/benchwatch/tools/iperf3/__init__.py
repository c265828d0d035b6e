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

from ..kit import TextTool
from .command import read
from .metrics import CLIENT, FAMILIES, SERVER
from .parser import BEGINS, SAYS_NOTHING, Iperf3Parser

IPERF3 = TextTool(
    name="iperf3",
    families=FAMILIES,
    roles=[CLIENT, SERVER],
    begins=BEGINS,
    known=SAYS_NOTHING,
    parser=Iperf3Parser,
    time_limit=r"(?:^|\s)(?:-t ?|--time[= ])(\S+)",
    advice="--json-stream gives (before 3.17 --forceflush)",
    example="iperf3 -c server --json-stream",
    has_server=True,
    launcher=read,
).tool()
