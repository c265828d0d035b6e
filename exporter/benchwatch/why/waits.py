"""What one operation of a benchmark waits for, and what its machines do, in one window of time.

Stages are seconds of a mean operation and add up to its latency. Time in the database comes from its counters; samples
of its sessions only split it. Devices count by their await, weighted with what one operation asks of them.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .reported import Reported
from .run_facts import RunFacts
from .seen import Seen
from .signals import DATA, LOCK, LOG, OTHER, WORK, Signals, signals_of

OUTSIDE, UNEXPLAINED = "client and network", "unexplained"
PATH, VDISK = "path to the vdisk", "vdisk"
STAGES = (OUTSIDE, WORK, LOCK, OTHER, LOG, DATA, PATH, VDISK, UNEXPLAINED)
_FEW = 1.5
"""Sessions that wait at once from which on samples count more than counters: a counter grows at a statement's end."""
_NEXT_TO_NOTHING, _UNREPORTED = 0.05, 0.3
"""Parts of the usual: of the rate, and of the operations under way (Little's law), below which most have not ended."""
_COMMITS = 64
"""Commits that one write of the log may serve."""


class Picture(NamedTuple):
    """A window of a run."""

    latency: float
    """Of a mean operation, seconds; of a run in which nothing completes, how long that has lasted."""
    rate: float
    """Operations a second."""
    stages: Mapping[str, float]
    """Seconds by stage; their sum is the latency."""
    signals: Signals
    unseen: tuple[str, ...] = ()
    """What is not measured: a clause each."""
    stuck: bool = False
    """Whether next to nothing completes."""


def picture(
    seen: Seen, facts: RunFacts, parts: Sequence[Reported], begin: float, end: float, usual: Picture | None = None
) -> Picture | None:
    """The window from `begin` to `end`; None if there is no report in it. `usual` is for a window of a slow time."""
    spent, done = map(sum, zip(*(part.window(begin, end) for part in parts), strict=True)) if parts else (0.0, 0.0)
    seconds = max(math.ceil(end) - int(begin), 1)
    rate = done / seconds
    less = usual is not None and spent < _UNREPORTED * usual.latency * usual.rate * seconds
    signals = signals_of(seen, facts, begin, end)
    stuck = usual is not None and rate < _NEXT_TO_NOTHING * usual.rate and less
    if not done and not stuck:
        return None
    latency = end - begin if stuck else max(spent / done, 0.0)
    unseen = tuple(_unseen(seen, facts, begin, end))
    if facts.database and ("active",) in signals:
        stages = _database(facts, latency, signals, rate, stuck)
    else:
        stages = _devices(facts, latency, signals, rate, parts, (begin, end), usual)
    return Picture(latency, rate, stages, signals, unseen, stuck)


def _database(facts: RunFacts, latency: float, signals: Signals, rate: float, stuck: bool) -> dict[str, float]:
    """The stages of a transaction where the database is seen."""
    sampled = {kind[1]: value for kind, value in signals.items() if kind[0] == "sessions"}
    waiting = sum(sampled.values())
    if stuck:
        inside = latency * min(1.0, waiting / max(facts.at_once, waiting, 1.0))
    else:
        inside = signals["active",] / max(rate, 1e-9)
        if waiting >= _FEW:
            inside = max(inside, waiting / max(rate, 1e-9))
        inside = min(latency, inside)
    shares = {stage: value / waiting for stage, value in sampled.items()} if waiting else {WORK: 1.0}
    stages = {stage: inside * shares.get(stage, 0.0) for stage in STAGES}
    stages[OUTSIDE] = latency - inside
    return stages


def _devices(
    facts: RunFacts,
    latency: float,
    signals: Signals,
    rate: float,
    parts: Sequence[Reported],
    window: tuple[float, float],
    usual: Picture | None,
) -> dict[str, float]:
    """The stages of an operation where only devices are seen: what they do not explain is unexplained."""
    stages = dict.fromkeys(STAGES, 0.0)
    if facts.database:
        log = {device: role for device, role in facts.devices.items() if role == "log"} or facts.devices
        writes = [signals["await", device, "write"] for device in log if ("await", device, "write") in signals]
        written = sum(signals.get(("rate", device, "write"), 0.0) for device in log)
        if writes and written * _COMMITS >= rate:
            stages[LOG] = max(writes)
        for device in facts.devices:
            key = ("rate", device, "read")
            each = signals.get(key, 0.0) / max(rate, 1e-9)
            if usual and usual.rate:
                each = min(each, max(usual.signals.get(key, 0.0) / usual.rate, 0.01))
            stages[DATA] += each * signals.get(("await", device, "read"), 0.0)
    elif facts.roles and not facts.roles.unit.in_bytes:
        done = {part.op or "any": part.window(*window)[1] for part in parts}
        for device, role in facts.devices.items():
            for op, number in done.items():
                share = number / max(sum(done.values()), 1e-9) / _users(facts, signals, op)
                waited = signals.get(("await", device, op), 0.0)
                stages[LOG if role == "log" else DATA] += share * waited
    known = sum(stages.values())
    if known > latency > 0:
        stages = {stage: value * latency / known for stage, value in stages.items()}
    stages[UNEXPLAINED] = max(0.0, latency - known)
    return stages


def below(of: Picture, devices: Mapping[str, str]) -> Picture:
    """The picture with the waits for devices split into those for their vdisks and for the path to them, where both are
    known.
    """
    stages = dict(of.stages)
    for stage, role in ((LOG, "log"), (DATA, "data")):
        waited, inside = 0.0, 0.0
        for op in ("write",) if stage == LOG else ("read", "write"):
            polled = [key[1] for key in of.signals if key[0] == "polled" and key[2] == role]
            latency = max((of.signals.get(("latency", vdisk, op), 0.0) for vdisk in polled), default=0.0)
            awaits = [of.signals.get(("await", device, op), 0.0) for device, known in devices.items() if known == role]
            if latency and any(awaits):
                waited, inside = max(awaits), latency
                break
        if waited:
            part = min(1.0, inside / waited)
            stages[VDISK] = stages.get(VDISK, 0.0) + stages[stage] * part
            stages[PATH] = stages.get(PATH, 0.0) + stages[stage] * (1 - part)
            stages[stage] = 0.0
    return of._replace(stages=stages)


def _users(facts: RunFacts, signals: Signals, op: str) -> int:
    """Number of the run's devices that do such operations."""
    return max(1, sum(("await", device, op) in signals for device in facts.devices))


def _unseen(seen: Seen, facts: RunFacts, begin: float, end: float) -> Iterator[str]:
    if seen.rates("node_cpu_seconds_total", begin, end, host=facts.server) is None:
        yield "the server (no node_exporter)"
    elif not facts.devices:
        yield "its disks (without roles)"
    if facts.database and seen.rates("pg_sessions_time_active_seconds_total", begin, end, host=facts.server) is None:
        yield "the database (no postgres_exporter)"
