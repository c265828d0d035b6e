"""What iperf3 measures: its families, and their roles."""

from typing import Any

from ..kit import Families, ToolFigure
from ..roles import Roles, Unit

WAY = ("direction",)
WAYS = {True: "send", False: "receive"}
"""The direction by whether this process sends."""
BPS, NO_REPEATS = "throughput_bytes_per_second", "absent without a byte, when iperf3 repeats the last value"


def _counted(group: str, whose: str) -> dict[str, ToolFigure]:
    rate = f"Bytes{whose} (bytes / seconds of the sum, Bitrate)"
    total = f"Bytes without omitted intervals{whose} (bytes of the sums, only in JSON)"
    more: dict[str, Any] = {"labels": WAY, "group": group}
    return {
        f"{group}rate": ToolFigure(rate, BPS, "", BPS, rate=True, **more),
        f"{group}bytes": ToolFigure(total, "", "bytes", "bytes", added=True, settles=f"{group}bytes", **more),
    }


FIGURES = {
    **_counted("", ""),
    **_counted("server_", ", of a server, whose client counts the same"),
    "jitter": ToolFigure("Jitter of the UDP datagrams received, seconds (jitter_ms)", "jitter_seconds"),
    "rtt": ToolFigure(f"Smoothed round-trip time, seconds, mean of the streams (rtt); {NO_REPEATS}", "rtt_seconds"),
    "window": ToolFigure(
        f"Congestion windows of all streams, bytes (snd_cwnd); {NO_REPEATS}", "congestion_window_bytes"
    ),
    "retransmits": ToolFigure("TCP segments that this process sent again (Retr)", total="retransmits", added=True),
    "packets": ToolFigure("Datagrams sent, or received and lost (UDP)", total="packets", labels=WAY, added=True),
    "lost": ToolFigure("Datagrams lost on their way here (UDP)", total="lost_packets", labels=WAY, added=True),
    "streams": ToolFigure("Parallel streams in each direction (num_streams)", setting="streams"),
    "target": ToolFigure("Rate asked for (-b), bytes a second", setting="target_bytes_per_second", labels=WAY),
    "sent_again": ToolFigure("Segments that the sender sent again (TCP)", result="retransmits", labels=WAY),
    "settled": ToolFigure("", settles="retransmits"),
    "seconds": ToolFigure("How long the sender measured, seconds", result="duration_seconds", labels=WAY),
    "lost_ratio": ToolFigure("Part of the datagrams that did not arrive (UDP)", result="lost_ratio", labels=WAY),
    "last_jitter": ToolFigure("Jitter at the receiver, seconds (UDP)", result="jitter_seconds", labels=WAY),
    "cpu": ToolFigure("Processor seconds a second (cpu_utilization_percent)", result="cpu_ratio", labels=("host",)),
}
FAMILIES = Families("iperf", FIGURES)
AGAIN, MISSING = "segments were sent again: {} a second", "datagrams did not arrive: {}"


def _roles(group: str) -> Roles:
    return FAMILIES.roles(
        Unit("bit/s", in_bytes=True),
        "bytes",
        {"rate": f"{group}rate", "done": f"{group}bytes", "number": f"{group}bytes", "time": "seconds"},
        labels=WAY,
        observer=bool(group),
        fixed_rate=(FAMILIES.family("setting", "target"),),
        lost={
            "retransmits": FAMILIES.lost("retransmits", result="sent_again", remark=AGAIN),
            "lost packets": FAMILIES.lost("lost", "packets", result="lost_ratio", remark=MISSING, bad=True),
        },
        sources={"rate": "All streams of a direction, from iperf3's own reports."},
    )


CLIENT, SERVER = _roles(""), _roles("server_")
