"""What a run is: its tool, machines, devices and virtual machine, from the samples of the exporter."""

from collections.abc import Mapping
from typing import NamedTuple

from ..tools.registry import TOOLS
from ..tools.roles import Roles
from .seen import Seen

CLIENTS = ("pgbench_clients", "sysbench_threads")
"""Operations that may be under way, as asked for."""
LOG_ROLES = ("log", "wal")
"""Roles of devices and vdisks with a log; any other is data."""
_VARYING = ("duration", "time", "seed", "started", "version", "free")
"""Words in the names of parameters in which two runs of one kind may differ."""


class RunFacts(NamedTuple):
    """One run."""

    name: str
    tool: str
    roles: Roles | None
    server: str
    """The machine whose disks and processors it uses; empty: unknown."""
    clients: frozenset[str]
    """The benchmark's own machines, if they are others."""
    devices: Mapping[str, str]
    """log or data, by the name of a device of the server."""
    machine: str
    """The virtual machine that the server is; empty: unknown."""
    at_once: float
    """Operations that may be under way, as asked for; 0: unknown."""
    objective: float | None
    """Latency it should stay below, seconds."""
    start: float | None
    kind: tuple[object, ...]
    """Equal for runs that can be compared: tool, machine, parameters."""

    @property
    def database(self) -> bool:
        """Whether its operations are transactions."""
        return bool(self.roles and self.roles.database)

    @property
    def hosts(self) -> frozenset[str]:
        """All machines of the run."""
        return self.clients | ({self.server} if self.server else frozenset())

    def of_role(self, role: str) -> list[str]:
        """The devices with the log, or those with data."""
        return [device for device, known in self.devices.items() if known == role]


def facts(seen: Seen, run: str) -> RunFacts:
    """What samples say of a run."""
    found = [(tool, roles) for tool in TOOLS for roles in tool.roles if any(seen.of(roles.rate.name, run=run))]
    name, roles = (found[0][0].name, found[0][1]) if found else ("", None)
    hosts: dict[str, set[str]] = {"server": set(), "client": set()}
    for one in seen.of("benchwatch_run_host_info", run=run):
        hosts.setdefault(one.labels.get("role", ""), set()).add(one.labels.get("host", ""))
    server = min(hosts["server"] or hosts["client"], default="")
    # A run whose record names no disks has those of its machine's configuration.
    disks = [*seen.of("benchwatch_run_disk_info", run=run)] or seen.of("benchwatch_disk_info", host=server)
    objectives = [float(one.values[-1]) for one in seen.of("benchwatch_run_latency_objective_seconds", run=run)]
    starts = [float(one.values[-1]) for one in seen.of("benchwatch_run_start_timestamp_seconds", run=run)]
    at_once = sum(float(one.values[-1]) for family in CLIENTS for one in seen.of(family, run=run))
    parameters = frozenset(
        (one.labels.get("name", ""), one.labels.get("value", ""))
        for one in seen.of("benchwatch_run_parameter", run=run)
        if not any(word in one.labels.get("name", "") for word in _VARYING)
    )
    return RunFacts(
        run,
        name,
        roles,
        server,
        frozenset(hosts["client"] - {server}),
        {one.labels["device"]: "log" if one.labels["role"] in LOG_ROLES else "data" for one in disks},
        min((one.labels.get("vm", "") for one in seen.of("benchwatch_run_vm_info", run=run)), default=""),
        at_once,
        min(objectives, default=roles.objective if roles else None),
        min(starts, default=None),
        (name, server, at_once, parameters),
    )
