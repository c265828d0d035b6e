import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchwatch.cli import main

from .made import place


def compare(
    capsys: pytest.CaptureFixture[str], folder: Path, records: Sequence[str], *options: str
) -> tuple[int, dict[str, bool], list[str]]:
    """Exit code, the parameters that differ with whether they were meant to, and what is said of them."""
    for name, record in zip(("base", "other"), records, strict=True):
        if not (folder / name).is_dir():
            place(folder / name, 1000.0, record=record)
    code = main(["compare", str(folder / "base"), str(folder / "other"), "--format", "json", *options])
    (other,) = json.loads(capsys.readouterr().out)["others"]
    differing = {one["name"]: one["intended"] for one in other["parameters"]}
    return code, differing, [one["text"] for one in other["findings"] if one["kind"] == "parameter"]


def test_what_differs_is_listed_and_what_always_does_is_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    base = "{vm.nr_hugepages: 0, fsync: on, host.load_average: 0.1, host.huge_pages_free: 3, database_size: 1 MB}"
    other = "{vm.nr_hugepages: 512, fsync: on, host.load_average: 0.2, host.huge_pages_free: 9, database_size: 2 MB}"
    records = [f"parameters: {base}\nstart: 1790000000\n", f"parameters: {other}\nstart: 1790000900\n"]
    assert compare(capsys, tmp_path, records) == (0, {"vm.nr_hugepages": True}, [])
    assert compare(capsys, tmp_path, records, "--vary", "vm.nr_hugepages") == (0, {"vm.nr_hugepages": True}, [])


