"""What one operation of a benchmark waits for in one window of time.

Stages are seconds of a mean operation and add up to its latency. Time in the database comes from its counters; samples
of its sessions only split it. Devices count by their await, weighted with what one operation asks of them.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

from .seen import SeenRun
from .window import DATA, LOCK, LOG, OTHER, WORK, TimeWindow

OUTSIDE, UNEXPLAINED = "client and network", "unexplained"
PATH, VDISK = "path to the vdisk", "vdisk"
STAGES = (OUTSIDE, WORK, LOCK, OTHER, LOG, DATA, PATH, VDISK, UNEXPLAINED)
_FEW = 1.5
"""Sessions that wait at once from which on samples count more than counters: a counter grows at a statement's end."""
_NEXT_TO_NOTHING, _UNREPORTED = 0.05, 0.3
"""Parts of the usual: of the rate, and of the operations under way (Little's law), below which most have not ended."""
_COMMITS = 64
"""Commits that one write of the log may serve."""


class Waits(NamedTuple):
    """A mean operation in a window of a run."""

    window: TimeWindow
    latency: float
    """Seconds; of a run in which nothing completes, how long that has lasted."""
    rate: float
    """Operations a second."""
    stages: Mapping[str, float]
    """Seconds by stage; their sum is the latency."""
    stuck: bool = False
    """Whether next to nothing completes."""


def waits(of: SeenRun, begin: float, end: float, usual: Waits | None = None) -> Waits | None:
    """In the window from `begin` to `end`; None if there is no report in it. `usual` is for a window of a slow time."""
    reported = [part.window(begin, end) for part in of.parts]
    spent, done = sum(spent for spent, _ in reported), sum(done for _, done in reported)
    seconds = max(math.ceil(end) - int(begin), 1)
    rate = done / seconds
    stuck = False
    if usual is not None:
        less = spent < _UNREPORTED * usual.latency * usual.rate * seconds
        stuck = less and rate < _NEXT_TO_NOTHING * usual.rate
    if not done and not stuck:
        return None
    latency = end - begin if stuck else max(spent / done, 0.0)
    window = TimeWindow(of.seen, of.facts, begin, end)
    if of.facts.database and window.active is not None:
        stages = _of_database(window, latency, rate, stuck)
    else:
        stages = _of_devices(window, of, rate, usual)
        known = sum(stages.values())
        if known > latency > 0:
            stages = {stage: seconds * latency / known for stage, seconds in stages.items()}
        stages[UNEXPLAINED] = max(0.0, latency - known)
    return Waits(window, latency, rate, {**dict.fromkeys(STAGES, 0.0), **stages}, stuck)


def _of_database(window: TimeWindow, latency: float, rate: float, stuck: bool) -> dict[str, float]:
    """The stages of a transaction where the database is seen."""
    waiting = sum(window.sessions.values())
    if stuck:
        inside = latency * min(1.0, waiting / max(window.facts.at_once, waiting, 1.0))
    else:
        active = max(window.active or 0.0, waiting if waiting >= _FEW else 0.0)
        inside = min(latency, active / max(rate, 1e-9))
    shares = {stage: value / waiting for stage, value in window.sessions.items()} if waiting else {WORK: 1.0}
    return {OUTSIDE: latency - inside, **{stage: inside * share for stage, share in shares.items()}}


def _of_devices(window: TimeWindow, of: SeenRun, rate: float, usual: Waits | None) -> dict[str, float]:
    """The stages of an operation where only devices are seen."""
    stages = {LOG: 0.0, DATA: 0.0}
    devices = of.facts.devices
    if of.facts.database:
        writes = [window.disk(device, "write") for device in of.facts.of_role("log") or devices]
        each_takes = [disk.wait for disk in writes if disk.wait is not None]
        if each_takes and sum(disk.rate for disk in writes) * _COMMITS >= rate:
            stages[LOG] = max(each_takes)
        for device in devices:
            reads = window.disk(device, "read")
            each = reads.rate / max(rate, 1e-9)
            if usual and usual.rate:
                each = min(each, max(usual.window.disk(device, "read").rate / usual.rate, 0.01))
            stages[DATA] += each * (reads.wait or 0.0)
    elif of.facts.roles and not of.facts.roles.unit.in_bytes:
        done = dict.fromkeys((part.op for part in of.parts), 0.0)
        for part in of.parts:
            done[part.op] += part.window(window.begin, window.end)[1]
        for op, number in done.items():
            waits_of = {device: window.disk(device, op).wait for device in devices}
            users = max(1, sum(wait is not None for wait in waits_of.values()))
            share = number / max(sum(done.values()), 1e-9) / users
            for device, wait in waits_of.items():
                stages[LOG if devices[device] == "log" else DATA] += share * (wait or 0.0)
    return stages


def below(of: Waits) -> Waits:
    """The waits for devices split into those for their vdisks and for the path to them, where both are known."""
    stages, window = dict(of.stages), of.window
    for stage, role in ((LOG, "log"), (DATA, "data")):
        for op in ("write",) if stage == LOG else ("read", "write"):
            inside = max((one.latency(op) for one in window.vdisks.values() if one.role == role), default=0.0)
            waited = max((window.disk(one, op).wait or 0.0 for one in window.facts.of_role(role)), default=0.0)
            if inside and waited:
                part = min(1.0, inside / waited)
                stages[VDISK] += stages[stage] * part
                stages[PATH] += stages[stage] * (1 - part)
                stages[stage] = 0.0
                break
    return of._replace(stages=stages)
