"""scripts/experiments/scale: a recorded request under another name and at another time, and what the tables count."""

import numpy as np
import pytest

from scale_remote_write import read_request

FIRST, LATER = 1_790_000_000_000, 1_790_000_000_500
MOVED = 3_000_000_123


def varint(value: int) -> bytes:
    low = value & 127
    return bytes([low]) if value < 128 else bytes([low | 128]) + varint(value >> 7)


def field(number: int, content: bytes | int) -> bytes:
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + np.float64(value).tobytes()


def label(name: bytes, value: bytes) -> bytes:
    return field(1, field(1, name) + field(2, value))


def first_version(machine: bytes, by: int = 0) -> bytes:
    """Two samples of a series, a histogram of another with an integer that looks like a timestamp, and metadata."""
    samples = b"".join(field(2, double(1, 0.25) + field(2, stamp + by)) for stamp in (FIRST, LATER))
    histogram = field(4, field(1, FIRST) + field(15, FIRST + by))
    metadata = field(3, field(1, 2) + field(2, b"up"))
    series = label(b"instance", machine) + label(b"worker", machine)
    return field(1, series + samples) + field(1, series + histogram) + metadata


def second_version(machine: bytes, by: int = 0) -> bytes:
    symbols = b"".join(field(4, text) for text in (b"", b"instance", machine))
    sample = field(2, double(1, 0.25) + field(2, FIRST + by))
    histogram = field(3, field(1, LATER) + field(15, LATER + by))
    return symbols + field(5, field(1, b"\x01\x02") + sample) + field(5, field(1, b"\x01\x02") + histogram)


@pytest.mark.parametrize(("version", "message"), [(1, first_version), (2, second_version)])
def test_a_request_of_another_machine_at_another_time(version: int, message: object) -> None:
    assert callable(message)
    request = read_request(message(b"vm-0000"), version)
    expected = [FIRST, LATER, FIRST] if version == 1 else [FIRST, LATER]
    assert request.stamps.tolist() == expected
    assert request.moved(b"vm-0000", b"vm-0417", MOVED) == message(b"vm-0417", MOVED)
    assert request.moved(b"vm-0000", b"vm-0417", MOVED) == message(b"vm-0417", MOVED)  # the recording stays as it is


def test_a_name_of_another_length_and_a_damaged_request_are_refused() -> None:
    with pytest.raises(ValueError, match="expected a name as long as b'vm-0000'"):
        read_request(first_version(b"vm-0000"), 1).moved(b"vm-0000", b"vm-10000", MOVED)
    with pytest.raises(ValueError, match="a field that ends behind its message"):
        read_request(first_version(b"vm-0000")[:-10], 1)
