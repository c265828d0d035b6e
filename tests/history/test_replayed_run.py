"""A run that is followed as it grows has the timelines of one that is read at once."""

import os
import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from benchwatch.compare.measures import compared
from benchwatch.history import recording, replayed_run, timeline
from benchwatch.history.find import find_runs
from benchwatch.history.replayed_run import ReplayedRun, timelines
from benchwatch.history.timeline import Timeline
from benchwatch.metrics.buckets import Buckets
from benchwatch.model.run import Worker
from benchwatch.plots.benchmark import shown
from benchwatch.runs.files import listing
from benchwatch.runs.place import RunPlace
from benchwatch.settings.settings import RunsSettings
from benchwatch.values.errors import UserError
from tests.support.places import NOW, RECORDINGS

FAMILIES = shown() | compared()
LOGGED = RECORDINGS / "dashboards/pgbench-rate-retries-15.18"
RUNS: Mapping[str, Mapping[str, Path]] = {
    "pgbench with a log": {"w.err": LOGGED / "stderr", "w.out": LOGGED / "stdout", "w.30137": LOGGED / "db1.30137"},
    "elapsed time": {"w.err": RECORDINGS / "pgbench/tpcb-15.18.err", "w.out": RECORDINGS / "pgbench/tpcb-15.18.out"},
    "a stall": {file.name: file for file in (RECORDINGS / "pgbench/sigstop-cont-15.18").iterdir()},
    "fio": {"w.out": RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out"},
    "jobs": {"w.out": RECORDINGS / "fio/json-multi-stonewall-3.42.out"},
}
RUNS |= {  # type: ignore[operator]
    f"sysbench {name}": {"w.out": RECORDINGS / "sysbench" / name / f"{name}.out"}
    for name in ("checkpoints-1.0.20", "backends-terminated-1.0.20")
}


def ended(folder: Path) -> RunPlace:
    return RunPlace(folder.name, folder, listing(folder).files)


def active(folder: Path) -> RunPlace:
    return ended(folder)._replace(complete=frozenset())


def at_once(folder: Path) -> list[Timeline]:
    runs = find_runs([folder], RunsSettings(), Buckets())
    return list(timelines(runs, families=FAMILIES, latencies=True, now=NOW))


def assert_same(one: Timeline, other: Timeline) -> None:
    for name in (*Worker.__struct_fields__, "by_file_time"):
        assert getattr(one, name) == getattr(other, name), name
    assert [tuple(sample) for sample in one.final] == [tuple(sample) for sample in other.final]
    series, others = ({(each.family, each.labels): each for each in line.series} for line in (one, other))
    assert series.keys() == others.keys()
    for key, found in series.items():
        np.testing.assert_array_equal(found.times, others[key].times, str(key))
        np.testing.assert_array_equal(found.values, others[key].values, str(key))
    assert one.latencies.keys() == other.latencies.keys()
    for group, latencies in one.latencies.items():
        np.testing.assert_array_equal(latencies.between(), other.latencies[group].between())


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("seed", range(2))
def test_in_whatever_pieces_it_grew_it_ends_as_if_read_at_once(name: str, seed: int, tmp_path: Path) -> None:
    contents = {file: path.read_bytes() for file, path in RUNS[name].items()}
    source, folder = random.Random(seed), tmp_path / "run"
    folder.mkdir()
    followed = ReplayedRun(RunsSettings(), Buckets(), FAMILIES)
    written = dict.fromkeys(contents, 0)
    while any(written[file] < len(content) for file, content in contents.items()):
        for file, content in contents.items():
            begin, written[file] = written[file], written[file] + 1 + int(source.random() * 0.2 * len(content))
            with (folder / file).open("ab") as grown:
                grown.write(content[begin : written[file]])
        followed.look(active(folder), NOW)
    expected = at_once(folder)
    while not followed.look(ended(folder), NOW):
        pass
    assert len(followed.timelines) == len(expected)
    for one, other in zip(followed.timelines, expected, strict=True):
        assert_same(one, other)


def line(second: int) -> str:
    return f"progress: {int(NOW) + second}.000 s, {100 + second}.0 tps, lat 1.000 ms stddev 0.100\n"


def test_a_run_with_too_many_reports_is_refused_once_and_leaves_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replayed_run, "MOST_REPORTS", 20)
    (tmp_path / "w.err").write_text("".join(map(line, range(20))))
    followed = ReplayedRun(RunsSettings(), Buckets(), FAMILIES)
    assert followed.look(active(tmp_path), NOW)
    with (tmp_path / "w.err").open("a") as file:
        file.write(line(20) + line(21))
    for _ in range(2):
        with pytest.raises(
            UserError, match="w has more than 20 reports: too many for a live page; `benchwatch report`"
        ):
            followed.look(active(tmp_path), NOW)
        assert (followed.read, followed.timelines) == (0, [])


