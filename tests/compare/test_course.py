from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from benchwatch.compare.course import Course, course, together
from benchwatch.compare.experiment import load
from benchwatch.settings.settings import RunsSettings

from .made import START, place


def courses(path: Path) -> Mapping[tuple[str, ...], Course]:
    """The courses of a run by group."""
    (run,) = load(path, RunsSettings(), None, False)[""].runs
    return run.courses


def test_jobs_that_waited_for_others_did_in_their_courses_what_fio_counted(recordings: Path) -> None:
    found = courses(recordings / "fio" / "json-multi-stonewall-3.42.out")
    counted = {
        ("reader", "read"): 64_168,
        ("writer", "write"): 128_912,
        ("writer", "sync"): 8_057,
        ("seqmix", "read"): 188_544,  # of 257,141: the last document ends the run, and no report
        ("seqmix", "write"): 189_480,
    }
    assert {group: found[group].totals["operations"].sum() for group in counted} == pytest.approx(counted)
    assert found["reader", "read"].seconds == pytest.approx([0.895, 1.0, 1.001])
    assert found["writer", "write"].seconds == pytest.approx([1.001, 0.998, 1.001])


def test_what_came_before_the_first_interval_that_fio_tells_is_no_part_of_it(recordings: Path) -> None:
    found = courses(recordings / "fio" / "json-multi-stonewall-3.33.out")  # does not say when its jobs started
    assert found["reader", "read"].seconds == pytest.approx([1.0, 1.0])
    assert found["writer", "write"].totals["operations"].sum() == pytest.approx(128_624)


def test_the_time_from_the_launch_to_the_first_interval_is_no_part_of_it(tmp_path: Path) -> None:
    rates = np.linspace(500, 1000, 60)
    found = courses(place(tmp_path / "run", rates, record=f"start: {START - 30}\n"))[()]
    assert found.seconds == pytest.approx(np.ones(60))
    assert found.totals["operations"].sum() == pytest.approx(45_000)


def test_several_workers_are_one_course_over_the_time_in_which_all_ran() -> None:
    one = course(np.arange(11.0), np.arange(1.0, 11.0), np.full(10, 100.0))
    two = course(np.arange(2.5, 12.0), np.arange(3.5, 12.0), np.full(9, 50.0))
    both = together([one, two])
    assert both.ends.tolist() == [3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5]
    assert both.totals["operations"] == pytest.approx(np.full(7, 150.0))


def test_a_worker_that_paused_has_done_nothing_while_it_did() -> None:
    moments = np.arange(6.0)
    paused = course(moments, np.array([1.0, 2.0, 4.0, 5.0]), np.full(4, 100.0))
    both = together([paused, course(moments, moments[1:], np.full(5, 50.0))])
    assert both.totals["operations"] == pytest.approx([150.0, 150.0, 50.0, 150.0, 150.0])


def test_a_report_without_operations_has_no_part_in_the_mean_latency() -> None:
    times = np.array([1.0, 2.0, 3.0])
    found = course(np.arange(4.0), times, np.array([10.0, 0.0, 30.0]), (times[[0, 2]], np.array([0.001, 0.002])))
    assert found.ratio("latency", "timed") == pytest.approx((10 * 0.001 + 30 * 0.002) / 40)
    assert found.ratio("operations") == pytest.approx(40 / 3)
    assert found.after(1.0).ratio("operations") == pytest.approx(15.0)
