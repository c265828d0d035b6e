"""iperf3's metric families, in the order of the exposition. `direction`: what this process does, send or receive."""

from ...metrics.exposition import Family

_D = ("direction",)
_NO_REPEATS = "Absent for an interval without a byte, in which iperf3 repeats the last value."
_SO_FAR = "so far, without omitted intervals"

THROUGHPUT = Family(
    "iperf_throughput_bytes_per_second",
    "gauge",
    "Bytes a second over the last report interval: bytes / seconds of the sum; the bitrate of text, within 0.5 %.",
    _D,
)
SERVER_THROUGHPUT = Family(
    "iperf_server_throughput_bytes_per_second",
    "gauge",
    "The same of a server: apart, since it counts what its client counts, so that sums have each byte once.",
    _D,
)
JITTER = Family("iperf_jitter_seconds", "gauge", "Jitter of the datagrams received, seconds: jitter_ms (UDP).")
RTT = Family(
    "iperf_rtt_seconds",
    "gauge",
    "Round-trip time as the sending kernel smooths it, seconds, mean of the streams: rtt (TCP, only in JSON). "
    + _NO_REPEATS,
)
WINDOW = Family(
    "iperf_congestion_window_bytes",
    "gauge",
    f"Congestion windows of all sending streams together, bytes: snd_cwnd, Cwnd (TCP). {_NO_REPEATS}",
)
BYTES = Family(
    "iperf_bytes_total", "counter", f"Bytes {_SO_FAR}: bytes of the sums, then of the end (only in JSON).", _D
)
RETRANSMITS = Family(
    "iperf_retransmits_total", "counter", f"Segments that this process sent again {_SO_FAR}: retransmits, Retr (TCP)."
)
PACKETS = Family(
    "iperf_packets_total", "counter", f"Datagrams sent, or received and lost, {_SO_FAR}: packets (UDP).", _D
)
LOST = Family(
    "iperf_lost_packets_total",
    "counter",
    f"Datagrams that this process should have received and did not {_SO_FAR}: lost_packets (UDP). Of those that it "
    "sends only the other end knows.",
)


def _runs(name: str, text: str, *labels: str) -> Family:
    return Family(name, "gauge", text, labels, part="runs")


STREAMS = _runs("iperf_streams", "Parallel streams in each direction (-P): num_streams, or the connections of text.")
TARGET = _runs(
    "iperf_target_bytes_per_second", "Rate asked for (-b), bytes a second in each direction: target_bitrate x streams."
)
RESULT_THROUGHPUT = _runs(
    "iperf_result_throughput_bytes_per_second",
    "Bytes a second of the test as this process counted them: sum_sent or sum_received of the end.",
    *_D,
)
SERVER_RESULT = _runs(
    "iperf_server_result_throughput_bytes_per_second", "The same of a server, which counts what its client counts.", *_D
)
RESULT_BYTES = _runs("iperf_result_bytes", "Bytes of the test as this process counted them (only in JSON).", *_D)
RESULT_RETRANSMITS = _runs("iperf_result_retransmits", "Segments that the sender sent again: sum_sent (TCP).", *_D)
RESULT_LOST = _runs("iperf_result_lost_ratio", "Part of the datagrams that did not arrive: sum_received (UDP).", *_D)
RESULT_JITTER = _runs("iperf_result_jitter_seconds", "Jitter at the receiver, seconds: sum_received (UDP).", *_D)
RESULT_CPU = _runs(
    "iperf_result_cpu_ratio",
    "Processor seconds a second of iperf3 here (local) and at the other end (remote): cpu_utilization_percent.",
    "host",
)

FAMILIES = tuple(value for value in list(globals().values()) if isinstance(value, Family))
"""All of them, in this order."""
