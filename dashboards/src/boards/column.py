"""The column of time that boards share: alerts and other events as lanes, then each layer from the database down."""

from collections.abc import Callable

from grafana_foundation_sdk.models import dashboard

from . import machine, storage
from .alerts import CHOSEN
from .look import ORANGE, PURPLE, RED, override
from .queries import (
    HOST,
    ROLES,
    Query,
    await_seconds,
    hdd_reads,
    lately,
    node,
    of_role,
    once,
    one_of,
    oplog_writes,
    rate,
)
from .strips import (
    CHECKPOINT_LANE,
    CRITICAL_LANE,
    FIRST_LAYER,
    LAYERS,
    SLOW,
    SLOW_LANE,
    WARNING_LANE,
    lanes,
    strip,
)

_MOST = 4
"""Alerts that have a lane: with those of two runs and of checkpoints, seven."""
_ALERT = "run, alertname, role, job"
_DASHED = {"custom__lineStyle": {"fill": "dash", "dash": [6, 4]}}
_BELOW = {"custom__lineWidth": 3}
"""Of the data, below the line of the log: where both are alike, both are seen."""
_NO_ROLE = "Nothing measured in this time range: the job `node` scrapes node_exporter, and run.yaml names the disks"


def _lane(series: str, by: str, value: int) -> str:
    """`value` while there is a series of these labels."""
    return f"{value} * group by ({by}) ({lately(series)})"


def _ever(series: str, by: str) -> str:
    """0 for those that are within the time range: a lane is 0 while nothing happens."""
    return f"0 * group by ({by}) (last_over_time({series}[$__range] @ end()))"


def _slow() -> str:
    """Each run's slow times by their cause; of two within a step, the lower layer."""
    known, why = SLOW
    causes = [
        _lane(why.replace("}", f',layer="{layer}"}}'), "run", FIRST_LAYER + number)
        for number, layer in enumerate(LAYERS)
    ]
    slow = [_lane(one, "run", SLOW_LANE) for one in SLOW]
    return " or on (run) ".join([*reversed(causes), *slow, *(_ever(one, "run") for one in (known, why))])


def events(height: int = 5) -> dashboard.Panel:
    """The run's slow times with their causes, checkpoints, and alerts."""
    firing = f'ALERTS{{{CHOSEN},severity!="info",alertname!="RunSlow"}}'
    critical = firing.replace('severity!="info"', 'severity="critical"')
    known = f"group by ({_ALERT}) (topk({_MOST}, sum by ({_ALERT}) (count_over_time({firing}[$__range] @ end()))))"
    alerts = " or ".join([_lane(critical, _ALERT, CRITICAL_LANE), _lane(firing, _ALERT, WARNING_LANE), f"0 * {known}"])
    checkpoint = f"pg_checkpoint_active{{{HOST}}}"
    busy = f"{CHECKPOINT_LANE} * (max by (host) ({lately(checkpoint)}) > 0)"
    return lanes(
        "When a run was slow (shaded in the graphs below) and what the cause was (benchwatch why), checkpoints of the "
        f"database, and the {_MOST} alerts that fired for longest, with what each is about. Only what occurred in the "
        "time range has a lane.",
        Query(f"({alerts}) and on ({_ALERT}) {known}", "{{run}}: {{alertname}} {{role}} {{job}}"),
        Query(f"{busy} or on (host) {_ever(checkpoint, 'host')}", "{{host}} checkpoint"),
        Query(f"{_slow()} or on () vector(0)", "{{run}}: slow (shaded), due to"),
        bad="lanes that begin together: the first names the cause.",
        none="Nothing recorded in this time range",
        height=height,
    )


def sessions(height: int = 3, *, clock: bool = False) -> dashboard.Panel:
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
        clock=clock,
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
        "host (client) if that is another machine; also the server's steal where it is above 1 %. Waiting for I/O is "
        "idle time.",
        machine.processors(),
        unit="percentunit",
        bad="a client near 100 % measures itself; steal: the CVM or other guests have the processors.",
        none="CPU: no node_exporter on this host",
        height=height,
        maximum=1.1,
        slow=f"node_memory_Dirty_bytes{{{HOST}}}",
    )


