"""The vdisks of the CVMs as the page of a run shows them: now, and since the page was opened."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np

from ..metrics.samples import Family, SampleColumn, Source
from ..nutanix import families
from ..nutanix.cvm_snapshot import Status
from ..nutanix.poller import Poller
from ..plots import theme
from ..plots.axes import LATENCY, OPERATIONS, Axis
from ..plots.drawing import Marks
from ..plots.run_view import Trace
from ..plots.section import Plot
from ..plots.time_lines import Line
from ..plots.timeplot import time_plot
from .views import VdiskView

_MOST = 6
"""Maximum of vdisks that are shown."""
_KEPT = 3600
"""Polls whose figures are kept while the page is open."""


class Vdisks:
    """The vdisks of all CVMs; each poll is read once."""

    def __init__(self, pollers: Sequence[Poller], failed: Callable[[Source, str, Exception], None]) -> None:
        self._pollers = pollers
        self._failed = failed
        """Called for a CVM that cannot be shown (see Exposition.failed)."""
        self._seen: dict[str, tuple[Status, list[VdiskView]]] = {}

    def of(self, vms: Collection[str]) -> list[VdiskView]:
        """The busiest vdisks of these virtual machines; if there are no such machines, of all."""
        every = [view for poller in self._pollers for view in self._views(poller)]
        chosen = [view for view in every if view.vm in vms] or every
        busy: dict[tuple[str, str], float] = {}
        for view in chosen:
            busy[view.cvm, view.vdisk] = busy.get((view.cvm, view.vdisk), 0.0) + view.rate
        shown = sorted(busy, key=busy.__getitem__, reverse=True)[:_MOST]
        return sorted((one for one in chosen if (one.cvm, one.vdisk) in shown), key=lambda one: (one.cvm, one.vdisk))

    def _views(self, poller: Poller) -> list[VdiskView]:
        try:
            status = poller.status
            known = self._seen.get(poller.name)
            if known is None or known[0] is not status:
                known = self._seen[poller.name] = status, list(_read(poller, status))
        except Exception as error:  # a bug in one CVM must not affect the others
            self._failed(poller, "view", error)
            return []
        return known[1]


def _read(poller: Poller, status: Status) -> Iterator[VdiskView]:
    found: dict[Family, dict[tuple[str, ...], float]] = {families.FRONTEND_OPS: {}, families.FRONTEND_LATENCY: {}}
    names = {}
    for sample in poller.samples() if status.snapshot else ():
        if isinstance(sample, SampleColumn):
            if sample.family in found:
                found[sample.family].update(zip(sample.labels, sample.numbers, strict=True))
        elif sample.family in found and isinstance(sample.value, int | float):
            found[sample.family][sample.labels] = sample.value
        elif sample.family is families.VDISK_INFO:
            names[sample.labels[0]] = dict(zip(sample.family.labels, sample.labels, strict=True))
    for (vdisk, op), rate in found[families.FRONTEND_OPS].items():
        name, latency = names.get(vdisk, {}), found[families.FRONTEND_LATENCY].get((vdisk, op))
        if status.snapshot:
            time = status.snapshot.time
            yield VdiskView(poller.name, vdisk, name.get("vm", ""), name.get("role", ""), op, time, rate, latency)


class VdiskHistory:
    """The figures of vdisks, poll by poll."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, ...], list[tuple[float, float, float | None]]] = {}

    def note(self, views: Sequence[VdiskView]) -> None:
        """Record the figures, if they are new; a vdisk and operation appears with its first rate above 0."""
        for view in views:
            key = (view.cvm, view.vdisk, view.role, view.op)
            if key not in self._seen and not view.rate:
                continue
            known = self._seen.setdefault(key, [])
            if not known or known[-1][0] < view.time:
                known.append((view.time, view.rate, view.latency))
                del known[:-_KEPT]

    def plots(self, start: float, length: float) -> Iterator[Plot]:
        """Over the time of a run that began at `start`, Unix seconds."""
        for title, unit, place in (("Vdisk operations", OPERATIONS, 1), ("Vdisk latency", LATENCY, 2)):
            yield from self._plot(title, unit, place, start, length)

    def _plot(self, title: str, unit: Axis, place: int, start: float, length: float) -> Iterator[Plot]:
        traces = []
        every = list(self._seen.items())  # which another thread may add to
        things = list(dict.fromkeys(key[:3] for key, _ in every))
        several = len({cvm for cvm, *_ in things}) > 1
        alike = Counter((cvm, role) for cvm, _, role in things)
        for (cvm, vdisk, role, op), seen in every:
            known = [(one[0], one[place]) for one in seen if one[place] is not None and start <= one[0]]
            if not known:
                continue
            colour, dashed = theme.SERIES[things.index((cvm, vdisk, role)) % len(theme.SERIES)], op != "read"
            times, values = np.array(known, float).T
            name = f"{role} {vdisk}".strip() if not role or alike[cvm, role] > 1 else role
            key = f"{name} {f'on {cvm} ' * several}{op}"
            traces.append(Trace(Line(times - start, values), key, op, colour, dashed))
        if not traces:
            return
        length = max(length, *(float(trace.line.seconds[-1]) for trace in traces))
        caption = (
            "As the virtual machine sees them, from the CVM's pages since this page was opened. With `serve "
            "--prometheus.url`, this shows the whole run."
        )
        yield time_plot(title, traces, length, unit, Marks(), caption, rate=unit is not LATENCY)
