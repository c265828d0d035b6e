"""Reading one document: old and new fields, and JSON that is not strict."""

import msgspec
import pytest

from benchwatch.tools import Misread
from benchwatch.tools.fio.document import Document, decode, loads
from benchwatch.tools.fio.text import DepthNote, Interrupted

from .recordings import data_of, misread, new_state, parse, plain, state_of, texts_of, values, with_documents

TEXT = texts_of(data_of("jsonplus-si1-libaio-qd16-3.33.out"))[0]


@pytest.mark.parametrize("name", with_documents())
def test_the_fields_used_are_those_of_the_document(name: str) -> None:
    for text in texts_of(data_of(name)):
        document, expected = decode(text, tolerant=True), plain(text)
        assert document.version == expected["fio version"]
        assert document.timestamp_ms == expected.get("timestamp_ms", 0)
        listed = document.client_stats if "client_stats" in expected else document.jobs
        for job, known in zip(listed, expected.get("client_stats") or expected["jobs"], strict=True):
            assert (job.jobname, job.groupid, job.error) == (known["jobname"], known["groupid"], known["error"])
            assert (job.eta, job.elapsed) == (known.get("eta", 0), known.get("elapsed", 0))
            assert (job.job_start, job.job_runtime) == (known.get("job_start", 0), known.get("job_runtime", -1))
            assert job.usr_cpu == known["usr_cpu"]
            for operation in ("read", "write", "trim", "mixed"):
                direction = getattr(job, operation)
                assert (direction is not None) == (operation in known)
                if direction:
                    fields = known[operation]
                    assert direction.total_ios == fields["total_ios"]
                    assert direction.completed_bytes == fields["io_bytes"]
                    latency = fields["clat_ns"]
                    assert (direction.clat_ns.max, direction.clat_ns.mean) == (latency["max"], latency["mean"])
                    assert latency.get("N", -1) == direction.clat_ns.N
                    bins = {int(key): count for key, count in latency.get("bins", {}).items()}
                    assert (direction.clat_ns.bins or {}) == bins


@pytest.mark.parametrize("name", [name for name in with_documents() if "strings-escaping" not in name])
def test_strict_documents_are_read_the_fast_way_too(name: str) -> None:
    for text in texts_of(data_of(name)):
        assert values_of(decode(text)) == values_of(decode(text, tolerant=True))


def values_of(document: Document) -> dict[tuple[str, ...], object]:
    state = new_state()
    state.apply(document, "", 0.0)
    return values(state)


def test_raw_control_characters_and_foreign_bytes_in_strings_are_read() -> None:
    strange = TEXT.replace(b'"name" : "rrw"', b'"name" : "r\tr\x01\nw \xff\xe9"').replace(
        b'"jobname" : "rrw"', b'"jobname" : "a\tb\x02\xff\\"\\\\"'
    )
    with pytest.raises(msgspec.DecodeError):
        msgspec.json.decode(strange)
    assert misread(strange) == []
    state = state_of(strange)
    assert state.parameters()["name"] == "r\tr\x01\nw \ufffd\ufffd"
    assert ("fio_ios_total", 'a\tb\x02\ufffd"\\', "read") in values(state)


@pytest.mark.parametrize("name", ["strings-escaping-3.33.out", "strings-escaping-3.42.out"])
def test_a_job_name_with_quote_backslash_and_tab_is_read(name: str) -> None:
    state = state_of(data_of(name))
    assert values(state)["fio_ios_total", 'we"ird\\job\ttab', "write"] == 128
    assert state.parameters()["bs"] == "8k"
    assert state.parameters()["rw"] == "randwrite"  # given twice: the last one holds


@pytest.mark.parametrize("text", [b"nan", b"-nan", b"inf", b"-inf", b"NaN", b"Infinity"])
def test_a_number_that_is_none_is_not_measured(text: bytes) -> None:
    (document,) = parse(TEXT.replace(b'"usr_cpu" : 3.247480', b'"usr_cpu" : ' + text))
    assert document.jobs[0].usr_cpu is None
    assert document.jobs[0].sys_cpu == 45.240761


def test_a_mean_that_is_no_number_leaves_the_latency_out_and_keeps_the_rest() -> None:
    mean = b'"mean" : 152881.179153'
    assert TEXT.count(mean) == 1
    exported = values(state_of(TEXT.replace(mean, b'"mean" : -nan')))
    assert exported["fio_ios_total", "rrw", "read"] == 41552
    assert exported["fio_completion_latency_seconds", "rrw", "read"].counts[-1] == 41540


def test_bytes_are_taken_from_kibibytes_where_only_these_are_known() -> None:
    (job,) = decode(TEXT.replace(b'"io_bytes" : 170106880,', b"")).jobs
    assert job.read is not None
    assert job.read.completed_bytes == 166120 * 1024


def test_documents_with_other_units_are_refused_with_what_was_expected() -> None:
    (record,) = parse(TEXT.replace(b"fio-3.33", b"fio-2.21"))
    assert record == Misread(
        "bad_document", "byte 0", "fio-2.21: its numbers have other units; expected fio 3.0 or newer"
    )
    assert misread(TEXT.replace(b"fio-3.33", b"fio-2.99")) == []
    assert misread(TEXT.replace(b"fio-3.33", b"fio-git")) == []


@pytest.mark.parametrize(
    "damage",
    [
        (b'"total_ios" : 41552', b'"total_ios" : "many"'),
        (b'"total_ios" : 41552', b'"total_ios" : -1'),
        (b'"total_ios" : 41552', b'"total_ios" : 99999999999999999999999'),
        (b'"total_ios" : 41552', b'"total_ios" : '),
        (b'"jobname" : "rrw"', b'"jobname" : 7'),
        (b'"fio version" : "fio-3.33"', b'"fio version" : [' + b"[" * 5000),
        (b'"jobs" : [', b'"jobs" : {'),
    ],
)
def test_a_damaged_document_is_one_misreading_and_the_next_is_read(damage: tuple[bytes, bytes]) -> None:
    assert TEXT.count(damage[0]) == 1
    records = parse(TEXT.replace(*damage) + TEXT)
    assert isinstance(records[0], Misread)
    assert records[0].reason == "bad_document"
    assert isinstance(records[1], Document)
    assert len(records) == 2


def test_a_message_of_another_process_in_the_middle_of_a_document_is_taken_out() -> None:
    note = b"note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n"
    middle = TEXT.index(b'"total_ios"') + 5
    dirty = TEXT[:middle] + note + TEXT[middle:-100] + b"\nfio: terminating on signal 2\n" + TEXT[-100:]
    records = parse(dirty)
    assert records[:2] == [DepthNote(), Interrupted(2)]
    assert values_of(records[2]) == values_of(decode(TEXT))
    assert len(records) == 3


def test_a_message_after_a_document_that_was_cut_off_is_read() -> None:
    records = parse(TEXT[:3000] + b"\nfio: terminating on signal 2\n" + TEXT)
    assert [type(record) for record in records] == [Misread, Interrupted, Document]
    assert records[0].reason == "truncated_document"


def test_loads_refuses_what_is_no_json() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        loads(b'{"a" : nope}')
