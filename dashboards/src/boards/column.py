"""The column of time that boards share: alerts and other events as lanes, then each layer from the database down."""

from grafana_foundation_sdk.models import dashboard

from . import machine, storage
from .alerts import CHOSEN
from .look import ORANGE, PURPLE, override
from .queries import (
    HOST,
    Query,
    await_seconds,
    hdd_reads,
    lately,
    named,
    node,
    of_role,
    once,
    one_of,
    oplog_writes,
    rate,
)
from .strips import SLOW, lanes, strip
from .variables import VDISK_ROLES

_MOST = 8
_ALERT = "alertname, role, job, op, device"
_DASHED = {"custom__lineStyle": {"fill": "dash", "dash": [6, 4]}}
_NO_ROLE = "Nothing measured in this time range: the job `node` scrapes node_exporter, and run.yaml names the disks"


_ROLES = [
    override("byRegexp", f"/^(vdisk )?{name}$/", color={"mode": "fixed", "fixedColor": color})
    for name, color in (
        ("log write", PURPLE),
        ("log read", "#DEB6F2"),
        ("data write", ORANGE),
        ("data read", "#5794F2"),
    )
]
"""One colour a role, everywhere."""


def _lane(series: str, by: str, value: int) -> str:
    """`value` while there is a series of these labels, else 0: only those that are within the time range."""
    known = f"group by ({by}) (last_over_time({series}[$__range] @ end()))"
    return f"{value} * group by ({by}) ({lately(series)}) or on ({by}) 0 * {known}"


def _causes() -> str:
    """What benchwatch why names, in words."""
    spoken = _lane(SLOW[1], "run, layer", 2)
    for pattern, words in (("(.+)_(.+)", "$1 $2"), ("none", "unknown")):
        spoken = f'label_replace({spoken}, "layer", "{words}", "layer", "{pattern}")'
    return spoken


def events(height: int = 4) -> dashboard.Panel:
    """The run's slow times, their causes, checkpoints, and alerts."""
    firing = f'ALERTS{{{CHOSEN},severity!="info"}}'
    critical = f'ALERTS{{{CHOSEN},severity="critical"}}'
    known = f"group by ({_ALERT}) (topk({_MOST}, sum by ({_ALERT}) (count_over_time({firing}[$__range] @ end()))))"
    alerts = (
        f"5 * group by ({_ALERT}) ({lately(critical)}) or 4 * group by ({_ALERT}) ({lately(firing)}) or 0 * {known}"
    )
    spells = [_lane(one, "run", 1) for one in SLOW]
    checkpoint = f"pg_checkpoint_active{{{HOST}}}"
    busy = f"max by (host) ({lately(checkpoint)})"
    known_hosts = f"group by (host) (last_over_time({checkpoint}[$__range] @ end()))"
    return lanes(
        "When the run was slow, what the cause was (benchwatch why), checkpoints of the database, and the eight alerts "
        "that fired for longest, with what each is about. Only what occurred in the time range has a lane.",
        Query(f"max by (run) ({spells[0]}) > 0 or on (run) ({spells[1]}) or on (run) ({spells[0]})", "{{run}} slow"),
        Query(_causes(), "{{run}}: {{layer}}"),
        Query(f"3 * ({busy}) or on (host) 0 * {known_hosts}", "{{host}} checkpoint"),
        Query(f"({alerts}) and on ({_ALERT}) {known}", "{{alertname}} {{role}} {{job}} {{op}} {{device}}"),
        bad="lanes that begin together: the one with the cause names the layer.",
        none="Nothing recorded in this time range",
        height=height,
    )


def sessions(height: int = 2) -> dashboard.Panel:
    """What the database's sessions wait for."""
    kinds = {"I/O": '="IO"', "locks": '="Lock"', "rest (WAL, buffers)": '!~"CPU|Client|Activity|Timeout|IO|Lock"'}
    active = {
        kind: f"sum ({once(f'pg_sessions_active{{{HOST},wait_event_type{which}}}')})" for kind, which in kinds.items()
    }
    return strip(
        "Waits",
        "Sessions of the databases that wait, by what they wait for: I/O, locks on rows and tables, buffers and WAL.",
        Query(one_of("what", active), "{{what}}"),
        unit="short",
        bad="locks: sessions wait for each other, not for the storage.",
        none="Database waits: no postgres_exporter on this host",
        height=height,
        stacked=True,
        slow=f"pg_up{{{HOST}}}",
        overrides=[
            override("byName", kind, color={"mode": "fixed", "fixedColor": color})
            for kind, color in (("I/O", "#5794F2"), ("locks", "#FADE2A"), ("rest (WAL, buffers)", "#E02F44"))
        ],
    )


