"""An exporter with made-up content, served for tests on a loopback socket by a thread of its own."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.samples import PARTS, Part, Source
from benchwatch.model.cvm import Cvm
from benchwatch.model.run import Run, Worker
from benchwatch.runs.place import RunPlace
from benchwatch.server.app import make_app
from benchwatch.server.ingest import Pushes
from benchwatch.server.listen import serve
from benchwatch.server.looks import Looks
from benchwatch.server.own_metrics import OwnMetrics
from benchwatch.server.webconfig import CurrentConfig, WebConfig
from benchwatch.settings.settings import PushSettings
from tests.support.places import NOW
from tests.support.waiting import PATIENCE


@dataclass
class FakeExporter:
    """An exporter that shows what it was given."""

    workers: Sequence[Worker] = ()
    targets: Sequence[Cvm] = ()
    ready: bool = True
    catching_up: str = ""
    lost: Mapping[Path, str] = field(default_factory=dict)
    faults: Sequence[str] = ()
    pages: Mapping[str, Run] = field(default_factory=dict)
    push_folder: Path | None = None
    sources: Sequence[Source] = ()
    rendered: Callable[[frozenset[Part]], str] | None = None
    exposition: Exposition = field(default_factory=Exposition)

    def render(self, parts: frozenset[Part]) -> str:
        if self.rendered:
            return self.rendered(parts)
        return self.exposition.render(self.sources, [part for part in PARTS if part in parts])

    def runs(self) -> Sequence[Run]:
        names = dict.fromkeys(worker.run for worker in self.workers)
        return [Run(name, tuple(one for one in self.workers if one.run == name)) for name in names]

    def run(self, name: str) -> Run | None:
        return self.pages.get(name) or next((run for run in self.runs() if run.name == name), None)

    def before(self, run: Run) -> None:
        return None

    @property
    def watched(self) -> "FakeRuns":
        return FakeRuns(SimpleNamespace(lost=self.lost, paths=()), self.faults, list(self.pages))

    def cvms(self) -> Sequence[Cvm]:
        return self.targets


@dataclass
class FakeRuns:
    """The watched folders of a fake exporter."""

    roots: SimpleNamespace
    problems: Sequence[str]
    names: Sequence[str]
    workers: Sequence[object] = ()

    def places(self, name: str) -> Sequence[RunPlace]:
        return ()


@dataclass
class Served:
    """A running server."""

    exporter: FakeExporter
    pushes: Pushes
    own: OwnMetrics
    port: int
    call: Callable[[Callable[[], object]], object]
    """Calls something on the event loop."""
    address: str = "127.0.0.1"

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}"

    def metric(self, sample: str) -> float | None:
        """The value of one sample, by its text before the number; None if there is no such sample."""
        text = str(self.call(self.own.render))
        found = [line.rpartition(" ")[2] for line in text.splitlines() if line.rpartition(" ")[0] == sample]
        assert len(found) <= 1, text
        return float(found[0]) if found else None


NETWORK = "127.0.0.2"
"""Where a server listens that others are to reach (see the fixture `network`)."""


@contextmanager
def served(
    exporter: FakeExporter | None = None,
    *,
    config: WebConfig | CurrentConfig = WebConfig,
    push_settings: PushSettings | None = None,
    push_limit: int = 256,
    clock: Callable[[], float] = lambda: NOW,
    port: int = 0,
    hosts: Sequence[str] = (),
    only_hosts: bool = False,
    address: str = "127.0.0.1",
    external_url: str = "",
    looks: Looks | None = None,
) -> Iterator[Served]:
    exporter = exporter or FakeExporter()
    current = (lambda: config) if isinstance(config, WebConfig) else config
    own = OwnMetrics()
    pushes = Pushes(own, limit=push_limit, settings=push_settings)
    started: Future[tuple[int, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def run() -> None:
        stop = asyncio.Event()
        try:
            app = make_app(
                *(exporter, pushes, own),
                clock=clock,
                config=current,
                hosts=hosts,
                only_hosts=only_hosts,
                looks=looks,
            )
            runner = await serve(app, [f"{address}:{port}"], current, external_url)
        except Exception as error:
            started.set_exception(error)
            return
        started.set_result((runner.addresses[0][1], asyncio.get_running_loop(), stop))
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    bound, loop, stop = started.result(PATIENCE)

    async def call(function: Callable[[], object]) -> object:
        return function()

    def on_loop(function: Callable[[], object]) -> object:
        return asyncio.run_coroutine_threadsafe(call(function), loop).result(PATIENCE)

    try:
        yield Served(exporter, pushes, own, bound, on_loop, address)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the server does not stop"
