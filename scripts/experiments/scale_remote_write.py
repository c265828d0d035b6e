"""Remote write: the requests that an agent has sent, under another name and at another time.

https://prometheus.io/docs/specs/prw/remote_write_spec/: the body of a request is a protobuf message, one block of
Snappy. Version 1: series (1) with labels (1), samples (2), exemplars (3), histograms (4). Version 2: symbols (4) and
series (5) with references (1), samples (2), histograms (3), exemplars (4). The timestamp of a sample is field 2, of an
exemplar 2 (1) or 3 (2), of a histogram 15: milliseconds as a varint, six bytes from 1971 to 2109, so that another time
fits into the same bytes. A name of the same length does too.
"""

import ctypes
import ctypes.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from demo_processes import Failure

_SAMPLES: Mapping[int, Mapping[int, Mapping[int, int]]] = {
    1: {1: {2: 2, 4: 15}},
    2: {5: {2: 2, 3: 15}},
}
"""By version: field of the series, field of what carries samples, field of the timestamp."""
_SEVEN_BITS = 7 * np.arange(6)
_STAMP = 6
"""Bytes of a timestamp."""


class Snappy:
    """The block format of Snappy, by the library of that name. Raises Failure if it is missing."""

    def __init__(self) -> None:
        name = ctypes.util.find_library("snappy")
        if name is None:
            raise Failure("needs the library snappy: install the package libsnappy1v5")
        self._library = ctypes.CDLL(name)
        self._library.snappy_max_compressed_length.restype = ctypes.c_size_t
        self._library.snappy_max_compressed_length.argtypes = [ctypes.c_size_t]

    def compress(self, data: bytes) -> bytes:
        """One block."""
        size = ctypes.c_size_t(self._library.snappy_max_compressed_length(len(data)))
        out = ctypes.create_string_buffer(size.value)
        self._check(self._library.snappy_compress(data, ctypes.c_size_t(len(data)), out, ctypes.byref(size)))
        return ctypes.string_at(out, size.value)

    def decompress(self, data: bytes) -> bytes:
        """What a block holds. Raises ValueError if it is none."""
        size = ctypes.c_size_t()
        length = ctypes.c_size_t(len(data))
        self._check(self._library.snappy_uncompressed_length(data, length, ctypes.byref(size)))
        out = ctypes.create_string_buffer(size.value)
        self._check(self._library.snappy_uncompress(data, length, out, ctypes.byref(size)))
        return ctypes.string_at(out, size.value)

    def _check(self, status: int) -> None:
        if status:
            raise ValueError("not a block of Snappy")


class Request(NamedTuple):
    """The message of a request. `places` are the indices of the bytes of its timestamps, shape (samples, 6)."""

    message: bytes
    places: NDArray[np.int64]
    stamps: NDArray[np.int64]

    def moved(self, recorded: bytes, name: bytes, milliseconds: int) -> bytes:
        """The same message of another machine, later. Raises ValueError if the names are not equally long."""
        if len(recorded) != len(name):
            raise ValueError(f"{name!r}: expected a name as long as {recorded!r}")
        message = np.frombuffer(self.message.replace(recorded, name), np.uint8).copy()
        digits = ((self.stamps + milliseconds)[:, None] >> _SEVEN_BITS) & 127
        digits[:, :-1] |= 128
        message[self.places] = digits
        return message.tobytes()


def read_request(message: bytes, version: int) -> Request:
    """The timestamps of a message. Raises ValueError where it is none of this version."""
    ((series, carriers),) = _SAMPLES[version].items()
    starts: list[int] = []
    stamps: list[int] = []
    for number, begin, end in _fields(message, 0, len(message)):
        if number != series:
            continue
        for carrier, first, last in _fields(message, begin, end):
            if carrier not in carriers:
                continue
            for field, start, stop in _fields(message, first, last):
                if field == carriers[carrier]:
                    if stop - start != _STAMP:
                        raise ValueError(f"a timestamp of {stop - start} bytes")
                    starts.append(start)
                    stamps.append(_varint(message, start)[0])
    places = np.array(starts, np.int64)[:, None] + np.arange(_STAMP)
    return Request(message, places, np.array(stamps, np.int64))


def read_requests(folder: Path, version: int) -> list[Request]:
    """All requests of a folder that carry samples, in the order in which they were sent."""
    snappy = Snappy()
    found = (read_request(snappy.decompress(path.read_bytes()), version) for path in sorted(folder.glob("*.request")))
    return [request for request in found if len(request.stamps)]


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Number, begin and end of the content of each field of a message."""
    while at < end:
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            stop = _varint(data, at)[1]
        elif kind == 1:
            stop = at + 8
        elif kind == 2:
            length, at = _varint(data, at)
            stop = at + length
        else:
            raise ValueError(f"a field of wire type {kind}")
        if stop > end:
            raise ValueError("a field that ends behind its message")
        yield key >> 3, at, stop
        at = stop


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
