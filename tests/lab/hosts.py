"""Machines of their own on one kernel, and disks whose operations are limited.

A machine has its own network, processes, name and processor. What node_exporter reads of the processor and of
pressure is that of the machine's control group, as lxcfs does it for containers: /proc/stat is written here, the files
in /proc/pressure are the group's. Needs root, and control groups of version 1 beside the hierarchy of version 2.
"""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")
_TICKS = os.sysconf("SC_CLK_TCK")
_EVERY = 0.25
"""Seconds after which a machine's /proc/stat is written again, or its memory limited."""
_STARVED = 4 << 20
"""Bytes that are left for the files of a starved machine."""


def ran(*words: str | Path) -> str:
    """What a program prints. Raises CalledProcessError."""
    return subprocess.run([*map(str, words)], check=True, capture_output=True, text=True).stdout.strip()


def _grouped(name: str, *kinds: str) -> list[Path]:
    """New control groups. In one of kind "cpu", processes get a processor before all else of this kernel."""
    groups = [_GROUPS / kind / f"lab-{name}-{os.getpid()}" for kind in kinds]
    for group in groups:
        group.mkdir()
        if group.parent.name == "cpu":
            (group / "cpu.shares").write_text("262144")  # a share of 256 ordinary ones
    return groups


@contextmanager
def preferred() -> Iterator[None]:
    """Let this process and those that it starts get a processor before all else of this kernel."""
    (group,) = _grouped("watch", "cpu")
    (group / "cgroup.procs").write_text(str(os.getpid()))
    try:
        yield
    finally:
        (group.parent / "cgroup.procs").write_text(str(os.getpid()))
        _remove(group)


def _remove(group: Path) -> None:
    """Remove a group once its last processes are gone."""
    for _ in range(50):
        with suppress(OSError):
            group.rmdir()
            break
        time.sleep(0.1)


