import pytest
from msgspec.structs import replace
from rich.text import Text

from benchwatch.model.cvm import Cvm, Vdisk
from benchwatch.model.run import Measured, Worker
from benchwatch.values import numbers as figures
from benchwatch.watch.known import Alert, Judged, Known, Slow, usual_key
from benchwatch.watch.screen import Screen
from benchwatch.watch.sources import LATENCY, RATE, VDISK_LATENCY, VDISK_OPLOG, VDISK_RATE

from .pages import NOW, URL, moment, page, pgbench, rendered, row, screen_of, shown

QUANTILES = {"0.5": 0.0019, "0.95": 0.004, "0.99": 0.0091, "0.999": 0.02, "1": 0.0312}
SIZES = pytest.mark.parametrize(("width", "height"), [(80, 24), (160, 50)])


def words(line: str) -> str:
    return " ".join(line.split())


@SIZES
def test_a_worker_shows_rate_mean_percentiles_and_how_far_it_is(width: int, height: int) -> None:
    lines = shown(screen_of(moment(pgbench("db1", 1234.0, 0.00215, quantiles=QUANTILES))), width, height)
    assert len(lines) == height
    assert lines[0].startswith(f"benchwatch · 1 running · {URL}")
    assert lines[0].endswith("14:13:20 UTC")
    assert lines[2].startswith("test1  running · 1m 05s · 8m 55s left · pgbench 15.18")
    found = row(lines, "db1").replace(" ms", "ms").split()
    assert found[:9] == ["●", "db1", "0s", "1.23k", "2.15ms", "1.90ms", "4.00ms", "9.10ms", "31.2ms"]
    remark = "    p99.9 20.0 ms"
    assert row(lines, "db1").endswith(remark) if width > 80 else lines[4] == remark, "beside the row if there is room"
    assert lines[-1] == "q quit · j k run · p pause · alerts: --prometheus URL"


def test_zero_throughput_is_zero_and_a_stall_is_named() -> None:
    before = [moment(pgbench("db1", 1000.0, 0.002), now=NOW - 30 + second) for second in range(20)]
    halted = pgbench("db1", 0.0, None, state="stalled", reason="nothing completes")
    stalled = [moment(halted, now=NOW - 10 + second) for second in range(11)]
    lines = shown(screen_of(*before, *stalled), height=16)
    assert "1 stalled" in lines[0]
    line = row(lines, "db1")
    assert line.startswith("■ db1")
    assert line.endswith("stalled: nothing completes")
    assert any("█" * 20 + "_" * 11 in line for line in lines), "the curve"
    assert line.split()[3] == "0"
    assert "2.00" not in line


def test_a_silent_worker_shows_no_number_but_the_age_of_its_data() -> None:
    before = [moment(pgbench("db1", 1000.0, 0.002, quantiles=QUANTILES), now=NOW - 40 + second) for second in range(28)]
    lines = shown(screen_of(*before, moment(pgbench("db1", None, None, state="stalled", age=12.4))), 120, 16)
    line = row(lines, "db1")
    assert line.split()[2:4] == ["12s", "–"]
    assert line.endswith("stalled: no report for 12 s")
    (foot,) = [line for line in lines if line.lstrip().startswith("0 ") and "█" in line]
    assert foot[8:59].rstrip() == "█" * 28, "the time without reports is a gap"
    assert not any(number in line for number in ("1.00k", "2.00ms", "31.2"))


@SIZES
def test_a_lost_exporter_takes_all_numbers_with_it(width: int, height: int) -> None:
    screen = screen_of(moment(pgbench("db1", 1234.0, 0.002, quantiles=QUANTILES)))
    content = page(pgbench("db1", 1234.0, 0.002, quantiles=QUANTILES, age=8.5))
    screen.show(Known(NOW + 8, content, NOW, "cannot be reached: Connection refused", "Is it there?"))
    lines = shown(screen, width, height)
    assert lines[1] == "The exporter cannot be reached: Connection refused. Last read 8.0 s ago."
    assert lines[2] == "Trying again. Is it there?"
    assert lines[4].startswith("test1  unknown · ")
    assert row(lines, "db1").split()[0] == "?"
    assert row(lines, "db1").split()[2:4] == ["16s", "–"]
    assert row(lines, "db1").endswith("exporter does not answer")
    assert "1.23k" not in "\n".join(lines)


