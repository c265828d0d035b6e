"""What makes a run slow, in words, as far as metrics show it. What they do not show is not guessed."""

from collections.abc import Iterator
from dataclasses import replace

from ..values import numbers
from .explanation import PART, STANDS_OUT, Cause, Explanation
from .storage import more_used, said_of_wait, slow_disks, storage_causes, waited
from .window import DATA, LOCK, LOG, OTHER, OUTSIDE, UNEXPLAINED, WORK, Processors, TimeWindow

_FULL = 0.95  # the part of the processors that is busy where none is free
_FREE, _AS_USUAL = 0.75, 0.1
"""Processors that are busy less than that, or hardly more than usual, are ruled out."""
_PRESSURE, _QUEUE, _STEAL, _RETRANSMITS = 0.1, 0.25, 0.03, 10.0
_MEMORY = (
    (0.02, ("node_pressure_memory_waiting_seconds_total",)),
    (1000.0, ("node_vmstat_pgscan_direct",)),
    (100.0, ("node_vmstat_pswpin", "node_vmstat_pswpout")),
)
"""The least of each figure of a machine that can matter, in its unit; for its memory, of sums of counters."""


def causes(of: Explanation) -> Iterator[Cause]:
    """All that apply, in the order in which they are believed."""
    more, whole, now, was, server = of.more(), of.slower, of.now.window, of.usual.window, of.facts.server
    if not whole and of.now.rate >= 0.8 * of.usual.rate:
        return
    if now.silent("node", server) >= 0.5:
        yield Cause("server", f"{server} does not answer: its node_exporter is silent")
    outside, on_devices = more[OUTSIDE] + more[UNEXPLAINED], more[LOG] + more[DATA]
    processors = {host: (now.processors(host), was.processors(host)) for host in {server, *of.facts.clients}}
    hot = {host for host, both in processors.items() if _hot(*both)}
    # Everything takes longer where processors are missing.
    everything = sum(max(0.0, seconds) for seconds in more.values())
    if server in hot and (outside < 0.5 * whole or not any(_wanted(*processors[host]) for host in of.facts.clients)):
        yield Cause("server_cpu", _said_of_processors(of, server), everything)
    for host in of.facts.clients & hot:
        if not whole or outside >= PART * whole:
            yield Cause("client_cpu", _said_of_processors(of, host), outside)
    if server in hot:
        yield Cause("server_cpu", _said_of_processors(of, server), everything)
    for floor, counters in _MEMORY:
        scarce, usually = (sum(window.rate(name, host=server) or 0.0 for name in counters) for window in (now, was))
        if _grown(scarce, usually, floor):
            yield Cause("memory", f"{server} is short of memory")
    up = now.mean("pg_up", host=server)
    unanswered = max(now.silent("postgres", server), 0.0 if up is None else 1 - up) if of.facts.database else 0.0
    # Where it goes on, the first reports have the time that their operations waited.
    said = "answers no question" if unanswered >= 0.5 else "answered no question at first"
    silence = [Cause("database", f"PostgreSQL on {server} {said}")] if unanswered >= 0.2 else []
    if not whole:
        yield from silence
        return
    slow = slow_disks(of)
    longest = now.highest("pg_locks_longest_wait_seconds", host=server)
    lock = Cause("database", _said_of_lock(of, longest), more[LOCK])
    locked = more[LOCK] >= PART * whole and longest >= 0.1
    # Behind a slow device, sessions wait for locks too: as long as their holders wait for some I/Os in a row.
    if locked and more[LOCK] > 2 * on_devices and longest >= 8 * max((disk.now for disk in slow), default=0.0):
        yield lock
    checkpoint = _said_of_checkpoint(of)
    if checkpoint and (slow or on_devices >= PART * whole):
        yield Cause("database", checkpoint, on_devices + more[OTHER] + more[LOCK])
    yield from storage_causes(of, slow)
    if locked:
        yield lock
    yield from silence
    # Where processors are always full, time outside the database may as well be spent waiting for one.
    full = any((now.processors(host).busy or 0.0) >= _FULL for host in of.facts.hosts)
    answered = of.facts.database and now.active is not None and not of.now.stuck
    if answered and more[OUTSIDE] >= 0.5 * whole and not full:
        yield Cause("network", "between the benchmark and the database", more[OUTSIDE])
    again, usually_again = (window.rate("node_netstat_Tcp_RetransSegs", host=server) for window in (now, was))
    if again is not None and _grown(again, usually_again, _RETRANSMITS):
        yield Cause("network", f"{again:.0f} segments/s are sent again")
    if checkpoint:
        yield Cause("database", checkpoint, more[DATA] + more[OTHER] + more[WORK])
    inside = more[WORK] + more[OTHER] + more[LOCK]
    if inside >= 0.5 * whole:
        stage = max((WORK, OTHER, LOCK), key=lambda stage: more[stage])
        yield Cause("database", stage if stage != WORK else "its statements take longer", inside)


def ruled_out(of: Explanation) -> str:
    """A sentence: what is surely not the cause, as measured; of processors, otherwise of devices. Empty: nothing is."""
    if of.cause.layer == "server":
        return ""
    if of.cause.layer in ("server_cpu", "client_cpu"):
        waits = [one for device in of.facts.devices for one in waited(of, device) if one.usual]
        if not waits or any(one.now >= STANDS_OUT * one.usual for one in waits):
            return ""
        return f"Disks are ruled out: {said_of_wait(of, max(waits, key=lambda one: one.now))}."
    now, was = of.now.window, of.usual.window
    both = [(host, now.processors(host), was.processors(host)) for host in of.facts.hosts]
    if not both or any(one.busy is None or usual.busy is None or not are_free(one, usual) for _, one, usual in both):
        return ""
    busy, usually, host = max((one.busy or 0.0, usual.busy or 0.0, host) for host, one, usual in both)
    return f"Processors are ruled out: those of {host} are {100 * busy:.0f} % busy, usually {100 * usually:.0f} %."


