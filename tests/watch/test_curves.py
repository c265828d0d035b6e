from benchwatch.values.sparkline import sparkline
from benchwatch.watch.curves import Curve, Trend


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
    assert dips.curve(1009, 2) == Curve([3, 90], 10.0)
    assert spikes.curve(1009, 2) == Curve([100, 100], 10.0)


def test_a_time_without_values_is_a_gap() -> None:
    trend = Trend(max)
    trend.add(1000, 5)
    trend.add(1001, None)
    trend.add(1002, 7)
    assert trend.curve(1003, 80) == Curve([5, None, 7, None], 4.0)
    assert Trend(max).curve(1003, 80) == Curve([], 0.0)


def test_a_clock_that_was_set_back_does_not_stop_the_curve() -> None:
    trend = Trend(max)
    for time in (1000, 1005, 4600, 1010, 1014):
        trend.add(time, time)
    assert trend.curve(1014, 80).values[-5:] == [1010, None, None, None, 1014]


def test_a_spike_of_a_second_stays_visible_after_hours() -> None:
    trend = Trend(max)
    for second in range(20_000):
        trend.add(second, 9.0 if second == 777 else 1.0)
    values, seconds = trend.curve(19_999, 100)
    assert (max(value or 0.0 for value in values), values.count(9.0)) == (9.0, 1)
    assert len(values) <= 100 and 19_900 < seconds < 20_100