def test_an_exporter_that_was_never_there() -> None:
    screen = screen_of(Known(NOW, None, None, "cannot be reached: Connection refused"))
    assert shown(screen)[1] == "The exporter cannot be reached: Connection refused."


@SIZES
def test_more_workers_than_lines_show_totals_and_the_slowest(width: int, height: int) -> None:
    workers = [pgbench(f"db{number}", 100.0, number / 1000) for number in range(1, 61)]
    lines = shown(screen_of(moment(*workers)), width, height)
    assert lines[2].startswith("test1  60 running")
    assert words(row(lines, "all")).replace(" ms", "ms").startswith("all 6.00k 30.5ms")
    names = [line.split()[1] for line in lines if line.startswith("●")]
    assert names == [f"db{number}" for number in range(60, 60 - len(names), -1)]
    assert f"    + {60 - len(names)} more" in lines
    assert len(names) == {24: 18, 50: 36}[height], "a high screen has the curve of the total, too"
    assert any(line.startswith("TPS of test1 all: ") for line in lines) == (height == 50)


def test_a_stalled_worker_is_among_those_shown() -> None:
    workers = [pgbench(f"db{number}", 100.0, number / 1000) for number in range(1, 61)]
    workers[0] = pgbench("db1", None, None, state="stalled", age=7)
    lines = shown(screen_of(moment(*workers)))
    assert lines[2].startswith("test1  1 stalled · 59 running")
    assert lines[4].startswith("■ db1 ")


def test_more_runs_than_lines_are_counted() -> None:
    workers = [pgbench("db1", run=f"run{number:02}") for number in range(30)]
    lines = shown(screen_of(moment(*workers)))
    runs = [line for line in lines if line.startswith("run")]
    assert f"+ {30 - len(runs)} more runs" in lines
    assert len(lines) == 24


def test_the_chosen_run_is_shown_first_and_fullest() -> None:
    first = [pgbench(f"db{number}", run="a") for number in range(1, 31)]
    second = [pgbench(f"db{number}", run="b") for number in range(1, 31)]
    screen = screen_of(moment(*first, *second))
    assert shown(screen)[2].startswith("a  30 running")
    for chosen in ("a", "b", "a"):
        screen.select(1)
        lines = shown(screen)
        assert lines[2].startswith(f"{chosen}  30 running")
    screen.select(-1)
    assert shown(screen)[2].startswith("b  30 running")


def test_a_pause_keeps_the_moment_and_says_so() -> None:
    screen = screen_of(moment(pgbench("db1", 1234.0)))
    screen.pause()
    screen.show(moment(pgbench("db1", 77.0), now=NOW + 9))
    lines = shown(screen)
    assert "1.23k" in row(lines, "db1")
    assert lines[-1].startswith("PAUSED at 14:13:20 UTC")
    screen.pause()
    assert "77.0" in row(shown(screen), "db1")


def test_percentiles_of_another_time_are_never_shown_without_it() -> None:
    now = Measured(rate=2, latency=6.66, quantiles=QUANTILES, time=NOW, quantiles_time=NOW - 7)
    workers = [replace(pgbench(f"db{number}"), now=(now,)) for number in range(4)]
    roomy = shown(screen_of(moment(*workers)))
    assert roomy.count("    percentiles 7.0 s older · p99.9 20.0 ms") == 4
    assert roomy.count("    max 7.0 s older") == 1
    full = shown(screen_of(moment(*workers)), height=8)
    assert not [line for line in full if "percentiles" in line]
    p99 = figures.latency(QUANTILES["0.99"]).replace(" ", "")
    assert row(full, "db1").endswith(f" p99 {p99}, 7.0 s older")
    assert " max " in row(full, "all") and row(full, "all").endswith(", 7.0 s older")


@SIZES
def test_the_result_of_a_run_with_a_warm_up_is_that_of_show(width: int, height: int) -> None:
    result = (Measured(rate=1.0, latency=8.21),)
    ended = [
        replace(pgbench(f"db{number}", run=run, state="finished", end=NOW - 9, result=result), warmup=warmup)
        for number, (run, warmup) in enumerate([("plain", 0.0), ("warm", 2.1), ("hot", 60.0)])
    ]
    lines = shown(screen_of(moment(*ended)), width, height)
    names = {name: next(line for line in lines if f"{name} db" in line) for name in ("plain", "warm", "hot")}
    assert {name: "8.21 s" in line for name, line in names.items()} == {"plain": True, "warm": False, "hot": False}
    assert "  benchwatch show leaves out th" in names["warm"]
    assert names["hot"].endswith("leaves out the warm-up of 1m 00s") == (width > 80)
    on = shown(screen_of(moment(replace(pgbench("db1", start=NOW - 10), warmup=60.0))), width, height)
    assert "warm-up, 50 s left" in on[2]


