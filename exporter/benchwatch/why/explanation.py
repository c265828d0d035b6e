"""Which layer makes a run slow: what its operations wait for now, compared with what is usual."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .causes import device_cause, lock_cause, machine_cause, storage_cause
from .run_facts import RunFacts
from .seen import Seen
from .signals import DATA, LOCK, LOG, OTHER, WORK
from .waits import OUTSIDE, STAGES, UNEXPLAINED, Picture, below

_STANDS_OUT, _FLOOR = 3.0, 0.00025
"""A device stands out at this multiple of its usual, and by this many seconds at least."""
_BUSY, _FULL, _MANY = 0.75, 0.95, 8
"""Part of the processors, and where nobody knows who wants them; I/Os in a row that a holder of a lock waits for."""
_MORE_BUSY, _AS_USUAL = 0.15, 0.8
_UNANSWERED = 0.2
"""The part of a slow time in which a database must have answered no question."""
_NOTICEABLE = 0.1
"""The part of the usual latency that is noticeable."""
_PART = 0.3
"""The part of what a run is slower that a layer must explain."""
_AT_LEAST = 0.05
"""The part that a slow device must have itself: an operation may wait for many of its I/Os."""
_FLOORS = {"pressure": 0.1, "queue": 0.25, "steal": 0.03, "memory": 0.02, "reclaim": 1000.0, "swap": 100.0}
"""The least of each signal of a machine that can matter."""
NONE = "none"
"""The layer of a slow time that no layer explains."""


BELOW = frozenset({"path", "frontend", "oplog", "read_source", "cvm_queue", "backend"})
"""Layers below a device of the guest."""


class Cause(NamedTuple):
    """A layer, what happens there (a clause), and the seconds of an operation that it explains; None: not known."""

    layer: str
    text: str
    seconds: float | None = None


class Explanation(NamedTuple):
    """Why a run was slow up to a moment."""

    facts: RunFacts
    begin: float
    moment: float
    """Up to when it was looked at, Unix seconds."""
    usual: Picture
    now: Picture
    cause: Cause
    armed: str
    """Whose usual it is compared with."""
    end: float = 0.0
    """When the slow time ended, Unix seconds; 0: not yet known."""

    def more(self) -> Mapping[str, float]:
        """Seconds that each stage takes more than usual; the sum is what the operation takes more."""
        return {stage: self.now.stages.get(stage, 0.0) - self.usual.stages.get(stage, 0.0) for stage in STAGES}

    @property
    def slower(self) -> float:
        """Seconds that an operation takes more than usual; 0: not noticeably more, so that there are fewer of them."""
        more = self.now.latency - self.usual.latency
        return more if more >= _NOTICEABLE * self.usual.latency else 0.0


def explain(
    seen: Seen, facts: RunFacts, usual: Picture, now: Picture, begin: float, moment: float, armed: str
) -> Explanation:
    """The first cause that applies; the order is that in which they are believed."""
    unknown = Explanation(facts, begin, moment, usual, now, Cause(NONE, ""), armed)
    cause = next(_causes(seen, unknown), unknown.cause)
    polled = {key[1:] for key in now.signals if key[0] == "polled"}
    if polled & {key[1:] for key in usual.signals if key[0] == "polled"}:
        usual, now = below(usual, facts.devices), below(now, facts.devices)
    return unknown._replace(usual=usual, now=now, cause=cause)


def _causes(seen: Seen, of: Explanation) -> Iterator[Cause]:
    more, facts, now = of.more(), of.facts, of.now.signals
    if not of.slower and of.now.rate >= _AS_USUAL * of.usual.rate:
        return
    whole = of.slower
    if now.get(("silent", facts.server), 0.0) >= 0.5:
        yield Cause("server", f"{facts.server} does not answer: its node_exporter is silent", None)
    outside = more[OUTSIDE] + more[UNEXPLAINED]
    server = Cause("server_cpu", machine_cause(of.usual, of.now, facts.server), _of_processors(more))
    if _hot(of, facts.server) and (outside < 0.5 * whole or not any(_wanted(of, host) for host in facts.clients)):
        yield server
    for host in facts.clients:
        if _hot(of, host) and (not whole or outside >= _PART * whole):
            yield Cause("client_cpu", machine_cause(of.usual, of.now, host), outside)
    if _hot(of, facts.server):
        yield server
    if any(_grown(of, key, facts.server) for key in ("memory", "reclaim", "swap")):
        yield Cause("memory", f"{facts.server} is short of memory", None)
    unanswered = now.get(("unanswered",), 0.0) if facts.database else 0.0
    # Where it goes on, the first reports have the time that their operations waited.
    said = "answers no question" if unanswered >= 0.5 else "answered no question at first"
    silence = Cause("database", f"PostgreSQL on {facts.server} {said}", None)
    if not whole:
        if unanswered >= _UNANSWERED:
            yield silence
        return
    standing = [device for device in facts.devices if _standing(of, device, whole)]
    locked = more[LOCK] >= _PART * whole and now.get(("lock wait",), 0.0) >= 0.1
    # Behind a slow device, sessions wait for locks too: as long as their holders wait for some I/Os.
    slowest = max((after for device in standing for _, _, after in waited(of, device)), default=0.0)
    if locked and (more[LOCK] > 2 * (more[LOG] + more[DATA]) and now["lock wait",] >= _MANY * slowest):
        yield Cause("database", lock_cause(seen, of.now, facts.server, of.begin, of.moment), more[LOCK])
    if _flooding(of) and (standing or more[LOG] + more[DATA] >= _PART * whole):
        yield Cause("database", _checkpoint(of), more[LOG] + more[DATA] + more[OTHER] + more[LOCK])
    yield from _storage(of, standing, more, whole)
    if locked:
        yield Cause("database", lock_cause(seen, of.now, facts.server, of.begin, of.moment), more[LOCK])
    if unanswered >= _UNANSWERED:
        yield silence
    # Where processors are always full, time outside the database may as well be spent waiting for one.
    full = any(now.get(("busy", host), 0.0) >= _FULL for host in facts.hosts)
    answered = facts.database and ("active",) in now and not of.now.stuck
    if answered and more[OUTSIDE] >= 0.5 * whole and not full:
        yield Cause("network", "between the benchmark and the database", more[OUTSIDE])
    if _grown(of, "retransmits", facts.server, 10.0):
        yield Cause("network", f"{now['retransmits', facts.server]:.0f} segments/s are sent again", None)
    if _flooding(of):
        yield Cause("database", _checkpoint(of), more[DATA] + more[OTHER] + more[WORK])
    inside = more[WORK] + more[OTHER] + more[LOCK]
    if inside >= 0.5 * whole:
        stage = max((WORK, OTHER, LOCK), key=lambda stage: more[stage])
        yield Cause("database", stage if stage != WORK else "its statements take longer", inside)


def _of_processors(more: Mapping[str, float]) -> float:
    """Everything takes longer where processors are missing."""
    return sum(max(0.0, seconds) for seconds in more.values())


def _hot(of: Explanation, host: str) -> bool:
    """Whether a machine's processors are missing: busy or stolen, and more wanted than usual."""
    busy, usually = of.now.signals.get(("busy", host), 0.0), of.usual.signals.get(("busy", host), 1.0)
    known = ("pressure", host) in of.now.signals or ("queue", host) in of.now.signals
    alone = not known and busy >= _FULL and busy >= usually + _MORE_BUSY
    return _grown(of, "steal", host) or (busy >= _BUSY and _wanted(of, host)) or alone


