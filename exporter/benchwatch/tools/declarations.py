"""What small tools share: families whose names say what they are, and samples from tables of figures."""

from collections.abc import Iterator, Mapping

from ..metrics.samples import Family, Kind, Sample


def family(name: str, text: str, *labels: str) -> Family:
    """A gauge, or a counter if its name ends in `_total`; of the whole run if `_result_` is in its name."""
    kind: Kind = "counter" if name.endswith("_total") else "gauge"
    return Family(name, kind, text, labels, "runs" if "_result_" in name else "live")


def samples(families: Mapping[str, Family | None], figures: Mapping[str, float], *labels: str) -> Iterator[Sample]:
    """The figures that have a family, with the values of its labels."""
    for name, each in families.items():
        if each and name in figures:
            yield Sample(each, labels[: len(each.labels)], figures[name])
