"""Reading one document: old and new fields, JSON that is not strict, and what no fio prints."""

import json
import re
from collections.abc import Hashable, Iterator

import msgspec
import pytest

from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.samples import Sample
from benchwatch.tools.api import Misread
from benchwatch.tools.fio.counters import Counters, count
from benchwatch.tools.fio.document import FioDocument, decode, strict_documents
from benchwatch.tools.fio.jobs import MOST_JOBS
from benchwatch.tools.fio.state import FioState
from benchwatch.tools.fio.text import Message

from .recordings import (
    ARRIVED,
    data_of,
    doctored,
    misread,
    new_state,
    parse,
    plain,
    state_of,
    texts_of,
    values,
    with_documents,
)

TEXT = texts_of(data_of("jsonplus-si1-libaio-qd16-3.33.out"))[0]


class Shown:
    """A state as a source of samples."""

    labels = (("run", "r"), ("worker", "w"))

    def __init__(self, state: FioState) -> None:
        self._state = state

    @property
    def version(self) -> Hashable:
        return self._state.version

    def samples(self) -> Iterator[Sample]:
        return self._state.samples(True)


@pytest.mark.parametrize("name", with_documents())
def test_the_fields_used_are_those_of_the_document(name: str) -> None:
    for text in texts_of(data_of(name)):
        document, expected = decode(*strict_documents(text)), plain(text)
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
                    assert json.loads(bytes(direction.clat_ns.bins) or b"{}") == latency.get("bins", {})


@pytest.mark.parametrize("name", [name for name in with_documents() if "strings-escaping" not in name])
def test_strict_documents_are_read_the_fast_way_too(name: str) -> None:
    for text in texts_of(data_of(name)):
        assert values_of(decode(text)) == values_of(decode(*strict_documents(text)))


def values_of(document: FioDocument) -> dict[tuple[str, ...], object]:
    state = new_state()
    state.apply(count(document), "", 0.0)
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
    assert isinstance(records[1], Counters)
    assert len(records) == 2


HUGE = b"9" * 5000
MOST = 2**63 - 1


@pytest.mark.parametrize(
    ("key", "number"),
    [
        *(
            (b"total_ios", number)
            for number in (b"-1", b"1.5", b"NaN", b"Infinity", b'"7"', b"1e400", HUGE, b"%d" % MOST)
        ),
        *((b"N", number) for number in (b"-2", b"0.5", b"%d" % MOST, b"%d" % 2**64, HUGE)),
        *((b"io_bytes", number) for number in (b"-1", b"%d" % 2**63, HUGE)),
        *((b"io_kbytes", number) for number in (b"-1", b"%d" % MOST)),
        *((b"short_ios", number) for number in (b"-1", b"%d" % MOST)),
        *((b"drop_ios", number) for number in (b"-1", b"%d" % MOST)),
        *((b"runtime", number) for number in (b"-1", b"%d" % MOST)),
        *((b"max", number) for number in (b"-1", b"%d" % MOST, b"1.5")),
        *((b"mean", number) for number in (b"-0.5", b"1e300", b"1e400", b'"1"', HUGE)),
        *((b"usr_cpu", number) for number in (b"-1.0", b"1e300", b"true")),
        *((b"elapsed", number) for number in (b"-1", b"%d" % MOST)),
        *((b"timestamp_ms", number) for number in (b"-1", b"%d" % MOST, b"1e3")),
        *((b"timestamp", number) for number in (b"-1", b"%d" % MOST)),
        *((b"groupid", number) for number in (b"0.5", b"%d" % 2**63)),
        *((b"error", number) for number in (b"%d" % 2**31, b'"5"')),
        *((b"total_err", number) for number in (b"-1", b"%d" % 2**63)),
        *((b"util", number) for number in (b"-1", b"1e300")),
    ],
    ids=lambda each: each[:20].decode(),
)
def test_numbers_that_fio_cannot_print_are_one_misreading_in_words(key: bytes, number: bytes) -> None:
    place = rb'"%s" : -?[\d.]+' % key
    extra = b'"total_err" : 0, "error" : 0,'
    text = TEXT.replace(b'"error" : 0,', extra, 1)
    assert re.search(place, text)
    # `io_kbytes` counts only where bytes are not printed.
    text = text.replace(b'"io_bytes"', b'"x"') if key == b"io_kbytes" else text
    records = parse(re.sub(place, lambda _: b'"%s" : %s' % (key, number), text, count=1) + TEXT)
    assert [type(record) for record in records] == [Misread, Counters]
    assert records[0].reason == "bad_document"
    assert len(records[0].text) <= 200
    assert "Traceback" not in records[0].text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"75264" : ', b'"17112760321" : '),
        (b'"75264" : ', b'"-1" : '),
        (b'"75264" : ', b'"7.5" : '),
        (b'"75264" : ', b'"' + HUGE + b'" : '),
        (b'"75264" : ', b'"75264" : -'),
        (b'"75264" : ', b'"75264" : 1.5, "1" : '),
        (b'"75264" : ', b'"1" : %d, "75264" : ' % MOST),
    ],
    ids=lambda each: each[:20].decode(),
)
def test_bins_that_fio_cannot_print_are_a_misreading(old: bytes, new: bytes) -> None:
    assert old in TEXT
    damaged = TEXT.replace(old, new, 1)
    records = parse(damaged + TEXT)
    assert [type(record) for record in records] == [Misread, Counters]
    assert records[0].reason == "bad_document"


