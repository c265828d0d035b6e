import json
import math
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchwatch.history.find import read_runs
from benchwatch.history.timeline import Series, Timeline
from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.samples import Sample
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.pgbench import metrics
from benchwatch.tools.pgbench.text import TextParser
from benchwatch.values.errors import ConfigError
from tests.support.places import NOW, RECORDINGS, Place
from tests.support.timelines import read_timelines

RATE = RECORDINGS / "dashboards/pgbench-rate-retries-15.18"
FIO = RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out"
LATER = 1_795_999_999.0
"""After all recordings."""
COUNTERS = ("pgbench_transactions_total", "fio_ios_total", "fio_bytes_total")


def read(*paths: Path, now: float = LATER, **options: object) -> list[Timeline]:
    return read_timelines(paths, now=now, **options)  # type: ignore[arg-type]


def one(*paths: Path, now: float = LATER, **options: object) -> Timeline:
    (timeline,) = read(*paths, now=now, **options)
    return timeline


def points(timeline: Timeline, name: str, **labels: str) -> list[tuple[float, float]]:
    """Times and values of the only series whose samples have that name and those labels."""
    le = labels.pop("le", "")
    (series,) = found(timeline, name, **labels)
    numbers = ["_bucket" + bound for bound in series.bounds] + ["_sum", "_count"]
    values = series.values
    if values.ndim == 2:
        values = values[:, numbers[-values.shape[1] :].index(name.removeprefix(series.family.name) + le)]
    return list(zip(series.times.tolist(), values.tolist(), strict=True))


def found(timeline: Timeline, name: str, **labels: str) -> list[Series]:
    """The series of a family by its name, or that of its samples."""
    families = {one.family for one in timeline.series if re.fullmatch(f"{one.family.name}(_bucket|_sum|_count)?", name)}
    return [one for family in families for one in timeline.get(family, **labels)]


def log_lines(*files: Path) -> list[tuple[float, int]]:
    """When each transaction of logs completed, Unix seconds, and its latency, microseconds; in order of time."""
    rows = [line.split() for file in files for line in file.read_text().splitlines()]
    return sorted((int(row[4]) + int(row[5]) / 1e6, int(row[2])) for row in rows if row[2].isdigit())


def pgbench_run(place: Place, **files: str) -> Path:
    names = {"err": "stderr", "out": "stdout", "log": "db1.30137"}
    targets = {"err": "a/db1.err", "out": "a/db1.out", "log": "a/db1.30137"}
    for kind in names:
        if kind not in files:
            place(targets[kind], RATE / names[kind])
        elif files[kind]:
            place(targets[kind], files[kind].encode())
    return place("a/run.yaml", b"labels: {vm: pg1}\n").parent


def test_a_gauge_of_a_progress_line_has_its_time_and_value(place: Place) -> None:
    timeline = one(pgbench_run(place))
    lines = re.findall(r"progress: (\S+) s, (\S+) tps, lat (\S+) ms stddev (\S+),", (RATE / "stderr").read_text())
    assert points(timeline, "pgbench_tps") == [(float(time), float(tps)) for time, tps, *_ in lines]
    latencies = [(float(time), float(f"{latency}e-3")) for time, _, latency, _ in lines]
    assert points(timeline, "pgbench_latency_average_seconds") == latencies
    deviations = [(float(time), float(f"{deviation}e-3")) for time, *_, deviation in lines]
    assert points(timeline, "pgbench_latency_stddev_seconds") == deviations
    (series,) = found(timeline, "pgbench_tps")
    assert (series.family.name, series.labels) == ("pgbench_tps", (("run", "a"), ("worker", "db1")))


