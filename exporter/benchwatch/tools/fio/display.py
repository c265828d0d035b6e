"""What a terminal shows of fio when nobody asked for JSON: no documents, and the result in words at the end."""

import os
import time
from pathlib import Path

from ...metrics.buckets import Buckets
from ...values.printable import printable
from ..api import Begin, Misread
from ..launcher import Display, Write
from .framing import Framer, Text
from .metrics import RESULT_IOPS, RESULT_LATENCY, RESULT_LATENCY_AVERAGE
from .parser import FioParser
from .state import FioState

_TAIL = 16 * 1024 * 1024


def without_documents(write: Write) -> Write:
    """Wrap a write function so that only what lies between the documents gets through."""
    framer = Framer()

    def write_text(data: memoryview) -> int:
        for piece in framer.feed(bytes(data)):
            rest = memoryview(piece.data + b"\n" if isinstance(piece, Text) else b"")
            while rest:
                rest = rest[write(rest) :]
        return len(data)

    return write_text


def final_figures(path: Path, warmup: float | None = None) -> str:
    """The result in fio's last document: one line, or one per job if jobs ran one after the other.

    Empty if no document is final. It covers the whole run, and says so if that includes a `warmup` (seconds).
    """
    with path.open("rb") as file:
        file.seek(-min(_TAIL, path.stat().st_size), os.SEEK_END)
        data = file.read()
    parser, state = FioParser(), FioState(Buckets())
    for record in (*parser.feed(data), *parser.close()):
        if not isinstance(record, Begin | Misread):
            state.apply(record, path.name, time.time())
    if not state.outcome:
        return ""
    figures = state.figures()
    included = f", the warm-up of {warmup:g} s included" if warmup else ""
    if figures.throughput is not None:
        return f"fio over the whole run{included}: {_in_words(figures.throughput, figures.latency, figures.p99)}"
    samples = state.samples(current=False)
    results = {(each.family, each.labels): each.value for each in samples if isinstance(each.value, float)}
    lines = []
    for (family, labels), iops in results.items():
        if family is RESULT_IOPS:
            mean, p99 = results.get((RESULT_LATENCY_AVERAGE, labels)), results.get((RESULT_LATENCY, (*labels, "0.99")))
            lines.append(f"\n  {printable(' '.join(labels))}: {_in_words(iops, mean, p99)}")
    return "".join([f"fio by job{included}:", *lines]) if lines else ""


def _in_words(iops: float, mean: float | None, p99: float | None) -> str:
    latencies = {"mean": mean, "99th percentile": p99}
    known = [f"{name} latency {value * 1e3:.3f} ms" for name, value in latencies.items() if value is not None]
    return ", ".join([f"{iops:,.0f} IOPS", *known])


DISPLAY = Display(without_documents, final_figures)
