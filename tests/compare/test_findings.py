import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchwatch.cli import main

from .made import START, autoregressive, place, progress, summary

Findings = Callable[..., list[str]]


@pytest.fixture
def findings(capsys: pytest.CaptureFixture[str]) -> Findings:
    """The sentences about two runs, of one kind."""

    def run(kind: str, *arguments: object) -> list[str]:
        main(["compare", *map(str, arguments), "--format", "json"])
        found = json.loads(capsys.readouterr().out)["others"][0]["findings"]
        return [one["text"] for one in found if one["kind"] == kind]

    return run


def steady(folder: Path, seed: int = 1) -> Path:
    return place(folder, autoregressive(seed, 120, 1000))


def test_a_steady_pair_has_nothing_to_say(findings: Findings, tmp_path: Path) -> None:
    one, two = steady(tmp_path / "one"), steady(tmp_path / "two", 2)
    for kind in ("unsteady", "cache", "length", "stall", "failed", "version", "scale", "load", "warmup"):
        assert findings(kind, one, two) == []


def test_a_run_that_is_not_steady_is_named_with_place_and_figures(findings: Findings, tmp_path: Path) -> None:
    step = np.where(np.arange(120) < 60, 1000.0, 800.0)
    assert findings("unsteady", place(tmp_path / "a", step), steady(tmp_path / "b")) == [
        "a is not steady: TPS 1,000 up to 60 s, then 800 (-20.0 %)"
    ]


@pytest.mark.parametrize(("late", "together"), [(30, 90), (5, None)])
def test_workers_that_did_not_run_together_are_said_to_be_added_all_the_same(
    findings: Findings, tmp_path: Path, late: int, together: int | None
) -> None:
    run = place(tmp_path / "a", [1000.0] * 120)
    later = re.sub(r"\d{10}", lambda found: str(int(found[0]) + late), progress([1000.0] * 120))
    (run / "db2.err").write_text(later)
    (run / "db2.out").write_text(summary(1000.0, seconds=120))
    length = f"{together} s of {120 + late} s"
    said = f"a: all its workers ran at the same time for only {length}, but their throughputs are added"
    assert findings("overlap", run, steady(tmp_path / "b")) == ([] if together is None else [said])


def test_the_place_is_told_from_the_start_of_the_run_on(findings: Findings, tmp_path: Path) -> None:
    step = np.where(np.arange(120) < 60, 1000.0, 800.0)
    a, b = place(tmp_path / "a", step, record=f"start: {START - 30}\n"), steady(tmp_path / "b")
    assert findings("unsteady", a, b) == ["a is not steady: TPS 1,000 up to 90 s, then 800 (-20.0 %)"]
    (sentence,) = findings("unsteady", a, b, "--warmup", "50s")
    assert sentence == "a is not steady: TPS 1,000 up to 90 s, then 800 (-20.0 %)"


def test_the_latencies_of_an_unsteady_run_are_those_that_were_measured(findings: Findings, tmp_path: Path) -> None:
    rates = np.where(np.arange(120) < 60, 1000.0, 100.0)
    a, b = (place(tmp_path / name, rates, lag="0.100") for name in "ab")
    lines = (a / "db.err").read_text().splitlines()
    slow = [line.replace("lat 0.160", "lat 100.000") for line in lines[60:]]
    (a / "db.err").write_text("\n".join([*lines[:60], *slow]) + "\n")
    assert findings("unsteady", a, b) == ["a is not steady: latency mean 160 µs up to 60 s, then 100 ms (+62400 %)"]


def test_a_cold_cache_against_a_warm_one_is_noticed(findings: Findings, tmp_path: Path) -> None:
    warming = autoregressive(3, 120, 1000, deviation=0.02) * np.linspace(0.5, 1.0, 120)
    cold, warm = place(tmp_path / "cold", warming), steady(tmp_path / "warm")
    (sentence,) = findings("cache", cold, warm)
    assert sentence.startswith("the cache seems to have been cold in cold and warm in warm: the throughput rose by +")
    assert sentence.endswith("% within cold, by 0.0 % within warm")
    again = place(tmp_path / "again", warming[::1] * 1.01)
    assert findings("cache", cold, again) == []


def test_nothing_is_said_of_the_cache_of_a_run_without_reports(findings: Findings, tmp_path: Path) -> None:
    warming = autoregressive(3, 120, 1000, deviation=0.02) * np.linspace(0.5, 1.0, 120)
    cold = place(tmp_path / "cold", warming)
    assert findings("cache", cold, place(tmp_path / "summary", 1000.0)) == []
    assert findings("cache", cold, place(tmp_path / "short", warming[:9])) == []
    assert findings("cache", cold, steady(tmp_path / "warm"), "--warmup", "115s") == []


