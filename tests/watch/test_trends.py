from benchwatch.values.sparkline import sparkline
from benchwatch.watch.trends import COLUMNS, SECONDS, Trend


def test_levels_go_from_zero_to_the_highest_value() -> None:
    assert sparkline([1, 2, 3, 4, 5, 6, 7, 8]) == "▁▂▃▄▅▆▇█"
    assert sparkline([0.001, 1000]) == "▁█"
    assert sparkline([]) == ""


def test_zero_is_seen_and_differs_from_what_was_not_measured() -> None:
    assert sparkline([8, 0, None, 4]) == "█_ ▄"
    assert sparkline([0, None]) == "_ "


def test_a_column_holds_its_worst_value() -> None:
    dips, spikes = Trend(min), Trend(max)
    for second, value in enumerate([100, 100, 3, 100, 100, 100, 90, 100, 100, 100]):
        dips.add(1000 + second, value)
        spikes.add(1000 + second, value)
    assert dips.chart(1009, 3) == [None, 3, 90]
    assert spikes.chart(1009, 3) == [None, 100, 100]


def test_columns_do_not_change_while_they_wander() -> None:
    trend = Trend(max)
    for second in range(20):
        trend.add(1000 + second, float(second))
    assert trend.chart(1019, 4) == [4, 9, 14, 19]
    assert trend.chart(1024, 4) == [9, 14, 19, None]
    assert trend.chart(1026.9, 4) == [14, 19, None, None]


def test_a_clock_that_was_set_back_does_not_stop_the_chart() -> None:
    trend = Trend(max)
    for time in (1000, 1005, 4600, 4605, 1010, 1015, 1014):
        trend.add(time, time)
    assert trend.chart(1015, 4) == [1000, 1005, 1014, 1015]


def test_a_time_without_values_is_a_gap() -> None:
    trend = Trend(max)
    trend.add(1000, 5)
    trend.add(1006, None)
    trend.add(1011, 7)
    assert trend.chart(1011, 3) == [5, None, 7]


def test_no_more_columns_are_remembered_than_can_be_shown() -> None:
    trend = Trend(max)
    for column in range(10 * COLUMNS):
        trend.add(column * SECONDS, 1)
    assert len([value for value in trend.chart(10 * COLUMNS * SECONDS - 1, 5 * COLUMNS) if value]) == COLUMNS


def test_what_is_measured_after_the_clock_was_set_back_a_little_is_shown_at_its_time() -> None:
    trend = Trend(max)
    trend.add(1000, 5)
    trend.add(990, 7)
    assert trend.chart(1004, 3) == [7, None, 5]
