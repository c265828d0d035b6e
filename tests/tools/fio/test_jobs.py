"""What follows from a job's options."""

import pytest

from benchwatch.tools.fio.jobs import (
    amount,
    number_of_clones,
    operations,
    runtime,
    seconds,
    size,
    target,
    warnings,
)


@pytest.mark.parametrize(
    ("text", "kb_base", "expected"),
    [
        ("4096", 1024, 4096),
        ("4k", 1024, 4096),
        ("4K", 1024, 4096),
        ("4kb", 1024, 4096),
        ("4ki", 1024, 4096),
        ("4kib", 1024, 4000),
        ("2M", 1024, 2 * 1024**2),
        ("1g", 1024, 1024**3),
        ("1t", 1024, 1024**4),
        ("1p", 1024, 1024**5),
        ("4k", 1000, 4000),
        ("4kib", 1000, 4096),
        ("0x10", 1024, 16),
        ("0100", 1024, 100),
        ("+5", 1024, 5),
        ("50%", 1024, None),
        ("(4*1024)", 1024, None),
        ("-1", 1024, None),
        ("", 1024, None),
    ],
)
def test_sizes_are_read_as_fio_reads_them(text: str, kb_base: int, expected: int | None) -> None:
    assert size(text, kb_base) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30", 30),
        ("500ms", 0.5),
        ("2m", 120),
        ("1h", 3600),
        ("1D", 86400),
        ("250MSEC", 0.25),
        ("", None),
        ("1.5", None),
    ],
)
def test_times_are_read_as_fio_reads_them(text: str, expected: float | None) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"rate_iops": "100"}, (100, 100, 100)),
        ({"rate_iops": "1k"}, (1024, 1024, 1024)),
        ({"rate_iops": "70,30"}, (70, 30, 30)),
        ({"rate_iops": "70,30,5"}, (70, 30, 5)),
        ({"rate_iops": ",30"}, (None, 30, 30)),
        ({"rate_iops": "70,"}, (70, None, None)),
        ({"rate_iops": "0"}, (None, None, None)),
        ({"rate_iops": "1k", "kb_base": "1000"}, (1000, 1000, 1000)),
        ({}, (None, None, None)),
    ],
)
def test_a_rate_is_for_reads_writes_and_trims(options: dict[str, str], expected: tuple[int | None, ...]) -> None:
    assert tuple(target(options, "rate_iops", operation) for operation in ("read", "write", "trim")) == expected


def test_a_rate_for_mixed_io_is_the_sum_if_every_part_is_limited() -> None:
    assert target({"rw": "randrw", "rate": "1m,2m"}, "rate", "mixed") == 3 * 1024**2
    assert target({"rw": "randrw", "rate": "1m,"}, "rate", "mixed") is None
    assert target({"rw": "randrw", "rate": "1m"}, "rate", "sync") is None


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("randread", ("read",)),
        ("randrw:8", ("read", "write")),
        ("readwrite", ("read", "write")),
        ("randtrimwrite", ("write", "trim")),
        ("what", ()),
    ],
)
def test_the_mode_tells_the_operations(mode: str, expected: tuple[str, ...]) -> None:
    assert operations({"rw": mode}) == expected
    assert operations({}) == ("read",)


@pytest.mark.parametrize(
    ("options", "depth_note", "expected"),
    [
        ({"rw": "randrw", "rwmixread": "70", "rate_iops": "100"}, False, ["rwmixread_with_rate_iops"]),
        ({"rw": "randrw", "rwmixwrite": "70", "rate_iops": ",100"}, False, ["rwmixread_with_rate_iops"]),
        ({"rw": "randread", "rwmixread": "70", "rate_iops": "100"}, False, []),
        ({"rw": "randrw", "rwmixread": "70", "rate": "1m"}, False, []),
        ({"rw": "randrw", "rate_iops": "100"}, False, []),
        ({"rate_iops": "100", "rate_process": "poisson"}, False, ["rate_poisson"]),
        ({"rate_iops": "100", "rate_process": "linear"}, False, []),
        ({"rate_process": "poisson"}, False, []),
        (
            {"rate": "1m", "rate_process": "poisson", "bssplit": "4k/50:64k/50"},
            False,
            ["rate_poisson", "rate_poisson_sizes"],
        ),
        ({"rate_iops": "9", "rate_process": "poisson", "bsrange": "4k-64k"}, False, ["rate_poisson"]),
        ({"ioengine": "psync", "iodepth": "16"}, False, ["sync_engine_iodepth"]),
        ({"ioengine": "psync", "iodepth": "16", "io_submit_mode": "offload"}, False, []),
        ({"ioengine": "psync", "iodepth": "1"}, True, []),
        ({"iodepth": "16"}, False, []),
        ({"iodepth": "16"}, True, ["sync_engine_iodepth"]),
        ({"ioengine": "libaio", "iodepth": "16"}, False, ["libaio_without_direct"]),
        ({"ioengine": "libaio", "iodepth": "16", "direct": "1"}, True, []),
        ({"ioengine": "libaio", "iodepth": "16", "buffered": "0"}, False, []),
        ({"ioengine": "io_uring", "iodepth": "16"}, False, []),
        ({"gtod_reduce": "1"}, False, ["gtod_reduce_no_latency"]),
        ({"gtod_reduce": ""}, False, ["gtod_reduce_no_latency"]),
        ({"gtod_reduce": "0"}, False, []),
        ({"disable_clat": "1", "disable_lat": "1"}, False, ["gtod_reduce_no_latency"]),
        ({"disable_clat": "1"}, False, []),
    ],
)
def test_misleading_combinations_are_warned_of(options: dict[str, str], depth_note: bool, expected: list[str]) -> None:
    assert list(warnings(options, depth_note)) == expected


def test_numbers_of_a_job() -> None:
    assert number_of_clones({"numjobs": "4"}) == 4
    assert number_of_clones({}) == number_of_clones({"numjobs": "x"}) == number_of_clones({"numjobs": "0"}) == 1
    assert runtime({"runtime": "2m"}) == 120
    assert runtime({}) is runtime({"runtime": "0"}) is None
    assert amount({"size": "8M", "loops": "40"}) == 40 * 8 * 1024**2
    assert amount({"size": "8M", "io_size": "4M"}) == 4 * 1024**2
    assert amount({"size": "50%"}) is amount({}) is None
