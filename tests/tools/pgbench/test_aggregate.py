"""The aggregated log of every version."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.tools.api import Misread
from benchwatch.tools.pgbench.transactions import AggregateInterval

from .recordings import LOGS, counters, parse, read

AGGREGATED = [path for path in LOGS if path.parent.name.startswith("agglog")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1795168190 3172 1999494 1743364756 169 5941", AggregateInterval(1795168190, 3172)),
        ("1795168190 30 199 174 1 5 9 8 7 6", AggregateInterval(1795168190, 30)),
        (
            "1795168223 271 132515 83168235 292 3491 24046 5576874 1 1894 4",
            AggregateInterval(1795168223, 267, 4),
        ),
        (
            "1795168239 287 189422 675952066 291 18431 36425 74963579 0 5933 3 5 9 2 1",
            AggregateInterval(1795168239, 287, 3, 5, 9, 3),
        ),
        (  # 19
            "1795168239 287 189422 675952066 291 18431 36425 74963579 0 5933 3 5 9 2 1 4",
            AggregateInterval(1795168239, 287, 3, 5, 9, 7),
        ),
    ],
)
def test_line_of_each_version(line: str, expected: AggregateInterval) -> None:
    assert parse("log aggregate", f"{line}\n".encode()) == [expected]


def test_line_of_another_kind_and_torn_line_are_misread() -> None:
    records = parse("log aggregate", b"1795168190 1 2 3 4 5 6\n\nhello\n1795168190 3172 19994")
    assert records == [
        Misread("log_line", "line 1", "1795168190 1 2 3 4 5 6"),
        Misread("log_line", "line 3", "hello"),
        Misread("truncated_line", "line 4", "1795168190 3172 19994"),
    ]


@settings(max_examples=40)
@given(st.sampled_from(AGGREGATED), st.lists(st.integers(0, 200), max_size=10))
def test_chunk_borders_do_not_matter(path: object, cuts: list[int]) -> None:
    data = path.read_bytes()  # type: ignore[attr-defined]
    assert parse("log aggregate", data, cuts) == parse("log aggregate", data)


def test_counts_where_nothing_better_is_known() -> None:
    path = next(path for path in AGGREGATED if "agglog-timing" in str(path))
    (state,) = read({path.name: path.read_bytes()})
    assert counters(state) == {"pgbench_transactions_total": 3917 + 5097 + 5035 + 4980 + 5162 + 4886}
    assert state.last_report == 1795168288
    assert not state.history


@pytest.mark.parametrize(
    "line",
    [
        "1795168223 271 132515 83168235 292 3491 24046 5576874 1 1894 272",  # more skipped than there were
        "9795168190 3172 1999494 1743364756 169 5941",  # the year 2280
        "0795168190 3172 1999494 1743364756 169 5941",
        "1795168190 9999999999999 1999494 1743364756 169 5941",
        "1795168239 287 189422 675952066 291 18431 36425 74963579 0 5933 3 5 9 9223372036854775808 1",
    ],
)
def test_an_interval_that_no_run_can_have_is_misread(line: str) -> None:
    assert parse("log aggregate", f"{line}\n".encode()) == [Misread("log_line", "line 1", line)]