class Host:
    """A machine with one processor; `address` is where this process reaches it."""

    def __init__(self, name: str, number: int, processor: int, folder: Path) -> None:
        self.name, self.address, self._processor = name, f"10.77.{number}.2", processor
        self._stat = folder / f"stat-{name}"
        self._groups = _grouped(name, "unified", "cpuacct", "memory", "cpu")
        self._unified, self._time, self._memory, _ = self._groups
        self._frozen = self._unified / "cgroup.freeze"
        self._began = time.monotonic()
        self._write_stat()
        pressures = (f"mount --bind {self._unified}/{one}.pressure /proc/pressure/{one}" for one in ("cpu", "memory"))
        made = ["hostname " + name, "ip link set lo up", f"mount --bind {self._stat} /proc/stat", *pressures]
        own = ["--net", "--uts", "--ipc", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc"]
        script = " && ".join([*made, "echo made", "exec sleep infinity"])
        holder = ["setpriv", "--pdeathsig=KILL", "unshare", *own, "sh", "-c", script]
        self._holder = subprocess.Popen(self._inside(holder), stdout=subprocess.PIPE)
        assert self._holder.stdout
        self._holder.stdout.readline()
        self._pid = Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children").read_text().strip()
        end = f"lab{number}"
        ran("ip", "link", "add", end, "type", "veth", "peer", "name", "eth0", "netns", self._pid)
        ran("ip", "address", "add", f"10.77.{number}.1/24", "dev", end)
        ran("ip", "link", "set", end, "up")
        self.run("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        self.run("ip", "link", "set", "eth0", "up")
        threading.Thread(target=self._account, daemon=True).start()

    def _inside(self, words: Sequence[str]) -> list[str]:
        """A command whose processes count as the machine's."""
        join = "".join(f"echo $$ >{one}/cgroup.procs && " for one in self._groups)
        return ["sh", "-c", f'{join}exec "$@"', "sh", "taskset", "-c", str(self._processor), *words]

    def command(self, *words: str | Path) -> list[str]:
        """A command as one of the machine's; its process ends with the one that is started."""
        enter = ["nsenter", f"--target={self._pid}", "--net", "--uts", "--ipc", "--pid", "--mount", "--"]
        return self._inside([*enter, "setpriv", "--pdeathsig=KILL", *map(str, words)])

    def run(self, *words: str | Path) -> str:
        """What a program prints there. Raises CalledProcessError."""
        return ran(*self.command(*words))

    def link(self, other: "Host", name: str = "bench0") -> str:
        """A network between two machines alone; returns this one's address there."""
        ran("ip", "link", "add", name, "netns", self._pid, "type", "veth", "peer", "name", name, "netns", other._pid)
        for number, host in enumerate((self, other), 1):
            host.run("ip", "address", "add", f"10.77.99.{number}/24", "dev", name)
            host.run("ip", "link", "set", name, "up")
        return "10.77.99.1"

    def freeze(self, seconds: float) -> None:
        """Stop all of its processes for a time."""
        self._frozen.write_text("1")
        time.sleep(seconds)
        self._frozen.write_text("0")

    def starve(self, seconds: float) -> None:
        """Leave so little memory to its files that it reads its programs from their disk again and again."""
        limit, end = self._memory / "memory.limit_in_bytes", time.monotonic() + seconds
        while time.monotonic() < end:
            stat = dict(line.split() for line in (self._memory / "memory.stat").read_text().splitlines())
            used = int((self._memory / "memory.usage_in_bytes").read_text())
            others = used - int(stat["inactive_file"]) - int(stat["active_file"])
            with suppress(OSError):  # it cannot free as much as that yet
                limit.write_text(str(others + _STARVED))
            time.sleep(_EVERY)
        limit.write_text("-1")

    def close(self) -> None:
        """End its processes."""
        self._frozen.write_text("0")
        self._holder.kill()
        self._holder.wait()
        for one in self._groups:
            _remove(one)

    def _account(self) -> None:
        while self._holder.poll() is None:
            with suppress(OSError):
                self._write_stat()
            time.sleep(_EVERY)

    def _write_stat(self) -> None:
        """In one write of one length, as others read it meanwhile."""
        running = sum(_runs(task) for task in (self._unified / "cgroup.threads").read_text().split())
        user, system = (int((self._time / f"cpuacct.usage_{how}").read_text()) / 1e9 for how in ("user", "sys"))
        idle = max(0.0, time.monotonic() - self._began - user - system)
        spent = " ".join(f"{seconds * _TICKS:012.0f}" for seconds in (user, 0.0, system, idle, 0.0, 0.0, 0.0, 0.0))
        text = f"cpu {spent} 0 0\ncpu0 {spent} 0 0\nctxt 0\nbtime 0\nprocesses 0\n"
        text += f"procs_running {max(1, running):06}\nprocs_blocked 0\n"
        with self._stat.open("r+b" if self._stat.exists() else "wb", buffering=0) as file:
            file.write(text.encode())


def _runs(task: str) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{task}/stat").read_text().rpartition(")")[2].split()[0] == "R"
    return False


class Disk:
    """A file system of 3 GiB in memory at `place`; once limited, so many operations a second, `slowly` while slow."""

    def __init__(self, place: Path, operations: int, slowly: int) -> None:
        self.place, self._usual, self._slowly = place, operations, slowly
        self._file = Path("/dev/shm") / f"lab-{place.name}-{os.getpid()}"
        ran("truncate", "-s", "3G", self._file)
        # A device over one whose operations are limited: only the upper one is the machine's.
        attach = ("losetup", "--find", "--show", "--direct-io=on")
        self._store = ran(*attach, self._file)
        self._upper = ran(*attach, self._store)
        self.device = self._upper.removeprefix("/dev/")
        queue = Path("/sys/block") / self.device / "queue"
        # Few operations at once, so that a checkpoint's writes make reads wait, which the limits keep apart.
        (queue / "nr_requests").write_text("8")
        (queue / "wbt_lat_usec").write_text("0")
        ran("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", self._upper)
        place.mkdir(parents=True)
        ran("mount", self._upper, place)

    def limit(self, operations: int | None = None) -> None:
        """Let it do so many reads and writes a second; None: as many as usual."""
        number = (Path("/sys/block") / self._store.removeprefix("/dev/") / "dev").read_text().strip()
        for how in ("read", "write"):
            throttle = _GROUPS / "blkio" / f"blkio.throttle.{how}_iops_device"
            throttle.write_text(f"{number} {self._usual if operations is None else operations}")

    def slow(self, seconds: float) -> None:
        """Be slow for a time."""
        self.limit(self._slowly)
        time.sleep(seconds)
        self.limit()

    def close(self) -> None:
        """Remove it."""
        self.limit(0)
        for words in (("umount", "-l", self.place), ("losetup", "-d", self._upper), ("losetup", "-d", self._store)):
            with suppress(subprocess.CalledProcessError):
                ran(*words)
        self._file.unlink(missing_ok=True)


def missing() -> str | None:
    """What this machine lacks for all that; None: nothing."""
    if os.geteuid():
        return "needs root, for namespaces, control groups and loop devices: start it with sudo"
    if not all((_GROUPS / one).is_dir() for one in ("blkio", "cpu", "cpuacct", "memory", "unified")):
        return "needs control groups of version 1 (blkio, cpu, cpuacct, memory) beside those of version 2 (unified)"
    if (os.cpu_count() or 1) < 2:
        return "needs two processors, one for each machine"
    absent = [one for one in ("unshare", "nsenter", "losetup", "ip", "tc", "fio", "pgbench") if not shutil.which(one)]
    return f"needs {', '.join(absent)}" if absent else None
