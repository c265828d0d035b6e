"""The page of a run that `benchwatch run` records: on the exporter of this machine, if that shows the run."""

import json
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import quote

from ..values.addresses import DEFAULT_EXPORTER, server_url, without_user

_PATIENCE = 0.3
"""Seconds that the benchmark may wait for the answer."""
_MOST = 1 << 22
"""Bytes of an answer that are read."""


def page_of(run: str, runs: Path, push: str = "", exporter: str = DEFAULT_EXPORTER) -> str:
    """The address of its page; empty if no exporter answers, or if it shows the runs of another folder.

    `runs` is the folder of the run, `push` the exporter to which it is sent.
    """
    path = f"/runs/{quote(run, safe='')}"
    if push:
        return without_user(server_url(push, "--push")) + path
    try:
        names = _shown(exporter)
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return ""
    return f"http://{exporter}{path}" if not names or any((runs / name).exists() for name in names) else ""


def _shown(exporter: str) -> list[str]:
    """Names of the runs that an exporter shows."""
    connection = HTTPConnection(exporter, timeout=_PATIENCE)
    try:
        connection.request("GET", "/api/runs")
        return [run["name"] for run in json.loads(connection.getresponse().read(_MOST))["runs"]]
    finally:
        connection.close()
