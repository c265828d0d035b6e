"""How tests/lab judges rounds."""

from pathlib import Path
from typing import Any

import pytest

from tests.lab.real import Message, judge
from tests.lab.tables import insert
from tests.lab.tape import Round
from tests.lab.why import Heard, report


def test_the_tables_stand_between_their_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- recorded: written by tests/lab -->\nold\n<!-- end of recorded -->\nafter\n")
    lock = Round("run", "lock", "database", 100)
    quiet = Round("run", "no fault", "none", 200)
    heard = [Heard(lock, [(3, "network", "a"), (5, "database", "b")]), Heard(lock, []), Heard(quiet, [])]
    insert(page, "recorded", report(heard))
    text = page.read_text()
    assert text.startswith("before\n<!-- recorded: written by tests/lab -->\n\n|fault|")
    assert text.endswith("\n\n<!-- end of recorded -->\nafter\n")
    assert "|lock|database|2|1 of 2|2|3 s (at most 3 s)|" in text
    assert "|no fault|none|1|1 of 1|0|-|" in text
    assert "1 of 2 faults right" in text
    assert "old" not in text
    with pytest.raises(ValueError, match="expected the lines '<!-- other"):
        insert(page, "other", "")


def message(after: float, layer: str, text: str = "") -> dict[str, Any]:
    return Message(after, layer, text, ["RunSlow"])._asdict()


@pytest.mark.parametrize(
    ("messages", "layer", "cause"),
    [
        ([message(3, "log_device"), message(9, "database", "the lock on a is held by 'x'")], True, True),
        ([message(9, "database", "a checkpoint")], True, False),
        ([message(9, "database", "the lock on a"), message(29, "network")], False, False),
        ([message(9, "database", "the lock on a"), message(31, "network")], True, True),
        ([message(31, "database", "the lock on a")], False, False),
        ([message(2, "", "latency spiked")], False, False),
        ([], False, False),
    ],
)
def test_judged_is_the_last_message_within_30_seconds(messages: list[dict[str, Any]], layer: bool, cause: bool) -> None:
    one = {"fault": "lock", "expected": "database", "cause": "the lock on", "messages": messages}
    judged = judge(one)
    assert (judged.layer, judged.cause, judged.messages) == (layer, cause, len(messages))


def test_a_quiet_time_is_right_only_without_any_message() -> None:
    quiet = {"fault": "no fault", "expected": "none", "cause": "", "messages": []}
    assert judge(quiet).cause
    assert not judge(quiet | {"messages": [message(3, "", "latency spiked")]}).cause
    assert not judge(quiet | {"messages": [message(3, "network")]}).cause