@SIZES
def test_names_from_outside_cannot_command_the_terminal(width: int, height: int) -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\r\n\x9b31m\u202e[bold red]x[/]\u2028"
    workers = [
        pgbench(evil, run=evil),
        pgbench(evil, run="b" + evil, state="failed", end=NOW - 5, result=(Measured(job=evil, op=evil, rate=5.0),)),
    ]
    alerts = [Alert(evil, evil, evil, NOW - 3)]
    cvm = Cvm(evil, up=True, last_success=NOW, vdisks=(Vdisk("cvm", evil, evil, evil, evil),))
    content = page(*workers, cvms=(cvm,))
    screen = Screen(URL, URL)
    screen.show(Known(NOW, content, NOW, judged=Judged(alerts)))
    sent = "\n".join(rendered(screen.lines(width, height), width, height, styles=True))
    for forbidden in ("\x1b[2J", "\x1b]", "\x07", "\r", "\x9b", "\u202e", "\u2028"):
        assert forbidden not in sent
    assert "\\x1b[2J\\x1b]0;" in sent
    whole = "\n".join(rendered(screen.snapshot(200), 200, 60, styles=True))
    assert "[bold red]x[/]" in whole, "markup is text like any other"


def test_every_size_has_room() -> None:
    workers = [pgbench(f"db{number}", run=f"run{number % 4}", quantiles=QUANTILES) for number in range(12)]
    alerts = [Alert("LatencySpike", "critical", "latency is 9 times its usual", NOW - 32)] * 9
    vdisks = tuple(Vdisk("cvm1", str(n), "pg1", f"scsi.{n}", "data", oplog=1.0) for n in range(9))
    cvm = Cvm("cvm1", up=True, last_success=NOW, vdisks=vdisks)
    screen = Screen(URL, URL)
    screen.show(Known(NOW, page(*workers, cvms=(cvm,)), NOW, judged=Judged(alerts)))
    for width, height in (
        (1, 1),
        (5, 55),
        (18, 40),
        (20, 2),
        (40, 13),
        (60, 21),
        (75, 5),
        (80, 8),
        (100, 34),
        (250, 3),
    ):
        assert len(screen.lines(width, height)) == height, (width, height)


def test_what_is_above_the_objective_stands_out() -> None:
    lines = rendered(
        screen_of(
            moment(pgbench("db1", latency=0.002, objective=0.001, quantiles={"0.5": 0.0005, "0.99": 0.009}))
        ).lines(120, 24),
        120,
        24,
        styles=True,
    )
    line = next(line for line in lines if "db1" in line)
    assert "\x1b[1;31m2.00 ms" in line
    assert "\x1b[33m9.00 ms" in line
    assert "\x1b[33m 500 µs" not in line
    assert any("\x1b[1;31mmean objective 1.00 ms: missed at 2.00 ms" in line for line in lines)


def test_alerts_that_fire_say_since_when() -> None:
    alerts = [Alert("LatencySpike", "critical", "latency is 9 times its usual", NOW - 32)]
    lines = shown(screen_of(moment(pgbench("db1"), judged=Judged(alerts)), prometheus="http://127.0.0.1:9090"), 100)
    assert "1 alert" in lines[0]
    at = lines.index("Alerts of http://127.0.0.1:9090")
    assert lines[at + 1] == "critical  32s LatencySpike  latency is 9 times its usual"


