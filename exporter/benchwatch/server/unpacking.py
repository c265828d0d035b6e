"""Bodies of requests, compressed or not: gzip (RFC 1952, also of several members), and deflate (RFC 1950, or the bare
RFC 1951 that some clients send).

aiohttp's own unpacking accepts gzip data that are cut off as a whole body.
"""

import logging
import zlib
from collections.abc import AsyncIterator, Iterator

from aiohttp import StreamReader, web

from .answers import Refused

_log = logging.getLogger("benchwatch.server")

_CODINGS = frozenset({"gzip", "deflate"})
_UNPACKED = frozenset({"", "identity"})
_EXPANSION, _EXPANDED = 100, 1024 * 1024
"""Maximum expansion of a compressed body, from this size on: real output expands up to 30 times."""
_PART = 64 * 1024
_ZLIB, _RAW, _GZIP = 15, -15, 31
"""The formats, as values of zlib's `wbits`."""
_DEFLATED = 8
"""The low half of the first byte of zlib's format (RFC 1950, CM)."""


class _Unpacker:
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


def coding_of(request: web.Request) -> str:
    """The compression of the body; empty without one. Raises Refused for an unknown one, or several."""
    codings = [coding.strip().lower() for coding in request.headers.getall("Content-Encoding", [])]
    if len(codings) > 1 or not {*codings} <= _CODINGS | _UNPACKED:
        given = ", ".join(request.headers.getall("Content-Encoding"))[:100]
        sentence = f"Content-Encoding: {given}: expected gzip, deflate or none"
        raise Refused(415, sentence, {"Accept-Encoding": "gzip, deflate"})
    return "".join({*codings} & _CODINGS)


async def chunks(body: StreamReader, whose: str, coding: str) -> AsyncIterator[bytes]:
    """The bytes of a body as they arrive, unpacked. Raises Refused if they violate HTTP or their coding."""
    received = unpacked = 0
    unpacker = _Unpacker(coding) if coding else None
    while True:
        try:
            data = await body.readany()
        except ConnectionError:
            _log.debug("the push for %s broke off after %d bytes", whose, unpacked)
            raise
        except web.RequestPayloadError as error:
            reason = " ".join(str(error).split()).removeprefix("400, message: ")
            raise Refused(400, f"cannot read the body: {reason}") from error
        if not data:
            break
        received += len(data)
        try:
            for part in unpacker.unpacked(data) if unpacker else (data,):
                unpacked += len(part)
                if unpacked > _EXPANDED + _EXPANSION * received:
                    raise Refused(413, f"the body unpacks to more than {_EXPANSION} times its size")
                yield part
        except zlib.error as error:
            raise Refused(400, f"cannot unpack the body: expected {coding} data") from error
    if unpacker and not unpacker.whole:
        raise Refused(400, f"the body is cut off: its {coding} data stop after {unpacked} unpacked bytes")
