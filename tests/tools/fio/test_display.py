from pathlib import Path

from benchwatch.tools.fio.display import final_figures, without_documents
from tests.support.places import RECORDINGS


def test_a_terminal_gets_what_is_between_the_documents() -> None:
    data = (RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out").read_bytes()
    shown = bytearray()

    def write(piece: memoryview) -> int:
        shown.extend(piece[:7])
        return len(piece[:7])

    outlet = without_documents(write)
    for start in range(0, len(data), 1000):
        outlet(memoryview(b"fio: a message\n" if start == 0 else b""))
        outlet(memoryview(data[start : start + 1000]))
    assert bytes(shown) == b"fio: a message\n"


def test_the_final_document_makes_one_line() -> None:
    whole = final_figures(RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out", 2.1)
    assert whole.startswith("fio over the whole run, the warm-up of 2.1 s included: ")
    by_job = final_figures(RECORDINGS / "fio/json-multi-stonewall-3.42.out", 2.1)
    assert by_job.startswith("fio by job, the warm-up of 2.1 s included:\n")
    assert final_figures(RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out") == (
        "fio over the whole run: 96,854 IOPS, mean latency 0.161 ms, 99th percentile latency 0.243 ms"
    )


def test_jobs_that_ran_one_after_the_other_have_a_line_each() -> None:
    assert final_figures(RECORDINGS / "fio/json-multi-stonewall-3.42.out").splitlines() == [
        "fio by job:",
        "  reader read: 32,068 IOPS, mean latency 0.061 ms, 99th percentile latency 0.100 ms",
        "  writer write: 64,424 IOPS, mean latency 0.003 ms, 99th percentile latency 0.004 ms",
        "  seqmix read: 128,506 IOPS, mean latency 0.003 ms, 99th percentile latency 0.006 ms",
        "  seqmix write: 128,849 IOPS, mean latency 0.003 ms, 99th percentile latency 0.010 ms",
    ]


def test_without_a_final_document_there_is_no_line(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert final_figures(tmp_path / "empty") == ""
