import fcntl
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.machine.mounts import Storage
from tests.support.launching import Launchpad
from tests.support.serving import FakeExporter, served
from tests.support.waiting import PATIENCE, eventually

WRITES_LOG = """
    for word; do case $word in --log-prefix=*) prefix=${word#*=};; esac; done
    echo "0 1 1000 0 1790000000 1" >$prefix.$$
"""
LINKED = "for i in $(seq 1200); do [ -h runs/a/pgbench.$$ ] && exit; sleep 0.1; done"
ANOTHER_FOLDER = "choose another folder with --runs.path"
WAITS = "trap 'echo {0} >&2; exit 3' {0}; echo READY >&2; while :; do sleep 0.1; done"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Launchpad]:
    made = Launchpad(tmp_path)
    yield made
    made.stop()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder of 64 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("a file system can be mounted by root only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder that cannot be written to, and why."""
    folder = tmp_path / "read-only"
    folder.mkdir(mode=0o555)
    if not os.access(folder, os.W_OK):
        yield folder, "Permission denied"
        return
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(folder)], check=False).returncode:
        pytest.skip("nothing is read-only to this user, and it cannot mount")
    yield folder, "Read-only file system"
    subprocess.run(["umount", str(folder)], check=True)


def own(stderr: bytes) -> list[str]:
    """The launcher's own sentences."""
    return [
        line.removeprefix("benchwatch: ") for line in stderr.decode().splitlines() if line.startswith("benchwatch:")
    ]


def without_own(stderr: bytes) -> bytes:
    return b"".join(line for line in stderr.splitlines(keepends=True) if not line.startswith(b"benchwatch:"))


def test_bytes_go_to_their_streams_and_files_untouched(place: Launchpad) -> None:
    place.tool("pgbench", r"""printf 'out\377\000\033[1m no end'; printf 'err\r\n\0' >&2; printf ' here\n'""")
    done = place.run("--name", "a", "--worker", "db1", "--no-percentiles", "--", "pgbench", "-S")
    assert done.returncode == 0
    assert done.stdout == b"out\xff\0\x1b[1m no end here\n"
    assert b"err\r\n\0benchwatch: a: nothing was measured" in done.stderr
    assert (place.runs / "a/db1.out").read_bytes() == done.stdout
    assert (place.runs / "a/db1.err").read_bytes() == b"err\r\n\0"


def test_streams_that_go_to_one_place_stay_in_order(place: Launchpad) -> None:
    place.tool("pgbench", "for i in $(seq 300); do echo err$i >&2; echo out$i; done")
    done = place.run("--name", "a", "--", "pgbench", together=True)
    seen = [line for line in done.stdout.decode().split() if line[:3] in ("err", "out") and line[3:].isdigit()]
    place_of = {line: number for number, line in enumerate(seen)}
    assert len(place_of) == len(seen) == 600
    assert all(place_of[f"err{number}"] < place_of[f"out{number}"] for number in range(1, 301))


