"""tests/lab/scale.py: what stands between the one real machine and the load, and how a metric is read."""

from collections import Counter
from typing import Any

import requests

from tests.lab.scale import cache, metric
from tests.support.waiting import PATIENCE, eventually


class Machine:
    """Serves two pages of each job, then is stopped."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def page(self, job: dict[str, Any]) -> bytes:
        name = job["job_name"]
        self.asked[name] += 1
        text = f'rows_sum {self.asked[name]}\nrows{{job="{name}"}} 7\nrows{{job="b"}} 2\nrows_total 5\n'
        return text.encode() if self.asked[name] < 3 else b""


def test_many_scrapes_cost_the_machine_one_page_an_interval() -> None:
    machine = Machine()
    jobs = [{"job_name": name, "scrape_interval": "10ms"} for name in ("a", "metrics")]
    url = f"http://127.0.0.1:{cache(machine, jobs)}"  # type: ignore[arg-type]
    eventually(lambda: machine.asked == {"a": 3, "metrics": 3}, "both pages were read until the machine stopped")
    for _ in range(20):
        assert requests.get(f"{url}/a", timeout=PATIENCE).text.startswith("rows_sum 2\n")
    assert machine.asked["a"] == 3
    assert metric(url, "rows") == 9
    assert metric(url, "rows", 'job="metrics"') == 7
    assert metric(url, "rows_sum|rows_total") == 7
