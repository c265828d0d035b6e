"""Which processes use the processors and the disks of a machine, from its proc file system."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchwatch.server.processes import DISK_BYTES, PROCESSORS, Processes


class Machine:
    """A proc file system, and the clock beside it."""

    def __init__(self, proc: Path) -> None:
        self.proc = proc
        self.now = 100.0
        self.total = self.idle = 0
        self.disk = 0
        (proc / "self").mkdir()
        self.seen = Processes("db1", proc, lambda: self.now)

    def after(self, seconds: float, busy: float = 0.0, disk: float = 0.0) -> dict[tuple[str, str], float]:
        """Let time pass, and look."""
        self.now += seconds
        self.total += round(100 * seconds)
        self.idle += round(100 * seconds * (1 - busy))
        self.disk += round(1000 * seconds * disk)
        (self.proc / "stat").write_text(f"cpu  {self.total - self.idle} 0 0 {self.idle} 0 0 0 0 0 0\ncpu0 1 2 3\n")
        (self.proc / "diskstats").write_text(f"   8  0 sda 1 2 3 4 5 6 7 8 0 {self.disk} 9\n")
        assert self.seen.version >= 0
        return {(one.family.name, one.labels[1]): one.value for one in self.seen.samples()}  # type: ignore[misc]

    def process(self, pid: int, name: str, ticks: int, read: int = 0, written: int = 0) -> None:
        folder = self.proc / str(pid)
        folder.mkdir(exist_ok=True)
        head = f"{pid} ({name}) S 1 1 1 0 -1 4194304 1 2 3 4"
        (folder / "stat").write_text(f"{head} {ticks - 1} 1 0 0 20 0 1 0 5 6 7\n")
        (folder / "io").write_text(f"rchar: 9\nwchar: 9\nread_bytes: {read}\nwrite_bytes: {written}\n")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_names_that_use_most_processors_are_named_while_half_of_them_are_busy(machine: Machine) -> None:
    def use(second: int) -> None:
        machine.process(10, "postgres", 100 + 80 * second)
        machine.process(11, "postgres", 100 + 20 * second)
        machine.process(12, "a) b", 100 + 30 * second)
        machine.process(13, "kworker/u8:2-flush", 100 + 15 * second)
        machine.process(14, "quiet", 100)

    use(0)
    assert machine.after(4, busy=0.9) == {}  # nothing to compare with
    use(2)
    assert machine.after(2, busy=0.9) == {}
    use(4)
    name = PROCESSORS.name
    assert machine.after(2, busy=0.9) == pytest.approx(
        {(name, "postgres"): 1.0, (name, "a) b"): 0.3, (name, "kworker"): 0.15}
    )
    assert machine.after(2, busy=0.4) == {}


def test_what_processes_read_and_write_counts_while_a_disk_is_busy(machine: Machine) -> None:
    machine.process(10, "fio", 1)
    machine.after(2, disk=0.9)
    machine.after(2, disk=0.9)
    machine.process(10, "fio", 1, read=6_000_000, written=2_000_000)
    machine.process(11, "dd", 1, written=4_000_000)  # began since
    machine.process(12, "small", 1, written=1_000_000)
    assert machine.after(2, disk=0.9) == {(DISK_BYTES.name, "fio"): 4e6, (DISK_BYTES.name, "dd"): 2e6}
    assert machine.after(2, disk=0.2) == {}


def test_a_number_that_another_process_has_now_counts_from_its_own_start(machine: Machine) -> None:
    machine.process(10, "old", 100_000)
    machine.after(2, busy=1)
    machine.after(2, busy=1)
    machine.process(10, "new", 100)
    assert machine.after(2, busy=1) == {(PROCESSORS.name, "new"): 0.5}


def test_a_busy_time_is_looked_at_again_after_half_a_second_and_then_every_two(machine: Machine) -> None:
    machine.process(10, "x", 0)
    machine.after(2, busy=1)
    machine.after(2, busy=1)
    machine.process(10, "x", 100)
    assert machine.after(0.5, busy=1) == {(PROCESSORS.name, "x"): 2.0}
    machine.process(10, "x", 400)
    assert machine.after(1.5, busy=1) == {(PROCESSORS.name, "x"): 2.0}
    assert machine.after(0.5, busy=1) == {(PROCESSORS.name, "x"): 1.5}


def test_without_a_proc_file_system_nothing_is_said(tmp_path: Path) -> None:
    moments = iter(range(0, 100, 2))
    processes = Processes("db1", tmp_path / "none", lambda: float(next(moments)))
    for _ in range(3):
        assert processes.version == 0
        assert list(processes.samples()) == []


def test_a_real_process_is_named_with_what_it_uses() -> None:
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8)]
    try:
        processes = Processes("db1")
        deadline = time.monotonic() + 60
        while not (found := [one for one in processes.samples() if one.labels[1].startswith("python")]):
            assert time.monotonic() < deadline
            time.sleep(0.2)
            assert processes.version >= 0
        assert isinstance(found[0].value, float)
        assert found[0].value >= 0.1
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