def test_what_was_not_meant_to_differ_is_said_loudly_and_in_the_exit_code(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    records = [
        "parameters: {vm.nr_hugepages: 0, host.huge_pages_total: 0, shared_buffers: 8GB}\nlabels: {pages: default}\n",
        "parameters: {vm.nr_hugepages: 9, host.huge_pages_total: 9}\nlabels: {pages: huge}\n",
    ]
    code, differing, said = compare(capsys, tmp_path, records, "--vary", "*huge*pages*")
    assert code == 1
    assert differing == {
        "host.huge_pages_total": True,
        "label pages": True,
        "shared_buffers": False,
        "vm.nr_hugepages": True,
    }
    assert said == [
        "shared_buffers differs as well: 8GB in BASE, unknown in OTHER (add --vary shared_buffers if that was intended)"
    ]
    main(["compare", str(tmp_path / "base"), str(tmp_path / "other"), "--vary", "vm.nr_hugepages"])
    out = capsys.readouterr().out
    assert "! shared_buffers" in out
    assert "! host.huge_pages_total differs as well: 0 in BASE, 9 in OTHER" in out


def test_a_command_differs_only_by_what_is_not_output_and_was_not_meant_to(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    base = "command: /usr/bin/pgbench -P 1 -l --log-prefix=/dev/shm/a -c 10 -h db1 bench\nparameters: {clients: 10}\n"
    records = [base, base.replace("/usr/bin/", "").replace("shm/a", "shm/b")]
    assert compare(capsys, tmp_path / "same", records, "--vary", "clients") == (0, {}, [])
    records = [one.replace("command: ", "command: env A=1 B='x y' ") for one in records]
    assert compare(capsys, tmp_path / "wrapped", records, "--vary", "clients") == (0, {}, [])
    records = [base, base.replace("10", "20")]
    code, differing, _ = compare(capsys, tmp_path / "clients", records, "--vary", "clients")
    assert (code, differing) == (0, {"clients": True, "command": True})
    records = [base, base.replace("10", "20").replace("db1", "db2")]
    code, differing, said = compare(capsys, tmp_path / "host", records, "--vary", "clients")
    assert (code, differing) == (1, {"clients": True, "command": False})
    assert said[0].startswith("command differs as well: pgbench -P 1")


@pytest.mark.parametrize("option", ["-c {}", "-c{}", "--client={}", "-Dclients={}"])
def test_a_command_may_differ_by_a_value_that_was_meant_to(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    records = [
        f"command: pgbench {option.format(clients)} bench\nparameters: {{clients: {clients}}}\n" for clients in (10, 20)
    ]
    assert compare(capsys, tmp_path, records, "--vary", "clients") == (0, {"clients": True, "command": True}, [])


@pytest.mark.parametrize(
    ("options", "vary", "intended"),
    [
        (("", "-M prepared"), "query_mode", True),
        (("", "--protocol=prepared"), "query_mode", True),
        (("", "-C"), "C", True),
        (("--direct=1", ""), "direct", True),
        (("", "-C"), "query_mode", False),
        (("", "-f prepared.sql"), "query_mode", False),
    ],
)
def test_an_option_that_was_meant_to_differ_may_be_there_on_one_side_only(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: Sequence[str], vary: str, intended: bool
) -> None:
    records = [
        f"command: pgbench -P 1 {option} bench\nparameters: {{query_mode: {mode}, C: {number}, direct: {number}}}\n"
        for number, (option, mode) in enumerate(zip(options, ("simple", "prepared"), strict=True))
    ]
    _, differing, _ = compare(capsys, tmp_path, records, "--vary", vary)
    assert differing["command"] is intended


def test_paths_that_benchwatch_made_are_no_difference(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    commands = (
        "toy --trace=/dev/shm/benchwatch-base-x1y2/db -l /home/me/runs/base/db.lat",
        "toy --trace=/dev/shm/benchwatch-other-z9/db -l /home/me/runs/other/db.lat",
    )
    records = [f"command: {command}\n" for command in commands]
    assert compare(capsys, tmp_path, records, "--vary", "clients") == (0, {}, [])


def test_nor_are_those_of_runs_of_the_same_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for folder in ("old", "new"):
        command = f"toy --trace=/dev/shm/benchwatch-a-{folder}/db -l /srv/{folder}/a/db.lat"
        place(tmp_path / folder / "a", 1000.0, record=f"command: {command}\n")
    sides = [str(tmp_path / folder / "a") for folder in ("old", "new")]
    assert main(["compare", *sides, "--vary", "clients"]) == 0, capsys.readouterr().out


@pytest.mark.parametrize("words", [("-h 10.0.0.10", "-h 10.0.0.20"), ("-Dnaccounts=100", "-Dnaccounts=5000")])
def test_words_that_merely_end_like_a_value_that_was_meant_to_differ_were_not(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: Sequence[str]
) -> None:
    records = [
        f"command: pgbench {word} bench\nparameters: {{vm.nr_hugepages: {pages}}}\n"
        for word, pages in zip(words, (0, 512), strict=True)
    ]
    code, differing, _ = compare(capsys, tmp_path, records, "--vary", "vm.nr_hugepages")
    assert (code, differing) == (1, {"command": False, "vm.nr_hugepages": True})


@pytest.mark.parametrize(("runs", "option"), [((2, 3), "-c {}"), ((2, 2), "-c {}"), ((1, 3), "-c10 -Dpages={}")])
def test_commands_of_repeats_are_compared_without_where_their_output_goes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, runs: tuple[int, int], option: str
) -> None:
    for side, number, value in zip(("base", "other"), runs, (0, 512), strict=True):
        for place_ in range(1, number + 1):
            command = f"pgbench --log-prefix=/dev/shm/{side}{place_} bench {option.format(value)}"
            record = f"command: {command}\nrepeat_of: {side}\nparameters: {{pages: {value}}}\n"
            place(tmp_path / f"{side}-{place_}", 1000.0 + place_, record=record)
    sides = [str(tmp_path / side) for side in ("base", "other")]
    assert main(["compare", *sides, "--vary", "pages", "--format", "json"]) == 0
    (other,) = json.loads(capsys.readouterr().out)["others"]
    assert {one["name"]: one["intended"] for one in other["parameters"]} == {"command": True, "pages": True}
    assert main(["compare", *sides, "--vary", "fsync"]) == 1
