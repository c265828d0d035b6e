"""Series of recorded rounds, and what the product's own rules make of them.

A tape holds what scrapes saw, a place a second. promtool evaluates the recording rules on it second by second, as
Prometheus does, except that it evaluates every group each second. Alerts are left out: nothing is recorded from them.
"""

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.lab import RULES

_FILES = ("runs", "workers", "disks", "vdisks", "layers")
"""Rules, each after those it builds on; baselines, which use all of a file, are evaluated after it."""
_SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_KEPT = 15
"""Seconds for which a graph shows the last value."""
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class Tape:
    """Scrapes of several jobs, on one clock of whole seconds from 0. `series` has None where a series has no sample."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        self.series: dict[str, list[float | str | None]] = {}
        self._seen: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)

    def scrape(self, second: int, exposition: str, epoch: float = 0, **target: str) -> None:
        """Add what a target with these labels exports at this second; times in it are counted from `epoch`."""
        seen = set()
        extra = ",".join(f'{name}="{value}"' for name, value in target.items())
        for name, labels, text in _SAMPLE.findall(exposition):
            key = f"{name}{{{','.join(filter(None, (labels, extra)))}}}"
            value = float(text) - (epoch if name.endswith("_timestamp_seconds") else 0)
            self.series.setdefault(key, [None] * self.seconds)[second] = value
            seen.add(key)
        whose = tuple(target.values())
        for gone in self._seen[whose] - seen:
            self.series[gone][second] = "stale"
        self._seen[whose] = seen

    def of(self, word: str) -> dict[str, list[float | None]]:
        """The series with this value of a label, as a graph shows them."""
        return {key: list(_carried(values)) for key, values in self.series.items() if f'"{word}"' in key}


def _carried(values: Sequence[float | str | None]) -> Iterator[float | None]:
    last, age = None, 0
    for value in values:
        if isinstance(value, str):
            last = None
        elif value is not None:
            last, age = value, 0
        age += 1
        yield last if age <= _KEPT else None


class Found(NamedTuple):
    """One sample of an evaluated expression."""

    second: int
    labels: Mapping[str, str]
    value: float


def evaluate(tape: Tape, expressions: Mapping[str, Sequence[int]], folder: Path) -> Mapping[str, Sequence[Found]]:
    """What each expression gives at these seconds, with the product's rules. Raises RuntimeError if promtool cannot.

    promtool prints what it got where it expected something else: so nothing is expected.
    """
    groups = list(_groups())
    rules = " ".join(str(rule["expr"]) for group in groups for rule in group["rules"])
    words = set(re.findall(r"[a-zA-Z_:][\w:]*", rules))
    loads = [
        {"series": key, "values": " ".join("_" if value is None else str(value) for value in values)}
        for key, values in tape.series.items()
        if key.partition("{")[0] in words
    ]
    checks = [
        {"expr": expression, "eval_time": f"{second}s", "exp_samples": []}
        for expression, seconds in expressions.items()
        for second in seconds
    ]
    test = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "1s",
        "group_eval_order": [group["name"] for group in groups],
        "tests": [{"interval": "1s", "input_series": loads, "promql_expr_test": checks}],
    }
    (folder / "rules.yml").write_text(yaml.dump({"groups": groups}, Dumper=_Dumper))
    path = folder / "rounds.yml"
    path.write_text(yaml.dump(test, Dumper=_Dumper, width=1 << 30))
    done = subprocess.run(["promtool", "test", "rules", path], capture_output=True, text=True, check=False)
    found = _read(done.stdout + done.stderr)
    if done.returncode and not found:
        raise RuntimeError(f"promtool: {(done.stdout + done.stderr)[:2000]}")
    return {expression: found.get(expression, []) for expression in expressions}


def _groups() -> Iterator[dict[str, Any]]:
    """The product's groups with their recording rules."""
    for name in _FILES:
        content = yaml.safe_load((RULES / f"{name}.yml").read_text())["groups"]
        for group in sorted(content, key=lambda group: group["name"].endswith("baselines")):
            yield group | {"rules": [rule for rule in group["rules"] if "record" in rule]}


_FAILED = re.compile(r'^ *expr: "(.*)", time: (\w+), *\n *exp: *\S.*\n *got: *(.*)$', re.MULTILINE)
_GOT = re.compile(r"\{((?:[^\"}]|\"(?:[^\"\\]|\\.)*\")*)\} (\S+?)(?:, |$)")
_UNITS = {"h": 3600, "m": 60, "s": 1}


def _read(said: str) -> Mapping[str, list[Found]]:
    """The samples that promtool got, by expression."""
    found: defaultdict[str, list[Found]] = defaultdict(list)
    for expression, time, got in _FAILED.findall(said):
        second = sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)([hms])", time))
        for labels, value in _GOT.findall(got):
            sample = Found(second, dict(_LABEL.findall(labels)), float(value))
            found[expression.replace('\\"', '"')].append(sample)
    return found