def disk_latency(height: int = 3) -> dashboard.Panel:
    """In the guest, and of the vdisks below."""
    guest, below = {}, {}
    for role in ROLES:
        device = f"{role}_device"
        disks = " or ".join(
            f'label_replace({await_seconds(device, op)}, "op", "{op}", "", "")' for op in ("write", "read")
        )
        guest[role] = f"max by (host) ({of_role(f'({disks})', role)})"
        below[f"{role} vdisk"] = f"max ({_of_vdisks(role, lambda by: storage.slowest('frontend', by, 'op'))})"
    return strip(
        "Disk latency",
        "Mean time of a request as the guest waits for it (total seconds by the number of requests): the slowest disk "
        "of each role, reading or writing. Dashed: the front end of its vdisk, the slowest, whose page covers some 3 s "
        "of every 10.",
        Query(one_of("what", guest | below), "{{host}} {{what}}"),
        unit="s",
        bad="log above 1 ms: each commit waits that long. A disk far above its vdisk: the path between.",
        none=_NO_ROLE,
        height=height,
        log=True,
        slow=f"node_memory_Dirty_bytes{{{HOST}}}",
        overrides=[
            *(
                override("byRegexp", f"/\\b{role}( vdisk)?$/", color={"mode": "shades", "fixedColor": color})
                for role, color in (("log", PURPLE), ("data", ORANGE))
            ),
            override("byRegexp", r"/\bdata$/", **_BELOW),
            override("byRegexp", "/ vdisk$/", **_DASHED),
        ],
    )


def _of_vdisks(role: str, figure: Callable[[str], str]) -> str:
    """A figure of the vdisks of a role: a number can be the log on one CVM and data on another."""
    by = f'{storage.CVM},vdisk=~"${role}_vdisk"'
    other = ROLES["data" if role == "log" else "log"]
    others = f"last_over_time(nutanix_vdisk_info{{{by},{other}}}[$__range] @ end())"
    return f"({figure(by)}) unless on (cvm, vdisk) {others}"


def written(height: int = 2) -> dashboard.Panel:
    """By role."""

    def of(counter: str, role: str) -> str:
        disks = f"sum by (host, device) ({rate(node(counter, f'{role}_device'))})"
        return f"sum by (host) ({of_role(disks, role)})"

    return strip(
        "Written",
        "Bytes a second that the disks of each role write.",
        Query(one_of("what", {role: of("written_bytes_total", role) for role in ("log", "data")}), "{{host}} {{what}}"),
        unit="Bps",
        bad="a burst of data writes while the log's vanish: commits wait behind a checkpoint.",
        none=_NO_ROLE,
        height=height,
        slow=f"node_memory_Dirty_bytes{{{HOST}}}",
        overrides=[
            override("byRegexp", f"/\\b{role}$/", color={"mode": "shades", "fixedColor": color})
            for role, color in (("log", PURPLE), ("data", ORANGE))
        ],
    )


def vdisks(height: int = 2) -> dashboard.Panel:
    """What the storage does with writes and reads."""

    found = {f"{role} writes to oplog": f"min ({_of_vdisks(role, oplog_writes)})" for role in ROLES}
    found["data reads from HDD"] = f"max ({_of_vdisks('data', hdd_reads)}) > 0.01"
    return strip(
        "Vdisks",
        "Of the vdisks of each role: share of the written data that the oplog absorbed, the lowest; and the share of "
        "the reads that came from hard disks where it is above 1 %, the highest.",
        Query(one_of("what", found), "{{what}}", minimum_step="10s"),
        unit="percentunit",
        bad="falls from 100 %: writes go straight to the extent store and wait for its disks.",
        none="Vdisks: no Nutanix CVM is watched (nutanix.cvms in benchwatch.yaml)",
        height=height,
        maximum=1.1,
        clock=True,
        slow=f"nutanix_cvm_up{{{storage.CVM}}}",
        calcs=("lastNotNull", "min"),
        overrides=[
            override("byName", name, color={"mode": "fixed", "fixedColor": color}, **more)
            for name, color, more in (
                ("log writes to oplog", PURPLE, {}),
                ("data writes to oplog", ORANGE, _BELOW),
                ("data reads from HDD", RED, {}),
            )
        ],
    )


def below(written_height: int = 2) -> list[dashboard.Panel]:
    """From the processors down, the time at the end."""
    return [processors(), disk_latency(), written(written_height), vdisks()]