def test_a_bin_of_fios_last_range_is_read() -> None:
    exported = values(state_of(TEXT.replace(b'"75264" : ', b'"17112760320" : 1, "75264" : ', 1)))
    assert exported["fio_completion_latency_seconds", "rrw", "read"].counts[-1] == 41541


@pytest.mark.parametrize(
    "option",
    [
        '"rate_iops" : "' + "9" * 5000 + '"',
        '"numjobs" : "' + "9" * 5000 + '"',
        '"runtime" : "' + "9" * 5000 + '"',
        '"size" : "0x' + "f" * 5000 + '"',
        '"loops" : "9999999999999999999", "numjobs" : "9999999999999999999", "number_ios" : "9999999999999999999"',
        '"rate_iops" : "9223372036854775807", "numjobs" : "9223372036854775807"',
    ],
    ids=lambda each: str(each[:30]),
)
def test_options_beyond_all_measure_harm_nothing(option: str) -> None:
    text = TEXT.replace(b'"name" : "rrw"', b'"name" : "rrw", ' + option.encode(), 1)
    assert text != TEXT
    state = state_of(text)
    exported = values(state)
    assert exported["fio_ios_total", "rrw", "read"] == 41552
    Exposition().render([Shown(state)])


@pytest.mark.parametrize("value", [b"9" * 4000, b"-5", b"1e400", b"NaN", b'"x"', b"[1]"], ids=range(6))
def test_percentiles_that_fio_cannot_print_are_left_out(value: bytes) -> None:
    text = re.sub(
        rb'"99.000000" : \d+', lambda _: b'"99.000000" : ' + value, data_of("json-percentile-one-op-3.33.out")
    )
    state = state_of(text)
    assert state.outcome == "finished"
    assert state.figures().p99 is None
    assert state.figures().operations == 512


def test_a_version_beyond_all_measure_is_a_version() -> None:
    assert misread(TEXT.replace(b"fio-3.33", b"fio-" + HUGE + b"." + HUGE)) == []


def test_an_entry_that_stands_for_no_job_is_left_out_and_one_with_ios_refused() -> None:
    text = texts_of(data_of("json-group-second-job-3.33.out"))[-1]
    assert [job.jobname for job in decode(text).jobs] == ["read"]
    assert misread(text) == []
    assert misread(text.replace(b'"jobname" : "read",', b"")) == ["bad_document"]


def test_a_direction_that_no_fio_has_is_counted_once_and_named() -> None:
    patched = TEXT.replace(b'"trim" : {', b'"append" : {', 1)
    assert patched != TEXT
    first, second, third = parse(patched + at_later(patched))
    assert first == Misread(
        "unknown_direction", "byte 0", "append: left out; expected read, write, trim, mixed and sync"
    )
    assert isinstance(second, Counters)
    assert isinstance(third, Counters)


