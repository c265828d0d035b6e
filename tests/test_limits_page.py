"""docs/limits.md says what the code does."""

import re
from pathlib import Path

import pytest

from benchwatch.metrics.limits import Limits
from benchwatch.settings.cvm_settings import NutanixSettings
from benchwatch.settings.settings import PushSettings
from limits_reference import markdown

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "limits.md").read_text()


def test_the_page_of_limits_is_what_the_code_bounds() -> None:
    assert markdown() == PAGE, "run scripts/document-metrics"


@pytest.mark.parametrize(
    ("key", "default"),
    [
        ("series", "200,000"),
        ("max_push_bytes", "68,719,476,736"),
        ("max_vdisks", "10,000"),
        ("deadline", "60 s"),
        ("a piece", "1 MiB"),
        ("a document", "64 MiB"),
        ("size", "256 KiB; 16 MiB"),
    ],
)
def test_a_row_has_the_default_of_the_code(key: str, default: str) -> None:
    assert re.search(rf"^\|`?{key}`?\|{re.escape(default)}\|", PAGE, re.MULTILINE)


def test_every_configurable_bound_has_its_row() -> None:
    rows = set(re.findall(r"^\|`(\w+)`\|", PAGE, re.MULTILINE))
    bounds = {key for key in NutanixSettings.__struct_fields__ if key.startswith("max_")}
    assert rows >= {*Limits.__struct_fields__, *PushSettings.__struct_fields__, *bounds} - {"enabled", "path"}


def test_every_metric_that_it_names_is_exported() -> None:
    named = set(re.findall(r"`((?:benchwatch|nutanix|pgbench|fio)_[a-z_]+)", PAGE))
    documented = (DOCS / "metrics.md").read_text()
    assert len(named) > 15
    assert [name for name in sorted(named) if f"`{name}`" not in documented] == []
