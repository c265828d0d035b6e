"""The rules' tests as vmalert-tool runs them on VictoriaMetrics' engine.

The files are those of promtool, with another name for the checks of expressions. One thing is not the same by design:
what a rule records, a rule of the same group finds an evaluation later, not at once. So a group becomes several here,
one for the rules that need no other one of it, one for those that need only these, and so on: vmalert-tool stores what
a group records before it evaluates the next.
"""

import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from scale_stack import CHECKOUT

_PROMETHEUS = CHECKOUT / "prometheus"
_START = 946684800
"""When vmalert-tool begins its tests, seconds since 1970, which is when promtool begins them."""


def _split(source: Path, folder: Path) -> dict[str, list[str]]:
    """Writes a file of rules with a group for each rule; the new groups by the old ones."""
    found: dict[str, list[str]] = {}
    groups = []
    for group in yaml.safe_load(source.read_text())["groups"]:
        levels: dict[int, list[dict[str, Any]]] = {}
        recorded: dict[str, int] = {}
        for rule in group["rules"]:
            texts = " ".join((rule["expr"], *rule.get("annotations", {}).values()))
            level = max((recorded[name] + 1 for name in recorded if name in texts), default=0)
            levels.setdefault(level, []).append(rule)
            if "record" in rule:
                recorded[rule["record"]] = max(level, recorded.get(rule["record"], 0))
        for level, rules in sorted(levels.items()):
            name = f"{group['name']} {level}"
            groups.append({"name": name, "interval": group["interval"], "rules": rules})
            found.setdefault(group["name"], []).append(name)
    (folder / source.name).write_text(yaml.safe_dump({"groups": groups}, width=10_000))
    return found


def converted(test: Path, folder: Path) -> Path:
    """A file of tests for vmalert-tool, with its rules beside it."""
    content: dict[str, Any] = yaml.safe_load(test.read_text())
    rules = folder / "rules"
    rules.mkdir()
    groups: dict[str, list[str]] = {}
    for name in content["rule_files"]:
        groups |= _split((test.parent / name).resolve(), rules)
    content["rule_files"] = [str(rules / Path(name).name) for name in content["rule_files"]]
    order = content.get("group_eval_order") or list(groups)
    content["group_eval_order"] = [one for group in (*order, *(groups.keys() - set(order))) for one in groups[group]]
    for one in content["tests"]:
        one["input_series"] = [_moved(series) for series in one["input_series"]]
        one["metricsql_expr_test"] = [_without_group(check) for check in one.pop("promql_expr_test", [])]
    path = folder / test.name
    path.write_text(yaml.safe_dump(content, width=10_000))
    return path


def _moved(series: dict[str, str]) -> dict[str, str]:
    """A series of the tests; one of moments, in the time of vmalert-tool."""
    if not re.match(r"\w+_timestamp_seconds\b", series["series"]):
        return series
    values = str(series["values"])
    moved = re.sub(r"(?<!\S)(-?[\d.]+)", lambda match: f"{float(match[1]) + _START:.3f}", values)
    return {**series, "values": moved}


def _without_group(check: dict[str, Any]) -> dict[str, Any]:
    """The check of an expression; of alerts, without the label that only vmalert-tool gives their series."""
    if not check["expr"].startswith("ALERTS"):
        return check
    samples = [{**one, "labels": one["labels"].removeprefix("ALERTS")} for one in check.get("exp_samples", [])]
    return {**check, "expr": f"max without (alertgroup) ({check['expr']})", "exp_samples": samples}


def run(program: Path, folder: Path) -> dict[str, str]:
    """What vmalert-tool says of each file of tests."""
    found = {}
    for test in sorted((_PROMETHEUS / "tests").glob("*.yml")):
        own = folder / test.stem
        own.mkdir()
        command = [program, "unittest", f"-files={converted(test, own)}", "-disableAlertgroupLabel"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=own)
        found[test.stem] = done.stdout + done.stderr
    return found
