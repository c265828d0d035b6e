import os
from pathlib import Path

import pytest

from benchwatch.machine.host import Host
from tests.support.places import ROOT_IS_A_MOUNT

CPU = "processor\t: 0\nmodel name\t: Xeon 6\nflags\t\t: fpu hypervisor sse\n\nprocessor\t: 1\nmodel name\t: Xeon 6\n"
MEMORY = (
    "MemTotal:  24684084 kB\nMemAvailable: 1000 kB\nHugePages_Total:  8400\nHugePages_Free: 12\nHugepagesize: 2048 kB\n"
)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    files = {
        "proc/cpuinfo": CPU,
        "proc/meminfo": MEMORY,
        "proc/loadavg": "1.25 1.00 0.50 1/100 4321\n",
        "proc/stat": "cpu 1 2 3\nbtime 1790000000\n",
        "proc/sys/kernel/osrelease": "6.1.0-9-amd64\n",
        "proc/sys/vm/nr_hugepages": "8400\n",
        "proc/sys/vm/swappiness": "1\n",
        "proc/100/stat": f"100 (postgres) S {'0 ' * 18}{10 * os.sysconf('SC_CLK_TCK')} 0\n",
        "proc/99/stat": f"99 (a (b) c) S {'0 ' * 18}{10 * os.sysconf('SC_CLK_TCK')} 0\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        "sys/class/dmi/id/sys_vendor": "Nutanix\n",
        "sys/class/dmi/id/product_name": "AHV\n",
        "sys/devices/system/node/node0/meminfo": "",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "proc/100/cwd").symlink_to("/data/15")
    return Host(tmp_path / "proc", tmp_path / "sys")


def test_facts_are_those_of_proc_and_sys(host: Host) -> None:
    assert host.facts() == {
        "host.cpu_model": "Xeon 6",
        "host.cpus": "2",
        "host.numa_nodes": "1",
        "host.cpu_governor": "performance",
        "host.memory": "24684084 kB",
        "host.huge_pages_total": "8400",
        "host.huge_pages_free": "12",
        "host.huge_page_size": "2048 kB",
        "host.transparent_huge_pages": "madvise",
        "host.kernel": "6.1.0-9-amd64",
        "host.product": "Nutanix AHV",
        "host.virtual_machine": "on",
        "host.load_average": "1.25",
        "vm.nr_hugepages": "8400",
        "vm.swappiness": "1",
    }
    assert host.available_memory() == 1024000


@pytest.mark.parametrize(("moment", "process"), [(10, 100), (14, 100), (16, None), (9, 100), (7, None)])
def test_a_server_is_known_by_when_it_started(host: Host, moment: float, process: int | None) -> None:
    assert host.process_started_at("postgres", 1790000000 + moment, 5) == process


def test_a_server_is_not_mistaken_for_one_whose_folder_was_removed_or_for_its_children(
    host: Host, tmp_path: Path
) -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    for number, parent, started, folder in ((50, 1, 10, "/other (deleted)"), (120, 100, 10, "/data/15")):
        place = tmp_path / f"proc/{number}"
        place.mkdir()
        (place / "stat").write_text(f"{number} (postgres) S {parent} {'0 ' * 17}{started * ticks} 0\n")
        (place / "cwd").symlink_to(folder)
    assert host.process_started_at("postgres", 1790000010, 5) == 100


def test_the_server_that_started_nearest_is_chosen(host: Host, tmp_path: Path) -> None:
    place = tmp_path / "proc/50"
    place.mkdir()
    (place / "stat").write_text(f"50 (postgres) S 1 {'0 ' * 17}{8 * os.sysconf('SC_CLK_TCK')} 0\n")
    assert host.process_started_at("postgres", 1790000010, 5) == 100
    assert host.process_started_at("postgres", 1790000008, 5) == 50


def test_a_process_tells_its_folder(host: Host) -> None:
    assert host.working_folder(100) == Path("/data/15")
    assert host.working_folder(99) is None


def test_a_machine_that_tells_nothing_has_no_facts(tmp_path: Path) -> None:
    nothing = Host(tmp_path, tmp_path)
    assert nothing.facts() == {}
    assert nothing.process_started_at("postgres", 0, 5) is None


def mounts(folder: Path, process: str, root: str) -> None:
    place = folder / "proc" / process
    place.mkdir(exist_ok=True)
    of_root = f"27 1 {root} / rw shared:1 - ext4 /dev/sda1 rw\n" if root else ""
    (place / "mountinfo").write_text(f"20 27 0:21 / /proc rw - proc proc rw\n{of_root}")


@pytest.mark.parametrize(
    ("root", "same"), [("8:1 /", True), ("0:57 /", False), ("8:1 /srv/machine", False), ("", False)]
)
def test_paths_mean_the_same_to_a_process_with_our_root(host: Host, tmp_path: Path, root: str, same: bool) -> None:
    mounts(tmp_path, "self", "8:1 /")
    mounts(tmp_path, "100", root)
    assert host.has_our_root(100) == same


@pytest.mark.skipif(not ROOT_IS_A_MOUNT, reason="this is a chroot: nothing says whose root a process has")
def test_a_process_of_our_own_has_our_root() -> None:
    assert Host().has_our_root(os.getpid())


def test_descent_is_followed_as_long_as_a_process_runs(host: Host, tmp_path: Path) -> None:
    for number, parent in ((50, 1), (60, 50), (70, 60)):
        place = tmp_path / f"proc/{number}"
        place.mkdir()
        (place / "stat").write_text(f"{number} (p) S {parent} 0 0\n")
    assert host.descends(70, 70) and host.descends(70, 60) and host.descends(70, 50)
    assert not host.descends(50, 70)
    assert not host.descends(70, 100)
    assert host.descends(80, 80)
    assert not host.descends(80, 50)
