"""`benchwatch serve`: one event loop that reads files, answers requests and accepts pushes; threads poll the CVMs."""

import asyncio
import gc
import logging
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from ..machine.disks import check
from ..machine.mounts import Storage
from ..metrics.buckets import Buckets
from ..metrics.prometheus import Prometheus
from ..metrics.samples import Source
from ..nutanix.mapping import Unlisted, load_mapping
from ..nutanix.poller import start_pollers
from ..runs.watcher import Runs
from ..settings.settings import Here, Settings
from ..why.live import TIMEOUT, Engine
from .app import make_app
from .exporter import Exporter
from .ingest import Pushes
from .listen import listen_address
from .listen import serve as serve_web
from .looks import Looks
from .own_metrics import Disks, OwnMetrics
from .processes import Processes
from .webconfig import WebConfig, WebConfigFile

REVISION = "BENCHWATCH_REVISION"
"""Environment variable with the revision that the exporter was built from."""
_log = logging.getLogger(__name__)

_DESCRIPTORS = 65_536
"""File descriptors that the exporter asks for: each connection and each push takes one."""
_MOST_PUSHES = 256
_SHARE = 0.1
"""Share of a processor that checking the runs may take while there is nothing more to read."""
_LONGEST_PAUSE = 0.75
"""Maximum seconds between two checks, even if they then take more than that share."""
_END = 8.0
"""Seconds after a signal to end at which the exporter ends, whatever still runs; `docker stop` kills after ten."""
_TURN = 0.05
"""Seconds after which a check pauses, so that requests are answered."""


async def serve(
    settings: Settings,
    base: Path,
    folder: Path,
    push: Path | None,
    addresses: Sequence[str],
    web_config: Path | None,
    prometheus: str,
    external_url: str,
    grafana: str,
) -> None:
    """Serve until SIGINT or SIGTERM.

    Paths within the settings are relative to `base`. `folder` is the folder of runs, `push` the one that pushes are
    written to (None: pushes are refused), `prometheus` the URL of the Prometheus that pages of runs ask,
    `external_url` the address at which people open the pages, if it is another one, and `grafana` the URL of the
    Grafana that these link to. Raises ConfigError when an address or a configuration cannot be used.
    """
    _raise_descriptor_limit()
    config = WebConfigFile(web_config) if web_config else WebConfig
    roots = [folder] if push in (None, folder) else [folder, push]
    here = Here(settings.host or socket.gethostname(), settings.vm, socket.gethostname())
    buckets = Buckets(settings.histogram.buckets_per_octave)
    runs = Runs(roots, settings.runs, buckets, here)
    roles, faults = check(settings.disks, Storage())
    for fault in faults:
        runs.fault("disk", f"disks: {fault}")
    own = OwnMetrics(os.environ.get(REVISION, ""))
    descriptors = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    pushes = Pushes(own, limit=max(2, min(_MOST_PUSHES, descriptors // 4)), settings=settings.push)
    why = Engine(Prometheus(prometheus, TIMEOUT)) if prometheus else None
    others: list[Source] = [Disks(roles, here.host), Processes(here.host)]
    if why:
        others.append(why)
    mapping = load_mapping(settings.nutanix, base)
    hosts = {*settings.web.hosts, *(host for address in addresses if (host := listen_address(address)[0]))}
    pollers = start_pollers(settings.nutanix, mapping)
    exporter = Exporter(runs, pollers, others, push, settings.runs.limits, own)
    runner = None
    try:
        app = make_app(
            exporter,
            pushes,
            own,
            clock=time.time,
            config=config,
            hosts=hosts,
            only_hosts=bool(settings.web.hosts),
            looks=Looks(settings.runs, buckets, prometheus),
            grafana=grafana,
        )
        stopping = asyncio.Event()
        _end_with_signals(asyncio.get_running_loop(), stopping)
        gc.freeze()  # imported modules stay in memory anyway
        runner = await serve_web(app, addresses, config, external_url)
        scheme = "https" if config().tls else "http"
        for host, port, *_ in runner.addresses:
            _log.info("serving on %s://%s:%d, watching %s", scheme, host, port, ", ".join(map(str, roots)))
        if why:
            why.start()
        unlisted = Unlisted(mapping, pollers, settings.nutanix.poll_interval)
        await _watch(runs, settings.runs.poll_interval, stopping, unlisted)
    finally:
        for poller in pollers:
            poller.stop()
        if why:
            why.stop()
        if runner:
            await runner.cleanup()


def _raise_descriptor_limit() -> None:
    """Raise the soft limit of file descriptors towards the hard one, so that idle connections take nobody's place."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _end_with_signals(loop: asyncio.AbstractEventLoop, stopping: asyncio.Event) -> None:
    """Set `stopping` at SIGINT or SIGTERM. What then takes too long is left: all that was acknowledged is in files."""

    def end(*_: object) -> None:
        deadline = threading.Timer(_END, os._exit, (0,))
        deadline.daemon = True
        deadline.start()
        loop.call_soon_threadsafe(stopping.set)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


async def _watch(runs: Runs, interval: float, stopping: asyncio.Event, unlisted: Unlisted) -> None:
    """Check the runs regularly until `stopping` is set, without a pause while there is more to read.

    If there are so many active runs that this would take more than its _SHARE, checks are further apart.
    """
    while not stopping.is_set():
        spent = await _look(runs)
        pause = max(interval, min(spent * (1 / _SHARE - 1), _LONGEST_PAUSE))
        for sentence in unlisted.news(time.monotonic()):
            runs.fault("mapping", sentence)
        if runs.more:
            await asyncio.sleep(0)
            continue
        try:
            async with asyncio.timeout(pause):
                await stopping.wait()
        except TimeoutError:
            continue


async def _look(runs: Runs) -> float:
    """Check the runs once; returns the processor time that it took, seconds."""
    spent, began = 0.0, time.thread_time()
    for _ in runs.steps(time.time(), time.monotonic()):
        if (passed := time.thread_time() - began) >= _TURN:
            await asyncio.sleep(0)
            spent, began = spent + passed, time.thread_time()
    return spent + time.thread_time() - began
