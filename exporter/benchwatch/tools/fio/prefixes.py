"""Takes away what a program that passes fio's output on wrote before every line.

`docker compose logs` writes `fio-1  | `, `kubectl logs --prefix` `[pod/fio/fio] `, others a time and a stream. What the
prefix is follows from the first document: it stands before its `{` and, if that is a line of its own, before the
indented `"fio version"` of the next, where only its digits may differ. The same prefix, whatever its digits, is then
taken from every line that begins with it. A stream in which a document begins a line, or stands in an old one, has no
prefix.
"""

import re

from .framing import DOCUMENT_LIMIT, LINE_LIMIT, VERSION

_PREFIX = rb'([^\r\n"{}]{1,128}?)'
_BRACE = re.compile(_PREFIX + rb"\{[ \t]*\r?\n")
_SECOND = re.compile(_PREFIX + rb'  "fio version"[^\r\n]{0,512}\r?\n')
_ON_ONE_LINE = re.compile(_PREFIX + rb'\{[ \t]*"[^\r\n]*\r?\n')
_PERHAPS_BRACE = re.compile(_PREFIX + rb"\{[ \t]*\r")
_TWO_LINES = 1024
"""Bytes that the second line of a document surely fits in."""
_DIGITS = re.compile(rb"\d+")
_LINE = re.compile(rb"[^\r\n]*(?:\r?\n|\r)")
_JSON = re.compile(rb"[ \t]*(?:\{|\[[ \t]*[\r\n{])")


class Prefixes:
    """Takes a stream in arbitrary chunks and gives it without its prefixes."""

    def __init__(self) -> None:
        self.example = ""
        """The first prefix, once there is one."""
        self._prefix: re.Pattern[bytes] | None = None
        self._held = b""
        self._undecided = True

    def feed(self, data: bytes) -> bytes:
        """What of these and the bytes held back can be given now; when the prefix is found, what stood before it."""
        if self._undecided:
            return self._look(self._held + data)
        return self._strip(self._held + data) if self._prefix else data

    def close(self) -> bytes:
        """What was held back."""
        held, self._held = self._held, b""
        return self._prefix.sub(b"", held) if self._prefix else held

    def _look(self, data: bytes) -> bytes:
        """Give complete lines until it is known whether there is a prefix."""
        place = 0
        while (found := _LINE.match(data, place)) and not _JSON.match(data, place):
            line, end = found[0], found.end()
            following = _LINE.match(data, end)
            if end == len(data) and _PERHAPS_BRACE.fullmatch(line):
                break
            if (
                _BRACE.fullmatch(line)
                and not (following and following[0].endswith(b"\n"))
                and len(data) - end < _TWO_LINES
            ):
                break
            prefix = _prefix_of(line, following[0] if following else b"")
            if prefix is not None:
                self.example = prefix.decode("utf-8", "replace")
                shape = rb"\d+".join(re.escape(part) for part in _DIGITS.split(prefix))
                self._prefix = re.compile(b"^" + shape, re.MULTILINE)
            if prefix is not None or VERSION.search(line):
                self._undecided, self._held = False, b""
                if self._prefix is None:
                    return data
                self._held = data[place:]
                return data[:place]
            place = end
        if _JSON.match(data, place) or len(data) - place > LINE_LIMIT:
            self._undecided, self._held = False, b""
            return data
        self._held = data[place:]
        return data[:place]

    def _strip(self, data: bytes) -> bytes:
        end = data.rfind(b"\n") + 1
        if len(data) - end > DOCUMENT_LIMIT:
            end = len(data)
        self._held = data[end:]
        return self._prefix.sub(b"", data[:end]) if self._prefix else data


def _prefix_of(line: bytes, following: bytes) -> bytes | None:
    """What stands before the beginning of a document; None if the lines are none."""
    brace, version = _BRACE.fullmatch(line), _SECOND.fullmatch(following)
    if brace and version and _DIGITS.sub(b"0", brace[1]) == _DIGITS.sub(b"0", version[1]):
        return brace[1]
    whole = _ON_ONE_LINE.fullmatch(line)
    return whole[1] if whole and VERSION.search(line) else None
