"""Roles of disks (data, log ...), under the names that node_exporter has for the disks.

A disk has one role: where data and log share one, or a partition of one each, the role named first counts.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..values.errors import excerpt
from .mounts import Storage

DATA = "data"
LOG = "log"


def roles_of(paths: Iterable[tuple[Path, str]], storage: Storage) -> dict[str, str]:
    """The roles of the disks that these files and folders lie on; those on no disk are left out."""
    roles: dict[str, str] = {}
    for path, role in paths:
        if disk := storage.disk(path):
            roles.setdefault(disk, role)
    return roles


def check(given: Mapping[str, str], storage: Storage) -> tuple[dict[str, str], list[str]]:
    """The roles that somebody gave disks of this machine, under the disks' names, and a sentence for each fault.

    Where the machine does not show its disks, all counts as it was given.
    """
    if not storage.lists_disks:
        return dict(given), []
    roles: dict[str, str] = {}
    return roles, list(_checked(given, storage, roles))


def _checked(given: Mapping[str, str], storage: Storage, roles: dict[str, str]) -> Iterator[str]:
    for name, role in given.items():
        disk = storage.named(name)
        if not disk:
            yield f"{excerpt(name)} is no disk of this machine: expected a name that lsblk shows"
        elif roles.setdefault(disk, role) != role:
            others = f"{disk} has the role {excerpt(roles[disk])}"
            yield f"{excerpt(name)} cannot have the role {excerpt(role)} as well: {others}, and a disk has one"