def test_directions_are_looked_for_in_json_that_is_not_strict_too() -> None:
    text = TEXT.replace(b'"jobname" : "rrw"', b'"jobname" : "rrw", "\xff" : 1')
    assert misread(text) == []
    assert values(state_of(text))["fio_ios_total", "rrw", "read"] == 41552


def at_later(text: bytes) -> bytes:
    return doctored(text, timestamp_ms=decode(text).timestamp_ms + 1000, elapsed=decode(text).jobs[0].elapsed + 1)


def of_many(jobs: int) -> bytes:
    """A document of many jobs that read 10 times each."""
    tree = plain(data_of("json-percentile-one-op-3.33.out"))
    (job,) = tree["jobs"]
    job["read"]["total_ios"] = 10
    tree["jobs"] = [{**job, "jobname": f"job{number}"} for number in range(jobs)]
    return json.dumps(tree, indent=2, separators=(",", " : ")).encode() + b"\n"


def test_jobs_beyond_the_bound_are_added_up_as_one() -> None:
    text = of_many(jobs=MOST_JOBS + 44)
    assert misread(text) == []
    state = state_of(text)
    exported = values(state)
    assert len({key[1] for key in exported if key[0] == "fio_ios_total"}) == MOST_JOBS + 1
    assert exported["fio_ios_total", "(other jobs)", "read"] == 440
    assert sum(value for key, value in exported.items() if key[0] == "fio_ios_total") == 10 * (MOST_JOBS + 44)
    assert state.figures().operations == 10 * (MOST_JOBS + 44)
    assert ("fio_job_error", "(other jobs)") in exported
    assert not [key for key in exported if key[0] == "fio_job_info" and key[1] == "(other jobs)"]


def test_an_error_of_a_job_beyond_the_bound_still_fails_the_run() -> None:
    text = of_many(jobs=MOST_JOBS + 2)
    place = text.rindex(b'"error" : 0')
    state = state_of(text[:place] + b'"error" : 5' + text[place + 11 :])
    state.tick(ARRIVED + 60)
    assert (state.outcome, state.reason) == ("failed", "job (other jobs): error 5 (Input/output error)")


def test_a_message_of_another_process_in_the_middle_of_a_document_is_taken_out() -> None:
    note = b"note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n"
    middle = TEXT.index(b'"total_ios"') + 5
    dirty = TEXT[:middle] + note + TEXT[middle:-100] + b"\nfio: terminating on signal 2\n" + TEXT[-100:]
    records = parse(dirty)
    assert [(record.meaning, record.number) for record in records[:2]] == [("depth_note", None), ("interrupted", 2)]
    assert values_of(records[2].document) == values_of(decode(TEXT))
    assert len(records) == 3


def test_a_message_after_a_document_that_was_cut_off_is_read() -> None:
    records = parse(TEXT[:3000] + b"\nfio: terminating on signal 2\n" + TEXT)
    assert [type(record) for record in records] == [Misread, Message, Counters]
    assert records[0].reason == "truncated_document"


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        list(strict_documents(b'{"a" : nope}'))


def test_options_of_several_hosts_are_put_together() -> None:
    hosts = b'[{"hostname" : "a", "port" : 1, "bs" : "4k"}, {"hostname" : "b", "port" : 2, "bs" : "8k", "size" : "1m"}]'
    document = decode(b'{"fio version" : "fio-3.42", "global options" : ' + hosts + b"}")
    assert document.shared_options == {"bs": "4k", "size": "1m"}


def test_options_of_a_job_override_those_of_all() -> None:
    both = b'"global options" : {"bs" : "4k", "rw" : "read"}, "jobs" : [{"jobname" : "a", "job options" : '
    document = decode(b'{"fio version" : "fio-3.42", ' + both + b'{"rw" : "write", "rw" : "randwrite"}}]}')
    assert count(document).jobs[0].options == {"bs": "4k", "rw": "randwrite"}
