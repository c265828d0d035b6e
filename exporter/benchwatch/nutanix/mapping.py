"""The mapping: the VM, disk and role of each vdisk of the benchmark, by the file name in the vdisk's name."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..settings.cvm_settings import KEEP_INTERVALS, Mapped, NutanixSettings, VdiskDisk, VdiskSelection, mapped
from ..values.errors import ConfigError, excerpt
from ..values.yaml import read_yaml
from .cvm_snapshot import CvmSource
from .pages.main_page import VdiskRow


def load_mapping(settings: NutanixSettings, folder: Path) -> Mapped:
    """The mapping, from the settings or the file that they name (relative to `folder`). Raises ConfigError."""
    mapping = settings.mapping
    if settings.mapping_file:
        mapping = read_yaml(folder / settings.mapping_file, dict[str, VdiskDisk])
    try:
        return mapped(mapping)
    except ValueError as error:
        raise ConfigError(f"{folder / settings.mapping_file}: {error}") from None


def selected(row: VdiskRow, selection: VdiskSelection, mapping: Mapped) -> bool:
    """Whether the vdisk's own page is read: it is mapped or included, but not excluded."""
    names = {row.label, row.name, row.file} - {""}

    def matches(patterns: Iterable[str]) -> bool:
        return any(re.fullmatch(pattern, name) for pattern in patterns for name in names)

    is_wanted = row.file.lower() in mapping or matches(selection.include)
    return is_wanted and not matches(selection.exclude)


class Unlisted:
    """Mapped vdisks that no CVM lists: they are misspelt, on a CVM that is not configured, or their VM is off."""

    def __init__(self, mapping: Mapped, cvms: Sequence[CvmSource], poll_interval: float) -> None:
        self._mapping = mapping
        self._cvms = cvms
        self._interval = poll_interval
        self._due = 0.0
        self._missing: dict[str, float] = {}
        """Since when, monotonic seconds; a vdisk that moves may be on no page for one poll."""
        self._reported: set[str] = set()

    def news(self, now: float) -> list[str]:
        """A sentence for each vdisk that has been on no CVM's page for three polls while all CVMs answered.

        `now` is in monotonic seconds.
        """
        if not self._cvms or now < self._due:
            return []
        self._due = now + self._interval
        snapshots = [cvm.status.snapshot for cvm in self._cvms]
        mains = [snapshot.main for snapshot in snapshots if snapshot]
        rows = (row for main in mains for table in (main.hosted, main.frontend) for row in table.rows)
        listed = {row.file.lower() for row in rows}
        self._reported -= listed
        if len(mains) < len(snapshots):  # a vdisk may be on a CVM that does not answer
            self._missing.clear()
            return []
        self._missing = {name: self._missing.get(name, now) for name in self._mapping if name not in listed}
        late = now - KEEP_INTERVALS * self._interval
        new = [name for name, since in self._missing.items() if since <= late and name not in self._reported]
        self._reported.update(new)
        expected = "expected the uuid in the name of a vdisk of a running VM"
        vms = {name: f" (vm {excerpt(vm)})" if (vm := self._mapping[name].vm) else "" for name in new}
        return [f"mapping: no configured CVM lists the vdisk {excerpt(name)}{vms[name]}: {expected}" for name in new]