def test_a_rate_is_that_of_the_lines_from_the_first_one_on(place: Place) -> None:
    begin = 1_795_000_000
    log = "".join(f"0 {number} 1000 0 {begin + number // 5} {number % 5 * 200_000}\n" for number in range(125))
    lines = "".join(
        f"progress: {begin + at}.004 s, {5 + at / 10} tps, lat 1.{at}0 ms stddev 0.100\n" for at in (10, 20)
    )
    timeline = one(pgbench_run(place, err=lines, out="", log=log), now=begin + 26.0)
    for name, told in (("pgbench_tps", [6, 7]), ("pgbench_latency_average_seconds", [0.0011, 0.0012])):
        *logged, first, second = points(timeline, name)
        assert [time - begin for time, _ in logged] == [*range(2, 11)]
        assert [time - begin for time, _ in (first, second)] == pytest.approx([10.004, 20.004], abs=1e-6)
        assert [value for _, value in (first, second)] == pytest.approx(told)
    assert len(points(timeline, "pgbench_latency_window_seconds", quantile="1")) >= 24


def test_a_second_of_the_transaction_log_is_shown_when_it_is_over(place: Place) -> None:
    timeline = one(pgbench_run(place))
    seconds: dict[int, list[int]] = {}
    for time, latency in log_lines(RATE / "db1.30137"):
        seconds.setdefault(math.floor(time), []).append(latency)
    *whole, _ = sorted(seconds.items())  # in the last second the run ended
    maxima = [(second + 1, max(latencies) / 1e6) for second, latencies in whole]
    assert points(timeline, "pgbench_latency_window_seconds", quantile="1") == maxima
    medians = points(timeline, "pgbench_latency_window_seconds", quantile="0.5")
    assert [time for time, _ in medians] == [second + 1 for second, _ in whole]
    expected = [sorted(latencies)[math.ceil(len(latencies) / 2) - 1] / 1e6 for _, latencies in whole]
    assert [value for _, value in medians] == pytest.approx(expected, rel=0.016)


def test_the_counters_of_a_transaction_log_hold_what_had_completed_by_then(place: Place) -> None:
    timeline = one(pgbench_run(place))
    lines = log_lines(RATE / "db1.30137")
    counted = points(timeline, "pgbench_latency_seconds_count", script="0")
    assert len(counted) == 21
    assert counted == [(time, sum(stamp < time + (time % 1 > 0) for stamp, _ in lines)) for time, _ in counted]
    sums = points(timeline, "pgbench_latency_seconds_sum", script="0")
    assert sums[-1] == (1795177651.243, sum(latency for _, latency in lines) / 1e6)
    below = points(timeline, "pgbench_latency_seconds_bucket", script="0", le="0.004194303")
    assert below[9] == (1795177641, sum(stamp < 1795177641 and latency * 1000 <= 4194303 for stamp, latency in lines))
    assert points(timeline, "pgbench_transactions_total")[-1][1] == 950


def test_a_document_of_fio_counts_at_its_own_time() -> None:
    timeline = one(FIO)
    documents = [json.loads(text) for text in re.findall(r"\{\n.*?\n\}", FIO.read_text(), re.DOTALL)]
    reads = [(document["timestamp_ms"] / 1000, document["jobs"][0]["read"]) for document in documents]
    assert points(timeline, "fio_ios_total", op="read") == [(time, each["total_ios"]) for time, each in reads]
    assert points(timeline, "fio_bytes_total", op="read") == [(time, each["io_bytes"]) for time, each in reads]
    observed = [(time, sum(each["clat_ns"]["bins"].values())) for time, each in reads]
    assert points(timeline, "fio_completion_latency_seconds_count", op="read") == observed
    assert points(timeline, "fio_completion_latency_seconds_bucket", op="read", le="+Inf") == observed
    windows = points(timeline, "fio_iops", op="read")
    assert windows[1:] == [
        (time, (after["clat_ns"]["N"] - before["clat_ns"]["N"]) / (time - earlier))
        for (earlier, before), (time, after) in pairwise(reads[:-1])
    ]
    assert len(windows) == len(documents) - 1  # the last one ends the run


