"""What the exporter answers by HTTP: metrics, the landing page, pages of runs, health, and pushes.

`GET /metrics?collect[]=live&collect[]=runs` selects parts, as in node_exporter; `/-/healthy` and `/-/ready` are as in
Prometheus' own programs. `/api/runs`, `/api/runs/NAME` and `/api/cvms` answer with the documents of `model.documents`.
"""

import math
import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

import msgspec
from aiohttp import web

from ..metrics.buckets import Buckets
from ..metrics.exposition import CONTENT_TYPE
from ..metrics.samples import PARTS
from ..model.documents import CvmsDocument, Document, of_run, of_runs
from ..plots.figure import PLOTLY_NAME, plotly
from ..settings.settings import RunsSettings
from .answers import LOOPBACK, USER, Refused, answer, answer_failures, check_host, check_user
from .assets import CONTENT_SECURITY_POLICY, RUN_POLICY
from .catalogue import Query
from .comparisons import Asked, ComparisonPages
from .exporter import STILL_READING, Exporter
from .ingest import Pushes
from .landing import landing_page
from .looks import Looks
from .own_metrics import OwnMetrics
from .past_runs import PastRuns
from .run_page import no_run, run_page
from .webconfig import CurrentConfig, WebConfig

_HOST = re.compile(r"[A-Za-z0-9._:\[\]-]{1,255}")
OWN = web.AppKey("own", OwnMetrics)
"""The exporter's metrics about itself."""


