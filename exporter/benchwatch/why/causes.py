"""What makes a run slow, in words, as far as metrics show it. What they do not show is not guessed."""

from collections.abc import Iterator

from ..values import numbers
from .case import PART, STANDS_OUT, SlowCase
from .explanation import Cause
from .storage import slow_disks, storage_causes
from .waits import OUTSIDE, UNEXPLAINED
from .window import DATA, LOCK, LOG, OTHER, PROCESSORS, WORK

_BUSY, _FULL, _MORE_BUSY = 0.75, 0.95, 0.15
"""The part of the processors that is busy where they are missing; where nobody knows who wants them, they must be full,
and by so much more than usual.
"""
_PRESSURE, _QUEUE, _STEAL, _MEMORY, _RECLAIM, _SWAP, _RETRANSMITS = 0.1, 0.25, 0.03, 0.02, 1000.0, 100.0, 10.0
"""The least of each figure of a machine that can matter, in its unit."""
_OF_A_PROCESSOR = 0.3
"""What a process must use more than usual to be named, processors."""
_MANY = 8
"""I/Os in a row that a holder of a lock waits for."""
_AS_USUAL = 0.8
"""The part of the usual rate that is as usual."""
_UNANSWERED = 0.2
"""The part of a slow time in which a database must have answered no question."""
_LONGEST = 80
"""Characters of a query."""


def causes(case: SlowCase) -> Iterator[Cause]:
    """All that apply, in the order in which they are believed."""
    of, now, server = case.of, case.now, case.facts.server
    more, whole = of.more(), of.slower
    if not whole and of.now.rate >= _AS_USUAL * of.usual.rate:
        return
    if now.silent("node", server) >= 0.5:
        yield Cause("server", f"{server} does not answer: its node_exporter is silent")
    outside = more[OUTSIDE] + more[UNEXPLAINED]
    hot = _hot(case, server)
    if hot and (outside < 0.5 * whole or not any(_wanted(case, host) for host in case.facts.clients)):
        yield _server_cpu(case)
    for host in case.facts.clients:
        if (not whole or outside >= PART * whole) and _hot(case, host):
            yield Cause("client_cpu", _said_of_processors(case, host), outside)
    if hot:
        yield _server_cpu(case)
    if _short_of_memory(case):
        yield Cause("memory", f"{server} is short of memory")
    unanswered = now.unanswered if case.facts.database else 0.0
    # Where it goes on, the first reports have the time that their operations waited.
    said = "answers no question" if unanswered >= 0.5 else "answered no question at first"
    silence = [Cause("database", f"PostgreSQL on {server} {said}")] if unanswered >= _UNANSWERED else []
    if not whole:
        yield from silence
        return
    _, longest = now.lock_waits
    locked = more[LOCK] >= PART * whole and longest >= 0.1
    slow = slow_disks(case)
    on_devices = more[LOG] + more[DATA]
    # Behind a slow device, sessions wait for locks too: as long as their holders wait for some I/Os.
    slowest = max((disk.now for disk in slow), default=0.0)
    if locked and more[LOCK] > 2 * on_devices and longest >= _MANY * slowest:
        yield Cause("database", _said_of_lock(case), more[LOCK])
    flooding = _flooding(case)
    if flooding and (slow or on_devices >= PART * whole):
        yield Cause("database", _said_of_checkpoint(case), on_devices + more[OTHER] + more[LOCK])
    yield from storage_causes(case, slow)
    if locked:
        yield Cause("database", _said_of_lock(case), more[LOCK])
    yield from silence
    yield from _outside_storage(case, flooding)


def _outside_storage(case: SlowCase, flooding: bool) -> Iterator[Cause]:
    """Of a run that is slower, after its devices and locks: network, checkpoints, and other work of the database."""
    more, whole, now, server = case.of.more(), case.of.slower, case.now, case.facts.server
    # Where processors are always full, time outside the database may as well be spent waiting for one.
    full = any((now.busy(host) or 0.0) >= _FULL for host in case.facts.hosts)
    answered = case.facts.database and now.active is not None and not case.of.now.stuck
    if answered and more[OUTSIDE] >= 0.5 * whole and not full:
        yield Cause("network", "between the benchmark and the database", more[OUTSIDE])
    again, usually = (window.rate("node_netstat_Tcp_RetransSegs", host=server) for window in (now, case.was))
    if again is not None and _grown(again, usually, _RETRANSMITS):
        yield Cause("network", f"{again:.0f} segments/s are sent again")
    if flooding:
        yield Cause("database", _said_of_checkpoint(case), more[DATA] + more[OTHER] + more[WORK])
    inside = more[WORK] + more[OTHER] + more[LOCK]
    if inside >= 0.5 * whole:
        stage = max((WORK, OTHER, LOCK), key=lambda stage: more[stage])
        yield Cause("database", stage if stage != WORK else "its statements take longer", inside)


def _grown(now: float | None, usual: float | None, floor: float) -> bool:
    """Whether a figure stands out from the usual."""
    return (now or 0.0) >= STANDS_OUT * max(usual or 0.0, floor)