def test_all_numbers_of_a_histogram_have_the_same_times(place: Place) -> None:
    for timeline in read(pgbench_run(place), FIO, hold={"live": 1.0, "runs": 10.0}):
        times: dict[object, set[tuple[float, ...]]] = {}
        for series in timeline.series:
            assert (np.diff(series.times) > 0).all()
            own = tuple(pair for pair in series.labels if pair[0] != "le")
            if series.family.kind in ("histogram", "summary"):
                times.setdefault((series.family, own), set()).add(tuple(series.times))
        assert times
        assert all(len(each) == 1 for each in times.values())


def test_the_end_is_what_reading_the_files_afterwards_shows(place: Place) -> None:
    """Counters, histograms, results and parameters of every recording."""
    for path in sorted((RECORDINGS / "pgbench").iterdir()) + sorted((RECORDINGS / "fio").iterdir()):
        if path.is_file() and path.suffix in (".out", ".err", ".log", ".json"):
            tool = path.parent.name
            place(f"{tool}-{path.stem}/{path.name}", path)
    folder = place("x", b"").parent
    replayed = {(found.run, found.name): lasting(found.final) for found in read(folder)}
    read_at_once = {
        (run.name, worker.name): lasting(worker.samples())
        for run in read_runs([folder], RunsSettings(), Buckets())
        for worker in run.workers
    }
    assert len(replayed) > 120
    assert replayed.keys() == read_at_once.keys()
    differing = {key for key in replayed if not same(replayed[key], read_at_once[key])}
    assert differing == set()


Lasting = Mapping[tuple[str, tuple[str, ...]], object]


def lasting(samples: object) -> Lasting:
    """What does not depend on when the bytes arrived or whether the run is known to be over."""
    assert hasattr(samples, "__iter__")
    return {
        (sample.family.name, sample.labels): sample.value
        for sample in samples
        if isinstance(sample, Sample)
        and sample.family.name not in ("fio_job_error", "benchwatch_run_planned_seconds")
        and (sample.family.kind != "gauge" or sample.family.part == "runs")
        and "_timestamp_" not in sample.family.name
        and "_run_report_interval_" not in sample.family.name
    }


def same(replayed: Lasting, read_at_once: Lasting) -> bool:
    """Whether the latter is in the former; only with time it may become clear that a document was the last."""
    return all(replayed.get(key) == value for key, value in read_at_once.items())


@pytest.mark.parametrize(
    ("record", "log", "start"),
    [
        ("", True, 1795177631.32324),
        ("start: 1795177631.25", False, 1795177631.25),
        ("start: 1795170000.25", True, 1795177631.32324),
        ("", False, NOW - 20),
    ],
)
def test_elapsed_seconds_count_from_the_log_or_run_yaml_or_the_last_change(
    place: Place, record: str, log: bool, start: float
) -> None:
    lines = "".join(f"progress: {second}.0 s, 50.0 tps, lat 4.000 ms stddev 2.000\n" for second in range(1, 21))
    folder = pgbench_run(place, err=lines, out="", **({} if log else {"log": ""}))
    place("a/run.yaml", record.encode())
    timeline = one(folder)
    expected = [pytest.approx(start + second, abs=0.0006) for second in range(1, 21)]
    assert [time for time, _ in points(timeline, "pgbench_tps")] == expected
    assert timeline.start == pytest.approx(float(record[7:] or start), abs=1e-6)
    assert timeline.by_file_time == (start < 1_791_000_000)


def test_output_without_any_time_is_dated_by_its_last_change(place: Place) -> None:
    path = place("refused.err", RECORDINGS / "pgbench/conn-refused-15.18.err")
    timeline = one(path)
    assert (timeline.state, timeline.by_file_time) == ("failed", True)
    assert points(timeline, "benchwatch_run_state", state="failed") == [(NOW, 1)]


def test_output_without_any_time_is_dated_by_the_recorded_end(place: Place) -> None:
    place("a/db1.err", RECORDINGS / "pgbench/conn-refused-15.18.err", written=1_795_000_000)
    folder = place("a/db1.yaml", b"start: 1790000000\nend: 1790000001.5\nexit_code: 1\n").parent
    timeline = one(folder)
    assert (timeline.state, timeline.by_file_time) == ("failed", False)
    assert (timeline.start, timeline.end) == (1_790_000_000, 1_790_000_001.5)
    assert points(timeline, "benchwatch_run_state", state="failed") == [(1_790_000_001.5, 1)]


