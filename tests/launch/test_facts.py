import os
import shlex
from pathlib import Path

import pytest

from benchwatch.launch.preparation import ask_version, find_facts
from benchwatch.machine.host import Host
from benchwatch.tools.invocation import find_benchmark
from benchwatch.tools.launcher import Command, CommandLine, Facts
from benchwatch.tools.registry import named
from tests.support.waiting import PATIENCE

OURS = """\
27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
28 27 8:2 / {0}/data rw,noatime shared:2 - xfs /dev/sda2 rw
29 27 8:3 / {0}/wal rw shared:3 - ext4 /dev/sda3 rw
"""
IN_A_CONTAINER = """\
90 80 0:57 / / rw,relatime - overlay overlay rw
91 90 8:9 / {0}/data rw - ext4 /dev/sdb1 rw
"""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no server that does not answer."""
    monkeypatch.setattr("benchwatch.tools.postgres._PATIENCE", PATIENCE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A machine with a server, process 100, whose files are on mounts of their own."""
    ticks = os.sysconf("SC_CLK_TCK")
    for name, text in {
        "proc/sys/kernel/hostname": "box\n",
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


def psql(folder: Path, *said: str) -> None:
    """What the server says; without anything, it does not answer."""
    script = folder / "psql"
    script.write_text("#!/bin/sh\n" + (shlex.join(["printf", r"%s\0", *said]) if said else "exit 2") + "\n")
    script.chmod(0o755)


def facts_of(folder: Path, command: str) -> Facts:
    """What is found of a command on the made machine."""
    benchmark = find_benchmark(shlex.split(command), {"pgbench", "fio", "sysbench", "iperf3"})
    tool = named(benchmark.tool)
    assert tool and tool.launcher
    return find_facts(
        benchmark, tool.launcher(CommandLine(benchmark.arguments)), "", Host(folder / "proc", folder / "sys")
    )


def disks(folder: Path, mounts: str, *said: str) -> dict[str, str]:
    """What is found of disks if a server has these mounts and says this."""
    (folder / "proc/100/mountinfo").write_text(mounts.format(folder))
    psql(folder, "{start}", "1790000010", *said)
    facts = facts_of(folder, str(folder / "pgbench"))
    assert facts.parameters["host.memory"] == "1 kB"
    assert (facts.host, facts.client) == ("box", "box")
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
    facts = facts_of(folder, shlex.join(["fio", "--filename", f"{folder}/data/file", *option, "--name=job"]))
    assert facts.parameters[f"{prefix}host.memory"] == "1 kB"
    assert ("host.memory" in facts.parameters) == (not option)
    assert any(name.startswith("target.") for name in facts.parameters) == (not option)


@pytest.fixture
def with_disks(folder: Path) -> Path:
    """The same with a disk of three partitions and one of its own for the log's."""
    for disk, partitions in {"sda": ("1", "2"), "sdb": ("1",)}.items():
        (folder / "sys/devices" / disk / "queue").mkdir(parents=True)
        for number in partitions:
            (folder / "sys/devices" / disk / (disk + number)).mkdir()
    (folder / "sys/dev/block").mkdir(parents=True)
    for number, path in {"8:1": "sda/sda1", "8:2": "sda/sda2", "8:3": "sdb/sdb1"}.items():
        (folder / "sys/dev/block" / number).symlink_to(folder / "sys/devices" / path)
    (folder / "proc/100/mountinfo").write_text(OURS.format(folder))
    (folder / "proc/100/cwd").symlink_to(folder / "data")
    return folder


def test_disks_of_a_server_here_have_roles(with_disks: Path) -> None:
    psql(with_disks, "{start}", "1790000010", "{host}", "db.example")
    found = facts_of(with_disks, f"{with_disks}/pgbench -h db.example")
    assert (found.host, found.client, found.disks) == ("box", "box", {"sda": "data", "sdb": "log"})


def test_a_disk_that_data_and_log_share_is_one_of_data(with_disks: Path) -> None:
    (with_disks / "data/pg_wal").unlink()
    (with_disks / "data/pg_wal").mkdir()
    psql(with_disks, "{start}", "1790000010")
    assert facts_of(with_disks, f"{with_disks}/pgbench").disks == {"sda": "data"}


def test_disks_of_fio_are_those_of_all_its_files(with_disks: Path) -> None:
    files = f"--name=a --filename={with_disks}/wal/a --name=b --directory={with_disks}/data:/nowhere"
    found = facts_of(with_disks, f"fio {files}")
    assert (found.host, found.client, found.disks) == ("box", "", {"sdb": "data", "sda": "data"})
    assert found.parameters["target.device"] == "sdb1"


@pytest.mark.parametrize("engine", ["rbd", "nbd", "null", "cpuio", "http"])
def test_an_engine_of_fio_without_files_here_has_no_disks(with_disks: Path, engine: str) -> None:
    found = facts_of(with_disks, f"fio --name=a --ioengine={engine} --directory={with_disks}/data")
    assert (found.host, found.disks) == ("box", {})
    assert not any(name.startswith("target.") for name in found.parameters)
    found = facts_of(with_disks, f"fio --name=a --ioengine={engine} --name=b --filename={with_disks}/wal/b")
    assert found.disks == {"sdb": "data"}


@pytest.mark.parametrize(
    ("at", "host"),
    [
        *[("/var/run/postgresql", "box"), ("localhost", "box"), ("127.0.0.1", "box"), ("::1", "box"), ("box", "box")],
        *[("192.0.2.7", "192.0.2.7"), ("db.invalid", "db.invalid")],
    ],
)
def test_a_server_that_is_no_process_here_is_where_psql_found_it(folder: Path, at: str, host: str) -> None:
    psql(folder, "{start}", "1690000000", "{host}", at)
    found = facts_of(folder, f"{folder}/pgbench -h elsewhere")
    assert (found.host, found.client, found.disks) == (host, "box", {})
    remark = f"no process of box is the server at {at}: if the port is forwarded, name the server's machine with --host"
    assert found.remarks == ((remark,) if host == "box" and at[0] != "/" else ())


@pytest.mark.parametrize(
    ("command", "host"),
    [
        *[("pgbench -h db1", "db1"), ("pgbench -hdb1 x", "db1"), ("pgbench postgresql://u:p@db1:5433,db2/x", "db1")],
        *[("pgbench postgres://[2001:db8::1]/x", "2001:db8::1"), ("pgbench 'host = db1 dbname=x'", "db1")],
        *[("pgbench \"host='/tmp' user=u\"", "box"), ("pgbench x", "db9"), ("pgbench -h localhost x", "box")],
        ("sysbench --db-driver=pgsql --pgsql-host=db1 oltp_read_write run", "db1"),
        ("sysbench --db-driver=mysql --mysql-host=db1 oltp_read_write run", "db1"),
        *[("sysbench --db-driver=mysql oltp_read_write run", "box"), ("sysbench cpu run", "box")],
        *[("iperf3 -c 192.0.2.1", "192.0.2.1"), ("iperf3 -c 127.0.0.1", "box"), ("iperf3 -s", "box")],
        *[("ssh h pgbench x", "db9"), ("ssh h pgbench -h db1", "db1"), ("ssh h pgbench -h localhost", "")],
        *[("ssh h fio --name=a", ""), ("ssh h sysbench cpu run", ""), ("ssh h iperf3 -c localhost", "")],
        ("fio --client=h --name=a", ""),
    ],
)
def test_the_host_is_the_one_that_the_command_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, host: str
) -> None:
    psql(folder)
    (folder / "ssh").write_text("#!/bin/sh\nexit 2\n")
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("PGHOST", "db9")
    found = facts_of(folder, command)
    assert found.host == host
    is_client = "ssh" not in command and "fio" not in command and command != "iperf3 -s"
    assert found.client == ("box" if is_client else "")


def test_a_program_without_an_option_for_its_version_is_not_asked(tmp_path: Path) -> None:
    """vdbench empties its folder of results before it says that it knows no --version."""
    (tmp_path / "vdbench").write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\n")
    (tmp_path / "vdbench").chmod(0o755)
    benchmark = find_benchmark([str(tmp_path / "vdbench"), "-f", "job.parm"], {"vdbench"})
    assert ask_version(benchmark) == "" and not (tmp_path / "asked").exists()


def test_a_time_of_day_is_no_version(tmp_path: Path) -> None:
    (tmp_path / "fio").write_text("#!/bin/sh\necho 11:24:48.022 unknown option\n")
    (tmp_path / "fio").chmod(0o755)
    benchmark = find_benchmark([str(tmp_path / "fio"), "job.fio"], {"fio"})
    answer = ask_version(benchmark)
    assert answer == "11:24:48.022 unknown option"
    assert "fio_version" not in find_facts(benchmark, Command(), answer, Host(tmp_path, tmp_path)).parameters
