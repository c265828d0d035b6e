"""What the Ansible role says of many hosts (deploy/ansible); tests/deploy/ansible.py tries the role itself."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

ROLE = Path(__file__).parents[1] / "deploy" / "ansible" / "roles" / "benchwatch"
SPEC = importlib.util.spec_from_file_location("role_filters", ROLE / "filter_plugins" / "benchwatch.py")
assert SPEC and SPEC.loader
role = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(role)


def host(**special: Any) -> dict[str, Any]:
    """A host with which nothing is wrong."""
    facts = {"home": "/home/b", "machine": "m1", "python": "3.11", "lacks": "", **special.pop("facts", {})}
    return {
        "benchwatch_probe": {"stdout": ""},
        "benchwatch_host_facts": facts,
        "benchwatch_worker_name": special.pop("worker", "db1"),
        "benchwatch_command": "pgbench -T 60",
        "benchwatch_installed": {"rc": 0},
        "benchwatch_checked": {"skipped": True},
        "benchwatch_clock": {"stdout": "1790000000.5 1790000000.6\n"},
        **special,
    }


def faults(hosts: dict[str, dict[str, Any]], folder: Path, *, name: str = "a", **expected: Any) -> list[str]:
    settings = {"sources": [], "run": True, "name": name, "folder": str(folder), "clock_tolerance": "2"}
    found: list[str] = role.find_faults(hosts, list(hosts), settings | {"one_machine_allowed": False} | expected)
    assert not found or found.pop().startswith("nothing was done on any host; --limit")
    return found


def test_hosts_with_which_nothing_is_wrong_may_start(tmp_path: Path) -> None:
    assert faults({"db1": host(), "db2": host(worker="db2", facts={"machine": "m2"})}, tmp_path) == []


@pytest.mark.parametrize(
    ("special", "sentence"),
    [
        (
            {"benchwatch_probe": {"unreachable": True, "msg": "ssh:\nNo route to host"}},
            "not reachable: No route to host",
        ),
        ({"facts": {"lacks": "pgbench"}}, "pgbench was not found: install it, or set PATH in benchwatch_environment"),
        ({"facts": {"python": "3.9"}}, "python3 is Python 3.9: benchwatch needs 3.11 or newer (benchwatch_python)"),
        ({"facts": {"python": ""}}, "python3 was not found: benchwatch needs Python 3.11 or newer (benchwatch_python)"),
        (
            {"facts": {"python": "3.11 no-venv"}},
            "python3 has no venv: install the package python3-venv, or name another one (benchwatch_python)",
        ),
        ({"benchwatch_installed": {"rc": 127}}, "benchwatch is not installed: run install.yml first"),
        (
            {"benchwatch_checked": {"rc": 2, "stderr": "psql: error: no server\n"}},
            "the check of this benchmark failed: psql: error: no server",
        ),
        (
            {"benchwatch_clock": {"stdout": "1790000000.5 1790000020.7\r\n"}},
            "its clock is 20.2 s ahead of this machine's: set it, or allow for it with benchwatch_clock_tolerance",
        ),
        (
            {"benchwatch_command": ""},
            "benchwatch_command: expected the command of a benchmark, such as pgbench -T 60 mydb",
        ),
    ],
    ids=lambda value: value.partition(":")[0][:30] if isinstance(value, str) else "",
)
def test_a_fault_of_a_host_is_a_sentence_with_its_name(tmp_path: Path, special: dict[str, Any], sentence: str) -> None:
    hosts = {"db1": host(**special), "db2": host(worker="db2", facts={"machine": "m2"})}
    assert faults(hosts, tmp_path) == [f"db1: {sentence}"]


def test_hosts_that_are_one_machine_or_one_worker_are_named_together(tmp_path: Path) -> None:
    hosts = {"db1": host(), "db2": host(worker="db2"), "db3": host(worker="db2", facts={"machine": "m3"})}
    assert faults(hosts, tmp_path) == [
        "db1 and db2: one machine under 2 names (benchwatch_one_machine_allowed permits it)",
        "db2 and db3: both are worker db2: give each its own benchwatch_worker",
    ]
    assert faults({"db1": host(), "db2": host(worker="db2")}, tmp_path, one_machine_allowed=True) == []


def test_a_name_must_be_one_and_free(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert faults({"db1": host()}, tmp_path) == [f"{tmp_path}/a already exists: choose another benchwatch_name"]
    assert faults({"db1": host()}, tmp_path, name="../a")[0].startswith("benchwatch_name: expected letters, digits")


def test_a_host_that_an_inventory_names_twice_in_a_group_is_found(tmp_path: Path) -> None:
    text = "db1\n[a]\ndb1\ndb2 ansible_port=22\n# db2\ndb3\ndb2\n[b]\ndb1\n[a:vars]\nx=1\nx=1\n[c:children]\na\na\n"
    assert role.twice(text) == ["db2"]
    inventory = tmp_path / "hosts"
    inventory.write_text(text)
    found = faults({"db1": host()}, tmp_path, sources=[str(inventory), "db1,"])
    assert found == [f"db2: twice in one group of {inventory}: every host must be named once"]


@pytest.mark.parametrize(
    "name", ["README.md", "hosts~", ".hosts.swp", ".notes", "notes.txt", "hosts.orig", "hosts.retry"]
)
def test_what_ansible_leaves_out_of_a_folder_of_inventories_names_no_host(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("db1\ndb1\n")
    (tmp_path / "hosts").write_text("db1\n")
    assert faults({"db1": host()}, tmp_path, sources=[str(tmp_path)]) == []


@pytest.mark.parametrize("text", ["all: [\n", "a: 1\n---\nb: 1\n"])
def test_an_inventory_that_is_no_yaml_is_left_to_ansible(text: str, tmp_path: Path) -> None:
    (tmp_path / "other.yml").write_text(text)
    assert faults({"db1": host()}, tmp_path, sources=[str(tmp_path)]) == []


def test_a_host_that_an_inventory_in_yaml_names_twice_is_found(tmp_path: Path) -> None:
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(
        "all:\n  vars: {a: !vault x, hosts: 7}\n  children:\n    a:\n      hosts:\n        db1:\n        db2: {x: 1}\n"
        "        db1: {ansible_host: h}\n    b:\n      hosts: {db1: , db2: }\n"
    )
    (tmp_path / "group_vars").mkdir()
    for source in (inventory, tmp_path):
        found = faults({"db1": host()}, tmp_path, sources=[str(source)])
        assert found == [f"db1: twice in one group of {inventory}: every host must be named once"]


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("pgbench -T 60 fio", "pgbench"),
        ("numactl -N 0 /opt/bin/fio job.fio", "numactl /opt/bin/fio"),
        ("ssh other pgbench", "ssh"),
        ("", ""),
    ],
)
def test_the_programs_that_a_command_needs(command: str, needed: str) -> None:
    assert role.programs(command) == needed


def test_how_a_run_goes_is_said_of_all_hosts() -> None:
    answer = "motd\r\nbenchwatch=state\r\nactive=1\r\nready=1\r\nrate=120.5\r\nlog=\r\nbenchwatch: starts\r\n"
    ended = "benchwatch=state\nready=1\nexit_code=1\nlog=\npgbench: error: no space\nbenchwatch: nothing was measured\n"
    states = {
        "db1": role.read_state({"stdout": answer}),
        "db2": role.read_state({"stdout": ended}),
        "db3": role.read_state({"unreachable": True, "msg": "timed out"}),
        "db4": role.read_state({"stdout": "benchwatch=state\nready=1\nlate=0.0021\nexit_code=0\nlog=\n"}),
        "db5": role.read_state(
            {"stdout": "benchwatch=state\nlog=\nbenchwatch: --at: it was prepared too late\nSee: --help\n"}
        ),
    }
    bad = [
        "db2: exit code 1: pgbench: error: no space",
        "db3: not reachable: timed out",
        "db5: ended without a result: --at: it was prepared too late",
    ]
    assert role.course(states) == ["1 of 5 workers are active, 120 TPS of 1", *bad]
    assert role.endings(states) == ["db1: still active", *bad]
    assert [line.partition(":")[0] for line in role.not_ready(states)] == ["db2", "db3", "db4", "db5"]
    assert role.punctuality(states) == (
        "1 workers started within 2.1 ms; 1 of their clocks are not known to be synchronised"
    )