def test_a_report_alone_is_dated_by_its_last_change(place: Place) -> None:
    timeline = one(place("db1.out", RECORDINGS / "pgbench/tpcb-15.18.out"))
    assert timeline.by_file_time
    assert timeline.end == NOW
    assert [time for time, _ in points(timeline, "pgbench_result_transactions")] == [NOW]
    assert points(timeline, "pgbench_transactions_total") == [(NOW, 16154)]


def test_threads_are_read_to_the_same_second(place: Place) -> None:
    """Files of four threads; each reaches a second of its own at any time."""
    lines = (RATE / "db1.30137").read_text().splitlines(keepends=True)
    for thread in range(4):
        place(f"b/db1.77{f'.{thread}' if thread else ''}", "".join(lines[thread::4]).encode())
    place("b/db1.err", RATE / "stderr")
    place("b/db1.out", RATE / "stdout")
    together, apart = one(pgbench_run(place)), one(place("b/x", b"").parent)
    for name in ("pgbench_latency_seconds", "pgbench_latency_window_seconds"):
        for before, after in zip(found(together, name), found(apart, name), strict=True):
            assert before.times[:-1].tolist() == after.times[: len(before.times) - 1].tolist()
            assert before.values[:-1].tolist() == after.values[: len(before.times) - 1].tolist()


def test_a_silent_run_stalls_is_given_up_and_goes_on(place: Place) -> None:
    def lines(begin: int) -> str:
        return "".join(f"progress: {begin + at}.000 s, 50.0 tps, lat 4.000 ms stddev 2.000\n" for at in range(5))

    path = place("db1.err", (lines(1_795_000_000) + lines(1_795_001_000)).encode())
    timeline = one(path, now=1_795_001_008.0)
    rates = [time for time, _ in points(timeline, "pgbench_tps")]
    assert rates == [*range(1_795_000_000, 1_795_000_005), *range(1_795_001_000, 1_795_001_005)]
    stalled = dict(points(timeline, "benchwatch_run_state", state="stalled"))
    assert [time for time, value in stalled.items() if value] == [1_795_000_007, 1_795_001_007]
    abandoned = dict(points(timeline, "benchwatch_run_state", state="abandoned"))
    assert [time for time, value in abandoned.items() if value] == [1_795_000_304]
    assert (timeline.state, timeline.end) == ("stalled", None)
    assert one(path).state == "abandoned"
    assert one(path, now=1_795_001_006.0).state == "running"


def test_how_it_ended_is_known_at_its_end_only(place: Place) -> None:
    folder = pgbench_run(place, out="")
    place("a/run.yaml", b"end: 1795177652.5\nexit_code: 1\n")
    timeline = one(folder)
    states = {state: points(timeline, "benchwatch_run_state", state=state) for state in ("running", "failed")}
    assert [time for time, value in states["failed"] if value] == [1795177652.5]
    assert [time for time, value in states["running"] if not value] == [1795177652.5]
    assert (timeline.state, timeline.reason) == ("failed", "exit code 1")
    assert len(points(timeline, "pgbench_tps")) == 19


def test_only_the_series_asked_for_are_kept(place: Place) -> None:
    timeline = one(pgbench_run(place), families={metrics.LIVE["tps"], metrics.LATENCY})
    assert {series.family for series in timeline.series} == {metrics.LIVE["tps"], metrics.LATENCY}
    assert "pgbench_result_tps" in {sample.family.name for sample in timeline.final}
    assert timeline.runfile.labels == {"vm": "pg1"}


