"""Turns text from outside into one line that a terminal shows but never obeys.

Names of runs, values of parameters, messages of tools, cells of a CVM's page: any of them may hold an escape sequence
(which sets the clipboard or the window's title), a line break that fakes another line, a bidirectional override that
shows letters in another order, or bytes that are not UTF-8. A character that cannot be printed (`str.isprintable`)
becomes an escape:

    \\n \\r \\t          the usual ones
    \\x1b              an ASCII control character
    \\xff              a byte that is not UTF-8 (a surrogate of Python's `surrogateescape`)
    \\u009b \\u202e     any other: C1 controls, line separators, formatting characters
"""

import logging
import sys
from html import escape
from types import TracebackType

_COMMON = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def printable(text: str) -> str:
    """The text with every character that cannot be printed replaced by a visible escape."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def lines(text: str) -> str:
    """See printable; line breaks stay."""
    return "\n".join(map(printable, text.split("\n")))


def in_html(text: str) -> str:
    """See printable; the result is text for an HTML page, without markup."""
    return escape(printable(text))


def say(sentence: str, advice: str = "") -> None:
    """Print a sentence of benchwatch on stderr; `advice` follows on its own lines."""
    print(f"benchwatch: {printable(sentence)}", *([lines(advice)] if advice else []), sep="\n", file=sys.stderr)


class LogFormatter(logging.Formatter):
    """Makes each message one printable line, and each traceback printable lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        record.message = printable(record.message)
        return super().formatMessage(record)

    def formatException(
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        """See logging.Formatter."""
        return lines(super().formatException(ei))


def _escape(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return _COMMON.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
