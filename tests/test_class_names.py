"""A name says which class is meant: no public one is there twice."""

import re
from collections import Counter
from pathlib import Path

import benchwatch


def test_no_public_class_shares_its_name_with_another() -> None:
    modules = Path(benchwatch.__file__).parent.rglob("*.py")
    names = Counter(name for module in modules for name in re.findall(r"(?m)^class ([A-Z]\w+)", module.read_text()))
    assert [name for name, count in names.items() if count > 1] == []
