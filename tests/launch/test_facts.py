import os
import shlex
from pathlib import Path

import pytest

from benchwatch.launch.facts import find_facts
from benchwatch.machine.host import Host
from benchwatch.tools.fio.command import read_command
from benchwatch.tools.invocation import find_benchmark
from benchwatch.tools.pgbench.command import PgbenchCommand

OURS = """\
27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
28 27 8:2 / {0}/data rw,noatime shared:2 - xfs /dev/sda2 rw
29 27 8:3 / {0}/wal rw shared:3 - ext4 /dev/sda3 rw
"""
IN_A_CONTAINER = """\
90 80 0:57 / / rw,relatime - overlay overlay rw
91 90 8:9 / {0}/data rw - ext4 /dev/sdb1 rw
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A machine with a server, process 100, whose files are on mounts of their own."""
    ticks = os.sysconf("SC_CLK_TCK")
    for name, text in {
        "proc/stat": "btime 1790000000\n",
        "proc/meminfo": "MemTotal: 1 kB\n",
        "proc/100/stat": f"100 (postgres) S {'0 ' * 18}{10 * ticks} 0\n",
        "proc/self/mountinfo": OURS.format(tmp_path),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "data").mkdir()
    (tmp_path / "wal").mkdir()
    (tmp_path / "data/pg_wal").symlink_to(tmp_path / "wal")
    return tmp_path


def disks(folder: Path, mounts: str, *said: str) -> dict[str, str]:
    """What is found of disks if a server has these mounts and says this."""
    (folder / "proc/100/mountinfo").write_text(mounts.format(folder))
    psql = folder / "psql"
    psql.write_text("#!/bin/sh\n" + shlex.join(["printf", r"%s\0", "{start}", "1790000010", *said]) + "\n")
    psql.chmod(0o755)
    benchmark = find_benchmark([str(folder / "pgbench")], {"pgbench"})
    facts = find_facts(benchmark, PgbenchCommand(), "", Host(folder / "proc", folder / "sys"))
    assert facts.parameters["host.memory"] == "1 kB"
    return {name: value for name, value in facts.parameters.items() if name.startswith(("data.", "wal."))}


def expected(folder: Path) -> dict[str, str]:
    return {
        "data.mount_point": f"{folder}/data",
        "data.filesystem": "xfs",
        "data.mount_options": "rw,noatime",
        "wal.mount_point": f"{folder}/wal",
        "wal.filesystem": "ext4",
        "wal.mount_options": "rw",
    }


def test_disks_are_those_of_the_folder_that_the_servers_process_works_in(folder: Path) -> None:
    (folder / "proc/100/cwd").symlink_to(folder / "data")
    assert disks(folder, OURS, "data_directory", "/nowhere") == expected(folder)


def test_disks_are_those_of_the_folder_that_the_server_names_to_a_user_who_may_not_see_its_process(
    folder: Path,
) -> None:
    assert disks(folder, OURS, "data_directory", f"{folder}/data") == expected(folder)


def test_there_are_no_disks_if_nobody_tells_the_folder(folder: Path) -> None:
    assert disks(folder, OURS) == {}


@pytest.mark.parametrize("seen", [True, False])
def test_there_are_no_disks_of_a_server_in_a_container(folder: Path, seen: bool) -> None:
    if seen:
        (folder / "proc/100/cwd").symlink_to(folder / "data")
    assert disks(folder, IN_A_CONTAINER, "data_directory", f"{folder}/data") == {}


@pytest.mark.parametrize(("option", "prefix"), [((), ""), (("--client=192.0.2.1",), "client.")])
def test_facts_of_this_machine_are_the_clients_if_fio_works_on_servers(
    folder: Path, option: tuple[str, ...], prefix: str
) -> None:
    words = ["--filename", f"{folder}/data/file", *option, "--name=job"]
    facts = find_facts(
        find_benchmark(["fio", *words], {"fio"}), read_command(words, None), "", Host(folder / "proc", folder / "sys")
    )
    assert facts.parameters[f"{prefix}host.memory"] == "1 kB"
    assert ("host.memory" in facts.parameters) == (not option)
    assert any(name.startswith("target.") for name in facts.parameters) == (not option)