def make_app(
    exporter: Exporter,
    pushes: Pushes,
    own: OwnMetrics,
    *,
    clock: Callable[[], float],
    config: CurrentConfig = WebConfig,
    hosts: Collection[str] = (),
    only_hosts: bool = False,
    looks: Looks | None = None,
    grafana: str = "",
) -> web.Application:
    """All pages of an exporter.

    `own` counts scrapes and refusals. `clock` gives Unix seconds. `hosts` are names that are also served on loopback;
    with `only_hosts`, they are the only ones anywhere (see answers.check_host). `looks` draws pages of runs,
    which link to the Grafana at the URL `grafana`.
    """
    looks = Looks(RunsSettings(), Buckets()) if looks is None else looks
    pages = _Pages(exporter, pushes, own, clock, looks, grafana)
    app = web.Application(
        middlewares=[answer_failures, check_host(own, hosts, everywhere=only_hosts), check_user(config, own)]
    )
    app[LOOPBACK] = set()
    app[OWN] = own
    app.add_routes(
        [
            web.get("/", pages.landing),
            web.get("/runs/{run:[^/]+}", pages.run),  # aiohttp's own pattern excludes braces
            web.get("/compare", pages.compare),
            web.get(f"/{PLOTLY_NAME}", pages.plotly),
            web.get("/metrics", pages.metrics),
            web.get("/api/runs", pages.api_runs),
            web.get("/api/runs/{run:[^/]+}", pages.api_run),
            web.get("/api/cvms", pages.api_cvms),
            web.get("/-/healthy", pages.healthy),
            web.get("/-/ready", pages.ready),
        ]
    )
    for path in ("/ingest/{run:[^/]+}/{worker:[^/]+}", "/ingest/{rest:.*}"):
        for method in ("PUT", "POST"):
            app.router.add_route(method, path, pages.ingest)

    async def add_headers(_request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Server"] = "benchwatch"
        response.headers["X-Content-Type-Options"] = "nosniff"

    async def stop(_app: web.Application) -> None:
        pushes.stop()
        looks.stop()

    app.on_response_prepare.append(add_headers)
    app.on_shutdown.append(stop)
    return app


@dataclass
class _Pages:
    exporter: Exporter
    pushes: Pushes
    own: OwnMetrics
    clock: Callable[[], float]
    looks: Looks
    grafana: str

    def __post_init__(self) -> None:
        self.past = PastRuns(self.exporter.watched, self.looks.settings, self.looks.reading)
        self.comparisons = ComparisonPages(self.exporter.watched, self.looks.settings, self.looks.reading)

    async def metrics(self, request: web.Request) -> web.Response:
        names = request.query.getall("collect[]", PARTS)
        parts = frozenset(part for part in PARTS if part in names)
        for name in names:
            if name not in PARTS:
                raise Refused(400, f"collect[]={name[:100]}: expected {', '.join(PARTS)}")
        began = time.perf_counter()
        page = await answer(request, self.exporter.render(parts), {"Content-Type": CONTENT_TYPE})
        self.own.scrapes.observe(time.perf_counter() - began)
        return page

    async def api_runs(self, request: web.Request) -> web.Response:
        return await _json(request, of_runs(self.exporter.runs(), self.clock()))

    async def api_run(self, request: web.Request) -> web.Response:
        name = request.match_info["run"]
        since = _moment(request)
        run = self.exporter.run(name)
        if run is None:
            return web.json_response({"error": f"no such run: {name[:200]!r}; /api/runs lists all"}, status=404)
        return await _json(request, of_run(run, self.clock(), since))

    async def api_cvms(self, request: web.Request) -> web.Response:
        return await _json(request, CvmsDocument(time=self.clock(), cvms=tuple(self.exporter.cvms())))

    async def landing(self, request: web.Request) -> web.Response:
        host = request.headers.get("Host", "")
        if not _HOST.fullmatch(host):
            address = request.transport.get_extra_info("sockname") if request.transport else None
            host = f"localhost:{address[1]}" if address else "localhost"
        text = landing_page(
            self.exporter,
            now=self.clock(),
            url=f"{request.scheme}://{host}",
            user=request.get(USER, ""),
            query=Query.of(request.query.items()),
            past=self.past,
        )
        return await answer(request, text, _headers(CONTENT_SECURITY_POLICY))

    async def run(self, request: web.Request) -> web.Response:
        name = request.match_info["run"]
        view = self.exporter.run(name)
        if view is None:
            return await answer(request, no_run(name, self.exporter.watched.names), _headers(RUN_POLICY), 404)
        parts = await self.looks.parts(view, self.exporter.watched.places(name), self.exporter.before(view))
        text = run_page(view, parts, now=self.clock(), since=request.query.get("since"), grafana=self.grafana)
        return await answer(request, text, _headers(RUN_POLICY))

    async def compare(self, request: web.Request) -> web.Response:
        ticked = request.query.getall("run", [])
        others = tuple(dict.fromkeys(request.query.getall("other", [])))
        if ticked:
            base, *others_ticked = reversed(ticked)
            raise web.HTTPSeeOther(Asked(base, tuple(others_ticked)).address)
        page = await self.comparisons.page(Asked(request.query.get("base", ""), others))
        return await answer(request, page, _headers(RUN_POLICY))

    async def plotly(self, request: web.Request) -> web.Response:
        headers = {"Content-Type": "text/javascript; charset=utf-8", "Cache-Control": "max-age=31536000, immutable"}
        return await answer(request, plotly(), headers)

    async def healthy(self, _request: web.Request) -> web.Response:
        return web.Response(text="benchwatch is up.\n")

    async def ready(self, _request: web.Request) -> web.Response:
        if self.exporter.ready:
            return web.Response(text="benchwatch is ready.\n")
        reasons = "; ".join(filter(None, (STILL_READING, self.exporter.catching_up)))
        return web.Response(status=503, text=f"benchwatch is not ready: {reasons}\n")

    async def ingest(self, request: web.Request) -> web.Response:
        return await self.pushes.take(request, self.exporter.push_folder)


def _headers(policy: str) -> dict[str, str]:
    """The headers of an HTML page."""
    return {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": policy,
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
    }


async def _json(request: web.Request, document: Document) -> web.Response:
    headers = {"Content-Type": "application/json", "Cache-Control": "no-store"}
    return await answer(request, msgspec.json.encode(document), headers)


def _moment(request: web.Request) -> float | None:
    """The parameter `since`, Unix seconds; None without it."""
    text = request.query.get("since")
    if text is None:
        return None
    try:
        since = float(text)
    except ValueError:
        since = math.nan
    if not math.isfinite(since):
        raise Refused(400, f"since={text[:100]}: expected Unix seconds")
    return since