def test_a_cold_cache_is_noticed_in_few_reports_too(findings: Findings, tmp_path: Path) -> None:
    noise = [autoregressive(seed, 12, 1000, deviation=0.02) for seed in range(6)]
    for number, each in enumerate(noise[:3], 1):
        place(tmp_path / f"cold-{number}", each * np.linspace(0.5, 1.0, 12), record="repeat_of: cold\n")
    for number, each in enumerate(noise[3:], 1):
        place(tmp_path / f"warm-{number}", each, record="repeat_of: warm\n")
    sides = tmp_path / "cold", tmp_path / "warm"
    assert [text.split()[0] for text in findings("unsteady", *sides)] == ["cold-1", "cold-2", "cold-3"]
    (sentence,) = findings("cache", *sides)
    assert sentence.startswith("the cache seems to have been cold in cold and warm in warm: the throughput rose by +")


def test_a_run_that_stood_still_is_named(findings: Findings, tmp_path: Path) -> None:
    rates = np.where(np.abs(np.arange(120) - 50.0) < 4, 0.0, 1000.0)
    (sentence,) = findings("stall", steady(tmp_path / "fine"), place(tmp_path / "stalled", rates))
    assert sentence == "stalled stood still for 7 s of 120 s"


def test_different_lengths_versions_scales_and_failures_are_named(findings: Findings, tmp_path: Path) -> None:
    one = place(tmp_path / "one", 1000.0)
    two = place(tmp_path / "two", 1000.0, seconds=600, version="18.6", scale=200, failed=6061)
    assert findings("length", one, two) == ["different lengths: one 60 s, two 600 s"]
    assert findings("version", one, two) == ["different tool versions: 15.18 in BASE, 18.6 in OTHER"]
    assert findings("scale", one, two) == ["different scale factors: 100 in BASE, 200 in OTHER"]
    assert findings("failed", one, two) == [
        "transactions failed: 0 % in one, 1 % in two; throughput counts only the others, as does latency if pgbench "
        "measured each (-P, -R or -L)"
    ]
    assert findings("scale", one, two, "--vary", "scale_factor") == []


def test_skipped_transactions_are_named(findings: Findings, tmp_path: Path) -> None:
    one = place(tmp_path / "one", 1000.0, lag="0.100", skipped=0)
    two = place(tmp_path / "two", 1000.0, lag="0.100", skipped=20_000)
    assert findings("skipped", one, two) == [
        "transactions were skipped because they were already late (-R with -L): 0 % in one, 25 % in two; throughput "
        "and latency count only the others"
    ]


def test_the_scale_that_pgbench_prints_for_own_scripts_is_none(findings: Findings, tmp_path: Path) -> None:
    builtin, own = place(tmp_path / "builtin", 1000.0), place(tmp_path / "own", 1000.0, script="own.sql", scale=1)
    given = place(tmp_path / "given", 1000.0, script="own.sql", scale=5)
    assert findings("scale", builtin, own) == []
    assert findings("scale", builtin, given) == ["different scale factors: 100 in BASE, 5 in OTHER"]


def test_a_machine_that_was_busy_before_the_start_is_named(findings: Findings, tmp_path: Path) -> None:
    busy = "parameters: {client.host.cpus: 4, client.host.load_average: 5.21}\n"
    idle = "parameters: {client.host.cpus: 4, client.host.load_average: 0.12}\n"
    one, two = place(tmp_path / "one", 1000.0, record=busy), place(tmp_path / "two", 1000.0, record=idle)
    assert findings("load", one, two) == [
        "the client's machine was already busy before the start of one: load average 5.21 on 4 CPUs"
    ]
    for number, record in enumerate((busy, busy, idle), 1):
        place(tmp_path / f"three-{number}", 1000.0, record=f"{record}repeat_of: three\n")
    (sentence,) = findings("load", tmp_path / "three", two)
    assert sentence.endswith("the start of 2 of 3 runs of three: load average up to 5.21 on 4 CPUs")


@pytest.mark.parametrize(("pause", "named"), [(5, 1), (240, 2)])
def test_the_load_of_an_earlier_run_of_the_series_is_no_other_work(
    findings: Findings, tmp_path: Path, pause: int, named: int
) -> None:
    busy = "parameters: {client.host.cpus: 4, client.host.load_average: 5.21}\nrepeat_of: three\n"
    for number in (0, 1):
        run = place(tmp_path / f"three-{number + 1}", [1000.0] * 120, record=busy)
        later = number * (120 + pause)
        output = run / "db.err"
        output.write_text(re.sub(r"\d{10}", lambda found, later=later: str(int(found[0]) + later), output.read_text()))
    (sentence,) = findings("load", tmp_path / "three", steady(tmp_path / "two"))
    assert f"{named} of 2 runs of three: load average" in sentence


def test_a_warm_up_that_cannot_be_left_out_is_named(findings: Findings, tmp_path: Path) -> None:
    one, two = place(tmp_path / "one", 1000.0), steady(tmp_path / "two")
    assert findings("warmup", one, two, "--warmup", "10s") == [
        "one: its figures include the warm-up of 10 s, as it has neither reports nor a transaction log"
    ]


