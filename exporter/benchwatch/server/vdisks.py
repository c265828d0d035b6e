"""The vdisks of the CVMs as the page of a run shows them: now, and since the page was opened."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np

from ..metrics.samples import Family, Sample, SampleColumn, Source
from ..model.cvm import Vdisk
from ..nutanix import families
from ..nutanix.cvm_snapshot import Status
from ..nutanix.poller import Poller
from ..plots import theme
from ..plots.axes import LATENCY, OPERATIONS, Axis
from ..plots.plot import Marks, Plot
from ..plots.run_view import Trace
from ..plots.time_lines import Line
from ..plots.timeplot import time_plot

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
        self._seen: dict[str, tuple[Status, list[Vdisk]]] = {}

    def of(self, machines: Collection[str]) -> list[Vdisk]:
        """The busiest vdisks of these virtual machines; if there are no such machines, of all."""
        every = [vdisk for poller in self._pollers for vdisk in self._safely(poller)]
        chosen = [vdisk for vdisk in every if vdisk.vm in machines] or every
        busiest = sorted(chosen, key=lambda one: math.fsum(one.rates.values()), reverse=True)
        return sorted(busiest[:_MOST], key=lambda one: (one.cvm, one.vdisk))

    def all(self, poller: Poller) -> list[Vdisk]:
        """The vdisks of one CVM as of its last successful poll."""
        status = poller.status
        known = self._seen.get(poller.name)
        if known is None or known[0] is not status:
            known = self._seen[poller.name] = status, _read(poller, status)
        return known[1]

    def _safely(self, poller: Poller) -> list[Vdisk]:
        try:
            return self.all(poller)
        except Exception as error:  # a bug in one CVM must not affect the others
            self._failed(poller, "view", error)
            return []


_FAMILIES = (
    families.FRONTEND_OPS,
    families.FRONTEND_LATENCY,
    families.RANDOM,
    families.WRITE_DESTINATION_RATIO,
)


def _read(poller: Poller, status: Status) -> list[Vdisk]:
    """The vdisks in a snapshot; those of which the page has no row are left out."""
    if not status.snapshot:
        return []
    numbers: dict[Family, dict[str, dict[str, float]]] = {family: {} for family in _FAMILIES}
    names: dict[str, Mapping[str, str]] = {}
    for sample in poller.samples():
        if sample.family is families.VDISK_INFO and isinstance(sample, Sample):
            names[sample.labels[0]] = dict(zip(sample.family.labels, sample.labels, strict=True))
        elif sample.family not in numbers:
            continue
        elif isinstance(sample, SampleColumn):
            for (vdisk, key), number in zip(sample.labels, sample.numbers, strict=True):
                numbers[sample.family].setdefault(vdisk, {})[key] = number
        elif isinstance(sample.value, int | float):
            vdisk, key = sample.labels
            numbers[sample.family].setdefault(vdisk, {})[key] = sample.value
    rates, latencies, random, destinations = numbers.values()
    return [
        Vdisk(
            poller.name,
            vdisk,
            name.get("vm", ""),
            name.get("disk", ""),
            name.get("role", ""),
            status.snapshot.time,
            rates.get(vdisk, {}),
            latencies.get(vdisk, {}),
            random.get(vdisk, {}),
            destinations.get(vdisk, {}).get("oplog"),
        )
        for vdisk, name in names.items()
    ]


class VdiskHistory:
    """The figures of vdisks, poll by poll."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, ...], list[tuple[float, float, float | None]]] = {}

    def note(self, vdisks: Sequence[Vdisk]) -> None:
        """Record the figures, if they are new; a vdisk and operation appears with its first rate above 0."""
        for vdisk in vdisks:
            for op, rate in vdisk.rates.items():
                key = (vdisk.cvm, vdisk.vdisk, vdisk.role, op)
                if vdisk.time is None or (key not in self._seen and not rate):
                    continue
                known = self._seen.setdefault(key, [])
                if not known or known[-1][0] < vdisk.time:
                    known.append((vdisk.time, rate, vdisk.latencies.get(op)))
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
        yield time_plot(title, traces, length, unit, Marks(), caption)
