"""Roles of disks (data, log ...), by the names of the disks in node_exporter.

A disk has one role: if data and log share a disk, or have a partition of it each, the first role counts.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from ..values.errors import excerpt
from .mounts import Storage

DATA = "data"
LOG = "log"


def roles_of(paths: Iterable[tuple[Path, str]], storage: Storage) -> dict[str, str]:
    """The roles of the disks on which these files and folders lie; paths that lie on no disk are left out."""
    roles: dict[str, str] = {}
    for path, role in paths:
        if disk := storage.disk(path):
            roles.setdefault(disk, role)
    return roles


def check(given: Mapping[str, str], storage: Storage) -> tuple[dict[str, str], list[str]]:
    """Replaces the given names of this machine's disks by those of node_exporter; also a sentence for each fault.

    If the machine does not show its disks, the names stay as they are.
    """
    if not storage.lists_disks:
        return dict(given), []
    roles: dict[str, str] = {}
    faults = []
    for name, role in given.items():
        disk = storage.named(name)
        if not disk:
            faults.append(f"{excerpt(name)} is no disk of this machine: expected a name that lsblk shows")
        elif roles.setdefault(disk, role) != role:
            others = f"{disk} has the role {excerpt(roles[disk])}"
            faults.append(f"{excerpt(name)} cannot have the role {excerpt(role)} as well: {others}, and a disk has one")
    return roles, faults