def fio(folder: Path, cpu: float, read: float, options: str = "") -> Path:
    """A run of fio of 20 s at 1000 reads a second, `cpu` percent of a CPU each in user and system mode."""
    documents = []
    for second in range(1, 21):
        ios = round(read * second)
        latency = {"min": 1, "max": 100_000, "mean": 50_000.0, "stddev": 1.0, "N": ios, "bins": {"50176": ios}}
        done = {"total_ios": ios, "io_bytes": 4096 * ios, "runtime": 1000 * second, "clat_ns": latency}
        job = {
            "jobname": "j",
            "groupid": 0,
            "error": 0,
            "elapsed": second + 1,
            "job_start": 1_790_000_000_000,
            "job_runtime": 1000 * second,
            "job options": {"name": "j", "rw": "randread", "runtime": "20", **json.loads(options or "{}")},
            "read": done,
            "usr_cpu": cpu,
            "sys_cpu": cpu,
        }
        moment = 1_790_000_000 + second
        documents.append(
            json.dumps(
                {
                    "fio version": "fio-3.36",
                    "timestamp": moment,
                    "timestamp_ms": 1000 * moment,
                    "time": "Fri Sep 18 12:00:00 2026",
                    "global options": {},
                    "jobs": [job],
                },
                indent=2,
            )
        )
    folder.mkdir()
    (folder / "disk.out").write_text("\n".join(documents) + "\n")
    return folder


def test_a_client_that_has_no_cpu_left_is_the_bottleneck(findings: Findings, tmp_path: Path) -> None:
    one, two = fio(tmp_path / "one", 10.0, 1000), fio(tmp_path / "two", 49.0, 5000)
    assert findings("client_cpu", one, two) == [
        "two, job j used 0.98 CPUs a process (usr and sys of fio), so the client was the bottleneck"
    ]
    shared = fio(tmp_path / "shared", 49.0, 5000, '{"numjobs": "2"}')
    assert findings("client_cpu", one, shared) == []


@pytest.mark.parametrize(("cpus", "most"), [(16, 10), (4, 4)])
def test_a_pgbench_whose_threads_have_no_cpu_left_is_the_bottleneck(
    findings: Findings, tmp_path: Path, cpus: int, most: int
) -> None:
    took = "start: 1790000000\nend: 1790000060\nparameters: {client.host.cpus: %d}\ncpu_seconds: %.1f\n"
    one = place(tmp_path / "one", 1000.0, record=took % (cpus, 60 * most * 0.94))
    two = place(tmp_path / "two", 1000.0, record=took % (cpus, 60 * most * 0.96))
    assert findings("client_cpu", one, two) == [
        f"two: pgbench used {0.96 * most:.2f} of the {most} CPUs that its threads or its machine allow,"
        " so the client was the bottleneck"
    ]


def test_options_that_work_against_each_other_are_named(findings: Findings, tmp_path: Path) -> None:
    options = '{"rw": "randrw", "rwmixread": "70", "rate_iops": "700,300"}'
    one, two = fio(tmp_path / "one", 10.0, 1000), fio(tmp_path / "two", 10.0, 1000, options)
    assert findings("option", one, two) == [
        "two, job j: rwmixread has no effect with rate_iops: reads and writes have a rate of their own"
    ]


def test_why_there_is_no_verdict_is_said(findings: Findings, tmp_path: Path) -> None:
    one, two = place(tmp_path / "free", 1000.0), place(tmp_path / "given", 1000.0, lag="0.090")
    assert findings("no_verdict", one, two) == [
        "no verdict, because the main measures differ: that of free is TPS, that of given is latency mean"
    ]


@pytest.mark.parametrize(
    ("options", "sets_rate"),
    [
        ("-b 200M", True),
        ("-Rub200M", True),
        ("--bitrate=200M", True),
        ("--bandwidth 200M", True),
        ("-u", True),
        ("-b 0", False),
        ("-u -b 0", False),
        ("--udp --bitrate=0", False),
        ("--bidir -P 4", False),
    ],
)
def test_a_rate_that_only_the_command_names_is_fixed(
    findings: Findings, tmp_path: Path, recordings: Path, options: str, sets_rate: bool
) -> None:
    runs = [tmp_path / "one", tmp_path / "two"]
    for run in runs:
        run.mkdir()
        shutil.copy(recordings / "iperf3/text-tcp-3.12.out", run / "c.out")
        (run / "run.yaml").write_text(f"command: iperf3 -c db1 -t 4 {options}\n")
    said = "no verdict, because the command sets the rate and iperf3 measures no latency"
    assert findings("no_verdict", *runs) == ([said] if sets_rate else [])


def test_fixed_rates_without_a_latency_have_no_verdict_but_stalls(
    findings: Findings, tmp_path: Path, recordings: Path
) -> None:
    stopped, whole = (recordings / f"iperf3/stream-{name}-3.18.out" for name in ("server-stopped4s", "tcp"))
    assert findings("no_verdict", stopped, whole) == [
        "no verdict, because the command sets the rate and iperf3 measures no latency"
    ]
    assert findings("stall", stopped, whole) == ["stream-server-stopped4s-3.18, send, stood still for 3 s of 9 s"]
