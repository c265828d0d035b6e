import time
from types import SimpleNamespace
from typing import cast

import pytest

from benchwatch.watch import readings
from benchwatch.watch.known import Judged, Page, Slow
from benchwatch.watch.readings import Readings
from benchwatch.watch.sources import WatchedExporter, WatchedPrometheus


class Source:
    """Reads what it is given."""

    def __init__(self, *results: object) -> None:
        self._results = iter(results)

    def read(self) -> object:
        result = next(self._results)
        if isinstance(result, Exception):
            raise result
        return result


@pytest.mark.parametrize(("interval", "until"), [(1.0, 110.0), (30.0, 160.0)])
def test_a_slow_time_that_is_not_renewed_is_no_longer_shown(
    interval: float, until: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(time=time.time, monotonic=lambda: 100.0)
    monkeypatch.setattr(readings, "time", clock)
    judged = Judged((), {"test1": Slow(90.0, text="No layer stands out.")})
    exporter = Source(Page(), Page())
    prometheus = Source(judged, Judged(problem="it does not answer"))
    read = Readings(cast(WatchedExporter, exporter), cast(WatchedPrometheus, prometheus), interval)
    read.read_once()
    assert read.moment().judged.slow == judged.slow
    clock.monotonic = lambda: until - 0.1
    assert read.moment().judged.slow == judged.slow
    clock.monotonic = lambda: until
    assert read.moment().judged.slow == {}, "Prometheus has not answered since"
    clock.monotonic = lambda: 101.0
    read.read_once()
    assert read.moment().judged == Judged(problem="it does not answer")
