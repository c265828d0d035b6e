"""What `benchwatch run` makes of a command of sysbench."""

from collections.abc import Sequence

import pytest

from benchwatch.tools.invocation import recordable
from benchwatch.tools.sysbench import SYSBENCH, SysbenchCommand
from benchwatch.values.errors import UserError


def read(words: Sequence[str], version: str) -> SysbenchCommand:
    assert SYSBENCH.launcher is not None
    found = SYSBENCH.launcher(words, version)
    assert isinstance(found, SysbenchCommand)
    return found


def command(text: str) -> SysbenchCommand:
    return read(text.split(), "sysbench 1.0.20")


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
    prepared = command(text).prepare(True, None)
    assert prepared.added == tuple(added.split())
    assert not prepared.remarks


def test_what_versions_before_1_0_do_not_know_is_not_added() -> None:
    prepared = read(["--test=oltp.lua", "run"], "sysbench 0.5\n").prepare(True, None)
    assert (prepared.added, prepared.remarks) == (("--report-interval=1", "--percentile=99"), ())
    prepared = read(["--test=oltp", "run"], "sysbench 0.4.12\n").prepare(True, None)
    assert prepared.added == ()
    assert prepared.remarks == ("sysbench 0.4 may lack --report-interval, so no reporting flags were added",)


def test_the_test_and_the_length_of_a_command_before_1_0() -> None:
    one = read(["--test=fileio", "--max-time=60", "run"], "sysbench 0.5\n")
    assert (one.test, one.length) == ("fileio", 60)
    assert read(["--test=fileio", "run"], "sysbench 0.5\n").length is None


def test_without_percentiles_only_lines_are_asked_for() -> None:
    assert command("cpu run").prepare(False, None).added == ("--report-interval=1",)


def test_lines_that_are_switched_off_stay_off() -> None:
    prepared = command("cpu --report-interval=0 run").prepare(True, None)
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
