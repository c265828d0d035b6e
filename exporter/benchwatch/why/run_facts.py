"""What a run is: its tool, machines, devices and vdisks, from the samples of the exporter."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..tools.registry import TOOLS
from ..tools.roles import Roles
from .seen import Seen

RUN_METRICS = (
    *("benchwatch_run_info", "benchwatch_run_state", "benchwatch_run_host_info", "benchwatch_run_vm_info"),
    *("benchwatch_run_disk_info", "benchwatch_run_parameter", "benchwatch_run_latency_objective_seconds"),
    *("benchwatch_run_start_timestamp_seconds", "pgbench_clients", "sysbench_threads"),
)
"""What is asked of a run besides the families of its tool."""
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


def rate_families() -> Iterable[str]:
    """Names of the families that say how much a run of any tool does and how long that takes."""
    for roles in (roles for tool in TOOLS for roles in tool.roles if not roles.observer):
        yield from (family.name for family in (roles.rate, roles.latency, roles.lag, roles.window) if family)


def facts(seen: Seen, run: str, more_roles: Mapping[tuple[str, str], str]) -> RunFacts:
    """What samples say of a run. `more_roles`: those of the configuration, by host and device, for runs without any."""
    found = [(tool, roles) for tool in TOOLS for roles in tool.roles if any(seen.of(roles.rate.name, run=run))]
    tool, roles = found[0] if found else (None, None)
    hosts: dict[str, set[str]] = {"server": set(), "client": set()}
    for one in seen.of("benchwatch_run_host_info", run=run):
        hosts.setdefault(one.labels.get("role", ""), set()).add(one.labels.get("host", ""))
    server = min(hosts["server"] or hosts["client"], default="")
    roles_of_disks = {one.labels["device"]: one.labels["role"] for one in seen.of("benchwatch_run_disk_info", run=run)}
    chosen = roles_of_disks or {device: role for (host, device), role in more_roles.items() if host == server}
    objectives = [one.values[-1] for one in seen.of("benchwatch_run_latency_objective_seconds", run=run)]
    starts = [one.values[-1] for one in seen.of("benchwatch_run_start_timestamp_seconds", run=run)]
    at_once = [one.values[-1] for name in ("pgbench_clients", "sysbench_threads") for one in seen.of(name, run=run)]
    parameters = {
        (one.labels.get("name", ""), one.labels.get("value", ""))
        for one in seen.of("benchwatch_run_parameter", run=run)
        if not any(word in one.labels.get("name", "") for word in _VARYING)
    }
    return RunFacts(
        run,
        tool.name if tool else "",
        roles,
        server,
        frozenset(hosts["client"] - {server}),
        {device: "log" if role in LOG_ROLES else "data" for device, role in chosen.items()},
        min((one.labels.get("vm", "") for one in seen.of("benchwatch_run_vm_info", run=run)), default=""),
        float(sum(at_once)),
        float(min(objectives)) if objectives else roles.objective if roles else None,
        float(min(starts)) if starts else None,
        (tool.name if tool else "", server, sum(at_once), frozenset(parameters)),
    )
