"""The JSON documents of `/api`; docs/api.schema.json is their schema, and is generated from these classes.

    GET /api/runs                   every run in memory, without reports and parameters
    GET /api/runs/NAME?since=TIME   one run, with its reports after TIME (Unix seconds; default: all in memory)
    GET /api/cvms                   every configured CVM, with its vdisks

Within a schema, keys may be added, but no key changes its meaning.
"""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from .cvm import Cvm
from .run import Run

SCHEMA = 1


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """What all documents have."""

    schema: int = SCHEMA
    time: float
    """The exporter's clock, Unix seconds."""


class RunsDocument(Document, frozen=True, kw_only=True):
    """The answer of /api/runs."""

    runs: tuple[Run, ...]


class RunDocument(Document, frozen=True, kw_only=True):
    """The answer of /api/runs/NAME."""

    run: Run


class CvmsDocument(Document, frozen=True, kw_only=True):
    """The answer of /api/cvms."""

    cvms: tuple[Cvm, ...]


def of_runs(runs: Iterable[Run], time: float) -> RunsDocument:
    """All runs, each worker without its parameters and reports."""
    found = tuple(
        replace(
            run,
            workers=tuple(replace(worker, parameters={}, reports=()) for worker in run.workers),
        )
        for run in runs
    )
    return RunsDocument(time=time, runs=found)


def of_run(run: Run, time: float, since: float | None = None) -> RunDocument:
    """One run, with its reports after `since`, Unix seconds (None: all in memory)."""
    if since is not None:
        workers = tuple(
            replace(worker, reports=tuple(one for one in worker.reports if one.time > since)) for worker in run.workers
        )
        run = replace(run, workers=workers)
    return RunDocument(time=time, run=run)


def schemas() -> bytes:
    """The JSON Schema (2020-12) of all documents, by the name of their class under `$defs`."""
    _, parts = msgspec.json.schema_components((RunsDocument, RunDocument, CvmsDocument), ref_template="#/$defs/{name}")
    root = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": parts}
    return msgspec.json.format(msgspec.json.encode(root)) + b"\n"