def _wanted(of: Explanation, host: str) -> bool:
    """Whether more processes than usual wait for a processor."""
    return any(_grown(of, key, host) for key in ("pressure", "queue"))


def _grown(of: Explanation, key: str, host: str, floor: float = 0.0) -> bool:
    value = of.now.signals.get((key, host), 0.0)
    return value >= _STANDS_OUT * max(of.usual.signals.get((key, host), 0.0), floor or _FLOORS[key])


def _standing(of: Explanation, device: str, whole: float) -> bool:
    """Whether a device is slow, by as much as explains some of the run. With a log of its own, a database does not wait
    for writes to its data.
    """
    return any(
        now >= _STANDS_OUT * max(usual, _FLOOR / _STANDS_OUT) and now - usual >= max(_FLOOR / 2, _AT_LEAST * whole)
        for _, usual, now in waited(of, device)
    )


def waited(of: Explanation, device: str) -> Iterator[tuple[str, float, float]]:
    """The operations of a device that the run waits for, with their await usually and now, seconds."""
    # With a log of its own, a database waits for writes to that, and for reads of its data.
    split = of.facts.database and set(of.facts.devices.values()) == {"log", "data"}
    for op in ("read", "write"):
        if split and (op == "write") != (of.facts.devices[device] == "log"):
            continue
        now = of.now.signals.get(("await", device, op))
        if now is not None:
            yield op, of.usual.signals.get(("await", device, op), 0.0), now


