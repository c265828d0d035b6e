import logging
from collections.abc import Iterator

import pytest

from benchwatch.server.quiet_log import Repeats


class Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


class Log:
    """A logger whose lines pass the filter, on a clock of its own."""

    def __init__(self) -> None:
        self.now = 0.0
        self.repeats = Repeats(lambda: self.now)
        self.lines = Lines()
        self.lines.addFilter(self.repeats)
        self.logger = logging.getLogger("benchwatch.test_repeats")
        self.logger.addHandler(self.lines)


@pytest.fixture
def log() -> Iterator[Log]:
    made = Log()
    yield made
    made.logger.removeHandler(made.lines)


def test_the_same_line_is_logged_once_a_minute_and_how_often_there_was_more(log: Log) -> None:
    for _ in range(1000):
        log.logger.error("no descriptor is left\nsocket 5")
    log.now = 59.0
    log.repeats.sum_up()
    assert log.lines.texts == ["no descriptor is left\nsocket 5"]
    log.now = 60.0
    log.repeats.sum_up()
    assert log.lines.texts[1:] == ["no descriptor is left (999 more like it)"]
    log.logger.error("no descriptor is left\nsocket 5")
    assert log.lines.texts[2:] == ["no descriptor is left\nsocket 5"]


def test_a_hundred_different_lines_of_one_kind_are_logged_a_minute(log: Log) -> None:
    for number in range(500):
        log.logger.warning("%s is not known", number)
    assert log.lines.texts == [f"{number} is not known" for number in range(100)]
    log.now = 61.0
    log.repeats.sum_up()
    assert log.lines.texts[100:] == ["499 is not known (400 more like it)"]


def test_ten_different_lines_with_a_traceback_are_logged_a_minute(log: Log) -> None:
    for number in range(500):
        log.logger.error(f"task {number} at {id(log):#x}\nfailed", exc_info=ValueError("x"))
    assert len(log.lines.texts) == 10
    log.now = 61.0
    log.repeats.sum_up()
    assert log.lines.texts[10:] == [f"task 499 at {id(log):#x} (490 more like it)"]


def test_lines_of_other_kinds_and_levels_pass(log: Log) -> None:
    for _ in range(3):
        log.logger.warning("one")
        log.logger.error("one")
        log.logger.error("two %s", "three")
    assert log.lines.texts == ["one", "one", "two three"]


def test_a_line_that_came_once_is_not_summed_up(log: Log) -> None:
    log.logger.error("once")
    log.now = 100.0
    log.repeats.sum_up()
    log.logger.error("once")
    assert log.lines.texts == ["once", "once"]


def test_what_was_not_summed_up_in_time_is_kept(log: Log) -> None:
    for _ in range(3):
        log.logger.error("again")
    log.now = 70.0
    log.logger.error("again")
    log.now = 140.0
    log.repeats.sum_up()
    assert log.lines.texts == ["again", "again", "again (2 more like it)"]


def test_what_it_remembers_is_bounded(log: Log) -> None:
    for number in range(5000):
        log.logger.error("word " + "abcdefghij"[number % 10] * (number // 10))
    assert len(log.repeats._kinds) == 1000
