"""Bounds of the page: what is beyond is counted and said."""

import logging
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.limits import Limits
from benchwatch.metrics.samples import PARTS, Family, Sample
from benchwatch.runs.watcher import Runs
from benchwatch.server.exporter import Exporter
from benchwatch.settings.settings import RunsSettings, load_settings
from benchwatch.values.errors import ConfigError
from tests.support.places import NOW, RECORDINGS, Place

PGBENCH = RECORDINGS / "pgbench"
FIO = RECORDINGS / "fio"
ALL = frozenset(PARTS)
PARAMETER = Family("x_parameter", "gauge", "Always 1.", ("name", "value"))
STATEMENT = Family("x_statement", "gauge", "Of a statement.", ("script", "statement"))
INFO = Family("x_info", "gauge", "Always 1.", ("tool",), more_labels=True)
DONE = Family("x_done_total", "counter", "Done.")


class Fixed:
    def __init__(self, run: str, samples: Sequence[Sample]) -> None:
        self.labels = (("run", run),)
        self.version = 0
        self.given = list(samples)
        self.asked = 0

    def samples(self) -> list[Sample]:
        self.asked += 1
        return self.given


def exporter(root: Path, **limits: int) -> Exporter:
    settings = RunsSettings(limits=Limits(**limits))
    runs = Runs([root / "runs"], settings, Buckets())
    while runs.poll(NOW):
        pass
    return Exporter(runs, limits=settings.limits)


def numbers(page: str) -> dict[str, float]:
    lines = (line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    return {series: float(number) for series, number in lines}


def of(family: str, found: dict[str, float]) -> dict[str, float]:
    return {series: value for series, value in found.items() if re.split(r"[{ ]", series)[0] == family}


def log_of(scripts: int, each: int = 1, ago: int = 60) -> bytes:
    second = int(NOW) - ago
    lines = [f"0 {n} {1000 + n} {n % scripts} {second} {n:06d}\n" for n in range(scripts * each)]
    return "".join(lines).encode()


def test_a_value_that_is_too_long_is_cut_and_two_of_them_stay_apart() -> None:
    long = "x" * 300
    samples = [Sample(PARAMETER, ("a", long), 1), Sample(STATEMENT, ("0", long + "1"), 1)]
    samples += [Sample(STATEMENT, ("0", long + "2"), 2), Sample(INFO, ("t",), 1, (("vm", long),))]
    page = Exposition(Limits(value_length=256))
    found = numbers(page.render([Fixed("a", samples), page]))
    values = [value for series in found for value in re.findall(r'="(x[^"]*)"', series)]
    assert len(values) == 4
    assert {len(value) for value in values} == {256}
    assert len(set(of("x_statement", found))) == 2
    assert all(re.fullmatch(r"x+…[0-9a-f]{8}", value) for value in values)
    assert found["benchwatch_label_values_cut_total"] == 4


def test_beyond_the_bound_of_all_series_ended_runs_go_first_the_oldest_of_them_first(
    tmp_path: Path, place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    def ended(name: str, ago: float) -> None:
        for suffix in ("err", "out"):
            place(f"{name}/db1.{suffix}", PGBENCH / f"tpcb-15.18.{suffix}", NOW - ago)

    ended("old", 3000)
    ended("older", 4000)
    ended("new", 2000)
    place("now/pgbench_log.77", log_of(5))
    whole = numbers(exporter(tmp_path).render(ALL))
    sizes = {run: sum(f'run="{run}"' in series for series in whole) for run in ("now", "new", "old", "older")}
    assert sizes["new"] == sizes["old"] == sizes["older"] > 20
    assert whole["benchwatch_workers_left_out"] == whole["benchwatch_series_left_out"] == 0
    fixed = sum(
        "run=" not in series for series in of("benchwatch_runs", whole) | of("benchwatch_watch_errors_total", whole)
    )
    assert whole["benchwatch_series"] == fixed + sum(sizes.values())

    limit = fixed + sizes["now"] + sizes["new"] + sizes["old"] - 1
    shown = exporter(tmp_path, series=limit)
    with caplog.at_level(logging.WARNING):
        found = numbers(shown.render(ALL))
        assert numbers(shown.render(ALL)) == found
    assert {run for run in sizes if any(f'run="{run}"' in series for series in found)} == {"now", "new"}
    assert found["benchwatch_workers_left_out"] == 2
    assert found["benchwatch_active_workers_left_out"] == 0
    assert found["benchwatch_series_left_out"] == sizes["old"] + sizes["older"]
    reasons = {run.name: run.workers[0].reason for run in shown.runs()}
    sentence = f"not on /metrics: the page has reached runs.limits.series ({limit})"
    assert reasons == {"now": "", "new": "", "old": sentence, "older": sentence}
    assert sorted(record.getMessage() for record in caplog.records) == [
        f'run="old", worker="db1": {sentence}',
        f'run="older", worker="db1": {sentence}',
    ]


def test_active_runs_stay_before_ended_ones_and_of_those_the_newest(tmp_path: Path, place: Place) -> None:
    for name, ago in (("a-long", 900), ("b-short", 60), ("c-middle", 300)):
        place(f"{name}/pgbench_log.77", log_of(5, ago=ago))
    for suffix in ("err", "out"):
        place(f"ended/db1.{suffix}", PGBENCH / f"tpcb-15.18.{suffix}")
    whole = numbers(exporter(tmp_path).render(ALL))
    fixed = sum("run=" not in series for series in whole) - 7
    each = sum('run="b-short"' in series for series in whole)

    def shown(series: int) -> tuple[set[str], float]:
        page = exporter(tmp_path, series=series).render(ALL)
        return set(re.findall(r'run="([^"]*)"', page)), numbers(page)["benchwatch_active_workers_left_out"]

    assert shown(fixed + 3 * each + 1) == ({"a-long", "b-short", "c-middle"}, 0)
    assert shown(fixed + 2 * each) == ({"b-short", "c-middle"}, 1)
    assert shown(fixed + each) == ({"b-short"}, 2)


def test_a_source_that_was_left_out_is_not_rendered_again_until_there_is_room() -> None:
    first = Fixed("a", [Sample(PARAMETER, (f"p{n}", "x"), 1) for n in range(6)])
    second = Fixed("b", [Sample(PARAMETER, (f"p{n}", "x"), 1) for n in range(6)])
    page = Exposition(Limits(series=10))
    for _ in range(3):
        assert 'run="b"' not in page.render([first, second])
        second.version += 1
    assert second.asked == 1
    first.given, first.version = first.given[:4], 1
    text = page.render([first, second])
    assert text.count('run="b"') == 6
    assert page.remark(second) == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("runs: {limits: {series: -1}}\n", "runs.limits.series: expected a whole number >= 0, got -1"),
        ("runs: {limits: {value_length: 10}}\n", "runs.limits.value_length: expected a whole number >= 256, got 10"),
        ("runs: {limits: {script: 1}}\n", "runs.limits.script: no such key"),
    ],
)
def test_a_limit_that_cannot_be_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "benchwatch.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(message)):
        load_settings(path)


def test_limits_are_read_from_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "benchwatch.yaml"
    path.write_text("runs: {limits: {value_length: 700, series: 1000}}\n")
    assert load_settings(path).runs.limits == Limits(value_length=700, series=1000)
