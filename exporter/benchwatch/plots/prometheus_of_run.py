"""Asks a Prometheus about the whole time of one run, in as many steps as a plot is wide."""

import math

from ..metrics.prometheus import Prometheus, Samples
from .run_view import View

_POINTS = 720
_SCRAPES = 4
"""Scrapes that the window of a rate covers, so that it holds two at any phase; Grafana does the same."""


class PrometheusOfRun(Prometheus):
    """A Prometheus, and the time of a run."""

    def __init__(self, url: str, run: View, timeout: float) -> None:
        super().__init__(url, timeout)
        self._begin, self._end = run.start, run.start + run.length
        self._step = float(max(1, math.ceil(run.length / _POINTS)))

    def windows(self, counter: str) -> dict[str, dict[str, str]]:
        """The windows of rates of this counter (PromQL), each with its instances and their hosts.

        A window covers at least the step, and several scrapes at the rate of the run's best minute. Short windows come
        first.
        """
        span = max(60, math.ceil(self._end - self._begin))
        most = f"max_over_time((max by (instance, host) (count_over_time({counter}[1m])))[{span}s:30s])"
        found: dict[float, dict[str, str]] = {}
        for labels, scrapes in self.at(most, self._end):
            seconds = max(self._step, math.ceil(_SCRAPES * 60 / scrapes))
            found.setdefault(seconds, {})[labels.get("instance", "")] = labels.get("host", "")
        # Prometheus returns series in any order.
        return {f"{seconds:.0f}s": dict(sorted(instances.items())) for seconds, instances in sorted(found.items())}

    def over_run(self, query: str) -> list[Samples]:
        """The results of a query over the run. Raises PrometheusError."""
        return self.range(query, self._begin, self._end, self._step)
