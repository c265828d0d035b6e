"""How tests/lab judges rounds."""

from pathlib import Path

import pytest

from tests.lab.judging import Message, Round, insert, report


def test_the_tables_stand_between_their_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- real: written by tests/lab -->\nold\n<!-- end of real -->\nafter\n")
    right = [Message(3, "network", "a"), Message(5, "database", "the lock")]
    heard = [Round("lock", "database", "lock", right), Round("lock", "database", "lock", [], load=2.5)]
    insert(page, "real", report([*heard, Round("no fault", "none", "", [])]))
    text = page.read_text()
    assert text.startswith("before\n<!-- real: written by tests/lab -->\n\n|fault|")
    assert text.endswith("\n\n<!-- end of real -->\nafter\n")
    assert "|lock|database|2|1 of 2|1 of 2|2|3 s (at most 3 s)|" in text
    assert "|no fault|none|1|1 of 1|1 of 1|0|-|" in text
    assert "1 of 2 layers and 1 of 2 causes right; load 2.5 to 2.5." in text
    assert "- not right: lock: no message" in text
    assert "old" not in text
    with pytest.raises(ValueError, match="expected the lines '<!-- other"):
        insert(page, "other", "")


@pytest.mark.parametrize(
    ("messages", "layer", "cause"),
    [
        ([Message(3, "log_device", ""), Message(9, "database", "the lock on a is held by 'x'")], True, True),
        ([Message(9, "database", "a checkpoint")], True, False),
        ([Message(9, "database", "the lock on a"), Message(29, "network", "")], False, False),
        ([Message(9, "database", "the lock on a"), Message(31, "network", "")], True, True),
        ([Message(31, "database", "the lock on a")], False, False),
        ([Message(2, "", "latency spiked")], False, False),
        ([], False, False),
    ],
)
def test_judged_is_the_last_message_within_30_seconds(messages: list[Message], layer: bool, cause: bool) -> None:
    judged = Round("lock", "database", "the lock on", messages)
    assert (judged.layer_right, judged.cause_right) == (layer, cause)


def test_a_quiet_time_is_right_only_without_any_message() -> None:
    quiet = Round("no fault", "none", "", [])
    assert quiet.cause_right
    assert not quiet._replace(messages=[Message(3, "", "latency spiked")]).cause_right
    assert not quiet._replace(messages=[Message(3, "network", "")]).cause_right
