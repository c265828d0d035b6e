"""Bodies of requests, compressed or not: gzip (RFC 1952, also of several members), and deflate (RFC 1950).

aiohttp's own unpacking accepts gzip data that are cut off as a whole body.
"""

import logging
import zlib
from collections.abc import AsyncIterator, Iterator

from aiohttp import StreamReader, web

from .answers import Refused

_log = logging.getLogger("benchwatch.server")

_CODINGS = frozenset({"gzip", "deflate"})
_EXPANSION, _EXPANDED = 100, 1024 * 1024
"""Maximum expansion of a compressed body, from this size on: real output expands up to 30 times."""
_PART = 64 * 1024
_EITHER = 47
"""Both formats, as zlib's `wbits`."""


class _Unpacker:
    """Unpacks one body."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_EITHER)
        self.whole = True
        """Whether the data may end here."""

    def unpacked(self, data: bytes) -> Iterator[bytes]:
        """Unpack further bytes, into parts of at most 64 KiB. Raises zlib.error."""
        while data:
            if self._stream.eof:
                self._stream = zlib.decompressobj(_EITHER)
            part = self._stream.decompress(data, _PART)
            while part:
                yield part
                part = self._stream.decompress(self._stream.unconsumed_tail, _PART)
            data = self._stream.unused_data
            self.whole = self._stream.eof


def coding_of(request: web.Request) -> str:
    """The compression of the body; empty without one. Raises Refused for an unknown one, or several."""
    codings = [coding.strip().lower() for coding in request.headers.getall("Content-Encoding", [])]
    if len(codings) > 1 or not {*codings} <= _CODINGS | {"", "identity"}:
        given = ", ".join(request.headers.getall("Content-Encoding"))[:100]
        sentence = f"Content-Encoding: {given}: expected gzip, deflate or none"
        raise Refused(415, sentence, {"Accept-Encoding": "gzip, deflate"})
    return "".join({*codings} & _CODINGS)


async def chunks(body: StreamReader, whose: str, coding: str) -> AsyncIterator[bytes]:
    """The bytes of a body as they arrive, unpacked. Raises Refused if they violate HTTP or their coding."""
    received = unpacked = 0
    unpacker = _Unpacker() if coding else None
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
