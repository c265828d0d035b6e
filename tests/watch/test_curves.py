from benchwatch.model.run import Report
from benchwatch.values.sparkline import sparkline
from benchwatch.watch.curves import Trend


def test_levels_go_from_zero_to_the_highest_value() -> None:
    assert sparkline([1, 2, 3, 4, 5, 6, 7, 8]) == "▁▂▃▄▅▆▇█"
    assert sparkline([0.001, 1000]) == "▁█"
    assert sparkline([]) == ""


def test_zero_is_seen_and_differs_from_what_was_not_measured() -> None:
    assert sparkline([8, 0, None, 4]) == "█_ ▄"
    assert sparkline([0, None]) == "_ "


def latencies(trend: Trend, time: float, columns: int = 80) -> list[float | None]:
    return [one and one.latency for one in trend.columns(time, columns)[0]]


def test_a_column_holds_its_lowest_rate_and_its_highest_latency() -> None:
    trend = Trend()
    for second, value in enumerate([100, 100, 3, 100, 100, 100, 90, 100, 100, 100]):
        trend.add(Report(1000 + second, value, value))
    columns, seconds = trend.columns(1009, 2)
    assert [one and (one.throughput, one.latency) for one in columns] == [(3, 100), (90, 100)]
    assert seconds == 10.0


def test_a_time_without_values_is_a_gap() -> None:
    trend = Trend()
    for time, value in ((1000, 5), (1001, None), (1002, 7)):
        trend.add(Report(time, None, value))
    assert latencies(trend, 1003) == [5, None, 7, None]
    assert trend.columns(1003, 80)[1] == 4.0
    assert Trend().columns(1003, 80) == ([], 0.0)


def test_a_clock_that_was_set_back_does_not_stop_the_curve() -> None:
    trend = Trend()
    for time in (1000, 1005, 4600, 1010, 1014):
        trend.add(Report(time, None, time))
    assert latencies(trend, 1014)[-5:] == [1010, None, None, None, 1014]


def test_a_spike_of_a_second_stays_visible_after_hours() -> None:
    trend = Trend()
    for second in range(20_000):
        trend.add(Report(second, None, 9.0 if second == 777 else 1.0))
    values = latencies(trend, 19_999, 100)
    assert (max(value or 0.0 for value in values), values.count(9.0)) == (9.0, 1)
    assert len(values) <= 100 and 19_900 < trend.columns(19_999, 100)[1] < 20_100
