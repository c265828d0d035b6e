import pytest

from benchwatch.printable import printable


@pytest.mark.parametrize("text", ["", "test1", "Größe µs", "基準 🏁", 'a "quoted" <b>[red]back\\slash'])
def test_what_can_be_printed_stays(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;cm0=\x07", "\\x1b]52;c;cm0=\\x07"),
        ("\x1b[2Jb", "\\x1b[2Jb"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x7f\x00", "\\x7f\\x00"),
        ("\x9b31m", "\\u009b31m"),
        ("run\u202egol.exe\u2066", "run\\u202egol.exe\\u2066"),
        ("a\u2028b\u200bc\ufeff", "a\\u2028b\\u200bc\\ufeff"),
        ("a\udcff.log", "a\\xff.log"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_a_terminal_would_obey_is_named(text: str, shown: str) -> None:
    assert printable(text) == shown
    shown.encode()


def test_names_that_differ_in_bytes_stay_apart() -> None:
    names = ["a\udcff", "a\udcfe", "a\x9b", "a\x1b"]

    assert len({printable(name) for name in names}) == len(names)