def test_a_closed_stream_is_not_taken_for_the_record(place: Launchpad) -> None:
    place.tool("pgbench", "echo out; echo err >&2; exit 3")
    shell = ["sh", "-c", 'exec "$@" >&-', "-", *place.command("--name", "a", "--no-percentiles", "--", "pgbench", "-S")]
    done = subprocess.run(
        shell, cwd=place.folder, env=place.environment, capture_output=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 3
    assert (place.runs / "a/pgbench.out").read_bytes() == b"out\n"
    assert (place.runs / "a/pgbench.err").read_bytes() == b"err\n"


def test_options_that_have_no_effect_are_said(place: Launchpad) -> None:
    place.tool("pgbench", "exit 0")
    done = place.run("--name", "a", "--warmup", "60", "--no-percentiles", "--", "pgbench", "-T", "2")
    assert "the warm-up covers all of its 2 s, so no results remain: use a shorter --warmup" in own(done.stderr)
    done = place.run("--name", "b", "--pause", "1s", "--", "pgbench", "-T", "2")
    assert (done.returncode, own(done.stderr)) == (2, ["--pause requires --repeat, such as --repeat 5"])
    assert place.run("--name", "b", "--repeat", "1", "--pause", "1s", "--", "pgbench", "-T", "2").returncode == 0


def test_much_output_arrives_whole(place: Launchpad) -> None:
    place.tool("pgbench", "head -c 20000000 /dev/urandom")
    done = place.run("--name", "a", "--", "pgbench")
    assert len(done.stdout) == 20_000_000
    assert (place.runs / "a/pgbench.out").read_bytes() == done.stdout


def test_the_record_says_what_was_run_and_how_it_ended(place: Launchpad) -> None:
    place.tool("pgbench", "exit 3")
    options = "--label cluster=a --parameter cache=warm --disk sdb=log --objective 2ms --warmup 1m --no-percentiles"
    done = place.run("--name", "a", *options.split(), "--", "pgbench", "-S", "host=x password=secret")
    assert done.returncode == 3
    record = place.record("a")
    assert record["command"] == ["pgbench", "-P", "1", "--progress-timestamp", "-S", "host=x password=***"]
    assert (record["labels"], record["disks"]) == ({"cluster": "a"}, {"sdb": "log"})
    assert (record["latency_objective"], record["warmup"], record["exit_code"]) == (0.002, 60, 3)
    assert record["parameters"]["cache"] == "warm"
    assert record["parameters"]["pgbench_version"] == "15.18"
    assert record["parameters"]["client.host.cpus"] == str(os.cpu_count())
    assert record["start"] < record["end"]
    assert own(done.stderr) == [
        "the server's settings are not recorded: psql: error: no server here",
        "records runs/a/pgbench.*",
        "adds -P 1 --progress-timestamp",
        "a: nothing was measured: no recognised output",
    ]


def test_the_log_is_linked_while_it_grows_and_kept_in_the_folder(place: Launchpad) -> None:
    place.tool(
        "pgbench",
        WRITES_LOG
        + """echo "1 1 1000 0 1790000000 2" >$prefix.$$.1; echo $$
        while [ ! -e stop ]; do sleep 0.1; done""",
    )
    process = place.start("--name", "a", "--", "pgbench", "-T", "1")
    folder = place.runs / "a"
    eventually(lambda: len(list(folder.glob("pgbench.[0-9]*"))) == 2, "the log is linked")
    links = [path.readlink() for path in folder.glob("pgbench.[0-9]*")]
    assert {link.parts[:3] for link in links} == {("/", "dev", "shm")}
    (place.folder / "stop").touch()
    out, _ = process.communicate(timeout=PATIENCE)
    assert not any(link.exists() or link.parent.exists() for link in links)
    number = int(out)
    assert (folder / f"pgbench.{number}").read_text() == "0 1 1000 0 1790000000 1\n"
    assert (folder / f"pgbench.{number}.1").read_text() == "1 1 1000 0 1790000000 2\n"
    assert not (folder / f"pgbench.{number}").is_symlink()


def test_the_users_own_log_is_moved_into_the_run_and_has_a_link_where_the_user_put_it(place: Launchpad) -> None:
    place.tool("pgbench", r"""echo other >mine.1; echo "0 1 1000 0 1790000000 1" >mine.$$; echo $$; sleep 1""")
    done = place.run("--name", "a", "--", "pgbench", "-l", "--log-prefix=mine")
    number = int(done.stdout)
    assert "log-prefix" not in own(done.stderr)[-1]
    kept = place.runs / f"a/pgbench.{number}"
    assert (kept.read_text(), kept.is_symlink()) == ("0 1 1000 0 1790000000 1\n", False)
    assert (place.folder / f"mine.{number}").readlink() == kept.absolute()
    assert not (place.runs / "a/pgbench.1").exists()


def test_the_users_own_log_of_the_default_name_is_moved_into_the_run(place: Launchpad) -> None:
    place.tool("pgbench", "echo other >pgbench_log.1; echo '0 1 1000 0 1790000000 1' >pgbench_log.$$; echo $$; sleep 1")
    done = place.run("--name", "a", "--", "pgbench", "-l")
    kept = place.runs / f"a/pgbench.{int(done.stdout)}"
    assert (kept.read_text(), kept.is_symlink()) == ("0 1 1000 0 1790000000 1\n", False)
    assert [file.name for file in place.folder.glob("pgbench_log.*")] == ["pgbench_log.1"]


def test_a_name_whose_log_is_gone_is_taken(place: Launchpad) -> None:
    place.tool("pgbench", "exit 0")
    (place.runs / "a").mkdir(parents=True)
    (place.runs / "a/pgbench.7").symlink_to(place.folder / "pgbench_log.7")
    (place.runs / "a/pgbench.out").touch()
    (place.runs / "a/pgbench.yaml").touch()
    done = place.run("--name", "a", "--", "pgbench", "-S")
    expected = "runs/a/pgbench.7 already exists: choose another --name or --worker, or add --overwrite"
    assert (done.returncode, own(done.stderr)) == (2, [expected])


def test_what_cannot_be_brought_into_the_run_is_an_error_of_its_own(place: Launchpad) -> None:
    place.tool(
        "pgbench",
        "echo '0 1 1000 0 1790000000 1' >mine.$$; until mkdir runs/a/.pgbench.yaml; do sleep 0.1; done; echo $$;"
        " sleep 1",
    )
    done = place.run("--name", "a", "--", "pgbench", "-l", "--log-prefix=mine")
    assert done.returncode == 4
    assert "the end is not recorded in runs/a/pgbench.yaml: Is a directory" in own(done.stderr)


def test_the_users_own_log_is_linked_behind_a_wrapper_that_goes_on_beside_it(place: Launchpad) -> None:
    place.tool("pgbench", f"echo other >mine.1; echo '0 1 1000 0 1790000000 1' >mine.$$; echo $$; {LINKED}")
    done = place.run("--name", "a", "--", "timeout", "60", "pgbench", "-l", "--log-prefix=mine")
    number = int(done.stdout)
    assert (place.folder / f"mine.{number}").readlink() == (place.runs / f"a/pgbench.{number}").absolute()
    assert not (place.runs / "a/pgbench.1").exists()
    assert "was not found" not in done.stderr.decode()


def test_a_log_that_does_not_come_is_said(place: Launchpad) -> None:
    place.tool("pgbench", "echo other >mine.1")
    done = place.run("--name", "a", "--", "pgbench", "-l", "--log-prefix=mine")
    assert own(done.stderr)[-2] == f"the transaction log {place.folder}/mine.* was not found: no percentiles"


def test_a_benchmark_that_prints_nothing_is_recorded_and_nothing_is_made_up(place: Launchpad) -> None:
    place.tool("pgbench", "exit 0")
    done = place.run("--name", "a", "--no-percentiles", "--", "pgbench", "-T", "60")
    assert (done.returncode, done.stdout, without_own(done.stderr)) == (0, b"", b"")
    assert {file.name for file in (place.runs / "a").iterdir()} == {"pgbench.yaml", "pgbench.out", "pgbench.err"}
    record = place.record("a")
    assert (record["exit_code"], "signal" in record, record["start"] < record["end"]) == (0, False, True)
    seen = subprocess.run(
        [sys.executable, "-m", "benchwatch", "metrics", str(place.runs)], capture_output=True, check=False
    )
    assert (seen.returncode, seen.stdout) == (1, b"")
    assert b"nothing recognised in" in seen.stderr


def test_a_log_of_the_workers_own_name_in_the_folder_of_the_run_is_its_log(place: Launchpad) -> None:
    place.tool("pgbench", "echo '0 1 1000 0 1790000000 1' >runs/a/db1.$$; sleep 1")
    done = place.run("--name", "a", "--worker", "db1", "--", "pgbench", "-l", "--log-prefix=./runs/a/db1")
    assert done.returncode == 0
    assert not [sentence for sentence in own(done.stderr) if "not found" in sentence]
    assert [log.is_symlink() for log in (place.runs / "a").glob("db1.[0-9]*")] == [False]


@pytest.mark.parametrize(
    ("command", "file", "own_name"),
    [
        ("pgbench -l --log-prefix=runs/a/mine", "runs/a/mine", "runs/a/db1"),
        ("fio --name=j --output=./runs/../runs/a/mine.json", "runs/../runs/a/mine.json", "runs/a/db1.json"),
        ("fio --name=j --output=runs/a/db1.out", "runs/a/db1.out", "runs/a/db1.json"),
    ],
)
def test_a_file_in_the_folder_of_the_run_that_would_count_twice_is_refused(
    place: Launchpad, command: str, file: str, own_name: str
) -> None:
    for tool in ("pgbench", "fio"):
        place.tool(tool, "touch started")
    done = place.run("--name", "a", "--worker", "db1", "--", *command.split())
    expected = f"{file} is in the run's folder and would count twice: write to another folder, or to {own_name}"
    assert (done.returncode, own(done.stderr)) == (2, [expected])
    assert not (place.folder / "started").exists() and not (place.runs / "a").exists()


def test_whether_fios_output_file_is_new_does_not_depend_on_the_clock(place: Launchpad) -> None:
    (place.folder / "out.json").write_text("of an earlier run")
    os.utime(place.folder / "out.json", (4e9, 4e9))
    place.tool("fio", "sleep 1; exit 1", "fio-3.33")
    assert place.run("--name", "a", "--", "fio", "--name=j", "--output=out.json").returncode == 1
    assert not (place.runs / "a/fio.json").exists()
    place.tool("fio", "echo new >out.json; touch -d @5 out.json; sleep 1", "fio-3.33")
    assert place.run("--name", "b", "--", "fio", "--name=j", "--output=out.json").returncode == 0
    assert (place.runs / "b/fio.json").read_text() == "new\n"


def test_fios_output_file_becomes_the_workers(place: Launchpad) -> None:
    (place.folder / "out.json").write_text("of an earlier run")
    os.utime(place.folder / "out.json", (1, 1))
    place.tool("fio", "echo new >out.json; sleep 1; echo newer >>out.json", "fio-3.33")
    done = place.run("--name", "a", "--", "fio", "--name=j", "--output=out.json")
    assert done.returncode == 0
    kept = place.runs / "a/fio.json"
    assert not kept.is_symlink()
    assert kept.read_text() == (place.folder / "out.json").read_text() == "new\nnewer\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_reaches_the_benchmark_once_and_its_end_is_awaited(place: Launchpad, number: signal.Signals) -> None:
    name = number.name.removeprefix("SIG")
    place.tool("pgbench", WAITS.format(name))
    process = place.start("--name", "a", "--repeat", "2", "--", "pgbench", start_new_session=True)
    eventually(lambda: (place.runs / "a-1/pgbench.err").exists(), "it is started")
    eventually(lambda: (place.runs / "a-1/pgbench.err").read_bytes() == b"READY\n", "it is ready")
    process.send_signal(number)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert without_own(stderr) == f"READY\n{name}\n".encode()
    assert process.returncode == 3
    assert (place.record("a-1")["exit_code"], place.record("a-1")["signal"]) == (3, number.name)
    assert place.record("a-1")["repeat_of"] == "a"
    assert not (place.runs / "a-2").exists()


def test_ctrl_c_between_two_runs_ends_the_series_and_shows_what_there_is(place: Launchpad) -> None:
    place.tool("pgbench", "for i in 1 2 3; do echo progress: $i.0 s, 400.0 tps, lat 0.331 ms stddev 0.472 >&2; done")
    process = place.start("--name", "a", "--repeat", "3", "--pause", "1000", "--no-percentiles", "--", "pgbench", "-S")
    assert process.stderr
    said = b""
    while b"steady: " not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"benchwatch: a-1: pgbench, finished" in said
    assert b"benchwatch: next: benchwatch show runs/a --json" in rest
    assert b"Traceback" not in rest
    assert not (place.runs / "a-2").exists()


def test_a_benchmark_that_is_killed_gives_128_and_the_number(place: Launchpad) -> None:
    place.tool("pgbench", "kill -KILL $$")
    assert place.run("--name", "a", "--", "pgbench").returncode == 137
    assert (place.record("a")["exit_code"], place.record("a")["signal"]) == (137, "SIGKILL")


def test_ctrl_c_reaches_the_benchmark_once(place: Launchpad) -> None:
    place.tool("pgbench", WAITS.format("INT"))
    launcher = place.on_a_terminal("--name", "a", "--", "pgbench", "-T", "600")
    launcher.read_until(b"READY")
    os.write(launcher.terminal, b"\x03")
    assert launcher.read_to_the_end() == 3
    assert (place.runs / "a/pgbench.err").read_bytes() == b"READY\nINT\n"
    assert place.record("a")["signal"] == "SIGINT"


def test_a_lost_terminal_ends_neither_benchmark_nor_record(place: Launchpad) -> None:
    place.tool("pgbench", "echo READY; while [ ! -e stop ]; do sleep 0.1; echo on; done; exit 4")
    launcher = place.on_a_terminal("--name", "a", "--", "pgbench")
    launcher.read_until(b"READY")
    launcher.close()
    out = place.runs / "a/pgbench.out"
    size = out.stat().st_size
    eventually(lambda: out.stat().st_size > size + 30, "it goes on")
    (place.folder / "stop").touch()
    eventually(lambda: place.record("a").get("exit_code") == 4, "its end is recorded")
    assert launcher.wait() == 4


def test_a_terminal_lost_while_it_shows_a_bar_does_not_keep_the_end_from_being_recorded(
    place: Launchpad,
) -> None:
    place.tool("pgbench", WRITES_LOG + "echo READY; while [ ! -e stop ]; do sleep 0.1; done; exit 4")
    launcher = place.on_a_terminal("--name", "a", "--", "pgbench", "-T", "60")
    launcher.read_until(b"READY.* left")
    launcher.close()
    (place.folder / "stop").touch()
    eventually(lambda: place.record("a").get("exit_code") == 4, "its end is recorded")
    assert launcher.wait() == 4
    assert [file.read_text() for file in (place.runs / "a").glob("pgbench.[0-9]*")] == ["0 1 1000 0 1790000000 1\n"]


def test_a_reader_that_takes_nothing_for_a_while_holds_up_no_run_and_gets_all_in_order(place: Launchpad) -> None:
    place.tool("pgbench", "{ date +%N; head -c 300000 /dev/zero | tr '\\0' x; echo; } | tee /dev/fd/2; exit 5")
    process = place.start("--name", "a", "--repeat", "2", "--no-percentiles", "--", "pgbench")
    eventually((place.runs / "a-2/pgbench.yaml").exists, "the second run is started")
    eventually(lambda: place.record("a-2").get("exit_code") == 5, "and recorded")
    stdout, stderr = process.communicate(timeout=PATIENCE)
    recorded = b"".join((place.runs / f"a-{number}/pgbench.out").read_bytes() for number in (1, 2))
    assert len(recorded) == 600_022
    assert (process.returncode, stdout == recorded, without_own(stderr) == recorded) == (5, True, True)
    assert [sentence for sentence in own(stderr) if "records" in sentence or "adds" in sentence] == [
        "records runs/a-1/pgbench.*",
        "adds -P 1 --progress-timestamp",
        "records runs/a-2/pgbench.*",
    ]


def test_a_hangup_that_is_sent_while_the_terminal_is_there_ends_the_benchmark(place: Launchpad) -> None:
    place.tool("pgbench", WAITS.format("TERM"))
    launcher = place.on_a_terminal("--name", "a", "--", "pgbench")
    launcher.read_until(b"READY")
    os.kill(launcher.process, signal.SIGHUP)
    assert launcher.read_to_the_end() == 3
    assert place.record("a")["signal"] == "SIGHUP"


def test_the_bar_leaves_the_output_as_it_is_and_vanishes(place: Launchpad) -> None:
    place.tool(
        "pgbench",
        r"""echo out; until [ -e seen ]; do sleep 0.1; done
        printf 'par' >&2; sleep 2.5; printf 'tial\n' >&2; sleep 1.5; echo end""",
    )
    launcher = place.on_a_terminal("--name", "a", "--no-percentiles", "--", "pgbench", "-T", "500")
    launcher.read_until(rb"a  \d:\d\d left")
    (place.folder / "seen").touch()
    assert launcher.read_to_the_end() == 0
    text = launcher.shown.partition(b"adds ")[2].partition(b"\r\n")[2].decode()
    assert re.findall(r"a  \d:\d\d left", text)
    plain = re.sub(r"\r\x1b\[2K(?:a  \d:\d\d left)?", "", text)
    shown = [line for line in plain.splitlines() if not line.startswith("benchwatch:")]
    assert sorted(shown) == ["end", "out", "partial"]
    assert "par\r\x1b[2K" not in text
    assert text.rindex("\r\x1b[2K") > text.rindex("left")


def test_where_the_length_is_not_known_the_time_so_far_is_shown(place: Launchpad) -> None:
    place.tool("pgbench", "echo out; while [ ! -e stop ]; do sleep 0.1; done")
    launcher = place.on_a_terminal("--name", "a", "--", "pgbench", "-t", "60")
    launcher.read_until(rb"a  (?!0:00)\d+:\d\d so far")
    (place.folder / "stop").touch()
    assert launcher.read_to_the_end() == 0


def test_the_status_line_shows_what_the_benchmark_reports_and_the_time_left_of_the_series(place: Launchpad) -> None:
    report = "echo progress: $((i += 1)).0 s, 403.0 tps, lat 0.331 ms stddev 0.472 >&2"
    place.tool("pgbench", f"while :; do {report}; sleep 1; done")
    launcher = place.on_a_terminal("--name", "a", "--repeat", "2", "--pause", "3", "--", "pgbench", "-T", "600")
    launcher.read_until(r"a-1  run 1 of 2  (█)+  403 TPS  mean 331 µs  9:\d\d left, series (19|20):\d\d".encode())
    os.write(launcher.terminal, b"\x03")
    launcher.read_to_the_end()
    assert b"a-1: pgbench, interrupted (ended by SIGINT)" in launcher.shown
    assert not (place.runs / "a-2").exists()


def test_a_reader_that_goes_away_does_not_end_the_benchmark(place: Launchpad) -> None:
    place.tool("pgbench", "for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; exit 5")
    process = place.start("--name", "a", "--", "pgbench")
    assert process.stdout and process.stderr
    process.stdout.close()
    process.stderr.close()
    assert process.wait(PATIENCE) == 5
    assert (place.runs / "a/pgbench.out").read_bytes() == b"1\n2\n3\n4\n5\n6\n"


def test_on_a_full_disk_the_benchmark_goes_on_and_the_loss_is_said(place: Launchpad, small_disk: Path) -> None:
    place.tool("pgbench", "head -c 200000 /dev/zero; sleep 1; echo end")
    done = place.run("--runs.path", str(small_disk), "--name", "a", "--no-percentiles", "--", "pgbench")
    assert done.returncode == 4
    assert done.stdout == bytes(200_000) + b"end\n"
    file = small_disk / "a/pgbench.out"
    lost = 200_004 - file.stat().st_size
    assert own(done.stderr)[-2] == f"{lost} bytes of the output are not in {file}: No space left on device"
    assert "exit_code: 0\n" in (small_disk / "a/pgbench.yaml").read_text(), "in its last block"


def test_nothing_is_started_where_nothing_can_be_recorded(place: Launchpad, small_disk: Path) -> None:
    place.tool("pgbench", "touch started")
    with pytest.raises(OSError):
        (small_disk / "filling").write_bytes(bytes(100_000))
    done = place.run("--runs.path", str(small_disk), "--name", "a", "--", "pgbench")
    assert done.returncode == 2
    assert own(done.stderr) == [
        f"{small_disk}/a cannot be written to: No space left on device; nothing was started; {ANOTHER_FOLDER}"
    ]
    assert not (place.folder / "started").exists()
    assert not (small_disk / "a").exists()


def test_a_folder_that_is_gone_at_the_end_is_named(place: Launchpad) -> None:
    """As after an unmount."""
    place.tool("pgbench", "until grep -q ^start: runs/a/pgbench.yaml; do sleep 0.1; done; rm -r runs")
    done = place.run("--name", "a", "--no-percentiles", "--", "pgbench")
    assert own(done.stderr)[-1] == "the result cannot be shown: runs/a: No such file or directory"


def test_nothing_is_started_where_nothing_can_be_written(place: Launchpad, read_only: tuple[Path, str]) -> None:
    place.tool("pgbench", "touch started")
    folder, reason = read_only
    done = place.run("--runs.path", str(folder), "--name", "a", "--", "pgbench")
    assert done.returncode == 2
    assert own(done.stderr) == [f"{folder}/a cannot be written to: {reason}; nothing was started; {ANOTHER_FOLDER}"]
    assert not (place.folder / "started").exists()


def test_a_file_in_place_of_the_runs_folder_is_said_before_any_run_of_a_series(place: Launchpad) -> None:
    place.tool("pgbench", "touch started")
    place.runs.mkdir()
    (place.runs / "a-2").write_text("")
    done = place.run("--name", "a", "--repeat", "2", "--", "pgbench")
    assert done.returncode == 2
    assert own(done.stderr) == ["runs/a-2 already exists and is not a folder: choose another --name"]
    assert not (place.folder / "started").exists()


def test_a_name_that_is_there_is_refused_before_anything_starts(place: Launchpad) -> None:
    place.tool("pgbench", "echo once >>started")
    assert place.run("--name", "a", "--", "pgbench").returncode == 0
    done = place.run("--name", "a", "--", "pgbench")
    assert done.returncode == 2
    assert "choose another --name or --worker" in own(done.stderr)[0]
    assert place.run("--name", "a", "--worker", "db2", "--", "pgbench").returncode == 0
    assert (place.folder / "started").read_text() == "once\nonce\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--name a/b -- pgbench", "run 'a/b' cannot be used as a name"),
        ("--worker .x -- pgbench", "worker '.x' cannot be used as a name"),
        ("--worker run -- pgbench", "run.yaml is the record of the whole run"),
        ("-- mysqlslap", "expected a command with the word benchbase, fio"),
        ("-- /nowhere/pgbench", "/nowhere/pgbench was not found: install it, or write its path"),
        ("--name= -- pgbench", "run '' cannot be used as a name"),
        ("--worker= -- pgbench", "worker '' cannot be used as a name"),
        ("-- pgbench -i", "start it without `benchwatch run`"),
        ("--label job=x -- pgbench", "--label: expected a name of letters"),
        ("--label x -- pgbench", "expected NAME=VALUE, got 'x'"),
        ("--objective soon -- pgbench", "expected a duration"),
        ("--repeat 0 -- pgbench", "expected a whole number above 0"),
        ("--push ftp://host -- pgbench", "--push: expected HOST:PORT or a URL such as http://"),
    ],
)
def test_wrong_use_is_one_sentence(
    place: Launchpad,
    arguments: str,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place.tool("pgbench", "touch started")
    monkeypatch.setenv("PATH", place.environment["PATH"])
    monkeypatch.chdir(place.folder)
    assert main(["run", "--name", "a", *arguments.split()]) == 2
    assert sentence in capsys.readouterr().err.splitlines()[0]
    assert not (place.folder / "started").exists()
    assert not (place.runs / "a").exists()


def test_a_benchmark_that_cannot_be_executed_leaves_nothing_behind_here_or_elsewhere(place: Launchpad) -> None:
    (place.tools / "pgbench").write_bytes(b"\x7fELF no program")
    (place.tools / "pgbench").chmod(0o755)
    name = f"no-program-{os.getpid()}"  # all tests of this machine share its memory
    with served(FakeExporter(push_folder=place.folder / "there")) as server:
        done = place.run("--name", name, "--push", server.url, "--", "pgbench")
    assert done.returncode == 2
    assert own(done.stderr) == ["pgbench cannot be started: Exec format error"]
    assert not (place.runs / name).exists()
    assert not (place.folder / "there").exists()
    assert not list(Path("/dev/shm").glob(f"benchwatch-{name}-*"))


def test_repeats_have_names_of_their_own_and_go_on_after_a_failure(place: Launchpad) -> None:
    place.tool("pgbench", "[ -e second ] || { touch second; exit 1; }")
    assert place.run("--name", "a", "--repeat", "3", "--pause", "10ms", "--", "pgbench").returncode == 1
    assert [place.record(f"a-{number}")["exit_code"] for number in (1, 2, 3)] == [1, 0, 0]
    assert {place.record(f"a-{number}")["repeat_of"] for number in (1, 2, 3)} == {"a"}


def test_a_requirement_that_is_met_stays_met_if_what_to_do_next_is_not_known(place: Launchpad) -> None:
    (place.runs / "b").mkdir(parents=True)
    (place.runs / "b/pgbench.yaml").symlink_to("gone")  # of another run, which is being removed
    place.tool("pgbench", "echo 'progress: 1.0 s, 408.0 tps, lat 0.331 ms stddev 0.472' >&2")
    done = place.run("--name", "a", "--no-percentiles", "--require", "mean < 1ms", "--", "pgbench", "-S")
    assert "met: mean < 1ms" in done.stderr.decode()
    assert "next: benchwatch show runs/a --json" in done.stderr.decode()
    assert done.returncode == 0


def test_a_wrapper_stays_in_front(place: Launchpad) -> None:
    place.tool("pgbench", 'echo "$WHAT $*"')
    done = place.run("--name", "a", "--no-percentiles", "--", "env", "WHAT=x", "pgbench", "-S")
    assert done.stdout == b"x -P 1 --progress-timestamp -S\n"


def test_a_user_who_may_not_write_here_gets_no_log(place: Launchpad) -> None:
    place.tool("pgbench", 'echo "$*"')
    place.tool("sudo", 'shift 2; exec "$@"')
    done = place.run("--name", "a", "--", "sudo", "-u", "postgres", "pgbench", "-S")
    assert done.stdout == b"-P 1 --progress-timestamp -S\n"
    assert "no percentiles: sudo may keep pgbench from writing a transaction log here" in own(done.stderr)[0]


@pytest.mark.parametrize("wrapper", ["oc exec db1 --", "timeout 60 oc exec db1 --"])
def test_behind_a_program_that_is_not_known_to_leave_it_here_there_is_no_log_and_no_machine(
    place: Launchpad, wrapper: str
) -> None:
    place.tool("pgbench", 'echo "$*"')
    place.tool("oc", 'shift 3; exec "$@"')
    done = place.run("--name", "a", "--", *wrapper.split(), "pgbench", "-S")
    assert done.stdout == b"-P 1 --progress-timestamp -S\n"
    assert "may keep pgbench from writing a transaction log here" in own(done.stderr)[0]
    assert place.record("a")["parameters"] == {"pgbench_version": "15.18"}


def test_wrappers_that_are_known_to_leave_it_here_get_a_log(place: Launchpad) -> None:
    place.tool("pgbench", WRITES_LOG)
    place.tool("perf", 'shift 2; exec "$@"')
    wrapper = "env A=b nice -n 1 perf stat -- timeout 60"
    place.run("--name", "a", "--", *wrapper.split(), "pgbench")
    assert len(list((place.runs / "a").glob("pgbench.[0-9]*"))) == 1
    assert "host.cpus" in "".join(place.record("a")["parameters"])


def test_a_container_is_made_once(place: Launchpad) -> None:
    place.tool("docker", "echo $* >>started")
    wrapper = "run --name bench postgres:17 pgbench"
    done = place.run("--name", "a", "--", "docker", *wrapper.split(), "-S")
    assert (place.folder / "started").read_text() == f"{wrapper} -P 1 --progress-timestamp -S\n"
    assert own(done.stderr)[:2] == [
        "no percentiles: docker may keep pgbench from writing a transaction log here",
        "the server's settings are not recorded: docker would make a container for the question",
    ]
    assert "parameters" not in place.record("a")


def test_facts_of_this_machine_are_not_recorded_for_another(place: Launchpad) -> None:
    place.tool("pgbench", "true")
    place.tool("ssh", 'shift; exec "$@"')
    assert place.run("--name", "a", "--", "ssh", "host", "pgbench").returncode == 0
    assert place.record("a")["parameters"] == {"pgbench_version": "15.18"}


def test_where_a_run_is_can_be_said(place: Launchpad) -> None:
    place.tool("pgbench", "true")
    place.tool("ssh", 'shift; exec "$@"')
    unknown = b"the machine that does the work is not known: name it with --host"
    assert unknown in place.run("--name", "a", "--", "ssh", "host", "pgbench").stderr
    assert place.record("a")["found"] == {"host": "", "client": "", "disks": {}}
    options = ("--host", "db1", "--client", "bench1", "--vm", "pg1", "--disk", "sdz=log")
    said = place.run("--name", "b", *options, "--", "ssh", "host", "pgbench")
    assert unknown not in said.stderr and b"sdz" not in said.stderr
    record = place.record("b")
    assert [record[key] for key in ("host", "client", "vm", "disks")] == ["db1", "bench1", "pg1", {"sdz": "log"}]


@pytest.mark.skipif(not Storage().lists_disks, reason="this machine does not show its disks")
def test_a_disk_that_this_machine_does_not_have_is_named_before_the_start(place: Launchpad) -> None:
    place.tool("pgbench", "true")
    said = place.run("--name", "a", "--disk", "no-such=log", "--", "pgbench").stderr.decode()
    assert "benchwatch: --disk: 'no-such' is no disk of this machine: expected a name that lsblk shows\n" in said
    assert place.record("a")["disks"] == {"no-such": "log"}


def test_signals_find_no_other_thread_than_the_launchers() -> None:
    count = "import os, benchwatch.cli; print(len(os.listdir('/proc/self/task')))"
    assert subprocess.check_output([sys.executable, "-c", count], text=True) == "1\n"


def test_the_log_of_a_launcher_that_was_killed_comes_from_memory_with_the_next_start(place: Launchpad) -> None:
    log = (
        'for a; do case $a in --log-prefix=*) prefix=${a#*=};; short) exit;; esac; done; echo 0 1 2 0 3 4 >"$prefix.$$"'
    )
    place.tool("pgbench", f"{log}; trap '' PIPE; while [ ! -e stop ]; do sleep 0.05; done")
    launcher = place.start("--name", "a", "--", "pgbench", "-t", "5")
    eventually(lambda: place.runs.joinpath("a").is_dir() and bool(logs(place)), "the log is linked")
    (link,) = logs(place)
    memory = link.readlink().parent
    if memory.parent != Path("/dev/shm"):
        pytest.skip("there is no room in /dev/shm")
    launcher.kill()
    launcher.wait()
    said = place.run("--name", "b", "--no-percentiles", "--", "pgbench", "-f", "short").stderr
    assert b"left in memory" not in said, "the benchmark still writes it"
    (place.folder / "stop").touch()
    with (memory / ".run").open() as owner:
        fcntl.flock(owner, fcntl.LOCK_SH)  # the benchmark ends too
    said = place.run("--name", "c", "--no-percentiles", "--", "pgbench", "-f", "short").stderr
    assert f"{place.runs / 'a'} now has its log, which an earlier launcher left in memory".encode() in said
    assert not link.is_symlink() and link.read_text() == "0 1 2 0 3 4\n"
    assert not memory.exists()


def logs(place: Launchpad) -> list[Path]:
    return [file for file in (place.runs / "a").iterdir() if file.suffix[1:].isdigit()]


def test_a_start_that_failed_does_not_use_up_the_name_at_the_exporter(place: Launchpad) -> None:
    error = 'pgbench: error: connection to server on socket "/nowhere/.s.PGSQL.5432" failed: No such file or directory'
    place.tool("pgbench", f"echo '{error}' >&2; exit 1")
    there = place.folder / "there" / "a"
    with served(FakeExporter(push_folder=there.parent)) as server:
        command = ("--name", "a", "--no-percentiles", "--push", server.url, "--", "pgbench", "-S")
        assert place.run(*command).returncode == 1
        assert (there / "pgbench.err").read_text() == f"{error}\n"
        place.tool("pgbench", "echo progress: 1.0 s, 5.0 tps, lat 1.000 ms stddev 1.000 >&2")
        done = place.run(*command)
        assert done.returncode == 0
        why = "a start that failed before anything was measured (connection to server on socket"
        said = f"benchwatch: 127.0.0.1:{server.port}: a/pgbench replaces {why}"
        assert said in done.stderr.decode()
        assert (there / "pgbench.err").read_text() == "progress: 1.0 s, 5.0 tps, lat 1.000 ms stddev 1.000\n"
        refused = place.run("--overwrite", *command)
        assert refused.returncode == 2
        assert b"worker pgbench of run a already exists: push under another name; nothing was started" in refused.stderr
