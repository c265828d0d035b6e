"""`benchwatch serve`: one event loop that reads files, answers requests and accepts pushes; threads poll the CVMs."""

import asyncio
import gc
import logging
import os
import signal
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from ..machine.disks import check
from ..machine.mounts import Storage
from ..metrics.buckets import Buckets
from ..metrics.samples import Source
from ..nutanix.mapping import Unlisted, load_mapping
from ..nutanix.poller import Poller, start_pollers
from ..runs.watcher import Runs
from ..settings.settings import Here, Settings
from .app import make_app
from .board import Exporter
from .connections import Doors
from .ingest import Pushes
from .listen import listen_address
from .listen import serve as serve_web
from .looks import Looks
from .process import Disks, Process, Scrapes
from .quiet_log import Repeats
from .webconfig import OPEN, Renewable, WebConfigFile

REVISION = "BENCHWATCH_REVISION"
"""Environment variable with the revision that the exporter was built from."""
_log = logging.getLogger(__name__)

_SHARE = 0.1
"""Share of a processor that checking the runs may take while there is nothing more to read."""
_LONGEST_PAUSE = 0.75
"""Maximum seconds between two checks, even if they then take more than that share."""
_TURN = 0.05
"""Seconds after which a check pauses, so that requests are answered."""


def serve(
    settings: Settings,
    base: Path,
    runs: Path,
    push: Path | None,
    addresses: Sequence[str],
    web_config: Path | None,
    prometheus: str = "",
) -> int:
    """Serve until SIGINT or SIGTERM; exit code 0.

    Paths within the settings are relative to `base`. `runs` is the folder of runs, `push` the one that pushes are
    written to (None: pushes are refused), `prometheus` the URL of the Prometheus that pages of runs ask. Raises
    ConfigError when an address or a configuration cannot be used.
    """
    config = WebConfigFile(web_config) if web_config else OPEN
    roots = [runs] if push in (None, runs) else [runs, push]
    repeats, handlers = Repeats(), list(logging.getLogger().handlers)
    for handler in handlers:
        handler.addFilter(repeats)
    mapping = load_mapping(settings.nutanix, base)
    pollers = start_pollers(settings.nutanix, mapping)
    unlisted = Unlisted(mapping, pollers, settings.nutanix.poll_interval)
    try:
        asyncio.run(_serve(settings, roots, push, pollers, unlisted, addresses, config, repeats, prometheus))
    finally:
        for poller in pollers:
            poller.stop()
        for handler in handlers:
            handler.removeFilter(repeats)
    return 0


async def _serve(
    settings: Settings,
    roots: Sequence[Path],
    push: Path | None,
    pollers: Sequence[Poller],
    unlisted: Unlisted,
    addresses: Sequence[str],
    config: Renewable,
    repeats: Repeats,
    prometheus: str,
) -> None:
    here = Here(settings.host or socket.gethostname(), settings.vm, socket.gethostname())
    buckets = Buckets(settings.histogram.buckets_per_octave)
    runs = Runs(roots, settings.runs, buckets, here)
    roles, faults = check(settings.disks, Storage())
    for fault in faults:
        runs.fault("disk", f"disks: {fault}")
    scrapes, doors = Scrapes(), Doors()
    pushes = Pushes(limit=doors.limit // 2, settings=settings.push)
    others: list[Source] = [Process(os.environ.get(REVISION, "")), Disks(roles, here.host), pushes, scrapes, doors]
    exporter = Exporter(runs, pollers, others, push, time.time, settings.runs.limits)
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    hosts = {*settings.web.hosts, *(host for address in addresses if (host := listen_address(address)[0]))}
    app = make_app(
        *(exporter, pushes, scrapes),
        clock=time.time,
        config=config,
        doors=doors,
        hosts=hosts,
        only_hosts=bool(settings.web.hosts),
        looks=Looks(settings.runs, buckets, prometheus),
    )
    gc.freeze()  # imported modules stay in memory anyway
    runner = await serve_web(app, addresses, config)
    scheme = "https" if config.renewed().tls else "http"
    for host, port, *_ in runner.addresses:
        _log.info("serving on %s://%s:%d, watching %s", scheme, host, port, ", ".join(map(str, roots)))
    try:
        await _watch(runs, settings.runs.poll_interval, stopping, repeats, unlisted)
    finally:
        await runner.cleanup()


async def _watch(runs: Runs, interval: float, stopping: asyncio.Event, repeats: Repeats, unlisted: Unlisted) -> None:
    """Check the runs regularly until `stopping` is set, without a pause while there is more to read.

    If there are so many active runs that this would take more than its _SHARE, checks are further apart.
    """
    while not stopping.is_set():
        more, spent = await _look(runs)
        pause = max(interval, min(spent * (1 / _SHARE - 1), _LONGEST_PAUSE))
        for sentence in unlisted.news(time.monotonic()):
            runs.fault("mapping", sentence)
        repeats.sum_up()
        if more:
            await asyncio.sleep(0)
            continue
        try:
            async with asyncio.timeout(pause):
                await stopping.wait()
        except TimeoutError:
            continue


async def _look(runs: Runs) -> tuple[bool, float]:
    """Check the runs once; returns whether there is more to read, and the processor time of the check, seconds."""
    steps = runs.steps(time.time(), time.monotonic())
    spent, began = 0.0, time.thread_time()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return bool(end.value), spent + time.thread_time() - began
        if (passed := time.thread_time() - began) >= _TURN:
            await asyncio.sleep(0)
            spent, began = spent + passed, time.thread_time()
