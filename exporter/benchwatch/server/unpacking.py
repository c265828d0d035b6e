"""Compressed bodies of requests: gzip (RFC 1952, also of several members), and deflate (RFC 1950, or the bare RFC 1951
that some clients send).

aiohttp's own unpacking accepts gzip data that are cut off as a whole body.
"""

import zlib
from collections.abc import Iterator

CODINGS = frozenset({"gzip", "deflate"})
_PART = 64 * 1024
_ZLIB, _RAW, _GZIP = 15, -15, 31
"""The formats, as values of zlib's `wbits`."""
_DEFLATED = 8
"""The low half of the first byte of zlib's format (RFC 1950, CM)."""


class Unpacker:
    """Unpacks one body of a coding."""

    def __init__(self, coding: str) -> None:
        self._gzip = coding == "gzip"
        self._stream: zlib._Decompress | None = None

    @property
    def whole(self) -> bool:
        """Whether the data may end here."""
        return self._stream is None

    def unpacked(self, data: bytes) -> Iterator[bytes]:
        """Unpack further bytes, into parts of at most 64 KiB. Raises zlib.error."""
        while data:
            if self._stream is None:
                deflate = _ZLIB if data[0] & 0xF == _DEFLATED else _RAW
                self._stream = zlib.decompressobj(_GZIP if self._gzip else deflate)
            part = self._stream.decompress(data, _PART)
            while part:
                yield part
                part = self._stream.decompress(self._stream.unconsumed_tail, _PART)
            data = self._stream.unused_data
            if self._stream.eof:
                self._stream = None
