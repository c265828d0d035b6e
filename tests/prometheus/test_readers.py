"""What the rules record is read: by a board, an alert, a program, or by what one of these reads."""

import re
from pathlib import Path

import yaml

_CHECKOUT = Path(__file__).parents[2]
_NAME = re.compile(r"[a-z_]\w*(?::\w+)+")


def _rules() -> list[dict[str, str]]:
    found = []
    for path in sorted((_CHECKOUT / "prometheus/rules").glob("*.yml")):
        found += [rule for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]]
    return found


def _readers() -> str:
    """The text of boards and programs, and of alerts with their annotations."""
    boards = (_CHECKOUT / "dashboards/json").glob("*.json")
    programs = (_CHECKOUT / "exporter/benchwatch").rglob("*.py")
    alerts = [str(rule) for rule in _rules() if "alert" in rule]
    return "\n".join([*(path.read_text() for path in (*boards, *programs)), *alerts])


def test_every_recorded_series_has_a_reader() -> None:
    records: dict[str, set[str]] = {}
    for rule in _rules():
        if "record" in rule:
            records.setdefault(rule["record"], set()).update(_NAME.findall(rule["expr"]))
    read = set(_NAME.findall(_readers())) & records.keys()
    # A board's selector of names, such as {__name__=~"run:.+:mean1s"}, only asks which runs have them.
    while more := {name for one in read for name in records[one]} & records.keys() - read:
        read |= more
    assert sorted(records.keys() - read) == []
    assert len(records) > 50
