"""`benchwatch run --variant`, with a made-up pgbench whose throughput depends on its environment and arguments."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launch.test_command import own
from tests.support.launching import Launchpad
from tests.support.places import RECORDINGS
from tests.support.waiting import PATIENCE

REPORT = r"""
c=4
while [ $# -gt 0 ]; do case $1 in -c) c=$2;; esac; shift; done
echo "${PGOPTIONS:-none} $c" >>order
n=$(wc -l <order)
[ -e fail$n ] && exit 2
case "${PGOPTIONS-}" in *off*) base=3000;; *) base=2000;; esac
[ -e same ] && base=2000
tps=$((base + n % 3 * 10 + c))
printf 'pgbench (15.18)\ntransaction type: <builtin: select only>\nscaling factor: 1\nquery mode: simple\n'
printf 'number of clients: %s\nnumber of threads: 1\nmaximum number of tries: 1\nduration: 10 s\n' $c
printf 'number of transactions actually processed: %s0\n' $tps
printf 'number of failed transactions: 0 (0.000%%)\nlatency average = 1.000 ms\ninitial connection time = 20.000 ms\n'
printf 'tps = %s.000000 (without initial connection time)\n' $tps
"""
ON_OFF = ("--variant", "on:", "--variant", "off:PGOPTIONS=-c synchronous_commit=off")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Launchpad]:
    made = Launchpad(tmp_path)
    made.tool("pgbench", REPORT)
    yield made
    made.stop()


def vary(place: Launchpad, *options: str) -> tuple[int, list[str], str]:
    """Exit code, the launcher's own sentences, and all that it says."""
    done = place.run("--name", "sync", "--no-percentiles", *options, "--", "pgbench", "-S", "-T", "10")
    return done.returncode, own(done.stderr), done.stderr.decode()


def order(place: Launchpad) -> list[str]:
    return (place.folder / "order").read_text().splitlines()


def test_variants_run_in_rounds_of_which_every_second_is_in_reverse_and_are_compared(place: Launchpad) -> None:
    code, sentences, said = vary(place, *ON_OFF, "--repeat", "3", "--label", "cluster=a")
    assert code == 0
    on, off = "none 4", "-c synchronous_commit=off 4"
    assert order(place) == [on, off, off, on, on, off]
    record = place.record("sync-off-2")
    assert (record["repeat_of"], record["labels"]) == ("sync-off", {"cluster": "a", "variant": "off"})
    assert record["command"][:2] == ["env", "PGOPTIONS=-c synchronous_commit=off"]
    assert "sync: run 2 of 6: off, 40 s left after it" in sentences
    assert "  TPS +49.2 % (95 % interval +48.1 to +50.4 %), better: 3 v 3 runs" in said
    assert said.endswith(
        "benchwatch: next: benchwatch compare runs/sync-on runs/sync-off\n"
        "      benchwatch report runs/sync-on runs/sync-off\n"
    )


def test_arguments_of_a_variant_override_those_of_the_command_and_five_rounds_are_usual(place: Launchpad) -> None:
    code, _, _ = vary(place, "--variant", "few:-c 8", "--variant", "many:-c 16 -j 2", "--variant", "usual:")
    assert code == 0
    assert order(place)[:6] == ["none 8", "none 16", "none 4", "none 4", "none 16", "none 8"]
    assert len(order(place)) == 15
    assert place.record("sync-many-5")["command"][-4:] == ["-c", "16", "-j", "2"]


def test_it_ends_when_it_is_sure_and_not_before(place: Launchpad) -> None:
    code, sentences, said = vary(place, *ON_OFF, "--repeat", "9", "--until-sure")
    assert code == 0
    assert len(order(place)) == 6
    assert "sync: certain after 3 of 9 rounds" in sentences
    assert "better: 3 v 3 runs" in said
    (place.folder / "same").touch()
    _, sentences, said = vary(place, *ON_OFF, "--repeat", "4", "--until-sure", "--overwrite")
    assert len(order(place)) == 6 + 8
    assert not any("certain after" in sentence for sentence in sentences)
    assert "no difference shown" in said


def test_what_is_done_before_a_run_is_in_its_record_and_its_failure_ends_the_series(place: Launchpad) -> None:
    code, _, _ = vary(place, *ON_OFF, "--repeat", "1", "--before", "echo restarted $BENCHWATCH_VARIANT")
    assert code == 0
    assert place.record("sync-off")["before"] == {
        "command": "echo restarted $BENCHWATCH_VARIANT",
        "output": "restarted off\n",
    }
    before = "echo no such server; test $BENCHWATCH_VARIANT = on"
    code, _, said = vary(place, *ON_OFF, "--repeat", "1", "--overwrite", "--before", before)
    assert code == 1
    assert "--before failed for off with exit code 1: no such server; the series ends" in said


