from pathlib import Path

import pytest

from benchwatch.machine.host import Host
from benchwatch.tools import postgres
from benchwatch.tools.invocation import Benchmark
from benchwatch.tools.launcher import NOT_UNDERSTOOD, Command, CommandLine, Facts, LogRoom
from benchwatch.tools.pgbench.command import read
from benchwatch.values.errors import UserError

LOG = Path("/logs/db1")
ROOM = 1e12


def command(text: str, version: tuple[int, int] | None = (15, 18)) -> Command:
    return read(CommandLine(text.split(), "pgbench (PostgreSQL) {}.{}".format(*version) if version else ""))


def added(text: str, version: tuple[int, int] | None = (15, 18), log: Path | None = LOG) -> str:
    """The flags, with those of a log at this place if it can be written and the command has none."""
    found = command(text, version)
    flags = found.log.flags(LogRoom(log, ROOM)) if log and found.log and not found.log.prefix else ()
    return " ".join((*found.added, *flags))


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("-S", "-P 1 --progress-timestamp -l --log-prefix=/logs/db1"),
        ("-P 5", "--progress-timestamp -l --log-prefix=/logs/db1"),
        ("-P5", "--progress-timestamp -l --log-prefix=/logs/db1"),
        ("--progress=5 db", "--progress-timestamp -l --log-prefix=/logs/db1"),
        ("--progress 5", "--progress-timestamp -l --log-prefix=/logs/db1"),
        ("--progress-t -nP1", "-l --log-prefix=/logs/db1"),
        ("-SlP1 --progress-timestamp", ""),
        ("-Snl -P 1 --progress-timestamp", ""),
        ("--log -T 60 -P 1", "--progress-timestamp"),
        ("-l --log-prefix=mine", "-P 1 --progress-timestamp"),
        ("-l --aggregate-interval=10", "-P 1 --progress-timestamp"),
        ("-l --sampling-rate 0.1", "-P 1 --progress-timestamp"),
        ("db -c 4", "-P 1 --progress-timestamp -l --log-prefix=/logs/db1"),
        ("-c 4 -- -P", "-P 1 --progress-timestamp -l --log-prefix=/logs/db1"),
        ("-f -l -U -P", "-P 1 --progress-timestamp -l --log-prefix=/logs/db1"),
    ],
)
def test_only_missing_flags_are_added(text: str, flags: str) -> None:
    assert added(text) == flags


@pytest.mark.parametrize(
    ("version", "flags"),
    [
        ((9, 3), ""),
        ((9, 4), "-P 1"),
        ((9, 5), "-P 1"),
        ((9, 6), "-P 1 --progress-timestamp"),
        ((10, 23), "-P 1 --progress-timestamp -l --log-prefix=/logs/db1"),
        ((18, 0), "-P 1 --progress-timestamp -l --log-prefix=/logs/db1"),
        (None, "-P 1 --progress-timestamp -l --log-prefix=/logs/db1"),
    ],
)
def test_flags_are_those_that_the_version_knows(version: tuple[int, int] | None, flags: str) -> None:
    assert added("-S", version) == flags


def test_an_old_pgbench_says_why_there_are_no_percentiles() -> None:
    assert "no percentiles" in command("-S", (9, 6)).remarks[0]


def test_without_percentiles_there_is_no_log() -> None:
    assert added("-S", log=None) == "-P 1 --progress-timestamp"


def test_options_that_pgbench_will_not_understand_are_not_understood_here() -> None:
    assert command("--no-such-option") is NOT_UNDERSTOOD


@pytest.mark.parametrize(
    "text", ["-i", "-is 10", "--initialize", "--initi", "-V", "--version", "-b list", "--show-script=tpcb"]
)
def test_what_measures_nothing_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="start it without `benchwatch run`"):
        command(text, None)


@pytest.mark.parametrize(
    ("text", "version", "connection"),
    [
        ("-h db -p5433 -U bob bench", (15, 18), "--host=db --port=5433 --username=bob --dbname=bench"),
        ("-d bench", (15, 18), "--dbname=bench"),
        ("-d bench", (17, 0), "--dbname=bench"),
        ("--dbname=bench", (17, 0), "--dbname=bench"),
        ("-S", (15, 18), ""),
    ],
)
def test_psql_connects_as_pgbench_does(
    text: str, version: tuple[int, int], connection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "facts", lambda benchmark, words, *_: Facts(host=" ".join(words)))
    assert command(text, version).facts(Benchmark((), "pgbench", (), "pgbench"), Host()).host == connection


@pytest.mark.parametrize(
    ("text", "length", "size"),
    [
        ("-T 600 -c 8 -j 4", 600, 600 * 50_000 * 4 * 32),
        ("-T 600 -c 2 -j 4", 600, 600 * 50_000 * 2 * 32),
        ("-T 600 -R 100", 600, 600 * 100 * 32),
        ("-t 1000 -c 8", None, 8000 * 32),
        ("-c 8", None, 80 * 32),
    ],
)
def test_length_and_size_of_the_log_follow_from_the_options(text: str, length: float | None, size: float) -> None:
    found = command(text)
    assert found.log
    assert (found.length, found.log.size) == (length, size)


@pytest.mark.parametrize(("room", "rate"), [(1.0, ""), (0.5, "0.1"), (0.05, "0.01"), (0.005, "0.001")])
def test_a_log_that_might_not_fit_is_sampled(room: float, rate: str) -> None:
    found = command("-T 60 -R 1000")
    assert found.log
    flags = [flag for flag in found.log.flags(LogRoom(LOG, room * found.log.size)) if "sampling" in flag]
    assert flags == ([f"--sampling-rate={rate}"] if rate else [])


@pytest.mark.parametrize(
    ("text", "has_timestamps"),
    [
        ("pgbench (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", True),
        ("pgbench (PostgreSQL) 9.6.5", True),
        ("pgbench (PostgreSQL) 9.5.1", False),
        ("pgbench (PostgreSQL) 18beta1", True),
        ("fio-3.33", True),
    ],
)
def test_the_version_is_read(text: str, has_timestamps: bool) -> None:
    assert ("--progress-timestamp" in read(CommandLine([], text)).added) is has_timestamps
