"""The rules' tests as vmalert-tool runs them on VictoriaMetrics' engine.

The files are those of promtool; vmalert-tool wants some things in another way:

- Expressions are checked under another name.
- Alerts keep the label alertgroup, which vmalert adds, and each check names the group: with `-disableAlertgroupLabel`,
  vmalert-tool removes the label when it first checks an alert, so the series ALERTS of before never ends.
- External labels reach recorded series, which vminsert prevents in the stack. So they are written into the rules' text.
- A test begins in the year 2000, not in 1970; moments are moved.

One thing is not the same by design: what a rule records, a rule of the same group finds an evaluation later, not at
once. So a group becomes several here, one for the rules that need no other one of it, one for those that need only
these, and so on: vmalert-tool stores what a group records before it evaluates the next.
"""

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.compose.cluster.stack import CHECKOUT

_PROMETHEUS = CHECKOUT / "prometheus"
_START = 946684800
"""When vmalert-tool begins its tests, seconds since 1970, which is when promtool begins them."""
_MOMENTS = re.compile(r"(\w+_timestamp_seconds)\b")


class _Loader(yaml.SafeLoader):
    """Reads 0x40 as forty zeros more, not as 64."""

    yaml_implicit_resolvers = {
        first: [("tag:yaml.org,2002:str", re.compile(r"0x\d+$"))] * (first == "0") + resolvers
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def _split(source: Path, folder: Path, external: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    """Writes a file of rules with several groups for each; the new groups by the names of the old ones."""

    def literal(match: re.Match[str]) -> str:
        return json.dumps(external.get(match[1], ""))

    found: dict[str, list[dict[str, Any]]] = {}
    for group in yaml.safe_load(source.read_text())["groups"]:
        rules: list[dict[str, Any]] = group["rules"]
        levels: list[int] = []
        recorded: dict[str, int] = {}
        for rule in rules:
            texts = " ".join((rule["expr"], *rule.get("annotations", {}).values()))
            levels.append(max((recorded[name] + 1 for name in recorded if name in texts), default=0))
            if "record" in rule:
                recorded[rule["record"]] = max(levels[-1], recorded.get(rule["record"], 0))
            else:
                rule["annotations"] = {
                    key: re.sub(r"\$externalLabels\.(\w+)", literal, text) for key, text in rule["annotations"].items()
                }
        # All alerts of one name are in one group, by which a check names them.
        for number, rule in enumerate(rules):
            if "alert" in rule:
                same = zip(rules, levels, strict=True)
                levels[number] = max(level for one, level in same if one.get("alert") == rule["alert"])
        found[group["name"]] = [
            {
                "name": f"{group['name']} {level}",
                "interval": group["interval"],
                "rules": [rule for rule, own in zip(rules, levels, strict=True) if own == level],
            }
            for level in sorted(set(levels))
        ]
    groups = [one for several in found.values() for one in several]
    (folder / source.name).write_text(yaml.safe_dump({"groups": groups}, width=10_000))
    return found


def converted(test: Path, folder: Path) -> list[Path]:
    """The files of tests for vmalert-tool, one for each set of external labels, with their rules beside them."""
    content: dict[str, Any] = yaml.load(test.read_text(), _Loader)
    sets: dict[str, list[dict[str, Any]]] = {}
    for one in content["tests"]:
        sets.setdefault(json.dumps(one.pop("external_labels", {})), []).append(one)
    found = []
    for number, (external, tests) in enumerate(sets.items()):
        rules = folder / f"rules-{number}"
        rules.mkdir()
        groups: dict[str, list[dict[str, Any]]] = {}
        for name in content["rule_files"]:
            groups |= _split((test.parent / name).resolve(), rules, json.loads(external))
        order = content.get("group_eval_order") or list(groups)
        ordered = [one for group in (*order, *(groups.keys() - set(order))) for one in groups[group]]
        of_alert = {rule["alert"]: group["name"] for group in ordered for rule in group["rules"] if "alert" in rule}
        for one in tests:
            one["input_series"] = [_moved(series) for series in one["input_series"]]
            one["metricsql_expr_test"] = [_expression(check) for check in one.pop("promql_expr_test", [])]
            one["alert_rule_test"] = [
                {**check, "groupname": of_alert[check["alertname"]]} for check in one.get("alert_rule_test", [])
            ]
        files = [str(rules / Path(name).name) for name in content["rule_files"]]
        own = {"rule_files": files, "group_eval_order": [one["name"] for one in ordered], "tests": tests}
        path = folder / f"{test.stem}-{number}.yml"
        path.write_text(yaml.safe_dump({**content, **own}, width=10_000))
        found.append(path)
    return found


def _moved(series: dict[str, str]) -> dict[str, str]:
    """A series of the tests; one of moments, in the time of vmalert-tool."""
    if not _MOMENTS.match(series["series"]):
        return series
    values = str(series["values"])
    moved = re.sub(r"(?<!\S)(-?[\d.]+)", lambda match: f"{float(match[1]) + _START:.3f}", values)
    return {**series, "values": moved}


def _expression(check: dict[str, Any]) -> dict[str, Any]:
    """The check of an expression: moments in the time of vmalert-tool, alerts without the label that vmalert adds."""
    samples = check.get("exp_samples", [])
    if _MOMENTS.match(check["expr"]):
        return {**check, "exp_samples": [{**one, "value": one["value"] + _START} for one in samples]}
    if "ALERTS" not in check["expr"]:
        return check
    samples = [{**one, "labels": one["labels"].removeprefix("ALERTS")} for one in samples]
    return {**check, "expr": f"max without (alertgroup) ({check['expr']})", "exp_samples": samples}


def run(program: Path, folder: Path) -> dict[str, str]:
    """What vmalert-tool says of each file of tests."""
    found = {}
    for test in sorted((_PROMETHEUS / "tests").glob("*.yml")):
        own = folder / test.stem
        own.mkdir()
        command = [str(program), "unittest", *(f"-files={path}" for path in converted(test, own))]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=own)
        found[test.stem] = done.stdout + done.stderr
    return found