def test_alerts_with_one_name_on_one_thing_are_one_line_the_most_severe() -> None:
    vdisk = {"alertname": "VdiskLatencySpike", "vdisk": "40043", "op": "write"}
    alerts = [
        Alert("VdiskLatencySpike", "critical", "spiked, ten times", NOW - 20, vdisk | {"severity": "critical"}),
        Alert("RunSlow", "warning", "is slow: oplog", NOW - 3, {"run": "a", "layer": "oplog", "corrected": "yes"}),
        Alert("RunSlow", "warning", "is slow: log device", NOW - 23, {"run": "a", "layer": "log_device"}),
        Alert("VdiskLatencySpike", "warning", "spiked", NOW - 20, vdisk | {"severity": "warning"}),
        Alert("VdiskLatencySpike", "warning", "also spiked", NOW - 20, vdisk | {"vdisk": "45269"}),
    ]
    lines = shown(screen_of(moment(pgbench("db1"), judged=Judged(alerts)), prometheus="http://p:9090"), 100)
    assert "3 alerts" in lines[0]
    at = lines.index("Alerts of http://p:9090")
    assert [line.partition("  ")[2].lstrip() for line in lines[at + 1 : at + 4]] == [
        "20s VdiskLatencySpike  spiked, ten times",
        "3s RunSlow  is slow: oplog",
        "20s VdiskLatencySpike  also spiked",
    ]


def test_alerts_that_cannot_be_read_are_not_said_to_be_none() -> None:
    problem = "Prometheus at http://p:9090 does not answer (not all within 3 s)"
    lines = shown(screen_of(moment(pgbench("db1"), judged=Judged(problem=problem)), prometheus="http://p:9090"))
    assert "alert" not in lines[0]
    assert problem in lines
    assert "no alerts" in shown(screen_of(moment(pgbench("db1"), judged=Judged([])), prometheus="http://p:9090"))[0]


SENTENCE = "log device sdb 42 ms, 60x its usual; vdisk 40043 as usual: guest or network path."
SLOW = Slow(NOW - 29, text=SENTENCE)


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (80, ["  log device sdb 42 ms, 60x its usual; vdisk 40043 as usual: guest or network", "  path."]),
        (120, [f"  {SENTENCE}"]),
    ],
)
def test_the_verdict_is_whole_under_the_name_of_the_slow_run(width: int, said: list[str]) -> None:
    judged = Judged(slow={"test1": SLOW, "elsewhere": SLOW._replace(text="No layer stands out.")})
    workers = [pgbench(f"db{number}") for number in range(40)]
    lines = shown(screen_of(moment(*workers, pgbench("db1", run="other"), judged=judged)), width)
    at = next(number for number, line in enumerate(lines) if line.startswith("test1"))
    assert lines[at + 1 : at + 1 + len(said)] == said
    assert "usual" not in "".join([*lines[:at], *lines[at + 1 + len(said) :]])
    assert any(line.startswith("other") for line in lines)
    assert not any("stands out" in line for line in lines), "of a run that this exporter does not have"


def test_slow_runs_come_first_with_their_curves() -> None:
    judged = Judged(slow={"slow": SLOW})
    workers = (pgbench("db1", run=name) for name in ("new", "slow", "old"))
    screen = screen_of(moment(*workers, judged=judged))
    lines = shown(screen, 120, 30)
    assert lines[2].startswith("slow  slow since 14:12:51 (29 s), still slow · running · 1m 05s")
    assert any(line.startswith("TPS of slow db1: last 1.00k") for line in lines), "the curves"
    chosen = []
    for _ in range(3):
        screen.select(1)
        chosen.append(shown(screen, 120, 30)[2].split()[0])
    assert chosen == ["slow", "new", "old"], "the keys go through them as they stand there"


def test_a_slow_time_that_has_ended_reads_as_over() -> None:
    judged = Judged(slow={"test1": Slow(NOW - 60, NOW - 20)})
    lines = shown(screen_of(moment(pgbench("db1"), judged=judged)), 120)
    assert lines[2].startswith("test1  running · was slow 14:12:20 to 14:13:00 (40 s), over · 1m 05s")
    assert "slow" not in lines[0]
    twice = {"a": Slow(NOW - 60), "b": Slow(NOW - 60, NOW - 20)}
    workers = (pgbench("db1", run=name) for name in ("a", "b"))
    assert " 1 slow · " in shown(screen_of(moment(*workers, judged=Judged(slow=twice))))[0]


def test_how_busy_the_processors_of_a_slow_run_are_is_said_where_it_is_known() -> None:
    judged = Judged(slow={"a": Slow(NOW - 29, host="pg1", busy=0.024), "b": SLOW})
    lines = shown(screen_of(moment(pgbench("db1", run="a"), pgbench("db1", run="b"), judged=judged)), 160)
    (said,) = [line for line in lines if "processors" in line]
    assert said.startswith("a  slow since") and " · running · processors of pg1 2% busy · 1m 05s" in said


