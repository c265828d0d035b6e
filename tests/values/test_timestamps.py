import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from benchwatch.values.timestamps import read_moment, shown_moment


def unix(*when: int) -> float:
    return datetime(*when, tzinfo=UTC).timestamp()  # type: ignore[misc, arg-type]


NOON = unix(2026, 11, 22, 12)


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")  # as Europe/Berlin, which not every machine knows
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-22T18:00:00Z", unix(2026, 11, 22, 18)),
        ("2026-11-22t18:00z", unix(2026, 11, 22, 18)),
        ("2026-11-22 18:00:00.25-05:30", unix(2026, 11, 22, 23, 30) + 0.25),
        ("18:00", unix(2026, 11, 22, 17)),
        ("18:00:30", unix(2026, 11, 22, 17, 0, 30)),
        ("+90s", NOON + 90),
        ("+0.5", NOON + 0.5),
        ("+2h", NOON + 7200),
        ("1795370000.5", 1795370000.5),
    ],
)
def test_a_moment_is_read_in_each_of_its_forms(text: str, moment: float) -> None:
    assert read_moment(text, NOON) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "90s",
        "+",
        "+1y",
        "25:00",
        "18",
        "18:00:60",
        "2026-11-31T18:00Z",
        "1e10",
        "2999-01-01T00:00Z",
    ],
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^expected a time such as 18:00, .*, got "):
        read_moment(text, NOON)


@pytest.mark.parametrize(
    ("text", "now", "sentence"),
    [
        ("9:30", NOON, "9:30 was 3:30:00 ago; if tomorrow is meant, write 2026-11-23T09:30:00+01:00"),
        ("2026-11-22T12:00:00Z", NOON, "expected a time in the future; 2026-11-22T12:00:00Z was 0:00:00 ago"),
        ("1790000000", NOON, "expected a time in the future; 1790000000 was 61 days, 21:46:40 ago"),
        ("+0s", NOON, "expected a time in the future; +0s was 0:00:00 ago"),
        (
            "2026-11-22T18:00",
            NOON,
            "has no zone: write 2026-11-22T18:00Z for UTC, or 2026-11-22T18:00:00+01:00 for local time",
        ),
    ],
)
def test_a_time_that_is_past_or_not_one_moment_is_refused(text: str, now: float, sentence: str) -> None:
    with pytest.raises(ValueError) as refused:
        read_moment(text, now)
    assert sentence in str(refused.value)


@pytest.mark.parametrize("moment", [NOON, NOON + 0.125, unix(2026, 10, 25, 0, 30), unix(2026, 10, 25, 1, 30)])
def test_a_shown_moment_reads_as_itself(moment: float) -> None:
    assert read_moment(shown_moment(moment), NOON - 1e8) == moment
