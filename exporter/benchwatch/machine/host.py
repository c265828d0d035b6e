"""Facts about this machine that affect what a benchmark measures, from /proc and /sys.

A fact keeps the name that it has at its source (vm.swappiness, a sysctl); other names begin with `host.`. Facts that a
machine does not reveal (a governor in a virtual machine) are left out.
"""

import os
import re
import socket
from pathlib import Path

from .mounts import Storage, choice
from .question import ask

_SYSCTLS = (
    "vm.nr_hugepages",
    "vm.overcommit_memory",
    "vm.swappiness",
    "vm.dirty_ratio",
    "vm.dirty_bytes",
    "vm.dirty_background_ratio",
    "vm.dirty_background_bytes",
    "kernel.numa_balancing",
)
_PATIENCE = 2.0
"""Seconds to wait for the addresses of a name."""
_EARLY = -2.0
"""A server may seem to have started up to two seconds before its process: both times are rounded."""
_ROOT = re.compile(r"^\d+ \d+ (\S+ \S+) / ", re.MULTILINE)


class Host:
    """The machine to which these /proc and /sys belong."""

    def __init__(self, proc: Path = Path("/proc"), sys: Path = Path("/sys")) -> None:
        self._proc = proc
        self._sys = sys

    @property
    def name(self) -> str:
        """The host name."""
        return _read(self._proc / "sys/kernel/hostname")

    def owns(self, address: str) -> bool:
        """Whether a name or IP address belongs to this machine: a socket can bind it. Takes 2 s at most."""
        if address == self.name:
            return True
        try:
            found = ask(["getent", "ahosts", "--", address], _PATIENCE).out
        except (OSError, ValueError):
            return False
        return any(_is_own(line.split()[0]) for line in found.splitlines() if line.strip())

    def facts(self) -> dict[str, str]:
        """All facts, by name."""
        sys = self._sys
        cpus = _read(self._proc / "cpuinfo")
        memory = _read(self._proc / "meminfo")
        flags = _field(cpus, "flags").split()  # of x86 only
        product = [_read(sys / f"class/dmi/id/{name}") for name in ("sys_vendor", "product_name")]
        found = {
            "host.name": self.name,
            "host.cpu_model": _field(cpus, "model name"),
            "host.cpus": str(len(re.findall(r"^processor\s*:", cpus, re.MULTILINE)) or ""),
            "host.numa_nodes": str(len(list(sys.glob("devices/system/node/node[0-9]*"))) or ""),
            "host.cpu_governor": _read(sys / "devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            "host.memory": _field(memory, "MemTotal"),
            "host.huge_pages_total": _field(memory, "HugePages_Total"),
            "host.huge_pages_free": _field(memory, "HugePages_Free"),
            "host.huge_page_size": _field(memory, "Hugepagesize"),
            "host.transparent_huge_pages": choice(_read(sys / "kernel/mm/transparent_hugepage/enabled")),
            "host.kernel": _read(self._proc / "sys/kernel/osrelease"),
            "host.clocksource": _read(sys / "devices/system/clocksource/clocksource0/current_clocksource"),
            "host.product": " ".join(filter(None, product)),
            "host.virtual_machine": ("on" if "hypervisor" in flags else "off") if flags else "",
            "host.load_average": _read(self._proc / "loadavg").split(" ")[0],
            **{name: _read(self._proc / "sys" / name.replace(".", "/")) for name in _SYSCTLS},
        }
        return {name: value for name, value in found.items() if value}

    def process_started_at(self, name: str, moment: float, before: float) -> int | None:
        """The process of that name that started nearest to `moment` (Unix seconds); its parent has another name.

        It may have started up to `before` seconds earlier. A process whose working folder was removed does not count:
        it belongs to another server that is about to end.
        """
        boot = re.search(r"^btime (\d+)$", _read(self._proc / "stat"), re.MULTILINE)
        if not boot:
            return None
        found: dict[int, tuple[int, float]] = {}
        for folder in self._proc.glob("[0-9]*"):
            own_name, fields = self._status(folder.name)
            if own_name == name:
                started = int(boot[1]) + int(fields[19]) / os.sysconf("SC_CLK_TCK")
                found[int(folder.name)] = int(fields[1]), moment - started
        late = {
            process: after
            for process, (parent, after) in found.items()
            if parent not in found
            and _EARLY <= after <= before
            and not str(self.working_folder(process)).endswith(" (deleted)")
        }
        return min(late, key=lambda process: abs(late[process]), default=None)

    def working_folder(self, process: int) -> Path | None:
        """The working folder of a process; None if this user may not see it."""
        try:
            return (self._proc / str(process) / "cwd").readlink()
        except OSError:
            return None

    def has_our_root(self, process: int) -> bool:
        """Whether a path means the same to another process as to this one; not so in a container or after chroot.

        Unlike other evidence, every user may read the mounts of a process.
        """
        return self._root(str(process)) == self._root("self") != ""

    def _root(self, process: str) -> str:
        """Device and folder that a process sees at /, from mountinfo (proc(5)); empty if unknown."""
        return next(reversed(_ROOT.findall(_read(self._proc / process / "mountinfo"))), "")

    def descends(self, process: int, ancestor: int) -> bool:
        """Whether a running process is `ancestor` or one of its descendants."""
        while process not in (0, ancestor):
            _, fields = self._status(str(process))
            process = int(fields[1]) if fields else 0
        return process == ancestor

    def _status(self, process: str) -> tuple[str, list[str]]:
        """The name of a process and the fields after it: state, parent ... (stat in proc(5)); empty if it has ended."""
        head, _, rest = _read(self._proc / process / "stat").rpartition(")")
        return head.partition("(")[2], rest.split()

    @property
    def storage(self) -> Storage:
        """Its mounts and block devices."""
        return Storage(self._proc, self._sys)

    def available_memory(self) -> int:
        """Bytes of memory that programs can still allocate."""
        return int(_field(_read(self._proc / "meminfo"), "MemAvailable").partition(" ")[0] or 0) * 1024


def _is_own(address: str) -> bool:
    """Whether a socket on this machine can bind this IP address."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


def _field(text: str, name: str) -> str:
    match = re.search(rf"^{name}\s*:\s*(.*)$", text, re.MULTILINE)
    return match[1].strip() if match else ""
