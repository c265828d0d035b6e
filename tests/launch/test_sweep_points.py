"""`benchwatch run --sweep`, with a made-up pgbench that prints the result of as many clients as it is asked for."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launch.test_command import own
from tests.support.launching import Launchpad

REPORT = r"""
while [ $# -gt 0 ]; do case $1 in -c) c=$2;; esac; shift; done
echo $c >>order
[ -e fail$c ] && { rm fail$c; exit 2; }
printf 'pgbench (15.18)\ntransaction type: <builtin: select only>\nscaling factor: 1\nquery mode: simple\n'
printf 'number of clients: %s\nnumber of threads: 1\nmaximum number of tries: 1\nduration: 10 s\n' $c
printf 'number of transactions actually processed: %s0000\n' $c
printf 'number of failed transactions: 0 (0.000%%)\nlatency average = 1.000 ms\ninitial connection time = 20.000 ms\n'
printf 'tps = %s000.000000 (without initial connection time)\n' $c
"""
CLIENTS = ("--", "pgbench", "-S", "-c", "{clients}", "-T", "10")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Launchpad]:
    made = Launchpad(tmp_path)
    made.tool("pgbench", REPORT)
    yield made
    made.stop()


def sweep(place: Launchpad, *arguments: str, values: str = "clients=1,2,4") -> tuple[int, list[str], str]:
    """Exit code, the launcher's own sentences, and all that it says."""
    options = ("--name", "curve", "--no-percentiles", "--sweep", values)
    done = place.run(*options, *arguments, *(() if "--" in arguments else CLIENTS))
    return done.returncode, own(done.stderr), done.stderr.decode()


def started(place: Launchpad) -> list[str]:
    """The clients of each start, in order."""
    file = place.folder / "order"
    found = file.read_text().split()
    file.unlink()
    return found


def test_each_point_is_a_run_that_knows_its_place_and_the_end_shows_the_curve(place: Launchpad) -> None:
    code, _, said = sweep(place, "--order", "given", "--label", "cluster=a", values="clients=1..4x2")
    assert code == 0
    assert started(place) == ["1", "2", "4"]
    record = place.record("curve-clients4")
    assert record["sweep"] == {"of": "curve", "point": {"clients": "4"}, "order": "given", "seed": None}
    assert record["labels"] == {"cluster": "a", "sweep": "curve", "clients": "4"}
    assert record["command"][-5:] == ["-S", "-c", "4", "-T", "10"]
    assert "benchwatch: sweep curve: 3 runs of 3 points, given\n" in said
    assert said.endswith(
        "benchwatch: curve: sweep, 3 runs of 10 s\n"
        "  clients  runs    TPS     mean\n"
        "        1     1  1,000  1.00 ms\n"
        "        2     1  2,000  1.00 ms\n"
        "        4     1  4,000  1.00 ms\n"
        "  knee: none up to clients 4\n"
        "  too few points for a fit: 3, expected 4 or more\n"
        "  too few runs for intervals of the points: expected 3 or more a point (--repeat 3)\n"
        "benchwatch: next: benchwatch show runs/curve --json\n"
        "      benchwatch report runs/curve\n"
    )


def test_rounds_are_shuffled_by_a_recorded_seed(place: Launchpad) -> None:
    sweep(place, "--repeat", "2", "--seed", "7", values="clients=1..6")
    first = started(place)
    assert sorted(first[:6]) == sorted(first[6:]) == list("123456")
    assert first[:6] not in (list("123456"), first[6:])
    record = place.record("curve-clients3-2")
    assert (record["repeat_of"], record["sweep"]["order"], record["sweep"]["seed"]) == ("curve-clients3", "shuffled", 7)
    sweep(place, "--repeat", "2", "--seed", "7", "--overwrite", values="clients=1..6")
    assert started(place) == first


def test_interleaved_makes_a_round_for_each_repeat(place: Launchpad) -> None:
    sweep(place, "--repeat", "2", "--order", "interleaved")
    assert started(place) == ["1", "2", "4", "1", "2", "4"]


def test_the_same_sweep_goes_on_where_it_was_left(place: Launchpad) -> None:
    (place.folder / "fail2").touch()
    code, _, said = sweep(place, "--seed", "1")
    assert code == 2
    assert "curve-clients2: nothing was measured" in said
    assert sorted(started(place)) == ["1", "2", "4"]
    code, sentences, said = sweep(place)
    assert (code, started(place)) == (0, ["2"])
    assert sentences[0] == "sweep curve: 3 runs of 3 points; skips 2 that have finished, shuffled with seed 1"
    assert "        4     1  4,000  1.00 ms\n" in said
    assert place.record("curve-clients2")["exit_code"] == 0
    # More values extend it.
    sweep(place, values="clients=1,2,4,8")
    assert started(place) == ["8"]
    code, _, said = sweep(place, values="clients=1,2,4,8")
    assert code == 0
    assert not (place.folder / "order").exists()
    assert "curve: sweep, 4 runs of 10 s" in said


def test_another_command_or_parameter_is_not_taken_for_the_same_sweep(place: Launchpad) -> None:
    sweep(place, "--order", "given")
    other = ("--", "pgbench", "-S", "-c", "{clients}", "-T", "20")
    another = "runs/curve-clients1/pgbench.yaml ran another command: choose another --name, or add --overwrite"
    assert sweep(place, *other)[:2] == (2, [another])
    renamed = sweep(place, "--", "pgbench", "-c", "{c}", values="c=1,2")
    assert renamed[1] == ["runs/curve is a sweep of clients, not of c: choose another --name"]
    same = "runs/curve-clients1/pgbench.yaml belongs to the same point with another --repeat"
    assert sweep(place, "--repeat", "2")[1] == [f"{same}: choose another --name, or remove it"]
    assert started(place) == ["1", "2", "4"]
    assert sweep(place, "--overwrite", *other)[0] == 0
    assert started(place) == ["1", "2", "4"]


def test_two_parameters_are_combined(place: Launchpad) -> None:
    words = ("--", "pgbench", "-c", "{clients}", "-j{threads}")
    options = ("--order", "given", "--sweep", "threads=1,2", *words)
    assert sweep(place, *options, values="clients=1..2+1")[0] == 0
    assert sorted(path.name for path in place.runs.iterdir()) == [
        f"curve-clients{clients}-threads{threads}" for clients in (1, 2) for threads in (1, 2)
    ]
    assert place.record("curve-clients2-threads1")["command"][-3:] == ["-c", "2", "-j1"]


@pytest.mark.parametrize(
    ("values", "words", "sentence"),
    [
        (
            "clients=1,2",
            "-c {client}",
            "the command has {client}, but no --sweep sets it; did you mean clients?",
        ),
        ("clients=1,2", "-c 2", "--sweep clients: the command has no {clients}: write it where the value belongs"),
        ("clients=1,1", "-c {clients}", "--sweep: clients lists a value twice: '1,1'"),
        (
            "clients",
            "-c {clients}",
            "--sweep: expected NAME=VALUES, such as clients=1,2,4 or clients=1..64x2, got 'clients'",
        ),
        (
            "clients=8..2",
            "-c {clients}",
            "--sweep: expected a rising range, with a step above 0, got '8..2'",
        ),
        (
            "clients=0..8x2",
            "-c {clients}",
            "--sweep: expected a rising range, with a factor above 1, from a number above 0, got '0..8x2'",
        ),
        ("sweep=1,2", "-c {sweep}", "--sweep: sweep is the label with the sweep's own name: choose another name"),
    ],
)
def test_a_sweep_that_cannot_be_is_one_sentence(place: Launchpad, values: str, words: str, sentence: str) -> None:
    code, sentences, _ = sweep(place, "--", "pgbench", *words.split(), values=values)
    assert (code, sentences) == (2, [sentence])
    assert not place.runs.exists()


def test_order_and_seed_belong_to_a_sweep(place: Launchpad) -> None:
    for option in (("--order", "given"), ("--seed", "1")):
        done = place.run("--name", "a", *option, "--", "pgbench", "-c", "{clients}")
        assert own(done.stderr) == [f"{option[0]} requires --sweep, such as --sweep clients=1,2,4,8"]
    assert sweep(place, "--order", "given", "--seed", "1")[1] == ["--seed requires --order shuffled, got given"]


def test_braces_stay_as_they_are_without_a_sweep(place: Launchpad) -> None:
    place.run("--name", "a", "--no-percentiles", "--", "pgbench", "-c", "1", "-f", "{a}")
    assert place.record("a")["command"][-1] == "{a}"


def test_the_status_line_counts_the_runs_of_the_sweep(place: Launchpad) -> None:
    place.tool("pgbench", REPORT.replace(">>order\n", ">>order; until [ -e seen$c ]; do sleep 0.1; done\n"))
    launcher = place.on_a_terminal(
        "--name", "curve", "--no-percentiles", "--order", "given", "--sweep", "clients=1,2", *CLIENTS
    )
    launcher.read_until(rb"curve-clients1  run 1 of 2.*series 0:[01]\d")
    (place.folder / "seen1").touch()
    launcher.read_until(rb"curve-clients2  run 2 of 2")
    (place.folder / "seen2").touch()
    assert launcher.read_to_the_end() == 0


def test_the_time_left_of_a_sweep_that_varies_the_duration_is_that_of_its_runs(place: Launchpad) -> None:
    place.tool("pgbench", "sleep 600\n" + REPORT)
    launcher = place.on_a_terminal(
        *("--name", "curve", "--no-percentiles", "--order", "given", "--sweep", "seconds=60,600,1200"),
        *("--pause", "30", "--", "pgbench", "-T", "{seconds}"),
    )
    launcher.read_until(rb"curve-seconds60  run 1 of 3.*0:(\d\d) left, series 31:\1")
    os.write(launcher.terminal, b"\x03")
    launcher.read_to_the_end()


def test_no_time_is_left_of_a_sweep_of_which_not_every_run_has_a_duration(place: Launchpad) -> None:
    place.tool("pgbench", "sleep 600\n" + REPORT)
    launcher = place.on_a_terminal(
        *(
            "--name",
            "curve",
            "--no-percentiles",
            "--order",
            "given",
            "--sweep",
            "by=-T,-t",
            "--",
            "pgbench",
            "{by}",
            "60",
        ),
    )
    launcher.read_until(rb"curve-by-T  run 1 of 2.*0:\d\d left[^,]")
    os.write(launcher.terminal, b"\x03")
    launcher.read_to_the_end()
