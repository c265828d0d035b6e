from benchwatch.tools.fio.command import without_documents
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
