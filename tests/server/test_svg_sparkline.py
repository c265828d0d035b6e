import re

from benchwatch.server.svg_sparkline import sparkline


def paths(
    times: list[float], values: list[float | None], peak: float, start: float = 0.0, end: float = 300.0
) -> list[str]:
    """The data of the line and of the marker of the peak."""
    return re.findall(r'd="([^"]*)"', sparkline(times, values, peak, (start, end), "Throughput"))[1:]


def test_time_runs_to_the_right_and_values_up_from_zero() -> None:
    assert paths([0, 100, 200], [0, 5, 10], 10) == ["M0 39 100 21 200 3 h0", "M200 3h0"]


def test_the_chart_begins_and_ends_with_its_span_however_long_that_is() -> None:
    assert paths([1000, 4600], [10, 10], 10, 1000, 4600)[0] == "M0 3 300 3 h0"
    assert paths([1000.5, 1001], [10, 10], 10, 1000, 1001)[0] == "M150 3 300 3 h0"
    assert paths([1000], [10], 10, 1000, 1000)[0] == "M0 3 h0"


def test_the_line_is_broken_where_nothing_was_measured() -> None:
    assert paths([0, 1, 2, 3, 4], [1, 1, None, 1, 1], 1)[0] == "M0 3 1 3 h0M3 3 4 3 h0"


def test_the_line_is_broken_where_reports_are_missing() -> None:
    assert paths([0, 1, 2, 6, 7], [1, 1, 1, 1, 1], 1)[0] == "M0 3 1 3 2 3 h0M6 3 7 3 h0"


def test_a_late_report_is_no_gap() -> None:
    assert paths([0, 1, 2, 5, 6], [1, 1, 1, 1, 1], 1)[0] == "M0 3 1 3 2 3 5 3 6 3 h0"


def test_a_lone_value_between_gaps_is_a_dot() -> None:
    assert paths([0, 1, 2, 3], [None, 4, None, None], 4) == ["M1 3 h0", "M1 3h0"]


def test_zero_all_along_is_a_line_at_the_bottom_without_a_peak() -> None:
    assert paths([0, 1], [0, 0], 0) == ["M0 39 1 39 h0"]


def test_the_smallest_of_numbers_are_drawn_as_any() -> None:
    assert paths([0, 100], [0, 2e-308], 2e-308) == ["M0 39 100 3 h0", "M100 3h0"]
