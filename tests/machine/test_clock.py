import ctypes
from types import SimpleNamespace
from typing import Any

import pytest

from benchwatch.machine.clock import clock_error


@pytest.mark.parametrize(
    ("state", "answer", "error"),
    [
        (0, {"largest_error": 12_000}, 0.012),
        (0, {"largest_error": 12_000, "offset": -3_000}, 0.015),
        (0, {"largest_error": 12_000, "offset": -3_000_000, "status": 0x2001}, 0.015),
        (5, {"largest_error": 16_000_000, "status": 0x40}, None),
        (-1, {}, None),
    ],
    ids=["bound", "being corrected, in microseconds", "in nanoseconds", "not synchronised", "refused"],
)
def test_the_clock_is_off_by_what_its_kernel_says(
    monkeypatch: pytest.MonkeyPatch, state: int, answer: dict[str, int], error: float | None
) -> None:
    def adjtimex(pointer: Any) -> int:
        for name, value in answer.items():
            setattr(pointer._obj, name, value)
        return state

    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(adjtimex=adjtimex))
    assert clock_error() == (error if error is None else pytest.approx(error))


def test_without_that_call_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace())
    assert clock_error() is None
