"""iperf3's metric families, in the order of the exposition. `direction`: what this process does, send or receive.

A server counts what its client counts: what could be summed up is in families of its own there.
"""

from typing import NamedTuple

from ...metrics.samples import Family

_D = ("direction",)
_NO_REPEATS = "Absent for an interval without a byte, in which iperf3 repeats the last value."
_SO_FAR = "so far, without omitted intervals"


def _runs(name: str, text: str, *labels: str) -> Family:
    return Family(name, "gauge", text, labels, part="runs")


class Counted(NamedTuple):
    """What both ends count."""

    rate: Family
    bytes: Family
    result_rate: Family
    result_bytes: Family


def _counted(start: str, end: str) -> Counted:
    rate = f"Bytes a second over the last report interval{end}: bytes / seconds of the sum, or Bitrate."
    total = f"Bytes {_SO_FAR}{end}: bytes of the sums, then of the end (only in JSON)."
    result = f"Bytes a second of the test as this process counted them{end}: sum_sent or sum_received of the end."
    return Counted(
        Family(f"{start}_throughput_bytes_per_second", "gauge", rate, _D),
        Family(f"{start}_bytes_total", "counter", total, _D),
        _runs(f"{start}_result_throughput_bytes_per_second", result, *_D),
        _runs(f"{start}_result_bytes", f"Bytes of the test as this process counted them{end} (only in JSON).", *_D),
    )


CLIENT, SERVER = _counted("iperf", ""), _counted("iperf_server", ", of a server, whose client counts the same")
JITTER = Family("iperf_jitter_seconds", "gauge", "Jitter of the datagrams received, seconds: jitter_ms (UDP).")
_RTT = f"Round-trip time as the kernel smooths it, seconds, mean of the streams: rtt (TCP, only in JSON). {_NO_REPEATS}"
RTT = Family("iperf_rtt_seconds", "gauge", _RTT)
_WINDOW = f"Congestion windows of all sending streams together, bytes: snd_cwnd, Cwnd (TCP). {_NO_REPEATS}"
WINDOW = Family("iperf_congestion_window_bytes", "gauge", _WINDOW)
_RETRANSMITS = f"Segments that this process sent again {_SO_FAR}: retransmits, Retr (TCP)."
RETRANSMITS = Family("iperf_retransmits_total", "counter", _RETRANSMITS)
_PACKETS = f"Datagrams sent, or received and lost, {_SO_FAR}: packets (UDP)."
PACKETS = Family("iperf_packets_total", "counter", _PACKETS, _D)
_LOST = (
    f"Datagrams lost on their way to this process {_SO_FAR}: lost_packets (UDP). Of its own only the other end knows."
)
LOST = Family("iperf_lost_packets_total", "counter", _LOST, _D)
STREAMS = _runs("iperf_streams", "Parallel streams in each direction (-P): num_streams, or the connections of text.")
_TARGET = "Rate asked for (-b), bytes a second: target_bitrate x streams."
TARGET = _runs("iperf_target_bytes_per_second", _TARGET, *_D)
RESULT_RETRANSMITS = _runs("iperf_result_retransmits", "Segments that the sender sent again: sum_sent (TCP).", *_D)
RESULT_LOST = _runs("iperf_result_lost_ratio", "Part of the datagrams that did not arrive: sum_received (UDP).", *_D)
RESULT_JITTER = _runs("iperf_result_jitter_seconds", "Jitter at the receiver, seconds: sum_received (UDP).", *_D)
_CPU = "Processor seconds a second of iperf3 at this end (local) and the other (remote): cpu_utilization_percent."
RESULT_CPU = _runs("iperf_result_cpu_ratio", _CPU, "host")

_OTHERS = tuple(value for value in list(globals().values()) if isinstance(value, Family))
FAMILIES = (*CLIENT, *SERVER, *_OTHERS)
"""All of them, in this order."""
