"""Words and figures about workers that several pages show."""

from collections import Counter
from collections.abc import Sequence
from urllib.parse import quote

from ..model.run import Worker
from ..values import numbers as figures
from ..values.printable import in_html

STATES = ("failed", "stalled", "abandoned", "interrupted", "running", "finished")


def badges(counts: Counter[str]) -> str:
    """The number of workers in each state, as HTML."""
    return "".join(state(kind, f"{counts[kind]} {kind}") for kind in STATES if counts[kind])


def counted(counts: Counter[str]) -> str:
    """The same as text."""
    return ", ".join(f"{counts[kind]} {kind}" for kind in STATES if counts[kind])


def state(kind: str, word: str = "") -> str:
    """A state: a colour and a word."""
    return f'<span class="state {in_html(kind)}">{in_html(word or kind)}</span>'


def unit(worker: Worker) -> str:
    """The unit of its throughput; empty for bytes, whose figures include it."""
    return "" if worker.in_bytes else worker.unit


def warmup(worker: Worker, now: float) -> str:
    """A note on its warm-up; empty without one."""
    if worker.active:
        return figures.warming_up(worker.warmup, worker.start, now)
    return figures.without_warmup(worker.warmup, "the result on its page")


def apart(worker: Worker) -> str:
    """How the time of its percentile differs from that of its mean; empty if it hardly does."""
    return figures.apart(worker.time, worker.report_interval, worker.latency, worker.p99, worker.p99_time)


def notes(worker: Worker) -> list[str]:
    """Clauses about how its output was read, and about operations that failed, were skipped or were lost."""
    seconds = worker.measured_seconds
    lost = [one.text(word, seconds) for word, one in worker.lost.items() if one.count]
    return [*worker.notes, *lost]


def run_link(name: str, *, up: str = "") -> str:
    """A link to the page of a run; its name may have any characters."""
    return f'<a href="{up}runs/{quote(name, safe="", errors="replace")}">{in_html(name)}</a>'


def faults(texts: Sequence[str], most: int = 10) -> str:
    """Sentences about what is wrong, as banners."""
    more = [f"and {len(texts) - most} more: see the exporter's log"] if len(texts) > most else []
    return "".join(f'<p class="banner warn">{in_html(text)}</p>' for text in [*texts[:most], *more])


def note(text: str) -> str:
    """A sentence that stands out."""
    return f'<p class="note">{in_html(text)}</p>'
