"""The parts of runs' pages that are drawn over time: a run is read and drawn only while somebody looks at its page.

A run is replayed as it grows from the first request for its page until half a minute after the last one. Then its
memory is freed; runs at which nobody looks cost nothing. Reading and drawing take place in a thread, one run at a
time. The pause after that is 150 times the processor time that it took, times the number of runs that are looked at: so
pages take less than one percent of a core, however long a run is and however many people look. (A plot of an hour has
columns of ten seconds, so nothing is lost.) The only extra cost is reading what a run has written so far: once at the
beginning, and once more when the run has ended.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ..compare.measures import compared
from ..history.replayed_run import ReplayedRun
from ..history.timeline import Timeline
from ..metrics.buckets import Buckets
from ..metrics.prometheus import Prometheus, PrometheusError
from ..model.run import Run
from ..plots.benchmark import shown
from ..plots.run_view import view
from ..plots.slowness import Slowness, slowness
from ..runs.place import RunPlace
from ..settings.settings import RunsSettings
from ..values.printable import in_html
from .cells import note
from .chores import Chore, PagePart
from .run_answers import answers
from .run_plots import PATIENCE, drawn, machine

KEPT = 30.0
"""Seconds after the last request for which a run is followed."""
_MOST = 8
"""Runs that are followed at a time."""
_PAUSE, _ANSWERS, _MACHINE = 0.9, 3.0, 10.0
"""Minimum seconds between two drawings of a run, between two answers to why it is slow, and between two for disks."""
_SHARE = 150
"""Seconds of pause for a second of processor time."""
_FIRST, _FURTHER = 2.0, 0.3
"""Seconds that a request waits for the first drawing or for that of who returns, and for a further one."""
_AWAY = 5.0
"""Seconds without a request after which a reader has returned: the page waits for what is true now."""


class _Look:
    """One run at which somebody looks; `run`, `places` and `before` are as of the last request."""

    def __init__(self, run: Run, places: Sequence[RunPlace], looks: "Looks") -> None:
        self.run = run
        self.places = places
        self.before: Run | None = None
        """The run before it, whose parameters are compared with its own."""
        self.asked = 0.0
        self.followed = [ReplayedRun(looks.settings, looks.buckets, looks.families) for _ in places]
        self._timelines: Sequence[Timeline] = ()
        self._found: Slowness | None = None
        """When and why it was slow, once Prometheus has said so."""
        self._drawn: object = None
        self.course = Chore(looks.reading, _PAUSE, self._course)
        self.chores = {"course": self.course}
        if url := looks.prometheus:
            prometheus = Prometheus(url, PATIENCE)
            self.chores["answers"] = Chore(looks.asking, _ANSWERS, lambda: self._answers(prometheus))
            self.chores["machine"] = Chore(looks.asking, _MACHINE, lambda: machine(url, self._timelines, self._found))

    def stop(self) -> None:
        """Read no further."""
        for followed in self.followed:
            followed.stopping = True

    def _course(self) -> str | None:
        now = time.time()
        new = [followed.look(place, now) for followed, place in zip(self.followed, self.places, strict=True)]
        states = {worker.name: (worker.state, worker.reason) for worker in self.run.workers}
        slow = [one[1:3] for one in (self._found and self._found.slow) or ()]
        seen = states, self.before and self.before.name, slow
        if not any(new) and seen == self._drawn:
            return None
        self._drawn = seen
        timelines = [one for followed in self.followed for one in followed.timelines]
        present = [states.get(one.name, (one.state, one.reason)) for one in timelines]
        self._timelines = [
            replace(one, state=state, reason=reason) for one, (state, reason) in zip(timelines, present, strict=True)
        ]
        return drawn(self._timelines, self.before, self._found)

    def _answers(self, prometheus: Prometheus) -> str:
        if not self._timelines:
            return ""
        try:
            self._found = slowness(prometheus, view(self.run.name, self._timelines), self._found)
            return answers(prometheus, self._found, self._timelines)
        except PrometheusError as error:
            return note(f"No alerts and no disks: {error}; this page keeps trying.")

    @property
    def reading(self) -> str:
        """The progress of the first reading."""
        read, size = sum(one.read for one in self.followed), sum(one.size for one in self.followed)
        return f"Reading what the run has written so far{f': {read / size:.0%}' if size and read < size else ''} ..."


class Looks:
    """The runs at which somebody looks."""

    def __init__(self, settings: RunsSettings, buckets: Buckets, prometheus: str = "") -> None:
        self.settings = settings
        self.buckets = buckets
        self.prometheus = prometheus
        """URL of the Prometheus that watches the machines; empty: none."""
        self.families = shown() | compared()
        self.reading, self.asking = asyncio.Lock(), asyncio.Lock()
        self._looks: dict[str, _Look] = {}
        self._timer: asyncio.TimerHandle | None = None

    @property
    def names(self) -> list[str]:
        """The runs that are followed at the moment."""
        return list(self._looks)

    async def parts(self, run: Run, places: Sequence[RunPlace], before: Run | None = None) -> Mapping[str, PagePart]:
        """The present parts of its page; before the first drawing, the progress of reading."""
        look = self._looks.get(run.name)
        if look is None or [one.folder for one in look.places] != [one.folder for one in places]:
            if look is None and len(self._looks) >= _MOST and not self._let_go(_PAUSE + _FIRST):
                text = f"{_MOST} other runs are open, the maximum: close one of their pages"
                return {"course": PagePart("", note(text))}
            if look is not None:
                look.stop()
            look = self._looks[run.name] = _Look(run, places, self)
        returned = 0.0 < look.asked <= time.monotonic() - _AWAY
        look.asked = time.monotonic()
        look.run, look.places, look.before = run, places, before
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(KEPT, self._look_after)
        course, share = look.course, _SHARE * len(self._looks)
        course.start(share)
        if course.task:
            await asyncio.wait({course.task}, timeout=_FURTHER if course.part and not returned else _FIRST)
        if course.part is None:
            return {"course": PagePart("", f"<p>{in_html(look.reading)}</p>")}
        for chore in look.chores.values():
            if chore is not course:
                chore.start(share)
        said = look.chores.get("answers")
        if returned and said and said.task:
            await asyncio.wait({said.task}, timeout=_FIRST)
        return {name: chore.part for name, chore in look.chores.items() if chore.part}

    def _look_after(self) -> None:
        self._let_go(KEPT)
        self._timer = asyncio.get_running_loop().call_later(KEPT, self._look_after) if self._looks else None

    def _let_go(self, silent: float) -> bool:
        """Drop the runs that nobody has requested for so many seconds; returns whether there were any."""
        now = time.monotonic()
        over = [name for name, look in self._looks.items() if now - look.asked >= silent]
        for name in over:
            self._looks.pop(name).stop()
        return bool(over)

    def stop(self) -> None:
        """Drop all runs: the exporter ends."""
        self._let_go(0.0)
        if self._timer is not None:
            self._timer.cancel()