def _flooding(of: Explanation) -> bool:
    """Whether a checkpoint writes or syncs more than usual, and the data device gets it."""
    now, usual = of.now.signals, of.usual.signals
    active = now.get(("checkpoint",), 0.0) >= 0.3 or now.get(("checkpoint sync",), 0.0) >= 0.3
    writes, usually = now.get(("checkpoint writes",), 0.0), usual.get(("checkpoint writes",), 0.0)
    more = writes >= 8e6 and writes >= _STANDS_OUT * usually
    syncs = now.get(("checkpoint sync",), 0.0) >= max(0.3, 3 * usual.get(("checkpoint sync",), 0.0))
    begun = now.get(("checkpoint",), 0.0) >= max(0.9, 3 * usual.get(("checkpoint",), 0.0))
    data = [device for device, role in of.facts.devices.items() if role == "data"]
    twice = any(
        now.get(("rate", device, "write"), 0.0) >= 2 * usual.get(("rate", device, "write"), 0.0) for device in data
    )
    return active and (more or syncs or begun) and (twice or not data)


def _checkpoint(of: Explanation) -> str:
    """Counters of PostgreSQL say who asked for it during its pauses and after its end only."""
    now = of.now.signals
    timed, requested = (now.get((asked,), 0.0) > 0 for asked in ("timed", "requested"))
    kind = "a timed checkpoint" if timed else "a requested checkpoint" if requested else "a checkpoint"
    if now.get(("checkpoint sync",), 0.0) >= 0.3:
        said = f"{kind} syncs files"
    else:
        written = now.get(("checkpoint writes",), 0.0)
        said = f"{kind} writes" + (f" {written / 1e6:.0f} MB/s" if written >= 1e6 else "")
        if now.get(("checkpoint pauses",), 0.0) < 0.1:
            return f"{said} without pauses (CHECKPOINT, a backup, or behind its schedule)"
    size, target = now.get(("max wal size",)), now.get(("completion target",))
    said += f"; max_wal_size is {size / 2**20:.0f} MiB" if size and requested else ""
    return said + (f", checkpoint_completion_target {target:g}" if target else "")


def _storage(of: Explanation, standing: list[str], more: Mapping[str, float], whole: float) -> Iterator[Cause]:
    """The devices, and what is below the slowest."""
    found = max(standing, key=lambda device: max(now for _, _, now in waited(of, device)), default=None)
    seconds = more[LOG] + more[DATA]
    if found is None:
        if seconds >= 0.5 * whole and not of.facts.devices:
            stage = max((LOG, DATA), key=lambda stage: more[stage])
            yield Cause(f"{stage.replace(' ', '_')}", f"waiting for the {stage}", seconds)
        return
    if seconds < _PART * whole and ("active",) in of.now.signals and more[LOCK] + seconds < _PART * whole:
        return
    op, usual, now = max(waited(of, found), key=lambda one: one[2] - one[1])
    role = of.facts.devices[found]
    text = device_cause(of.usual, of.now, of.facts.server, found, role, op, usual, now)
    below = storage_cause(of.usual, of.now, role, op, now - usual)
    yield Cause(below[0] if below else f"{role}_device", f"{text}; {below[1]}" if below else text, seconds)
