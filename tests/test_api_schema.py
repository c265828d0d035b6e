"""docs/api.schema.json is the schema of what the exporter answers."""

import json
from pathlib import Path

import jsonschema
import pytest
import requests

from benchwatch.metrics.buckets import Buckets
from benchwatch.model import documents
from benchwatch.runs.watcher import Runs
from benchwatch.server.exporter import Exporter
from benchwatch.settings.settings import RunsSettings
from tests.support.places import NOW, RECORDINGS, Place
from tests.support.serving import served

SCHEMA = Path(__file__).parents[1] / "docs" / "api.schema.json"
RUNS = {
    "pgbench/db1.err": "pgbench/progress-timestamp-15.18.err",
    "log/db1.out": "pgbench/txlog-j2-15.18/stdout",
    "fio/disk1.out": "fio/jsonplus-si1-libaio-qd16-3.42.out",
    "sysbench/a.out": "sysbench/rw-t8-1.0.20/rw-t8-1.0.20.out",
    "iperf3/client.out": "iperf3/stream-udp-3.18.out",
}


def test_the_schema_is_generated_from_the_model() -> None:
    assert SCHEMA.read_bytes() == documents.schemas()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/api/runs", "RunsDocument"),
        *((f"/api/runs/{run.partition('/')[0]}", "RunDocument") for run in RUNS),
        ("/api/cvms", "CvmsDocument"),
    ],
)
def test_answers_about_real_output_have_that_schema(place: Place, path: str, name: str) -> None:
    for run, recording in RUNS.items():
        placed = place(f"runs/{run}", RECORDINGS / recording)
        record = f"{{start: {NOW - 900}, end: {NOW - 800}, exit_code: 0, latency_objective: 5ms, warmup: 2s}}"
        place(f"runs/{run.rpartition('.')[0]}.yaml", record.encode())
    runs = Runs([placed.parents[1]], RunsSettings(), Buckets())
    while runs.poll(NOW):
        pass
    board = Exporter(runs)
    with served(board) as server:  # type: ignore[arg-type]
        answer = requests.get(server.url + path)
    assert answer.status_code == 200
    schema = json.loads(SCHEMA.read_text())
    jsonschema.validate(answer.json(), {**schema, "$ref": f"#/$defs/{name}"})
