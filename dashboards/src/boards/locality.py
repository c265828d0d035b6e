"""Locality and migration: a vdisk moves to another CVM, and its data follows.

Throughput, where reads come from, and the moves, on one time axis.
"""

from grafana_foundation_sdk.models import dashboard

from . import benchmark, storage, variables
from .board import Board, Row
from .look import BLUE
from .queries import VDISK, Query, named
from .strips import lanes, legend_only, strip

_BEFORE = f'last_over_time(nutanix_vdisk_info{{{VDISK},vdisk_uuid!=""}}[1m] offset $__interval)'
MOVES = (
    f'(group by (cvm, vdisk_uuid, vm, disk, role) (nutanix_vdisk_info{{{VDISK},vdisk_uuid!=""}})\n'
    f"unless on (cvm, vdisk_uuid) {_BEFORE})\n"
    "* on (vdisk_uuid) group_left (from) topk by (vdisk_uuid) (1, group by (vdisk_uuid, from) "
    f'(label_replace({_BEFORE}, "from", "$1", "cvm", "(.+)")))'
)
"""A vdisk that a CVM hosts now and did not a step ago, with the CVM that did as label `from`."""


def _sources(far: str) -> str:
    """Part of the data read from sources that match, all of a vdisk's together: 0 where only others have any."""
    every = f"nutanix_vdisk_read_source_ratio{{{VDISK}"
    one = f"max by (cvm, vdisk, source) ({every},source{far}}})"
    return named(f"sum by (cvm, vdisk) ({one}) or 0 * max by (cvm, vdisk) ({every}}})", VDISK)


def _reads() -> dashboard.Panel:
    return strip(
        "Reads",
        "Part of the data read that came from this node (local: caches, oplog, its own disks) and from another "
        "(remote), by vdisk.",
        Query(_sources('!~".*remote.*"'), "{{which}} local", minimum_step="10s"),
        Query(_sources('=~".*remote.*"'), "{{which}} remote", minimum_step="10s"),
        unit="percentunit",
        bad="remote stays high after a move: the data does not follow, and each read crosses the network.",
        none=storage.NO_CVM,
        height=5,
        maximum=1.1,
    )


BOARD = Board(
    uid="benchwatch-locality",
    description="A migration on one time axis: throughput, local and remote reads, and when a vdisk moved.",
    variables=[*variables.standard(newest=True), variables.recorded(), variables.cvm(), variables.vdisk()],
    rows=[
        Row(
            "",
            [
                benchmark.throughput(3),
                benchmark.latency(4),
                _reads(),
                lanes(
                    "The CVM that hosts each vdisk: a bar ends on one and begins on another when it moves.",
                    Query(named(f"max by (cvm, vdisk) (nutanix_vdisk_info{{{VDISK}}})", VDISK), "{{which}} on {{cvm}}"),
                    bad="a move in the middle of a run that was not planned.",
                    none=storage.NO_CVM,
                    height=4,
                    title="Where each vdisk is",
                    says={1: (legend_only("on this CVM"), BLUE)},
                ),
                strip(
                    "Front end",
                    "What the virtual machine sees, by vdisk, direction and CVM, the highest in each step.",
                    Query(named(storage.slowest("frontend", VDISK, "op"), VDISK), "{{cvm}} {{which}} {{op}}"),
                    unit="s",
                    bad="reads stay slower after the move than before it.",
                    none=storage.NO_CVM,
                    height=4,
                    log=True,
                    clock=True,
                    calcs=("max",),
                ),
            ],
        )
    ],
    range_="now-30m",
    refresh="10s",
    moves=MOVES,
)
