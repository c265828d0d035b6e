"""`benchwatch why`: when a run was slow, and why, from a Prometheus that watched it; or that of all runs, live."""

import argparse
import math
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ..metrics.exposition import CONTENT_TYPE, Exposition
from ..metrics.prometheus import Prometheus, PrometheusError
from ..show.as_text import colourful, text
from ..show.content import Block, Heading, Sentence
from ..values.addresses import cannot_listen, server_url
from ..values.errors import FAILED, UserError
from .explanation import Explanation, period, sentence, waterfall
from .judging import explanations
from .live import TIMEOUT, Engine

_TIMEOUT, _DAY = 60.0, 86400.0
"""Seconds for an answer about a past run; after a moment that is asked about, in which its run should have ended."""
_IN_FULL = 3
"""Slow times up to which each has its waterfall."""
DEFAULT = "127.0.0.1:19778"
_MOMENTS = {
    "--at": "only the slow time at or nearest to this moment",
    "--from": "only slow times from this moment on",
    "--to": "only slow times up to this moment",
}


def add_parser(add: Any, common: argparse.ArgumentParser) -> None:
    """Add the command to the others."""
    watched, now = "--prometheus.url http://127.0.0.1:9090", "2026-11-22T18:05:00Z"
    parser = add(
        parents=[common],
        usage="benchwatch why --prometheus.url URL RUN [options]",
        description="Says when a run was slow and why: the layer, the cause, and what an operation waits for.",
        examples=[f"benchwatch why {asked} {watched}" for asked in ("test1", f"test1 --at {now}", "--serve")],
    )
    parser.add_argument("run", nargs="?", metavar="RUN", help="the run: its name (label run) or folder")
    asked = parser.add_argument_group("what to look at")
    asked.add_argument("--prometheus.url", metavar="URL", required=True, help="Prometheus that watched the run")
    for option, what in _MOMENTS.items():
        asked.add_argument(option, type=_past, metavar="TIME", help=what)
    served = parser.add_argument_group("live")
    what = "run as a service that exports this for all active runs (docs/why.md)"
    served.add_argument("--serve", action="store_true", help=what)
    what = f"where to listen (default: {DEFAULT})"
    served.add_argument("--web.listen-address", default=DEFAULT, metavar="HOST:PORT", help=what)
    parser.set_defaults(func=_why)


def _past(word: str) -> float:
    """A moment of the past in the forms of RFC 3339 or as Unix seconds."""
    try:
        moment = float(word) if word.replace(".", "", 1).isdecimal() else datetime.fromisoformat(word).timestamp()
    except ValueError:
        moment = math.nan
    if not 0 < moment < 1e10:
        expected = "a time such as 2026-11-22T18:00:00+01:00 or 1790000000 (Unix seconds)"
        raise argparse.ArgumentTypeError(f"expected {expected}, got {word!r}")
    return moment


def _why(options: argparse.Namespace) -> int:
    given = vars(options)
    url = server_url(given["prometheus.url"], "--prometheus.url")
    if options.serve:
        return _serve(url, given["web.listen_address"])
    at, begin, end = (given[name] for name in ("at", "from", "to"))
    if not options.run:
        raise UserError("expected the name of a run, or --serve")
    if begin is not None and end is not None and begin >= end:
        raise UserError("--from: expected a moment before that of --to")
    try:
        run = Path(options.run).name  # also as a folder: runs/test1
        found = explanations(
            Prometheus(url, _TIMEOUT), run, begin, end, end or min(time.time(), (at or math.inf) + _DAY)
        )
    except PrometheusError as error:
        raise UserError(str(error), FAILED) from error
    if found is None:
        asked = (at, begin, end) != (None, None, None)
        missing = " in that time" if asked else ": it must scrape the exporter during the run"
        advice = "The name of a run is the label `run` of its metrics."
        raise UserError(f"Prometheus knows no run {run!r}{missing}", FAILED, advice)
    if at is not None and found:
        found = [min(found, key=lambda one: max(one.begin - at, at - one.end, 0.0))]
    print(text([*_blocks(run, found)], colour=colourful()), end="")
    return 0


def _blocks(run: str, found: Sequence[Explanation]) -> Iterator[Block]:
    if not found:
        yield from (Heading(run), Sentence("It was never slower than usual."))
    for one in found:
        yield Heading(f"{run}: {period(one, date=True)}")
        yield Sentence(sentence(one))
        if len(found) <= _IN_FULL:
            yield from (waterfall(one), Sentence(f"Compared with {one.armed}.", "dim"))


def _serve(url: str, address: str) -> int:
    """Serve the metrics of a live engine until interrupted."""
    host, _, port = address.rpartition(":")
    if not port.isdecimal():
        raise UserError(f"--web.listen-address: expected HOST:PORT, got {address!r}")
    live = Engine(Prometheus(url, TIMEOUT))

    class Page(BaseHTTPRequestHandler):
        timeout = 10

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.end_headers()
            self.wfile.write(Exposition().render([live]).encode())

        def log_message(self, *_: object) -> None:
            pass

    try:
        server = ThreadingHTTPServer((host.strip("[]"), int(port)), Page)
    except (OSError, OverflowError) as error:
        raise cannot_listen(address, error) from error
    live.start()
    server.serve_forever()
    return 0
