"""Every recording: read whole, in pieces, and against its last document."""

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.fio import FIO
from benchwatch.tools.fio.counters import Counters

from .recordings import (
    ARRIVED,
    NAMES,
    comparable,
    data_of,
    documents_of,
    new_state,
    parse,
    plain,
    read,
    shown_as,
    texts_of,
    values,
    with_documents,
)

LOCAL = [name for name in with_documents() if not name.startswith("client-")]
CLIENT = [name for name in with_documents() if name.startswith("client-")]
SMALL = [name for name in NAMES if len(data_of(name)) < 10_000]
COUNTERS = {
    "fio_ios_total": "total_ios",
    "fio_bytes_total": "io_bytes",
    "fio_short_ios_total": "short_ios",
    "fio_dropped_ios_total": "drop_ios",
}


def totals(document: Any, jobs: list[tuple[str, Any]]) -> Counter[tuple[str, str, str]]:
    """What a document's jobs, with their labels, have counted."""
    found: Counter[tuple[str, str, str]] = Counter()
    for label, job in jobs:
        for operation in ["read", "write", "trim"] if "read" in job else ["mixed"]:
            if not job[operation]["total_ios"]:
                continue  # fio counts fdatasyncs as short reads, also in jobs that do not read
            for metric, key in COUNTERS.items():
                found[metric, label, shown_as(document, job, operation)] += job[operation][key]
        sync = job.get("sync", {})
        found["fio_ios_total", label, "sync"] += sync.get("lat_ns", {}).get("N", sync.get("total_ios", 0))
    return found


def labelled(document: Any) -> list[tuple[str, Any]]:
    groups: dict[str, set[int]] = {}
    for job in document["jobs"]:
        groups.setdefault(job["jobname"], set()).add(job["groupid"])
    return [
        (job["jobname"] + (f"#{job['groupid']}" if len(groups[job["jobname"]]) > 1 else ""), job)
        for job in document["jobs"]
    ]


def counted(exported: dict[tuple[str, ...], Any]) -> Counter[tuple[str, ...]]:
    return Counter({key: value for key, value in exported.items() if key[0] in COUNTERS})


@pytest.mark.parametrize("name", LOCAL)
def test_totals_equal_the_last_document(name: str) -> None:
    state = read(data_of(name))[-1]
    last = documents_of(name)[-1]
    for current in (True, False):
        assert +counted(values(state, current)) == +totals(last, labelled(last))


@pytest.mark.parametrize("name", LOCAL)
def test_totals_follow_every_document(name: str) -> None:
    seen: list[Counter[tuple[str, ...]]] = []
    read(data_of(name), on_document=lambda state: seen.append(+counted(values(state))))
    assert seen == [+totals(document, labelled(document)) for document in documents_of(name)]


@pytest.mark.parametrize("name", CLIENT)
def test_totals_of_clients_are_the_last_entries_of_their_jobs(name: str) -> None:
    (document,) = documents_of(name)
    entries = [entry for entry in document["client_stats"] if entry["jobname"] != "All clients"]
    hosts = {(entry["hostname"], entry["port"]) for entry in entries}
    # The last round has, of each host, one entry a job (group_reporting) or, in "clones", two and one.
    last = entries[-3:] if "clones" in name else entries[-len(hosts) :]
    several = len(hosts) > 1
    jobs = [
        (f"{entry['hostname']}{':' + str(entry['port']) if several else ''}/{entry['jobname']}", entry)
        for entry in last
    ]
    (state,) = read(data_of(name))
    assert +counted(values(state)) == +totals(document, jobs)
    assert state.outcome == "finished"


def test_clones_on_a_client_are_all_counted() -> None:
    (state,) = read(data_of("client-clones-jsonplus-si1-3.33.out"))
    exported = values(state)
    assert exported["fio_ios_total", "127.0.0.1/cs", "read"] == 201 + 200
    assert exported["fio_ios_total", "127.0.0.1/other", "write"] == 200
    assert exported["fio_target_iops", "127.0.0.1/cs", "read"] == 200
    assert exported["fio_completion_latency_seconds", "127.0.0.1/cs", "read"].counts[-1] == 401


@pytest.mark.parametrize("name", NAMES)
def test_every_document_is_used_once(name: str) -> None:
    records = [record.document for record in parse(data_of(name)) if isinstance(record, Counters)]
    printed = [plain(text) for text in texts_of(data_of(name))]
    assert [(one.timestamp, one.timestamp_ms) for one in records if not one.of_report] == [
        (document["timestamp"], document.get("timestamp_ms", 0)) for document in printed
    ]


@pytest.mark.parametrize("name", NAMES)
def test_records_do_not_depend_on_chunk_borders(name: str) -> None:
    data = data_of(name)
    expected = comparable(parse(data))
    dice = random.Random(name)
    for pieces in (2, 20, 200):
        assert comparable(parse(data, (dice.randrange(len(data) + 1) for _ in range(pieces)))) == expected


@pytest.mark.parametrize("name", SMALL)
def test_records_do_not_depend_on_the_arrival_of_single_bytes(name: str) -> None:
    data = data_of(name)
    assert comparable(parse(data, range(len(data)))) == comparable(parse(data))


DIRTY = (
    data_of("truncated-mid-doc-then-new-run-3.33.out")[56_900:75_000]
    + data_of("merged-normal-json-eta-3.33.out")[:9_000]
)


@settings(max_examples=60)
@given(st.lists(st.integers(0, len(DIRTY)), max_size=30))
def test_records_of_a_dirty_stream_do_not_depend_on_chunk_borders(cuts: list[int]) -> None:
    assert comparable(parse(DIRTY, cuts)) == comparable(parse(DIRTY))


TEXTS = [
    text for name in ("json-trimwrite-null-3.42.out", "jsonplus-cmdprio-3.28.out") for text in texts_of(data_of(name))
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    data = bytearray(b"\n".join(draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3))))
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(data)))
        length = draw(st.sampled_from([0, 1, 5, 300]))
        data[place : place + length] = draw(
            st.sampled_from([b"", b"9", b"-", b"nan", b"}\n", b"{", b'"', b"\xff", b"1e999"])
        )
    return bytes(data)


@settings(max_examples=150)
@given(damaged())
def test_no_damage_raises(data: bytes) -> None:
    state = new_state()
    for record in parse(data):
        if isinstance(record, Begin):
            state = new_state()
        elif not isinstance(record, Misread):
            state.apply(record, "stdout", ARRIVED)
            state.tick(ARRIVED)
        values(state, True)
        values(state, False)
        state.parameters()


@settings(max_examples=200)
@given(st.binary(max_size=300), st.integers(0, 300))
def test_no_garbage_raises(data: bytes, cut: int) -> None:
    FIO.recognise(data)
    parse(data, [min(cut, len(data))])
    parse(b'{\n  "fio version" : ' + data + b"\n}\n", [min(cut, len(data))])
