import re

from benchwatch.tools.api import Moment
from benchwatch.tools.fio import FIO
from tests.support.places import RECORDINGS


def moments(data: bytes) -> list[Moment]:
    return list(FIO.moments("text", data))


def test_a_document_is_written_at_its_own_time() -> None:
    data = (RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out").read_bytes()
    times = [int(time) / 1000 for time in re.findall(rb'"timestamp_ms" : (\d+)', data)]
    found = moments(data)
    assert [moment.time for moment in found] == times
    assert [data[moment.offset - 2 : moment.offset] for moment in found] == [b"\n}"] * len(times)
    assert moments(data[: found[-1].offset - 1]) == found[:-1]


def test_a_document_that_is_cut_off_has_no_time() -> None:
    data = (RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out").read_bytes()
    first, second, *_ = moments(data)
    torn = data[: first.offset - 500] + b"\n" + data[first.offset :]
    assert [moment.time for moment in moments(torn)][:1] == [second.time]


def test_the_document_of_a_client_has_no_time() -> None:
    assert moments((RECORDINGS / "fio/client-2hosts-jsonplus-si1-3.42.out").read_bytes()) == []
