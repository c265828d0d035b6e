import numpy as np

from benchwatch.plots.time_lines import COLUMNS, Line, Span, alone, column_width, combined, drawn, middle_of, stalls


def line(*points: tuple[float, float]) -> Line:
    seconds, values = zip(*points, strict=True)
    return Line(np.array(seconds, float), np.array(values, float))


def every_second(*values: float) -> Line:
    return line(*enumerate(values, 1))


def test_a_line_is_broken_where_reports_are_missing() -> None:
    shape = drawn(line((1, 10), (2, 11), (3, 12), (7, 13), (8, 14)), 0, rate=True)
    assert shape.seconds.tolist() == [1, 2, 3, 5, 7, 8]
    np.testing.assert_equal(shape.values, [10, 11, 12, np.nan, 13, 14])
    assert shape.low is shape.high is None


def test_a_value_between_two_gaps_is_found() -> None:
    shape = drawn(line((1, 1), (2, 1), (3, 1), (7, 2), (11, 3), (12, 3), (13, 3)), 0, rate=False)
    assert shape.seconds[alone(shape.values)].tolist() == [7]


def test_short_lines_are_drawn_value_by_value() -> None:
    assert column_width(2 * COLUMNS, [every_second(*[1] * 2 * COLUMNS)]) == 0


def test_a_spike_of_one_second_stays_in_the_band_of_a_long_line() -> None:
    values = np.full(18_000, 100.0)
    values[1234] = 0
    values[2345] = 900
    whole = Line(np.arange(1.0, 18_001), values)
    width = column_width(18_000, [whole])
    assert width == 10
    shape = drawn(whole, width, rate=True)
    assert len(shape.seconds) == 1800
    assert shape.low is not None and shape.high is not None
    assert (shape.low.min(), shape.high.max()) == (0, 900)
    assert shape.seconds[shape.low.argmin()] == 1235  # the middle of its column, 1230 to 1240
    assert shape.values[shape.low.argmin()] == 90
    assert drawn(whole, width, rate=False).values.tolist() == [100] * 1800  # the median of a column


def test_a_report_at_the_edge_of_a_column_belongs_to_the_time_before_it() -> None:
    assert drawn(every_second(1, 1, 3, 3), 2, rate=True).values.tolist() == [1, 3]


def test_a_long_line_is_broken_where_whole_columns_are_missing() -> None:
    seconds = np.concatenate((np.arange(1.0, 101), np.arange(201.0, 301)))
    shape = drawn(Line(seconds, np.ones(200)), 10, rate=True)
    assert shape.seconds[np.isnan(shape.values)].tolist() == [150]


def test_a_stall_is_two_reports_of_nothing_or_silence() -> None:
    assert stalls(every_second(5, 5, 0, 5, 5, 5)) == []
    assert stalls(every_second(5, 5, 0, 0, 0, 5)) == [Span(2, 5)]
    assert stalls(every_second(0, 0, 5, 5)) == [Span(0, 2)]
    assert stalls(line((1, 5), (2, 5), (3, 5), (7, 5), (8, 5))) == [Span(3, 7)]
    assert stalls(line((1, 5))) == []


def test_rates_of_workers_are_added_at_common_moments() -> None:
    one, two = every_second(10, 10, 10, 10), line((1.7, 1), (2.7, 2), (3.7, 3), (4.7, 4))
    both = combined([one, two], rate=True)
    assert both.seconds.tolist() == [1, 2, 3, 4, 5]
    assert both.values.tolist() == [10, 11, 12, 13, 4]  # a report counts once, at the moment next to it


def test_what_follows_each_other_is_not_added() -> None:
    first = line(*((second, 100) for second in range(1, 31)))
    second = line(*((second - 0.001, 100) for second in range(31, 61)))
    assert combined([first, second], rate=True).values.tolist() == [100] * 60


def test_a_job_that_goes_on_after_a_gap_adds_nothing_in_it() -> None:
    steady, other = every_second(*[10] * 12), line((1, 5), (2, 5), (3, 5), (4, 5), (10, 5), (11, 5), (12, 5))
    assert combined([steady, other], rate=True).values.tolist() == [15] * 4 + [10] * 5 + [15] * 3


def test_a_single_report_that_is_missing_is_no_dip_of_the_sum() -> None:
    steady, other = every_second(*[10] * 6), line((1, 5), (2, 5), (3, 5), (5, 5), (6, 5))
    assert combined([steady, other], rate=True).values.tolist() == [15] * 6


def test_a_worker_with_a_single_report_is_added() -> None:
    assert combined([every_second(10, 10, 10), line((2.2, 5))], rate=True).values.tolist() == [10, 15, 10]


def test_of_latencies_of_workers_the_highest_is_shown() -> None:
    both = combined([every_second(0.1, 0.4), every_second(0.2, 0.3)], rate=False)
    assert both.values.tolist() == [0.2, 0.4]


def test_repeats_are_their_median_with_a_band_where_half_of_them_report() -> None:
    found = middle_of([every_second(10, 20, 30), every_second(12, 26, 31), every_second(11, 21, 35, 40)])
    assert found.seconds.tolist() == [1, 2, 3]  # the fourth second has one of three
    assert found.values.tolist() == [11, 21, 31]
    assert found.low is not None and found.low.tolist() == [10, 20, 30]
    assert found.high is not None and found.high.tolist() == [12, 26, 35]


def test_a_long_line_of_repeats_keeps_its_lowest_and_highest() -> None:
    seconds = np.arange(1.0, 7201)
    whole = Line(seconds, np.full(7200, 5.0), np.full(7200, 4.0), np.where(seconds == 77, 50.0, 6.0))
    shape = drawn(whole, column_width(7200, [whole]), rate=True)
    assert shape.low is not None and shape.high is not None
    assert (len(shape.seconds), shape.low.min(), shape.high.max()) == (1800, 4, 50)
