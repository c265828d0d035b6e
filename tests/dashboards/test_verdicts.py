"""Which verdict Live and Spike show of known series, by promtool."""

from pathlib import Path

import pytest

from tests.support.programs import series

from .test_numbers import expression, shows, variable

both_boards = pytest.mark.parametrize("board", ["live", "spike"])
NAMED, NONE_STANDS_OUT, NOT_JUDGED, USUAL, NOISE = range(5)
"""The queries of the panel."""


def of_run(run: str, slowness: float, *, slow: bool = True, host: str = "h") -> list[dict[str, str]]:
    return [
        series("run:benchmark_slowness:ratio", f"{slowness}+0x10", run=run, host=host),
        series("worker:benchwatch_run_host_info:any", "1+0x10", run=run, worker="db1", host=host),
        series("run_layer:slowness:max", "1+0x10", run=run, host=host, layer="memory"),
        *([series("run:benchmark_slow:info", "1+0x10", run=run, host=host)] if slow else []),
    ]


def verdict(run: str, ratio: float, layer: str, which: str, host: str = "h") -> list[dict[str, str]]:
    return [
        series("run:verdict:layer", "1+0x10", run=run, host=host, layer=layer),
        series("run:verdict:which", f"{ratio}+0x10", run=run, host=host, layer=layer, which=which),
    ]


@both_boards
def test_of_many_runs_the_worst_verdicts_are_shown_and_no_run_as_usual_beside_them(tmp_path: Path, board: str) -> None:
    usual = of_run("f", 1, slow=False)
    runs = [line for run, by in (("a", 9), ("b", 7), ("c", 5), ("d", 4), ("e", 3)) for line in of_run(run, by)] + usual
    named = [line for run, by in (("a", 60), ("b", 40), ("c", 30)) for line in verdict(run, by, "log_device", "sdb")]
    words = 'host="h", layer="log device", which="sdb"'
    queries = [expression(board, "Verdict", place) for place in range(5)]
    shows(tmp_path, queries[NAMED], runs + named, {f'{{run="a", {words}}}': 60, f'{{run="b", {words}}}': 40})
    shows(tmp_path, queries[NONE_STANDS_OUT], runs + named, {'{run="d", host="h"}': 4})
    shows(tmp_path, queries[NOT_JUDGED], runs + named, {})
    shows(tmp_path, queries[USUAL], runs + named, {})
    shows(tmp_path, queries[USUAL], usual, {'{run="f", host="h"}': 1})
    noisy = usual + of_run("g", 2, slow=False)
    shows(tmp_path, queries[USUAL], noisy, {})
    shows(tmp_path, queries[NOISE], noisy, {'{run="g", host="h"}': 2})


@both_boards
def test_the_verdict_on_a_clients_own_machine_is_the_runs_verdict(tmp_path: Path, board: str) -> None:
    loads = [*of_run("r", 9), *of_run("r", 9, host="c"), *verdict("r", 25, "client_cpu", "busy", host="c")]
    queries = [expression(board, "Verdict", place, host="h", client="c") for place in range(5)]
    shows(tmp_path, queries[NAMED], loads, {'{run="r", host="c", layer="client CPU", which="busy"}': 25})
    for query in queries[1:]:
        shows(tmp_path, query, loads, {})


@both_boards
def test_the_verdict_on_one_machine_explains_no_worker_of_another(tmp_path: Path, board: str) -> None:
    loads = [*of_run("r", 9), *verdict("r", 60, "log_device", "sdb"), *of_run("r", 4, host="h2")]
    loads = [{**one, "series": one["series"].replace("db1", "db2")} if "h2" in one["series"] else one for one in loads]
    query = expression(board, "Verdict", NONE_STANDS_OUT, host="(h|h2)")
    shows(tmp_path, query, loads, {'{run="r", host="h2"}': 4})


@both_boards
def test_no_layer_stands_out_only_where_layers_are_measured(tmp_path: Path, board: str) -> None:
    loads = [one for one in of_run("r", 9) if not one["series"].startswith("run_layer:")]
    shows(tmp_path, expression(board, "Verdict", NONE_STANDS_OUT), loads, {})
    shows(tmp_path, expression(board, "Verdict", NOT_JUDGED), loads, {'{run="r", host="h"}': 9})


def test_each_workers_own_machine_is_chosen_where_another_has_one_for_its_database(tmp_path: Path) -> None:
    loads = [
        series("benchwatch_run_host_info", "1x120", run=run, worker="w", host=host, role=role)
        for run, host, role in (("a", "db", "server"), ("a", "load", "client"), ("b", "vm", "client"))
    ]
    shows(tmp_path, variable("live", "host"), loads, {'{host="db"}': 1, '{host="vm"}': 1})
    shows(tmp_path, variable("live", "client"), loads, {'{host="load"}': 1, '{host="vm"}': 1})
