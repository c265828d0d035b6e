"""The vdisks of the CVMs as `/api/cvms` shows them."""

from collections.abc import Mapping

from ..metrics.samples import Family, Sample, SampleColumn
from ..model.cvm import Vdisk
from ..nutanix import families
from ..nutanix.cvm_snapshot import Status
from ..nutanix.poller import Poller


class Vdisks:
    """The vdisks of all CVMs; each poll is read once."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[Status, list[Vdisk]]] = {}

    def all(self, poller: Poller) -> list[Vdisk]:
        """The vdisks of one CVM as of its last successful poll."""
        status = poller.status
        known = self._seen.get(poller.name)
        if known is None or known[0] is not status:
            known = self._seen[poller.name] = status, _read(poller, status)
        return known[1]


_FAMILIES = (
    families.FRONTEND_OPS,
    families.FRONTEND_LATENCY,
    families.RANDOM,
    families.WRITE_DESTINATION_RATIO,
)


def _read(poller: Poller, status: Status) -> list[Vdisk]:
    """The vdisks in a snapshot; those of which the page has no row are left out."""
    if not status.snapshot:
        return []
    numbers: dict[Family, dict[str, dict[str, float]]] = {family: {} for family in _FAMILIES}
    names: dict[str, Mapping[str, str]] = {}
    for sample in poller.samples():
        if sample.family is families.VDISK_INFO and isinstance(sample, Sample):
            names[sample.labels[0]] = dict(zip(sample.family.labels, sample.labels, strict=True))
        elif sample.family not in numbers:
            continue
        elif isinstance(sample, SampleColumn):
            for (vdisk, key), number in zip(sample.labels, sample.numbers, strict=True):
                numbers[sample.family].setdefault(vdisk, {})[key] = number
        elif isinstance(sample.value, int | float):
            vdisk, key = sample.labels
            numbers[sample.family].setdefault(vdisk, {})[key] = sample.value
    rates, latencies, random, destinations = numbers.values()
    return [
        Vdisk(
            poller.name,
            vdisk,
            name.get("vm", ""),
            name.get("disk", ""),
            name.get("role", ""),
            status.snapshot.time,
            rates.get(vdisk, {}),
            latencies.get(vdisk, {}),
            random.get(vdisk, {}),
            destinations.get(vdisk, {}).get("oplog"),
        )
        for vdisk, name in names.items()
    ]