def slow_moments() -> list[Known]:
    """200 s of a run that has been slow for 40 s, with its usual values."""
    known = {usual_key(RATE, "test1", "db1"): 400.0, usual_key(LATENCY, "test1", "db1"): 0.002}
    judged = Judged(slow={"test1": Slow(NOW - 40)}, usual=known)
    figures = [(100.0, 0.009) if second >= 160 else (400.0, 0.002) for second in range(200)]
    return [
        moment(pgbench("db1", rate, latency), now=NOW - 199 + second, judged=judged)
        for second, (rate, latency) in enumerate(figures)
    ]


def test_a_slow_run_has_its_usual_values_below_its_own() -> None:
    lines = shown(screen_of(*slow_moments()), 100, 40)
    at = lines.index(row(lines, "db1"))
    assert words(lines[at]) == "● db1 0s 100 9.00 ms – – – –"
    assert words(lines[at + 1]) == "usually 400 2.00 ms"
    assert len(lines[at + 1]) == lines[at].index(" ms") + 3, "in the same columns"


def test_curves_show_the_last_and_the_usual_value_and_since_when_the_run_is_slow() -> None:
    lines = shown(screen_of(*slow_moments()), 100, 40)
    place = next(place for place, line in enumerate(lines) if line.startswith("TPS of test1 db1: "))
    assert lines[place].split("  ")[0] == "TPS of test1 db1: last 100, usually 400"
    assert lines[place].endswith("mean latency: last 9.00 ms, usually 2.00 ms")
    curve = [(line[:49].rstrip(), line[51:].rstrip()) for line in lines[place + 1 : place + 14]]
    rates, latencies = zip(*curve, strict=True)
    assert rates[0] == "    400 " + "━" * 32 + "─" * 8
    assert latencies[10] == "  usual " + "━" * 40
    axis = lines[place + 14]
    assert axis[8:49].rstrip() == "14:10:00    slow since 14:12:40 ▲    now"
    assert axis[8 + 32] == "▲", "the first column of these seconds"


def test_no_line_is_empty_below_what_is_left_out() -> None:
    alerts = [Alert("A", "critical", "it is", NOW - 32, {"vdisk": str(number)}) for number in range(9)]
    vdisks = tuple(Vdisk("cvm1", str(n), "pg1" if n < 2 else "", f"scsi.{n}") for n in range(9))
    cvm = Cvm("cvm1", up=True, last_success=NOW, vdisks=vdisks)
    workers = [pgbench(f"db{number}", quantiles=QUANTILES) for number in range(3)]
    known = [Known(NOW - ago, page(*workers, cvms=(cvm,)), NOW, judged=Judged(alerts)) for ago in range(30, -1, -1)]
    screen = screen_of(*known)
    for height in range(16, 50):
        lines = shown(screen, 80, height)
        left_out = [line for line in lines if line.lstrip().startswith("+ ")]
        assert not left_out or "" not in lines, height


def test_there_is_no_verdict_while_the_exporter_does_not_answer() -> None:
    lost = moment(pgbench("db1"), judged=Judged(slow={"test1": SLOW}), problem="does not answer")
    assert not [line for line in shown(screen_of(lost)) if "log device" in line or "slow" in line]


def test_vdisks_of_the_benchmark_come_first() -> None:
    vdisks = (
        Vdisk("cvm1", "50000", rates={"read": 9.0}, latencies={"read": 0.5}),
        Vdisk("cvm1", "1", "pg1", "scsi.2", "log", NOW, {"write": 398.0}, {"write": 0.0007}, {"write": 0.1}, 0.75),
    )
    read = Cvm("cvm1", up=True, last_success=NOW - 4, vdisks=vdisks)
    screen = screen_of(Known(NOW, page(cvms=(read, Cvm("cvm2", up=False))), NOW))
    lines = shown(screen)
    at = lines.index("vdisks, as seen by the VM · cvm1 read 4.0 s ago · cvm2 does not answer")
    assert words(lines[at + 2]) == "pg1 scsi.2 log – 398 – 700 µs 75% – 10%"
    assert words(lines[at + 3]) == "cvm1 50000 9.00 – 500 ms – – – –"