def test_with_hold_values_are_repeated_as_long_as_they_are_shown(place: Place) -> None:
    lines = "".join(f"progress: 17950000{at}.000 s, 50.0 tps, lat 4.000 ms stddev 2.000\n" for at in (10, 20, 30))
    path = place("db1.err", lines.encode())
    plain, held = one(path), one(path, hold={"live": 1.0, "runs": 10.0})
    assert [time for time, _ in points(plain, "pgbench_tps")] == [1795000010, 1795000020, 1795000030]
    # It stalls three intervals after the last line.
    assert [time for time, _ in points(held, "pgbench_tps")] == list(range(1795000010, 1795000060))
    information = [time for time, _ in points(held, "benchwatch_run_info")]
    assert information[:3] == [1795000010, 1795000020, 1795000030]
    # It is given up 300 s after the last line.
    assert points(held, "benchwatch_run_state", state="abandoned")[-2:] == [(1795000329, 0), (1795000330, 1)]
    assert "pgbench_transactions_total" in {sample.family.name for sample in held.final}


def test_a_later_run_in_the_same_text_is_dated_and_an_earlier_one_without_times_is_not(place: Place) -> None:
    first = "".join(f"progress: {at}.0 s, 10.0 tps, lat 4.000 ms stddev 2.000\n" for at in range(1, 4))
    second = "".join(f"progress: {at}.0 s, 20.0 tps, lat 4.000 ms stddev 2.000\n" for at in range(1, 3))
    timeline = one(place("db1.err", (first + "starting vacuum...end.\n" + second).encode()))
    assert points(timeline, "pgbench_tps") == [(NOW - 1, 20), (NOW, 20)]


def test_foreign_and_torn_lines_of_a_log_do_not_matter(place: Place) -> None:
    text = (RATE / "db1.30137").read_text()
    half = text.index("\n", len(text) // 2) + 1
    torn = "\0" * 100 + text[:half] + "no line of a log\n" * 500 + text[half:] + "0 1 71"
    whole, damaged = one(pgbench_run(place)), one(pgbench_run(place, log=torn))
    name = "pgbench_latency_seconds_count"
    assert points(damaged, name) == points(whole, name)


def test_a_log_with_a_long_silence_tells_two_empty_seconds_of_it(place: Place) -> None:
    lines = [f"0 {at + 1} 1000 0 {1_795_000_000 + at * 1000} 500000\n" for at in range(3)]
    place("b/db1.err", b"pgbench (15.18)\n")
    timeline = one(place("b/pgbench_log.1", "".join(lines).encode()).parent)
    assert [time for time, _ in points(timeline, "pgbench_latency_seconds_count")] == [
        *(1_795_000_000 + more for more in (1, 2, 3)),
        *(1_795_001_000 + more for more in (1, 2, 3)),
        1_795_002_000.5,
    ]


def test_an_aggregated_log_counts_by_its_intervals(place: Place) -> None:
    folder = place("agg/db1.err", b"pgbench (15.18)\n").parent
    lines = "".join(f"{1_795_000_000 + 2 * at} {at + 1} 1 1 1 1 0 0 0 0 0 0 0 0 0\n" for at in range(3))
    place("agg/pgbench_log.1", lines.encode())
    counted = points(one(folder), "pgbench_transactions_total")
    assert counted == [(1_795_000_002, 1), (1_795_000_004, 3), (1_795_000_006, 6)]


def test_a_path_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere: cannot be read: No such file or directory"):
        read(tmp_path / "nowhere")


def test_series_are_tuples(place: Place) -> None:
    series = one(pgbench_run(place)).series[0]
    assert isinstance(series, Series)
    assert series.times.dtype == series.values.dtype == np.float64


def test_runs_appended_to_two_files_are_dated_by_the_lines_of_either(place: Place) -> None:
    def lines(begin: int) -> str:
        return "".join(f"progress: {begin + at}.000 s, 50.0 tps, lat 4.000 ms stddev 2.000\n" for at in range(1, 5))

    place("a/db1.err", (lines(1_795_000_000) + "starting vacuum...end.\n" + lines(1_795_000_100)).encode())
    report = (RATE / "stdout").read_text().replace("duration: 20 s", "duration: 4 s")
    report = re.sub("actually processed: .*", "actually processed: 200", report)
    report = re.sub("^tps = .*", "tps = 50.000000 (without initial connection time)", report, flags=re.MULTILINE)
    folder = place("a/db1.out", (report + report).encode()).parent
    timeline = one(folder)
    assert (timeline.state, timeline.by_file_time) == ("finished", False)
    assert timeline.start == 1_795_000_100
    assert timeline.end == pytest.approx(1_795_000_104, abs=0.1)
    assert [time for time, _ in points(timeline, "pgbench_tps")] == [1_795_000_100 + at for at in range(1, 5)]


def test_a_text_without_dates_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"progress: {second}.0 s, 100.0 tps, lat 10.000 ms stddev 1.000, 0 failed\n" for second in range(1, 61)]
    (tmp_path / "db1.err").write_text("".join(lines))
    parsed: list[bytes] = []
    feed = TextParser.feed

    def counting(self: TextParser, data: bytes) -> Any:
        parsed.append(data)
        return feed(self, data)

    monkeypatch.setattr(TextParser, "feed", counting)
    (timeline,) = read_timelines([tmp_path])
    (tps,) = found(timeline, "pgbench_tps")
    assert tps.values.tolist() == [100.0] * 60
    assert np.diff(tps.times).tolist() == [1.0] * 59
    assert b"".join(parsed) == "".join(lines).encode()