def _hot(case: SlowCase, host: str) -> bool:
    """Whether a machine's processors are missing: busy or stolen, and more wanted than usual."""
    busy = case.now.busy(host) or 0.0
    if _grown(case.now.steal(host), case.was.steal(host), _STEAL) or (busy >= _BUSY and _wanted(case, host)):
        return True
    known = case.now.pressure(host) is not None or case.now.queue(host) is not None
    usually = case.was.busy(host)
    return not known and busy >= max(_FULL, (1.0 if usually is None else usually) + _MORE_BUSY)


def _wanted(case: SlowCase, host: str) -> bool:
    """Whether more processes than usual wait for a processor."""
    waiting = _grown(case.now.pressure(host), case.was.pressure(host), _PRESSURE)
    return waiting or _grown(case.now.queue(host), case.was.queue(host), _QUEUE)


def _server_cpu(case: SlowCase) -> Cause:
    """Everything takes longer where processors are missing."""
    seconds = sum(max(0.0, more) for more in case.of.more().values())
    return Cause("server_cpu", _said_of_processors(case, case.facts.server), seconds)


def _said_of_processors(case: SlowCase, host: str) -> str:
    busy, usually = case.now.busy(host) or 0.0, case.was.busy(host)
    said = f"the processors of {host or 'its machine'} are {100 * busy:.0f} % busy"
    said += "" if usually is None else f", usually {100 * usually:.0f} %"
    queue, steal = case.now.queue(host) or 0.0, case.now.steal(host) or 0.0
    said += f", {queue + 1:.1f} processes want each" if queue >= _QUEUE else ""
    said += f"; the hypervisor takes {100 * steal:.0f} % (steal)" if steal >= _STEAL else ""
    name, used, before = case.more_used(PROCESSORS, host)
    if used - (before or 0.0) >= _OF_A_PROCESSOR:
        said += f"; {name} uses {used:.1f} of them, usually {before or 0.0:.1f}"
    return said


def _short_of_memory(case: SlowCase) -> bool:
    host, memory = case.facts.server, "node_pressure_memory_waiting_seconds_total"
    scans = "node_vmstat_pgscan_direct"
    return (
        _grown(case.now.rate(memory, host=host), case.was.rate(memory, host=host), _MEMORY)
        or _grown(case.now.rate(scans, host=host), case.was.rate(scans, host=host), _RECLAIM)
        or _grown(case.now.swap(host), case.was.swap(host), _SWAP)
    )


def _said_of_lock(case: SlowCase) -> str:
    """Who waits, how long, and who holds it where that is exported."""
    waiting, longest = case.now.lock_waits
    said = f"waiting for a lock: {waiting:.0f} wait, the longest for {numbers.duration(longest)}"
    blockers = [
        (blocked, one.labels)
        for one in case.now.seen.of("pg_blocking_processes", host=case.facts.server)
        if (blocked := one.highest(case.of.begin, case.of.moment)) is not None
    ]
    if not blockers:
        return said
    _, labels = max(blockers, key=lambda blocker: blocker[0])
    on = f" on {labels['relation']}" if labels.get("relation") else ""
    query = labels.get("query", "")[:_LONGEST]
    state = " (idle in its transaction)" if labels.get("state") == "idle in transaction" else ""
    return f"{said}; the lock{on} is held by {query!r}{state}"


def _flooding(case: SlowCase) -> bool:
    """Whether a checkpoint writes or syncs more than usual, and the data device gets it."""
    now, was = case.now, case.was
    if max(now.checkpoint, now.syncing) < 0.3:
        return False
    writes = now.checkpoint_writes >= max(8e6, STANDS_OUT * was.checkpoint_writes)
    syncs = now.syncing >= max(0.3, STANDS_OUT * was.syncing)
    begun = now.checkpoint >= max(0.9, STANDS_OUT * was.checkpoint)
    data = case.facts.of_role("data")
    twice = any(now.disk(device, "write").rate >= 2 * was.disk(device, "write").rate for device in data)
    return (writes or syncs or begun) and (twice or not data)


def _said_of_checkpoint(case: SlowCase) -> str:
    """Counters of PostgreSQL say who asked for it during its pauses and after its end only."""
    now = case.now
    timed, requested = (now.checkpoints(asked) > 0 for asked in ("timed", "requested"))
    kind = "a timed checkpoint" if timed else "a requested checkpoint" if requested else "a checkpoint"
    if now.syncing >= 0.3:
        said = f"{kind} syncs files"
    else:
        written = now.checkpoint_writes
        said = f"{kind} writes" + (f" {written / 1e6:.0f} MB/s" if written >= 1e6 else "")
        if now.pauses < 0.1:
            return f"{said} without pauses (CHECKPOINT, a backup, or behind its schedule)"
    size = now.of_database("pg_checkpoint_max_wal_size_bytes")
    target = now.of_database("pg_checkpoint_completion_target_ratio")
    said += f"; max_wal_size is {size / 2**20:.0f} MiB" if size and requested else ""
    return said + (f", checkpoint_completion_target {target:g}" if target else "")