def test_a_long_recording_is_the_same_however_often_its_pages_are_sorted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name, path in RUNS["pgbench with a log"].items():
        (folder / name).write_bytes(path.read_bytes())
    expected = at_once(folder)
    monkeypatch.setattr(timeline, "_PAGES", 3)
    for one, other in zip(at_once(folder), expected, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_larger_than_what_is_read_at_a_time_is_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file, path in RUNS[name].items():
        (tmp_path / file).write_bytes(path.read_bytes())
    expected = at_once(tmp_path)
    for bound in ("_PIECE", "_KEPT"):
        monkeypatch.setattr(recording, bound, 500)
    followed = ReplayedRun(RunsSettings(), Buckets(), FAMILIES)
    assert followed.look(ended(tmp_path), NOW)
    for one, other in zip(followed.timelines, expected, strict=True):
        assert_same(one, other)


def test_a_log_that_goes_on_after_its_run_was_abandoned_is_the_same_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = [*range(20), *range(1000, 1020)]
    (tmp_path / "w.100").write_text("".join(f"0 {n} 2000 0 {int(NOW) + n} 500000\n" for n in times))
    expected = at_once(tmp_path)
    for bound in ("_PIECE", "_KEPT"):
        monkeypatch.setattr(recording, bound, 100)
    followed = ReplayedRun(RunsSettings(), Buckets(), FAMILIES)
    assert followed.look(ended(tmp_path), NOW)
    for one, other in zip(followed.timelines, expected, strict=True):
        assert_same(one, other)


def test_a_log_that_an_earlier_run_left_behind_is_ignored_though_it_is_read_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, text = tmp_path / "w.100", tmp_path / "w.err"
    log.write_text("".join(f"0 {n} 2000 0 {int(NOW) - 9000 + n} 500000\n" for n in range(200)))
    text.write_text("".join(f"progress: {n}.0 s, 100.0 tps, lat 1.000 ms stddev 0.100\n" for n in range(1, 20)))
    os.utime(log, (NOW - 8800, NOW - 8800))
    os.utime(text, (NOW, NOW))
    expected = at_once(tmp_path)
    for bound in ("_PIECE", "_KEPT"):
        monkeypatch.setattr(recording, bound, 500)
    for one, other in zip(at_once(tmp_path), expected, strict=True):
        assert one.start == other.start != NOW - 9000
        assert_same(one, other)


@pytest.mark.parametrize("rotated", [True, False])
def test_another_run_in_the_same_output_is_followed(rotated: bool, tmp_path: Path) -> None:
    first = (RECORDINGS / "sysbench/checkpoints-1.0.20/checkpoints-1.0.20.out").read_bytes()
    if rotated:
        (tmp_path / "w.out.1").write_bytes(first)
    else:  # more than is read at a time
        first += (b" " * 1023 + b"\n") * (5 << 10)
    (tmp_path / "w.out").write_bytes(first * (not rotated) + first)
    followed = ReplayedRun(RunsSettings(), Buckets(), FAMILIES)
    assert followed.look(ended(tmp_path), NOW)
    for one, other in zip(followed.timelines, at_once(tmp_path), strict=True):
        assert_same(one, other)


def test_while_it_grows_each_report_is_there_once(tmp_path: Path) -> None:
    path = tmp_path / "w.err"
    path.touch()
    followed = ReplayedRun(RunsSettings(), Buckets(), FAMILIES)
    for second in range(1, 40):
        with path.open("a") as file:
            file.write(line(second))
        assert followed.look(active(tmp_path), NOW)
        (timeline,) = followed.timelines
        (rate,) = (series for series in timeline.series if series.family.name == "pgbench_tps")
        assert rate.values.tolist() == [100.0 + each for each in range(1, second + 1)]
        assert not followed.look(active(tmp_path), NOW), "nothing is new"


def test_what_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "w.err"
    path.write_text("".join(map(line, range(1, 10))))
    followed = ReplayedRun(RunsSettings(), Buckets(), FAMILIES)
    followed.look(active(tmp_path), NOW)
    path.write_text(line(20) + line(21))
    while not followed.look(active(tmp_path), NOW):
        pass
    (timeline,) = followed.timelines
    (rate,) = (series for series in timeline.series if series.family.name == "pgbench_tps")
    assert rate.values.tolist() == [120.0, 121.0]


def test_a_log_that_comes_late_is_put_in_its_place(tmp_path: Path) -> None:
    """pgbench writes its log by blocks, which at a low rate are minutes behind its progress lines."""
    (tmp_path / "w.err").write_text("".join(map(line, range(1, 60))))
    log = tmp_path / "w.100"
    log.write_text("".join(f"0 {n} 2000 0 {int(NOW) + n} 500000\n" for n in range(5)))
    followed = ReplayedRun(RunsSettings(), Buckets(), FAMILIES)
    followed.look(active(tmp_path), NOW + 60)
    with log.open("a") as file:
        file.write("".join(f"0 {n} 2000 0 {int(NOW) + n} 500000\n" for n in range(5, 59)))
    while not followed.look(active(tmp_path), NOW + 61):
        pass
    (timeline,) = followed.timelines
    (window, *_) = (series for series in timeline.series if series.family.name == "pgbench_latency_window_seconds")
    assert np.diff(window.times).tolist() == [1.0] * (len(window.times) - 1)
    assert len(window.times) > 50


@pytest.mark.slow(3)
@pytest.mark.parametrize("tool", ["pgbench", "fio", "iperf3"])
def test_every_recording_that_grew_ends_as_if_read_at_once(tool: str, tmp_path: Path) -> None:
    recordings = [path for path in sorted((RECORDINGS / tool).iterdir()) if path.suffix in (".out", ".err")]
    assert recordings
    for number, output in enumerate(recordings):
        content, folder = output.read_bytes(), tmp_path / str(number)
        folder.mkdir()
        path = folder / f"w{output.suffix}"
        path.touch()
        followed = ReplayedRun(RunsSettings(), Buckets(), FAMILIES)
        for part in range(5):
            with path.open("ab") as file:
                file.write(content[len(content) * part // 5 : len(content) * (part + 1) // 5])
            followed.look(active(folder), NOW)
        expected = at_once(folder)
        while not followed.look(ended(folder), NOW):
            pass
        assert len(followed.timelines) == len(expected), output
        for one, other in zip(followed.timelines, expected, strict=True):
            assert_same(one, other)