def test_a_failed_run_is_left_out_of_the_comparison(place: Launchpad) -> None:
    (place.folder / "fail2").touch()
    code, _, said = vary(place, *ON_OFF, "--repeat", "3")
    assert code == 2
    assert "better: 3 v 2 runs" in said
    assert "next: benchwatch show runs/sync-on runs/sync-off --json\n" in said, "`compare` refuses a failed run"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--variant", "on:"), "--variant: expected two or more, such as --variant on: --variant other:"),
        (("--variant", "a:", "--variant", "a:-c 2"), "--variant: expected different names, got a, a"),
        ((*ON_OFF, "--sweep", "clients=1,2"), "--variant excludes --sweep: give one of them"),
        (("--until-sure",), "--until-sure requires --variant, such as"),
        (("--variant", "on"), "expected NAME:, NAME:VARIABLE=VALUE or NAME:ARGUMENTS"),
        (("--variant", "a:-c '"), "a: the arguments cannot be split: No closing quotation"),
        ((*ON_OFF, "--label", "variant=x"), "--label variant: variants use this label"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_anything_starts(
    place: Launchpad, options: tuple[str, ...], sentence: str
) -> None:
    code, _, said = vary(place, *options)
    assert code == 2
    assert sentence in said
    assert not (place.folder / "order").exists()


FILE = """
# how the server commits
on:
off:PGOPTIONS=-c synchronous_commit=off
quoted:'PGOPTIONS=-c synchronous_commit=off -c jit=off'

  many:-c 16 -j 2
"""


def test_variants_of_a_file_follow_those_before_it(place: Launchpad) -> None:
    (place.folder / "variants").write_text(FILE)
    code, _, said = vary(place, "--variant", "few:-c 2", "--variant-file", "variants", "--repeat", "1")
    assert code == 0
    off = "-c synchronous_commit=off"
    assert order(place) == ["none 2", "none 4", f"{off} 4", f"{off} -c jit=off 4", "none 16"]
    assert place.record("sync-many")["labels"] == {"variant": "many"}
    names = ("few", "on", "off", "quoted", "many")
    assert f"next: benchwatch compare {' '.join(f'runs/sync-{name}' for name in names)}\n" in said


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("on:\n\noff\n", "v:3: expected NAME:, NAME:VARIABLE=VALUE or NAME:ARGUMENTS, such as"),
        ("on:\noff:-c '\n", "v:2: off: the arguments cannot be split: No closing quotation"),
        ("# two\non:\non:-c 2\n", "v:3: on is there already: expected different names"),
        ("# none\n", "v: no variant in it: expected a line such as off:PGOPTIONS=-c jit=off"),
        (None, "v: cannot be read: No such file or directory"),
        ("on:\n", "--variant: expected two or more, such as"),
        (b"on:\xff", "v: cannot be read: expected UTF-8 text"),
    ],
)
def test_a_file_of_variants_that_cannot_be_used_is_named_with_its_line(
    place: Launchpad, text: str | bytes | None, sentence: str
) -> None:
    if text is not None:
        (place.folder / "v").write_bytes(text if isinstance(text, bytes) else text.encode())
    code, _, said = vary(place, "--variant-file", "v")
    assert code == 2
    assert sentence in said
    assert not (place.folder / "order").exists()


def test_a_server_that_was_started_before_a_run_is_not_waited_for(place: Launchpad) -> None:
    """It keeps the streams of the command that started it, as with `pg_ctl restart`."""
    server = f"sleep {3 * PATIENCE:g} & echo $! >>servers; echo started"
    before = time.monotonic()
    code, sentences, _ = vary(place, *ON_OFF, "--repeat", "1", "--before", server)
    try:
        assert code == 0
        assert time.monotonic() - before < 3 * PATIENCE
        assert place.record("sync-off")["before"]["output"] == "started\n"
        assert sentences[0] == "sync: run 1 of 2: on, 10 s left after it"
    finally:
        for server in (place.folder / "servers").read_text().split():
            os.kill(int(server), signal.SIGKILL)


def test_ctrl_c_while_a_run_is_prepared_ends_with_what_is_there(place: Launchpad) -> None:
    place.tool("psql", f"[ $(wc -l <order) = 2 ] || exit 2; touch asked; sleep {PATIENCE}")
    command = ("--name", "sync", "--no-percentiles", *ON_OFF, "--", "pgbench", "-S", "-T", "10")
    process = place.start(*command)
    assert process.stderr
    said = b""
    while b"run 3 of 10" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"sync-off against sync-on" in rest
    assert b"next: benchwatch compare runs/sync-on runs/sync-off" in rest
    assert not (place.runs / "sync-off-2").exists()


def test_a_run_that_cannot_be_started_ends_the_series_with_what_is_there(place: Launchpad) -> None:
    before = "test -e order && [ $(wc -l <order) = 2 ] && touch runs/sync-off-2; true"
    code, sentences, said = vary(place, *ON_OFF, "--repeat", "3", "--before", before)
    assert code == 2
    assert "runs/sync-off-2 already exists and is not a folder: choose another --name" in sentences
    assert len(order(place)) == 2
    assert "sync-off against sync-on" in said


def test_a_variant_of_which_no_run_finished_is_not_proposed_for_a_comparison(place: Launchpad) -> None:
    (place.folder / "fail2").touch()
    code, sentences, said = vary(place, *ON_OFF, "--repeat", "1")
    assert code == 2
    assert "sync-off is not compared: none of its runs finished" in sentences
    assert "benchwatch: next: benchwatch show runs/sync-on --json\n      benchwatch report runs/sync-on\n" in said


def test_variants_that_cannot_be_compared_are_named_and_requirements_are_still_judged(place: Launchpad) -> None:
    recordings = RECORDINGS / "sysbench"
    place.tool("sysbench", f"cat {recordings}/$KIND/$KIND.out", "sysbench 1.0.20")
    kinds = ("--variant", "cpu:KIND=cpu-1.0.20", "--variant", "files:KIND=fileio-rndrw-t4-1.0.20")
    options = ("--name", "k", *kinds, "--repeat", "1", "--require", "stalled < 1h")
    done = place.run(*options, "--", "sysbench", "cpu", "run")
    said = done.stderr.decode()
    assert "benchwatch: not compared: k-cpu" in said
    assert "cannot be shown" not in said
    assert "met: stalled < 1h" in said
    assert "next: benchwatch show runs/k-cpu runs/k-files --json" in said