@pytest.mark.parametrize("length", [20, 200], ids=["short", "longer than a log's head"])
@pytest.mark.parametrize("dated", [False, True])
def test_of_a_log_that_an_earlier_run_left_behind_nothing_is_replayed(place: Place, length: int, dated: bool) -> None:
    numbers = range(1, 100 * length + 1)
    log = "".join(f"0 {number} 1000 0 {NOW - 1000 + number / 100:.0f} 0\n" for number in numbers)
    place("a/pgbench_log.123", log.encode(), NOW - 1000 + length)
    times = [f"{NOW - 10 + second:.3f}" if dated else f"{second}.0" for second in range(1, 11)]
    lines = (f"progress: {time} s, 100.0 tps, lat 2.000 ms stddev 0.100, 0 failed\n" for time in times)
    timeline = one(place("a/db1.err", "".join(lines).encode()).parent, now=NOW + 1000, latencies=True)
    assert (timeline.start, timeline.latencies) == (NOW - 10, {})
    assert not found(timeline, "pgbench_latency_seconds")
    assert points(timeline, "pgbench_tps") == [(NOW - 10 + second, 100.0) for second in range(1, 11)]
    assert points(timeline, "pgbench_transactions_total")[0][0] == NOW - 9


@pytest.mark.parametrize("back", [-1000, 0, 2, 1000])
def test_a_run_in_the_same_file_is_dated_by_its_own_clock(place: Place, back: int) -> None:
    """Whether it was set since the run before or not."""

    def earlier(match: re.Match[str]) -> str:
        return f"{match[1]}{int(match[2]) - back * (1 if match[1] == time else 1000)}"

    time = '"timestamp" : '
    moved = re.sub(f'({time}|"timestamp_ms" : |"job_start" : )(\\d+)', earlier, FIO.read_text())
    alone = one(place("alone/disk1.out", moved.encode()).parent)
    both = one(place("both/disk1.out", FIO.read_bytes() + moved.encode()).parent)
    assert (both.start, both.end) == (alone.start, alone.end)
    rates = [points(timeline, "fio_iops", op="read") for timeline in (both, alone)]
    assert rates[0] == rates[1] != []
    assert {len(each.times) for each in both.series if each.family.part == "live"} == {
        len(each.times) for each in alone.series if each.family.part == "live"
    }