def processors(height: int = 2) -> dashboard.Panel:
    """Of server and client."""
    return strip(
        "CPU",
        "Busy share of the processors of the host whose disks the benchmark uses (server), and of the benchmark's own "
        "host (client) if that is another machine; also the server's steal, and idle time with I/O pending (iowait).",
        machine.processors(),
        unit="percentunit",
        bad="a client near 100 % measures itself; steal: the CVM or other guests have the processors.",
        none="CPU: no node_exporter on this host",
        height=height,
        maximum=1.1,
        slow=f"node_memory_Dirty_bytes{{{HOST}}}",
        overrides=[
            override("byRegexp", f"/ {name}$/", color={"mode": "fixed", "fixedColor": color})
            for name, color in (("server", "#DEB6F2"), ("client", "#A58F00"))
        ],
    )


def _role(role: str, expression: str) -> str:
    """The highest of a role's disks."""
    return f"max ({of_role(expression, role)})"


def disk_latency(height: int = 3) -> dashboard.Panel:
    """In the guest, and of the vdisks below."""
    guest = {
        f"{role} {op}": _role(role, await_seconds(f"{role}_device", op))
        for role in VDISK_ROLES
        for op in ("write", "read")
    }
    below = {}
    for role in VDISK_ROLES:
        by = f'{storage.CVM},vdisk=~"${role}_vdisk"'
        of = named(storage.slowest("frontend", by, "op"), by, VDISK_ROLES[role])
        below[role] = f"max by (op) ({of})"
    return strip(
        "Disk latency",
        "Mean time of a request as the guest waits for it (total seconds by the number of requests), the slowest disk "
        "of each role; dashed the front end of its vdisk, the slowest, whose page covers some 3 s of every 10.",
        Query(one_of("what", guest), "{{what}}"),
        Query(one_of("role", below), "vdisk {{role}} {{op}}"),
        unit="s",
        bad="log writes above 1 ms: each commit waits that long. A disk far above its vdisk: the path between.",
        none=_NO_ROLE,
        height=height,
        log=True,
        slow=f"node_memory_Dirty_bytes{{{HOST}}}",
        overrides=[*_ROLES, override("byRegexp", "/^vdisk /", **_DASHED)],
    )


def written(height: int = 2) -> dashboard.Panel:
    """By role."""

    def of(counter: str, role: str) -> str:
        return of_role(f"sum by (host, device) ({rate(node(counter, f'{role}_device'))})", role)

    bytes_ = {
        f"{role} {op}": f"sum ({of(counter, role)})"
        for role in VDISK_ROLES
        for op, counter in (("write", "written_bytes_total"), ("read", "read_bytes_total"))
    }
    return strip(
        "Disk B/s",
        "Bytes a second that the disks of each role write and read.",
        Query(one_of("what", bytes_), "{{what}}"),
        unit="Bps",
        bad="a burst of data writes while the log's vanish: commits wait behind a checkpoint.",
        none=_NO_ROLE,
        height=height,
        slow=f"node_memory_Dirty_bytes{{{HOST}}}",
        overrides=_ROLES,
    )


def vdisks(height: int = 2, *, clock: bool = True) -> dashboard.Panel:
    """What the storage does with writes and reads."""
    found: dict[str, str] = {}
    for role in VDISK_ROLES:
        by = f'{storage.CVM},vdisk=~"${role}_vdisk"'

        def of(series: str, how: str, role: str = role, by: str = by) -> str:
            return f"{how} ({named(series, by, VDISK_ROLES[role])})"

        found[f"absorbed, {role}"] = of(oplog_writes(by), "min")
        found[f"random, {role}"] = of(storage.highest("random_ratio", by), "max")
    by = f'{storage.CVM},vdisk=~"$data_vdisk"'
    found["from HDD, data"] = f"max ({named(hdd_reads(by), by, VDISK_ROLES['data'])})"
    return strip(
        "Vdisks",
        "Of the vdisks of each role: share of the written data that the oplog absorbed (the lowest), how random the "
        "operations were (dashed), and the share of the reads that came from hard disks (the highest).",
        Query(one_of("what", found), "{{what}}", minimum_step="10s"),
        unit="percentunit",
        bad="absorbed falls from 100 %: writes go straight to the extent store and wait for its disks.",
        none="Vdisks: no Nutanix CVM is watched (nutanix.cvms in benchwatch.yaml)",
        height=height,
        maximum=1.1,
        clock=clock,
        slow=f"nutanix_cvm_up{{{storage.CVM}}}",
        overrides=[
            override("byRegexp", "/, log$/", color={"mode": "fixed", "fixedColor": PURPLE}),
            override("byRegexp", "/, data$/", color={"mode": "fixed", "fixedColor": ORANGE}),
            override("byRegexp", "/^random/", **_DASHED),
            override("byName", "from HDD, data", color={"mode": "fixed", "fixedColor": "#5794F2"}),
        ],
    )


def below() -> list[dashboard.Panel]:
    """From the database down, the time at the end."""
    return [sessions(), processors(), disk_latency(), written(), vdisks()]
