"""What `benchwatch run` makes of iperf3's command line."""

from pathlib import Path

import pytest

from benchwatch.machine.host import Host
from benchwatch.tools.invocation import Benchmark
from benchwatch.tools.iperf3.command import read
from benchwatch.tools.launcher import Command, CommandLine
from benchwatch.values.errors import UserError

from .recordings import client, data_of

NEW, OLD = "iperf 3.18 (cJSON 1.7.15)\nLinux\n", "iperf 3.12 (cJSON 1.7.15)\nLinux\n"


def command(text: str, version: str = NEW) -> Command:
    return read(CommandLine(text.split(), version))


@pytest.mark.parametrize(
    ("text", "version", "flags"),
    [
        ("-c h", NEW, "--json-stream"),
        ("-s", NEW, "--json-stream"),
        ("-c h", OLD, "--forceflush -i 1"),
        ("-s -1 -p 5202", OLD, "--forceflush -i 1"),
        ("-c h", "", "--forceflush -i 1"),
        ("-c h -i 2", OLD, "--forceflush"),
        ("-c h --forceflush -i 0.5", OLD, ""),
        ("-c h --json-stream", NEW, ""),
        ("-c h -V", NEW, "--forceflush -i 1"),
        ("-c h -f m --timestamps=%s", NEW, "--forceflush -i 1"),
        ("-c h -J", OLD, ""),
        ("-1VB 10.0.0.1 -c h", NEW, "--forceflush -i 1"),
        ("-uch -i2", OLD, "--forceflush"),
        ("-c h -B V", NEW, "--json-stream"),
    ],
)
def test_only_the_flags_that_are_missing_are_added(text: str, version: str, flags: str) -> None:
    assert command(text, version).added == tuple(flags.split())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("-c h -J", "iperf3 -J prints one document at the end: without --json-stream, nothing is shown while it runs"),
        ("-c h -i 0 --json-stream", "iperf3 -i 0 reports only at the end: nothing is shown while it runs"),
    ],
)
def test_the_user_is_told_what_will_not_be_seen(text: str, sentence: str) -> None:
    assert command(text).remarks == (sentence,)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("-c h", 10),
        ("-c h -t 30 -O 3", 33),
        ("-ch -t30", 30),
        ("--client=h --time 60 -P 4 -u -b 10M -R", 60),
        ("-c h --bidir --time=7", 7),
        ("--cli h --omi 3 --", 13),
        ("-c h -t 0", None),
        ("-c h -n 60M", None),
        ("-c h -k 100", None),
        ("-c h -t soon", None),
        ("-s -1", None),
    ],
)
def test_the_planned_length_is_that_of_the_client(text: str, length: float | None) -> None:
    assert command(text).length == length


@pytest.mark.parametrize("text", ["--version", "-v", "-h", "-s -D"])
def test_what_is_no_benchmark_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="start it without `benchwatch run`"):
        command(text, "")


def test_its_own_log_file_is_its_output() -> None:
    assert command("-c h --logfile x.log").output == "x.log"


def test_the_kernels_settings_are_those_of_this_machine() -> None:
    here = Benchmark((), "iperf3", ("-c", "h"), "iperf3")
    facts = command("-c h").facts(here, Host())
    assert facts.here
    for name, value in facts.parameters.items():
        assert value == Path("/proc/sys", name.replace(".", "/")).read_text().strip()
    assert not command("-c h").facts(Benchmark(("ssh", "db1"), "iperf3", (), "iperf3"), Host()).parameters


def test_a_terminal_shows_no_events() -> None:
    display = command("-c h").display
    assert display is not None
    shown = bytearray()
    filtered = display(lambda data: shown.extend(data) or len(data))  # type: ignore[func-returns-value]
    assert filtered(memoryview(data_of(client("stream-tcp-3.18")))) == 3476
    assert not shown