def are_free(now: Processors, was: Processors) -> bool:
    """Whether a machine's processors are surely not missing."""
    busy, usually = now.busy or 0.0, was.busy or 0.0
    return not _hot(now, was) and busy <= max(_FREE, usually + _AS_USUAL)


def _grown(now: float | None, usual: float | None, floor: float) -> bool:
    """Whether a figure stands out from the usual."""
    return (now or 0.0) >= STANDS_OUT * max(usual or 0.0, floor)


def _hot(now: Processors, was: Processors) -> bool:
    """Whether a machine's processors are missing: busy or stolen, and more wanted than usual."""
    busy, usually = now.busy or 0.0, 1.0 if was.busy is None else was.busy
    if _grown(now.steal, was.steal, _STEAL) or (busy >= 0.75 and _wanted(now, was)):
        return True
    # Where nobody knows who wants them, they must be full.
    return now.pressure is None and now.queue is None and busy >= max(_FULL, usually + 0.15)


def _wanted(now: Processors, was: Processors) -> bool:
    """Whether more processes than usual wait for a processor."""
    return _grown(now.pressure, was.pressure, _PRESSURE) or _grown(now.queue, was.queue, _QUEUE)


def _said_of_processors(of: Explanation, host: str) -> str:
    now, usually = of.now.window.processors(host), of.usual.window.processors(host).busy
    said = f"the processors of {host or 'its machine'} are {100 * (now.busy or 0.0):.0f} % busy"
    said += "" if usually is None else f", usually {100 * usually:.0f} %"
    said += f", {now.queue + 1:.1f} processes want each" if now.queue and now.queue >= _QUEUE else ""
    said += f"; the hypervisor takes {100 * now.steal:.0f} % (steal)" if now.steal >= _STEAL else ""
    name, used, before = more_used(of, "benchwatch_process_processors", host)
    if used - (before or 0.0) >= 0.3:
        said += f"; {name} uses {used:.1f} of them, usually {before or 0.0:.1f}"
    return said


def _said_of_lock(of: Explanation, longest: float) -> str:
    """Who waits, how long, and who holds it where that is exported."""
    waiting = of.now.window.highest("pg_locks_waiting", host=of.facts.server)
    said = f"waiting for a lock: {waiting:.0f} wait, the longest for {numbers.duration(longest)}"
    found = of.now.window.seen.of("pg_blocking_processes", host=of.facts.server)
    blockers = [(blocked, one.labels) for one in found if len(blocked := one.within(of.begin, of.moment))]
    if not blockers:
        return said
    _, labels = max(blockers, key=lambda blocker: float(blocker[0].max()))
    on = f" on {labels['relation']}" if labels.get("relation") else ""
    state = " (idle in its transaction)" if labels.get("state") == "idle in transaction" else ""
    return f"{said}; the lock{on} is held by {labels.get('query', '')[:80]!r}{state}"


def _said_of_checkpoint(of: Explanation) -> str:
    """What a checkpoint does that writes or syncs more than usual, if the data device gets it. Counters of PostgreSQL
    say who asked for it during its pauses and after its end only.
    """
    host, now, was = of.facts.server, of.now.window, of.usual.window
    (active, syncs, writes), (were_active, synced, wrote) = _checkpointer(now), _checkpointer(was)
    more = writes >= max(8e6, STANDS_OUT * wrote) or syncs >= max(0.3, STANDS_OUT * synced)
    begun = active >= max(0.9, STANDS_OUT * were_active)
    data = of.facts.of_role("data")
    twice = any(now.disk(one, "write").rate >= 2 * was.disk(one, "write").rate for one in data)
    if max(active, syncs) < 0.3 or not (more or begun) or not (twice or not data):
        return ""
    lately = replace(now, begin=now.begin - 5)
    timed, requested = (lately.rate(f"pg_checkpoint_{asked}_total", host=host) for asked in ("timed", "requested"))
    said = "a timed checkpoint" if timed else "a requested checkpoint" if requested else "a checkpoint"
    if syncs >= 0.3:
        said += " syncs files"
    else:
        said += " writes" + (f" {writes / 1e6:.0f} MB/s" if writes >= 1e6 else "")
        pauses = now.of_host("pg_waiting_processes", host, wait_event="CheckpointWriteDelay")
        if sum(part for _, part in pauses) < 0.1:
            return f"{said} without pauses (CHECKPOINT, a backup, or behind its schedule)"
    size = now.mean("pg_checkpoint_max_wal_size_bytes", host=host)
    target = now.mean("pg_checkpoint_completion_target_ratio", host=host)
    said += f"; max_wal_size is {size / 2**20:.0f} MiB" if size and requested else ""
    return said + (f", checkpoint_completion_target {target:g}" if target else "")


def _checkpointer(of: TimeWindow) -> tuple[float, float, float]:
    """The parts of the time in which a checkpoint is active and syncs files, and what it writes, bytes a second."""
    host = of.facts.server
    syncs = of.mean("pg_waiting_processes", host=host, backend_type="checkpointer", wait_event="DataFileSync")
    writes = of.rate("pg_buffers_written_bytes_total", host=host, by="checkpointer")
    return of.mean("pg_checkpoint_active", host=host) or 0.0, syncs or 0.0, writes or 0.0
