import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.values.names import label, printable


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b"db1.example-2", "db1.example-2"),
        ("Messung für Müller 測定".encode(), "Messung für Müller 測定"),
        (b"a\xff", r"a\xff"),
        (rb"a\xff", r"a\\xff"),
        (b"a\nb\x1b[31m", r"a\nb\x1b[31m"),
        ("a\u202eb\u00a0c\U000e0001".encode(), r"a\u202eb\u00a0c\U000e0001"),
        (b"half of a letter \xc3", r"half of a letter \xc3"),
    ],
)
def test_a_file_name_becomes_a_label_that_can_be_printed(name: bytes, expected: str) -> None:
    assert label(os.fsdecode(name)) == expected


@settings(max_examples=500)
@given(st.sets(st.one_of(st.binary(), st.sampled_from([b"\\xff", b"\xff", b"\\", b"\\\\", b"\\u000a", b"\n"]))))
def test_different_file_names_become_different_labels(names: set[bytes]) -> None:
    labels = {label(os.fsdecode(name)) for name in names}
    assert len(labels) == len(names)
    assert all(each.isprintable() and each.encode().decode() == each for each in labels)


def test_a_message_keeps_its_backslashes() -> None:
    assert printable("run a\\xff: \x1b and \udcfe") == r"run a\xff: \x1b and \xfe"
