"""Words and figures about workers that several pages show."""

from collections import Counter
from collections.abc import Callable, Sequence
from urllib.parse import quote

from ..values import numbers as figures
from ..values.printable import in_html
from .views import WorkerView

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


def throughput(worker: WorkerView) -> Callable[[float | None], str]:
    """The function that writes its throughput; for bytes, with the unit."""
    return figures.bandwidth if worker.in_bytes else figures.rate


def unit(worker: WorkerView) -> str:
    """The unit of its throughput; empty for bytes, whose figures include it."""
    return "" if worker.in_bytes else worker.throughput_unit


def warmup(worker: WorkerView, now: float) -> str:
    """A note on its warm-up; empty without one."""
    if worker.active:
        return figures.warming_up(worker.warmup, worker.start, now)
    return "" if worker.throughput is None else figures.with_warmup(worker.warmup)


def apart(worker: WorkerView) -> str:
    """How the time of its percentile differs from that of its mean; empty if it hardly does."""
    return figures.apart(worker.time, worker.report_interval, worker.latency, worker.p99, worker.p99_time)


def length(worker: WorkerView, now: float) -> float | None:
    """How long it has been running, or ran, seconds."""
    end = now if worker.active else worker.end
    return None if worker.start is None or end is None else max(0.0, end - worker.start)


def together(group: Sequence[WorkerView]) -> str:
    """The total throughput of the running workers; empty if they count different operations."""
    running = [worker for worker in group if worker.state == "running" and worker.throughput is not None]
    running = [worker for worker in running if not worker.observer] or running
    units = {(worker.tool, worker.throughput_unit) for worker in running}
    if len(units) != 1:
        return ""
    text = throughput(running[0])(sum(worker.throughput or 0.0 for worker in running))
    return f" · together {text} {in_html(unit(running[0]))}".rstrip()


def run_link(name: str, *, up: str = "") -> str:
    """A link to the page of a run; its name may have any characters."""
    return f'<a href="{up}runs/{quote(name, safe="", errors="replace")}">{in_html(name)}</a>'


def faults(texts: Sequence[str], most: int = 10) -> str:
    """Sentences about what is wrong, as banners."""
    more = [f"and {len(texts) - most} more: see the exporter's log"] if len(texts) > most else []
    return "".join(f'<p class="banner warn">{in_html(text)}</p>' for text in [*texts[:most], *more])
