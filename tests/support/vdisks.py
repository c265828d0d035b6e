"""What was read of vdisks, in short."""

from collections.abc import Mapping

from benchwatch.metrics.samples import Family
from benchwatch.nutanix.families import Series
from benchwatch.nutanix.pages.main_page import VdiskTable


def row_values(table: VdiskTable, row: int) -> dict[str, float]:
    """The numbers of one row, without those that have no value, by metric: `read_latency_seconds`."""
    return {_short(series): numbers[row] for series, numbers in table.numbers.items() if numbers[row] is not None}  # type: ignore[misc]


def _short(series: Series) -> str:
    family, labels = series
    name = family.name.removeprefix("nutanix_vdisk_").removeprefix("frontend_").removeprefix("backend_")
    return "_".join((*labels, name))


def of_family(stats: Mapping[Series, float], family: Family) -> dict[tuple[str, ...], float]:
    """The numbers of one family, by the values of the labels after `vdisk`."""
    return {labels: value for (found, labels), value in stats.items() if found is family}