def test_lines_of_pgbench_15_that_go_back_are_of_another_run(place: Place) -> None:
    """It takes the time of day once, at its start; up to 13 its clock may have been set."""
    line = "progress: {:.3f} s, {}.0 tps, lat 2.000 ms stddev 0.100{}\n"
    for name, rest, first in (("15", ", 0 failed", NOW - 100), ("13", "", NOW)):
        lines = [line.format(NOW + second, 50, rest) for second in range(3)]
        lines += [line.format(NOW - 100 + second, 70, rest) for second in range(3)]
        timeline = one(place(f"{name}/db1.err", "".join(lines).encode()).parent)
        assert timeline.start == first - 1
        assert points(timeline, "pgbench_tps") == [(NOW - 100 + second, 70.0) for second in range(3)]


def test_no_line_is_lost_where_the_clock_of_the_file_server_is_behind(place: Place) -> None:
    """The start then looks earlier than the lines say, and the report seems to precede the last of them."""
    line = "progress: {:.3f} s, 50.0 tps, lat 2.000 ms stddev 0.100, 0 failed\n"
    lines = "".join(line.format(NOW + second) for second in range(1, 31))
    report = (RECORDINGS / "pgbench/tpcb-15.18.out").read_text()
    report = re.sub(r"tps = \S+", "tps = 50.000000", report[report.index("transaction type") :])
    report = re.sub(r"(actually processed: )\d+", r"\g<1>1500", report)
    timeline = one(place("a/db1.log", (lines + report).encode(), NOW + 10).parent)
    assert points(timeline, "pgbench_tps") == [(NOW + second, 50.0) for second in range(1, 31)]


@pytest.mark.parametrize("lines", [0, 5], ids=["after a report", "after progress lines"])
def test_the_log_of_the_last_of_several_runs_whose_text_is_a_report_has_its_course(place: Place, lines: int) -> None:
    """Only the end of the text, which dates it, shows that there is another run."""
    line = "progress: {}.0 s, 10.0 tps, lat 2.000 ms stddev 0.100, 0 failed\n"
    before = "".join(map(line.format, range(1, lines + 1)))
    report = (RECORDINGS / "pgbench/tpcb-15.18.out").read_text()
    report = re.sub(r"\ninitial connection time.*", "", re.sub(r"tps = \S+", "tps = 20.000000", report))
    first, last = (re.sub(r"(actually processed: )\d+", rf"\g<1>{count}", report) for count in (100, 200))
    log = "".join(f"0 {n} 500 0 {NOW - 10 + n // 20:.0f} {n % 20 * 50000 + 500}\n" for n in range(200))
    place("a/pgbench_log.200", log.encode())
    timeline = one(place("a/db1.out", (before + first[first.index("transaction type") :] + last).encode()).parent)
    assert points(timeline, "pgbench_tps")[:-1] == [(NOW - 10 + second, 20.0) for second in range(2, 10)]
    counts = [(NOW - 10 + second, 20.0 * second) for second in range(1, 10)]
    assert points(timeline, "pgbench_transactions_total")[:-1] == counts
    assert timeline.state == "finished"


@pytest.mark.parametrize("length", [9.9, 10.1])
def test_a_line_at_the_end_is_shown_though_the_report_says_that_the_run_was_shorter(
    place: Place, length: float
) -> None:
    line = "progress: {}.0 s, 100.0 tps, lat 2.000 ms stddev 0.100, 0 failed\n"
    report = (RECORDINGS / "pgbench/tpcb-15.18.out").read_text()
    report = re.sub(r"\ninitial connection time.*", "", report).replace("duration: 4 s", "duration: 10 s")
    report = re.sub(r"(actually processed: )\d+", r"\g<1>1000", report)
    place("a/db1.out", re.sub(r"tps = \S+", f"tps = {1000 / length:.6f}", report).encode())
    for count in (1, 10):
        timeline = one(place("a/db1.err", "".join(map(line.format, range(11 - count, 11))).encode()).parent)
        assert [rate for _, rate in points(timeline, "pgbench_tps")] == [100.0] * count
        assert (timeline.state, timeline.start) == ("finished", pytest.approx(NOW - 10, abs=0.2))
