import pytest

from benchwatch.values.durations import Duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [(3, 3.0), (0.5, 0.5), ("10s", 10.0), ("500ms", 0.5), ("1.5m", 90.0), ("2h", 7200.0), ("7", 7.0), (" 1 us ", 1e-6)],
)
def test_durations_are_read_as_people_write_them(text: object, seconds: float) -> None:
    assert Duration.read(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s",
        "10 parsecs",
        "-1s",
        -1,
        True,
        None,
        float("inf"),
        float("nan"),
        [1],
        10**400,
        "9" * 400 + "s",
        "1e9",
        "\u0663s",
    ],
)
def test_what_is_no_duration_is_refused_with_what_was_expected(text: object) -> None:
    with pytest.raises(ValueError, match="expected a duration such as 500ms, 10s or 5m, got"):
        Duration.read(text)
