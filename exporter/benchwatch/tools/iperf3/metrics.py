"""iperf3's metric families, in the order of the exposition, and their roles. `direction` is send or receive.

A server counts what its client counts, so figures that a sum would count twice have families of their own for servers.
"""

from itertools import chain

from ...metrics.samples import Family
from ..declarations import family
from ..roles import Lost, Roles, Unit

_NO_REPEATS = "Absent for an interval without a byte, in which iperf3 repeats the last value."
_SO_FAR = "so far, without omitted intervals"


def _of(name: str, text: str) -> Family:
    return family(f"iperf_{name}", text, "direction")


JITTER = family("iperf_jitter_seconds", "Jitter of the datagrams received, seconds: jitter_ms (UDP).")
_RTT = f"Round-trip time as the kernel smooths it, seconds, mean of the streams: rtt (TCP, only in JSON). {_NO_REPEATS}"
RTT = family("iperf_rtt_seconds", _RTT)
_WINDOW = f"Congestion windows of all sending streams together, bytes: snd_cwnd, Cwnd (TCP). {_NO_REPEATS}"
WINDOW = family("iperf_congestion_window_bytes", _WINDOW)
_RETRANSMITS = f"Segments that this process sent again {_SO_FAR}: retransmits, Retr (TCP)."
RETRANSMITS = family("iperf_retransmits_total", _RETRANSMITS)
PACKETS = _of("packets_total", f"Datagrams sent, or received and lost, {_SO_FAR}: packets (UDP).")
_LOST = f"Datagrams lost on their way to this process {_SO_FAR}: lost_packets (UDP). "
LOST = _of("lost_packets_total", f"{_LOST}Of its own only the other end knows.")
_STREAMS = "Parallel streams in each direction (-P): num_streams, or the connections of text."
STREAMS = Family("iperf_streams", "gauge", _STREAMS, (), "runs")
_TARGET = "Rate asked for (-b), bytes a second: target_bitrate x streams."
TARGET = Family("iperf_target_bytes_per_second", "gauge", _TARGET, ("direction",), "runs")
RESULT_RETRANSMITS = _of("result_retransmits", "Segments that the sender sent again: sum_sent (TCP).")
RESULT_LOST = _of("result_lost_ratio", "Part of the datagrams that did not arrive: sum_received (UDP).")
RESULT_JITTER = _of("result_jitter_seconds", "Jitter at the receiver, seconds: sum_received (UDP).")
_CPU = "Processor seconds a second of iperf3 at this end (local) and the other (remote): cpu_utilization_percent."
RESULT_CPU = family("iperf_result_cpu_ratio", _CPU, "host")
_OTHERS = tuple(value for value in list(globals().values()) if isinstance(value, Family))


def _roles(start: str, whose: str, *, observer: bool) -> Roles:
    text = f"Bytes a second over the last report interval{whose}: bytes / seconds of the sum, or Bitrate."
    rate = _of(f"{start}throughput_bytes_per_second", text)
    text = f"Bytes {_SO_FAR}{whose}: bytes of the sums, then of the end (only in JSON)."
    total = _of(f"{start}bytes_total", text)
    text = f"Bytes a second of the test as this process counted them{whose}: sum_sent or sum_received of the end."
    result_rate = _of(f"{start}result_throughput_bytes_per_second", text)
    text = f"Bytes of the test as this process counted them{whose} (only in JSON)."
    return Roles(
        unit=Unit("B/s", in_bytes=True),
        operations="bytes",
        labels=("direction",),
        rate=rate,
        total=total,
        result_rate=result_rate,
        result_operations=_of(f"{start}result_bytes", text),
        observer=observer,
        target_rate=TARGET,
        fixed_rate=(TARGET,),
        lost={
            "retransmits": Lost(RETRANSMITS, result=RESULT_RETRANSMITS, remark="segments were sent again: {} a second"),
            "lost packets": Lost(LOST, (PACKETS,), RESULT_LOST, "datagrams did not arrive: {}", bad=True),
        },
        sources={rate: "All streams of a direction, from iperf3's own reports."},
    )


CLIENT = _roles("", "", observer=False)
SERVER = _roles("server_", ", of a server, whose client counts the same", observer=True)
_COUNTED = ((each.rate, each.total, each.result_rate, each.result_operations) for each in (CLIENT, SERVER))
FAMILIES = (*filter(None, chain(*_COUNTED)), *_OTHERS)
# By the names that `records` gives to figures, without those that both ends count.
LIVE = {"send": {"rtt": RTT, "window": WINDOW}, "receive": {"jitter": JITTER}}
TOTALS = {"send": {"packets": PACKETS, "retransmits": RETRANSMITS}, "receive": {"packets": PACKETS, "lost": LOST}}
RESULTS = {"retransmits": RESULT_RETRANSMITS, "jitter": RESULT_JITTER}
