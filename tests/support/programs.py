"""Prometheus' and Alertmanager's own programs, as the tests use them."""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

FOLDER = Path(__file__).parents[2] / "prometheus"
RULE_FILES = sorted((FOLDER / "rules").glob("*.yml"))
GROUPS = (
    "runs",
    "worker_baselines",
    "workers",
    "disks",
    "vdisk_baselines",
    "vdisks",
    "why",
    "exporter",
    "dashboards",
)
"""The groups of rules, each after those it builds on."""

FLOOR = (3, 8)
"""The first release that stores native histograms without a feature flag; what is under `global` came by 3.5."""


def program(*names: str) -> str:
    """The path of a program that has one of these names; without one the test fails."""
    for name in names:
        if path := shutil.which(name):
            return path
    raise AssertionError(f"no {' or '.join(names)} on PATH; scripts/setup installs Debian's packages")


def output(*command: str | Path, folder: Path = FOLDER) -> str:
    """What a program prints that runs in `folder`; fails with that if its exit code is not 0."""
    finished = subprocess.run(
        [*map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        timeout=600,
    )
    assert finished.returncode == 0, finished.stdout
    return finished.stdout


def too_old(said: str) -> bool:
    """Whether a release before FLOOR prints this for --version. One that was built from source may name no release."""
    release = re.search(r"version (\d+)\.(\d+)", said)
    return release is not None and tuple(map(int, release.groups())) < FLOOR


def series(name: str, values: str, **labels: str) -> dict[str, str]:
    """A series as promtool's tests have it, a sample a second."""
    pairs = ", ".join(f'{label}="{value}"' for label, value in labels.items())
    return {"series": f"{name}{{{pairs}}}", "values": values}


def judged(folder: Path, paths: Sequence[Path] = RULE_FILES) -> list[str]:
    """Copies of these files of rules whose alerts say nothing: on many machines, their texts are most of the work."""
    copies = []
    for path in paths:
        content = yaml.load(path.read_text(), yaml.CSafeLoader)
        for group in content["groups"]:
            for rule in group["rules"]:
                rule.pop("annotations", None)
        copy = folder / path.name
        copy.write_text(json.dumps(content))
        copies.append(str(copy))
    return copies


def evaluate(
    folder: Path,
    loads: list[dict[str, str]],
    seconds: int,
    expected: Mapping[str, Mapping[str, float]],
    files: tuple[str, ...] = ("runs", "workers", "disks", "vdisks", "exporter"),
) -> None:
    """Has promtool evaluate files of rules on these series, second by second; fails if a rule cannot be evaluated.

    `expected` is what each expression gives at the end: values by labels.
    """
    checks = [
        {
            "expr": expression,
            "eval_time": f"{seconds}s",
            "exp_samples": [{"labels": labels, "value": value} for labels, value in samples.items()],
        }
        for expression, samples in expected.items()
    ]
    content = {
        "rule_files": judged(folder, [FOLDER / "rules" / f"{name}.yml" for name in files]),
        "evaluation_interval": "1s",
        "group_eval_order": [
            group for group in GROUPS if f"{group.split('_')[0].rstrip('s')}s" in (*files, f"{files}")
        ],
        "tests": [{"interval": "1s", "input_series": loads, "promql_expr_test": checks}],
    }
    path = folder / "test.yml"
    path.write_text(json.dumps(content))
    assert "SUCCESS" in output(program("promtool"), "test", "rules", path)