def test_what_is_usual_of_the_vdisks_of_the_benchmark_stands_below_them() -> None:
    burst = Vdisk("cvm1", "1", "pg1", "scsi.1", "data", NOW, {"read": 99.0, "write": 1490.0}, {"write": 0.01}, {}, 0.4)
    known = {
        usual_key(VDISK_RATE, op="write", cvm="cvm1", vdisk="1"): 199.0,
        usual_key(VDISK_LATENCY, op="write", cvm="cvm1", vdisk="1"): 0.0007,
        usual_key(VDISK_OPLOG, cvm="cvm1", vdisk="1"): 1.0,
    }
    cvm = Cvm("cvm1", up=True, last_success=NOW, vdisks=(burst, Vdisk("cvm1", "2")))
    screen = screen_of(Known(NOW, page(cvms=(cvm,)), NOW, judged=Judged(usual=known)))
    lines = shown(screen)
    at = lines.index(row(lines, "pg1 scsi.1 data"))
    assert words(lines[at]) == "pg1 scsi.1 data 99.0 1.49k – 10.0 ms 40% – –"
    assert words(lines[at + 1]) == "usually – 199 – 700 µs 100% – –"
    styled = rendered(screen.lines(80, 24), 80, 24, styles=True)[at]
    assert [styled.count(f"\x1b[1;31m{far}") for far in ("   1.49k", " 10.0 ms", "     40%")] == [1, 1, 1]
    assert styled.count("\x1b[1;31m") == 3


def test_ended_runs_keep_their_results() -> None:
    workers = (
        pgbench("db1", run="pg1", state="finished", end=NOW - 5, result=(Measured(rate=2340.0, latency=0.0017),)),
        pgbench(
            "disk1",
            run="fio1",
            state="failed",
            start=NOW - 725,
            end=NOW - 125,
            result=(Measured("data", "read", 400.0, 0.0009, {"0.99": 0.00718, "1": 0.107}),),
        ),
    )
    lines = shown(screen_of(moment(*workers)))
    assert "Nothing is running." in lines
    assert words(row(lines, "pg1 db1")) == "pg1 db1 finished 60s 5s 2.34k 1.70 ms – –"
    assert words(row(lines, "fio1 data read")) == "fio1 data read failed 10m 2m 400 900 µs 7.18 ms 107 ms"


def test_why_a_worker_failed_stands_where_its_figures_would() -> None:
    workers = [
        pgbench("db1", None, None, run="a", state="failed", reason="exit code 1"),
        pgbench("db2", run="a"),
        pgbench("db1", None, None, run="b", state="failed", reason="connection to server was lost", end=NOW - 5),
    ]
    lines = shown(screen_of(moment(*workers)))
    assert words(row(lines, "db1")).endswith("failed: exit code 1")
    assert words(row(lines, "b db1")) == "b db1 failed 60s 5s connection to server was lost"


def test_a_snapshot_has_every_worker() -> None:
    workers = [pgbench(f"db{number}") for number in range(1, 61)]
    lines = screen_of(moment(*workers)).snapshot(120)
    assert isinstance(lines[0], Text)
    plain = [line.plain.rstrip() for line in lines]
    assert len([line for line in plain if line.startswith("● db")]) == 60
    assert not any("more" in line for line in plain)


def test_how_the_output_of_an_ended_run_was_read_stands_behind_its_figures() -> None:
    result = (Measured(rate=900, latency=0.002),)
    done = pgbench("db1", None, None, run="b", state="finished", end=NOW - 5, result=result)
    lines = shown(screen_of(moment(replace(done, notes=("run 3 of 3 in this file",)))))
    assert words(row(lines, "b db1")).startswith("b db1 finished 60s 5s 900 2.00 ms – – run 3 of 3 in")


