"""What `benchwatch run` makes of a command of sysbench."""

import pytest

from benchwatch.machine.host import Host
from benchwatch.tools.invocation import Benchmark, recordable
from benchwatch.tools.launcher import Command, CommandLine
from benchwatch.tools.sysbench import read
from benchwatch.values.errors import UserError


def command(text: str, version: str = "1.0.20", *, percentiles: bool = True) -> Command:
    return read(CommandLine(text.split(), f"sysbench {version}\n", percentiles))


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("oltp_read_write --threads=8 run", "--report-interval=1 --percentile=99 --histogram=on"),
        ("cpu --report-interval=5 run", "--percentile=99 --histogram=on"),
        ("cpu run --percentile=95", "--report-interval=1 --histogram=on"),
        ("cpu run --percentile=0", "--report-interval=1"),
        ("cpu run --histogram", "--report-interval=1 --percentile=99"),
        ("cpu run --histogram=off --percentile=50 --report-interval=2", ""),
        ("--config-file=my.conf cpu run", "--report-interval=1"),
    ],
)
def test_reporting_flags_that_are_missing_are_added(text: str, added: str) -> None:
    prepared = command(text)
    assert prepared.added == tuple(added.split())
    assert not prepared.remarks


def test_what_versions_before_1_0_do_not_know_is_not_added() -> None:
    prepared = command("--test=oltp.lua run", "0.5")
    assert (prepared.added, prepared.remarks) == (("--report-interval=1", "--percentile=99"), ())
    prepared = command("--test=oltp run", "0.4.12")
    assert prepared.added == ()
    assert prepared.remarks == ("sysbench 0.4 may lack --report-interval, so no reporting flags were added",)


def test_the_test_and_the_length_of_a_command_before_1_0() -> None:
    one = command("--test=fileio --max-time=60 run", "0.5")
    said = one.facts(Benchmark(("ssh", "db1"), "sysbench", (), "sysbench"), Host()).parameters
    assert (said, one.length) == ({"test": "fileio", "time": "60"}, 60)
    assert command("--test=fileio run", "0.5").length is None


def test_without_percentiles_only_lines_are_asked_for() -> None:
    assert command("cpu run", percentiles=False).added == ("--report-interval=1",)


def test_lines_that_are_switched_off_stay_off() -> None:
    prepared = command("cpu --report-interval=0 run")
    assert "--report-interval=1" not in prepared.added
    assert prepared.remarks == ("with --report-interval=0, sysbench reports nothing before its end",)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("cpu run", 10),
        ("cpu --time=600 run", 600),
        ("--max-time=30 cpu run", 30),
        ("cpu --time=60 --time=90 run", 90),
        ("cpu --time=0 --events=100 run", None),
        ("--config-file=my.conf cpu run", None),
        ("mutex run", None),
        ("cpu --time=x run", None),
    ],
)
def test_the_planned_length(text: str, seconds: float | None) -> None:
    assert command(text).length == seconds


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("oltp_read_write --tables=2 prepare", "prepare"),
        ("fileio cleanup", "cleanup"),
        ("oltp_common help", "help"),
        ("--version", "version"),
        ("--help", "help"),
        ("--threads=2", "without a test"),
    ],
)
def test_what_measures_nothing_is_refused(text: str, name: str) -> None:
    with pytest.raises(UserError, match=f"^sysbench {name} is not a benchmark: start it without `benchwatch run`$"):
        command(text)


def test_passwords_are_masked() -> None:
    words = ["sysbench", "oltp_read_only", "--pgsql-password=geheim", "--mysql-password=geheim", "--threads=2", "run"]
    assert "geheim" not in " ".join(recordable(words))
    assert recordable(words)[-2:] == ["--threads=2", "run"]
