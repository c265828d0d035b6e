"""A name says which class or module is meant: each exists once."""

import re
from collections import Counter
from pathlib import Path

import benchwatch

PACKAGE = Path(benchwatch.__file__).parent


def test_no_public_class_shares_its_name_with_another() -> None:
    modules = PACKAGE.rglob("*.py")
    names = Counter(name for module in modules for name in re.findall(r"(?m)^class ([A-Z]\w+)", module.read_text()))
    assert [name for name, count in names.items() if count > 1] == []


def test_no_module_shares_its_name_with_another() -> None:
    # Each subcommand begins in a `command`; the packages of the tools implement one interface, module by module.
    modules = [module.relative_to(PACKAGE) for module in PACKAGE.rglob("*.py") if module.stem != "__init__"]
    of_tools = {module.stem for module in modules if module.parts[0] == "tools" and len(module.parts) == 3}
    others = [module.stem for module in modules if module.parts[0] != "tools" or len(module.parts) < 3]
    names = Counter((*of_tools, *others))
    assert [name for name, count in names.items() if count > 1] == ["command"]
