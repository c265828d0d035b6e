import pytest

from benchwatch.values import numbers as figures


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (float("inf"), "–"),
        (-1.0, "–"),
        (0.0, "0"),
        (0.004, "<0.01"),
        (0.25, "0.25"),
        (9.87, "9.87"),
        (9.996, "10.0"),
        (98.7, "98.7"),
        (99.96, "100"),
        (987.4, "987"),
        (999.6, "1.00k"),
        (12_345.0, "12.3k"),
        (999_950.0, "1.00M"),
        (4.56e6, "4.56M"),
        (7.8e9, "7.80G"),
        (1.5e15, "1500T"),
    ],
)
def test_rates_have_three_digits_and_a_prefix(value: float | None, text: str) -> None:
    assert figures.rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0, "0"), (7.0, "7"), (999.0, "999"), (1000.0, "1.00k"), (1_234_567.0, "1.23M")],
)
def test_small_counts_are_exact(value: float | None, text: str) -> None:
    assert figures.count(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (0.00000052, "520 ns"),
        (0.0, "0 s"),
        (0.000123, "123 µs"),
        (0.0009996, "1.00 ms"),
        (0.00123, "1.23 ms"),
        (0.0421, "42.1 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.00 s"),
        (12.34, "12.3 s"),
        (4321.0, "4321 s"),
    ],
)
def test_latencies_are_in_the_unit_that_fits(seconds: float | None, text: str) -> None:
    assert figures.latency(seconds) == text


@pytest.mark.parametrize(
    ("time", "interval", "latency", "p99", "of", "text"),
    [
        (100.0, 1.0, 6.66, 3.8, None, ""),
        (None, 1.0, None, 3.8, 93.0, ""),
        (100.0, 1.0, 0.002, 0.004, 99.1, ""),
        (100.0, 1.0, 6.66, 3.8, 93.3, "6.7 s older"),
        (100.0, 1.0, 0.005, 0.004, 99.1, "0.9 s older"),
        (100.0, 1.0, 0.005, 0.004, 100.0, ""),
        (100.0, 1.0, 0.002, 0.004, 103.0, "3.0 s newer"),
        (100.0, 10.0, 0.002, 0.004, 99.5, "of 1 s"),
        (100.0, 10.0, 0.005, 0.004, 99.5, "of 1 s"),
        (100.0, 10.0, 0.002, 0.004, 84.0, "of 1 s, 16 s older"),
        (100.0, None, 0.002, 0.004, 98.0, "2.0 s older"),
    ],
)
def test_figures_of_different_times_say_so(
    time: float | None, interval: float | None, latency: float | None, p99: float | None, of: float | None, text: str
) -> None:
    assert figures.apart(time, interval, latency, p99, of) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0.0, "0.0 s"),
        (4.21, "4.2 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1m 00s"),
        (725.0, "12m 05s"),
        (3599.6, "1h 00m"),
        (7500.0, "2h 05m"),
        (86400.0 * 3 + 3600 * 4, "3d 04h"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float | None, text: str) -> None:
    assert figures.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (0.0, "0.0 s ago"), (-0.4, "0.0 s ago"), (42.0, "42 s ago"), (-90.0, "1m 30s ahead")],
)
def test_an_age_in_the_future_is_said_to_be_ahead(seconds: float | None, text: str) -> None:
    assert figures.age(seconds) == text


def test_the_time_of_day_is_utc() -> None:
    assert figures.clock_time(1_790_000_000.9) == "14:13:20 UTC"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0 B/s"),
        (999.0, "999 B/s"),
        (4096.0, "4.00 KiB/s"),
        (3_276_800.0, "3.12 MiB/s"),
        (325_058_560.0, "310 MiB/s"),
        (2e9, "1.86 GiB/s"),
    ],
)
def test_bandwidths_are_in_the_units_of_fio(value: float | None, text: str) -> None:
    assert figures.bandwidth(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.0, "0"), (8.123, "8.12"), (999.4, "999"), (62_190.4, "62,190")])
def test_rates_are_written_in_full_where_there_is_room(value: float, text: str) -> None:
    assert figures.rate_in_full(value) == text


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("2.50 ms", "2.5 ms"),
        ("2.00 ms", "2 ms"),
        ("100 µs", "100 µs"),
        ("12,000", "12,000"),
        ("10.0 s", "10 s"),
        ("0.05", "0.05"),
        ("<0.01", "<0.01"),
    ],
)
def test_zeros_at_the_end_are_left_out_on_axes(text: str, short: str) -> None:
    assert figures.trimmed(text) == short


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0.00 bit/s"),
        (100, "800 bit/s"),
        (25e6, "200 Mbit/s"),
        (1.17625e9, "9.41 Gbit/s"),
        (1e12, "8.00 Tbit/s"),
    ],
)
def test_rates_of_a_network_are_in_bits(value: float | None, text: str) -> None:
    assert figures.bits(value) == text
