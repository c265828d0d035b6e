from pathlib import Path

from metrics_reference import markdown, sections

DOCS = Path(__file__).parents[1] / "docs"


def test_the_reference_of_metrics_is_what_the_code_declares() -> None:
    assert (DOCS / "metrics.md").read_text() == markdown(), "run scripts/document-metrics"


def test_names_are_unique_and_end_in_their_base_unit_or_total() -> None:
    families = [family for _, families in sections() for family in families]
    names = [family.name for family in families]
    assert sorted(set(names)) == sorted(names)
    for family in families:
        assert family.help.endswith("."), family.name
        assert (family.kind == "counter") == family.name.endswith("_total"), family.name
        assert not family.name.endswith(("_ms", "_us", "_kb", "_mb", "_percent")), family.name
