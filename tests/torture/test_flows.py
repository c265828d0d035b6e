"""tests/torture/flows: some of its flows, and that it finds what it looks for."""

from pathlib import Path

import pytest

from benchwatch.runs.recognition import Recognition

from . import flows
from .flows import Found, follow


@pytest.mark.parametrize("seed", ["a", "b"])
def test_whatever_happens_to_files_the_live_state_is_that_of_a_fresh_reader(seed: str) -> None:
    follow(seed, flows=12, rounds=4)


def test_an_observer_that_misses_what_is_written_anew_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flows, "COMPARISONS", 6)
    monkeypatch.setattr(Recognition, "forget", lambda *_: None)
    monkeypatch.setattr(flows, "_STEPS", (flows.Flow._rewrite,))
    with pytest.raises(Found, match=r"live .*, fresh "):
        follow("a", flows=12, rounds=4)


def test_a_bug_that_a_flow_meets_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recognition, "look", lambda *_: 1 // 0)
    with pytest.raises(Found, match="its files cannot be looked at: ZeroDivisionError"):
        follow("a", flows=2, rounds=1)


def test_a_flow_takes_the_same_steps_each_time(tmp_path: Path) -> None:
    steps = []
    for place in ("x", "y"):
        flow = flows.Flow(tmp_path / place, "1.7")
        for number in range(30):
            flow.step_and_look(flows.BEGIN + number)
        steps.append(flow.steps)
    assert steps[0] == steps[1]
