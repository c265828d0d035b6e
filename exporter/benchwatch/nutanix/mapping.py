"""From a vdisk to its part in the benchmark: the VM, the disk and the role."""

from pathlib import Path

from ..values.errors import ConfigError
from ..values.yaml import read_yaml
from .pages.main_page import VdiskRow, file_name
from .patterns import compiled, matches
from .settings import Mapped, NutanixSettings, VdiskDisk, VdiskSelection, mapped


def load_mapping(settings: NutanixSettings, folder: Path) -> Mapped:
    """The mapping, from the settings or the file they name (relative to `folder`). Raises ConfigError."""
    found = settings.mapping
    if settings.mapping_file:
        found = read_yaml(folder / settings.mapping_file, dict[str, VdiskDisk])
    try:
        return mapped(found)
    except ValueError as error:
        raise ConfigError(f"{folder / settings.mapping_file}: {error}") from None


class Selection:
    """Which vdisks' own pages are read: the mapped and the included ones, without the excluded ones."""

    def __init__(self, selection: VdiskSelection, mapping: Mapped) -> None:
        self._include = [compiled(pattern) for pattern in selection.include]
        self._exclude = [compiled(pattern) for pattern in selection.exclude]
        self._mapping = mapping

    def __contains__(self, row: VdiskRow) -> bool:
        file = file_name(row.name)
        names = {row.label, row.name, file} - {""}
        if any(matches(pattern, names) for pattern in self._exclude):
            return False
        return file.lower() in self._mapping or any(matches(pattern, names) for pattern in self._include)
