import pytest

from benchwatch.compare.measures import Unit, interval, level, percent, quantity, span


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (62_190.4, "per second", "62,190"),
        (140.0, "per second", "140"),
        (8.123, "per second", "8.12"),
        (0.0, "per second", "0"),
        (0.000_16, "seconds", "160 µs"),
        (0.001_239, "seconds", "1.24 ms"),
        (12.5, "seconds", "12.5 s"),
        (0.0, "seconds", "0 s"),
        (4096.0, "bytes per second", "4.00 KiB/s"),
        (325_058_560.0, "bytes per second", "310 MiB/s"),
        (0.0123, "ratio", "1.23 %"),
    ],
)
def test_quantities_have_three_digits_and_a_unit(value: float, unit: Unit, text: str) -> None:
    assert quantity(value, unit) == text


def test_changes_are_rounded_as_published() -> None:
    assert [percent(tps / 62_190 - 1) for tps in (66_864, 69_702)] == ["+7.5 %", "+12.1 %"]
    assert [percent(ratio) for ratio in (0.0, -0.0004, -0.5, 10.0, 1e6)] == [
        "0.0 %",
        "0.0 %",
        "-50.0 %",
        "+1000 %",
        "+1e+08 %",
    ]
    assert interval((-0.01, 0.02)) == "-1.0 to +2.0 %"
    assert interval(None) == ""


def test_spans_of_time() -> None:
    assert [span([60.2]), span([58, 61]), span([0.16, 3600])] == ["60 s", "58 to 61 s", "0.16 to 3,600 s"]


def test_no_confidence_is_shown_as_certainty() -> None:
    assert [level(one) for one in (0.95, 0.9833333, 0.99995, 0.999999)] == ["95 %", "98.33 %", "99.995 %", "99.9999 %"]
