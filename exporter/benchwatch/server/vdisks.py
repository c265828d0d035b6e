"""The vdisks of a CVM as `/api/cvms` shows them."""

from collections import defaultdict
from collections.abc import Mapping
from typing import cast

from ..metrics.samples import Family, Sample, SampleColumn
from ..model.cvm import Vdisk
from ..nutanix import families
from ..nutanix.cvm_snapshot import Snapshot
from ..nutanix.poller import Poller


def vdisks(poller: Poller, snapshot: Snapshot) -> list[Vdisk]:
    """Those of one CVM in its last snapshot, except those of which the page has no row."""
    names: dict[str, Mapping[str, str]] = {}
    numbers: dict[Family, dict[str, dict[str, float]]] = {
        family: defaultdict(dict)
        for family in (
            families.FRONTEND_OPS,
            families.FRONTEND_LATENCY,
            families.RANDOM,
            families.WRITE_DESTINATION_RATIO,
        )
    }
    for sample in poller.samples():
        if sample.family is families.VDISK_INFO and isinstance(sample, Sample):
            names[sample.labels[0]] = dict(zip(sample.family.labels, sample.labels, strict=True))
        elif sample.family in numbers:
            if isinstance(sample, SampleColumn):
                pairs = list(zip(sample.labels, sample.numbers, strict=True))
            else:
                pairs = [(sample.labels, cast(float, sample.value))]
            for (vdisk, key), number in pairs:
                numbers[sample.family][vdisk][key] = number
    rates, latencies, random, destinations = numbers.values()
    return [
        Vdisk(
            poller.name,
            vdisk,
            name["vm"],
            name["disk"],
            name["role"],
            snapshot.time,
            rates[vdisk],
            latencies[vdisk],
            random[vdisk],
            destinations[vdisk].get("oplog"),
        )
        for vdisk, name in names.items()
    ]
