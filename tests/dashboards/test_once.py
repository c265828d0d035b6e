"""A run that two exporters know is shown once: no panel adds it up, to the number, by promtool."""

from pathlib import Path

import pytest

from tests.support.programs import evaluate, series

from .test_numbers import SECONDS, STEP, expression

EXPORTERS = ("a:19777", "b:19777")
RATE = {
    "pgbench_tps": {},
    "sysbench_tps": {},
    "fio_iops": {"job": "j", "op": "read"},
    "fio_bandwidth_bytes_per_second": {"job": "j", "op": "read"},
    "iperf_throughput_bytes_per_second": {"direction": "sent"},
    "pgbench_result_tps": {},
}
TOTAL = {
    "pgbench_transactions_total": {},
    "pgbench_retries_total": {},
    "sysbench_transactions_total": {},
    "fio_short_ios_total": {"job": "j", "op": "read"},
    "pgbench_latency_seconds_bucket": {"script": "0", "le": "+Inf"},
}
SHOWN = {
    ("pgbench", "Rate", 0): {'{run="r", unit="TPS"}': 1000},
    ("pgbench", "Lost", 0): {f'{{run="r", worker="{one}", what="retried"}}': 1000 for one in ("w1", "w2")},
    ("pgbench", "Latency distribution", 0): {'{le="+Inf"}': 2000},
    ("fio", "Lost", 0): {f'{{run="r", worker="{one}", job="j", op="read"}}': 1000 for one in ("w1", "w2")},
    ("sysbench", "TPS", 1): {'{run="r"}': 1000},
    ("iperf3", "bit/s", 1): {'{run="r"}': 8000},
    ("live", "table", 3): {'{run="r", what="pgbench TPS"}': 1000},
    ("density", "TPS", 0): {"{}": 1000},
    ("compare", "Results, as multiples of the baseline's", 0): {
        '{run="r", what="pgbench TPS", part="all"}': 2,
        '{run="base", what="pgbench TPS", part="all"}': 1,
    },
    ("compare", "Throughput over elapsed time", 2): {'{what="pgbench TPS"}': 1000},
}
"""Two workers of 500 each, and of the totals of 1000 a second each."""


def of_a_worker(worker: str) -> list[dict[str, str]]:
    found = []
    for instance in EXPORTERS:
        by = {"instance": instance, "run": "r", "worker": worker}
        found.append(series("benchwatch_run_state", f"1x{SECONDS}", **by, state="running"))
        found += [series(name, f"500x{SECONDS}", **by, **labels) for name, labels in RATE.items()]
        found += [series(name, f"0+1000x{SECONDS}", **by, **labels) for name, labels in TOTAL.items()]
    return found


@pytest.mark.parametrize("dashboard", sorted({dashboard for dashboard, *_ in SHOWN}))
def test_a_run_that_two_exporters_know_counts_once(dashboard: str, tmp_path: Path) -> None:
    names = ("pgbench_", "benchwatch_") if dashboard == "compare" else ("",)
    loads = [one for worker in ("w1", "w2") for one in of_a_worker(worker) if one["series"].startswith(names)]
    loads.append(series("pgbench_result_tps", f"500x{SECONDS}", instance=EXPORTERS[0], run="base", worker="w1"))
    chosen = {"run": "r", "ago": "1"} if dashboard == "compare" else {"__interval": f"{STEP}s"}
    queries = {
        f"round({expression(board, panel, place, **chosen)}, 0.001)": shown
        for (board, panel, place), shown in SHOWN.items()
        if board == dashboard
    }
    evaluate(tmp_path, loads, SECONDS, queries, ())