def test_a_high_screen_has_curves_of_several_lines_over_the_whole_time() -> None:
    moments = [
        moment(pgbench("db1", 100.0 * (1 + second // 50), 0.004 if second == 120 else 0.001), now=NOW - 199 + second)
        for second in range(200)
    ]
    lines = shown(screen_of(*moments), 100, 40)
    place = next(place for place, line in enumerate(lines) if line.startswith("TPS of test1 db1: last "))
    curve = [(line[8:49].rstrip(), line[59:].rstrip()) for line in lines[place + 1 : place + 14]]
    rates, latencies = zip(*curve, strict=True)
    assert rates[0] == " " * 30 + "█" * 10
    assert rates[3] == " " * 20 + "▆" * 10 + "█" * 10
    assert rates[-1] == "█" * 40
    assert latencies[0] == " " * 24 + "█"
    assert latencies[-1] == "█" * 40
    low = shown(screen_of(*moments), 100, 8)
    assert not any("latency" in line for line in low)


def test_a_curve_has_its_highest_value_zero_and_its_time_beside_it_and_no_second_chart_above_it() -> None:
    moments = [moment(pgbench("db1", 400.0, 0.004), now=NOW - 199 + second) for second in range(200)]
    lines = shown(screen_of(*moments), 100, 40)
    place = next(place for place, line in enumerate(lines) if line.startswith("TPS of test1 db1: last "))
    labels = [(line[:7].strip(), line[51:58].strip()) for line in lines[place + 1 : place + 14]]
    assert labels == [("400", "4.00 ms"), *[("", "")] * 11, ("0", "0")]
    assert lines[place + 14].split() == ["14:10:00", "now"] * 2
    assert "█" not in row(lines, "db1")


def test_ended_runs_get_the_lines_that_curves_leave() -> None:
    ended = [pgbench("db1", run=f"r{n}", state="finished", end=NOW - 900 - n, start=NOW - 1000) for n in range(12)]
    lines = shown(screen_of(moment(pgbench("db1"), pgbench("db2"), pgbench("db1", run="b"), *ended)), 160, 50)
    assert not any("more" in line for line in lines)
    assert sum(line.startswith("  r") for line in lines) == 12
    full = shown(screen_of(moment(pgbench("db1"), pgbench("db2"), pgbench("db1", run="b"), *ended)), 160, 24)
    left = next(place for place, line in enumerate(full) if line.startswith("    + "))
    assert left == len(full) - 2, "no empty line below what is left out"


def test_nothing_is_cut_beside_free_room() -> None:
    reason = 'pgbench: error: connection to server on socket "/run/postgresql/.s.PGSQL.5432" failed: refused'
    workers = [
        pgbench("db1", None, None, run="a", state="failed", reason=reason),
        pgbench("n" * 60, run="a"),
        pgbench("db1", None, None, run="b", state="failed", reason=reason, end=NOW - 5),
    ]
    lines = shown(screen_of(moment(*workers)), 220)
    assert row(lines, "db1").endswith(f"failed: {reason}")
    assert row(lines, "n" * 60)
    assert row(lines, "b db1").endswith(f"60s    5s  {reason}")


def test_a_stalled_run_comes_before_younger_ones() -> None:
    workers = [
        pgbench("w", run="young", start=NOW - 5),
        pgbench("w", run="old", start=NOW - 50, state="stalled", reason="nothing completes"),
        pgbench("w", run="older", start=NOW - 500),
    ]
    lines = shown(screen_of(moment(*workers)), 100, 12)
    order = [line.split()[0] for line in lines if line.split()[:1] and line.split()[0] in ("young", "old", "older")]
    assert order[:3] == ["old", "young", "older"]


def test_a_state_that_only_a_newer_exporter_knows_is_shown_as_it_is() -> None:
    workers = [pgbench(f"db{number}", state="waiting" if number == 7 else "running") for number in range(1, 30)]
    lines = shown(screen_of(moment(*workers)), height=12)
    assert row(lines, "db7").endswith("waiting")


def test_repeats_and_points_of_sweeps_are_one_line_each_as_on_the_page() -> None:
    def ended(name: str, number: int, rate: float, **more: object) -> Worker:
        worker = pgbench("db1", run=f"{name}-{number}", state="finished", start=NOW - 90, end=NOW - 30)
        return replace(worker, experiment=name, throughput=rate, latency=0.002, p99=0.01, **more)

    repeats = [ended("sync-off", number, rate) for number, rate in enumerate((90.0, 100.0, 110.0))]
    sweep = [ended("curve", clients, 10.0 * clients, point={"clients": str(clients)}) for clients in (1, 4, 16)]
    alone = ended("other", 1, 100.0)
    lines = shown(screen_of(moment(*repeats, *sweep, alone)), 120)
    assert words(row(lines, "sync-off ×3")) == ("sync-off ×3 finished 60s 30s 100 2.00 ms 10.0 ms – rate ±24.8 %")
    assert words(row(lines, "curve 3 points")).startswith("curve 3 points, 3 runs finished 60s 30s 10.0–160 ")
    assert row(lines, "other-1 db1")
    assert not any("sync-off-1" in line or "curve-4" in line for line in lines)
