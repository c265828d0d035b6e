"""What a terminal shows of fio when nobody asked for JSON: no documents."""

from ..launcher import Write
from .framing import Framer, Text


def without_documents(write: Write) -> Write:
    """Wrap a write function so that only what lies between the documents gets through."""
    framer = Framer()

    def write_text(data: memoryview) -> int:
        for piece in framer.feed(bytes(data)):
            rest = memoryview(piece.data + b"\n" if isinstance(piece, Text) else b"")
            while rest:
                rest = rest[write(rest) :]
        return len(data)

    return write_text
