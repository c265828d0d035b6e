"""The CI examples in deploy/ci: valid by the published schemas, and their shell lines work as they are.

pgbench is made up; what installs and starts programs does nothing.
"""

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.launching import Launchpad
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parents[1]
GITHUB, NIGHTLY, GITLAB = (
    (ROOT / "deploy" / "ci" / f"{name}.yml").read_text() for name in ("github", "nightly", "gitlab")
)

PGBENCH = r"""
case " $* " in *" -i "*) exit 0;; esac
rate=$(cat rate)
echo x >>started
rate=$((rate + $(wc -l <started) % 5))
printf 'pgbench (17.4)\ntransaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\nquery mode: simple\n'
printf 'number of clients: 8\nnumber of threads: 1\nmaximum number of tries: 1\nduration: 60 s\n'
printf 'number of transactions actually processed: %s\n' $((rate * 60))
printf 'number of failed transactions: 0 (0.000%%)\nlatency average = 1.000 ms\ninitial connection time = 1.0 ms\n'
printf 'tps = %s.0 (without initial connection time)\n' $rate
"""


@pytest.mark.parametrize(
    ("text", "schema"), [(GITHUB, "github-workflows"), (NIGHTLY, "github-workflows"), (GITLAB, "gitlab-ci")]
)
def test_yaml_is_valid_by_the_published_schema(tmp_path: Path, text: str, schema: str) -> None:
    (tmp_path / "example.yml").write_text(text)
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", "example.yml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Launchpad]:
    made = Launchpad(tmp_path)
    for name in ("pip", "sudo", "createdb", "createuser", "gosu", "apt-get"):
        made.tool(name, "true")
    made.tool("benchwatch", f'exec {sys.executable} -m benchwatch "$@"', version="")
    made.tool("pgbench", PGBENCH, version="pgbench (PostgreSQL) 17.4")
    yield made
    made.stop()


def shell(place: Launchpad, script: str, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", *options, "-c", script],
        cwd=place.folder,
        env=place.environment | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.slow(5)
def test_lines_of_the_github_example_keep_a_baseline_and_close_on_a_regression(place: Launchpad) -> None:
    summary = place.folder / "summary.md"

    def step(name: str) -> subprocess.CompletedProcess[str]:
        given: dict[str, Any] = next(one for one in steps if one.get("name") == name)
        options = ("-o", "pipefail") if given.get("shell") == "bash" else ()
        return shell(place, given["run"], *options, USER="runner", GITHUB_STEP_SUMMARY=str(summary))

    steps = yaml.safe_load(GITHUB)["jobs"]["pgbench"]["steps"]
    for rate, code in (("1000", 0), ("1001", 0), ("500", 3)):
        (place.folder / "rate").write_text(rate)
        measured = step("Measure")
        assert measured.returncode == 0, measured.stderr
        assert step("Summary").returncode == 0
        assert step("Compare with the baseline").returncode == code
        if not code:
            done = step("Make it the baseline")
            assert (done.returncode, done.stderr) == (0, "")
            assert sorted(run.name for run in place.runs.iterdir()) == [f"baseline-{number}" for number in range(1, 6)]
    text = summary.read_text()
    assert text.count("now") >= 3 and "worse" in text


@pytest.mark.slow(5)
def test_lines_of_the_nightly_example_compare_settings_and_show_the_trend(place: Launchpad) -> None:
    summary = place.folder / "summary.md"
    measure, summarise = (
        one["run"].replace("/srv/nightly", "nightly") for one in yaml.safe_load(NIGHTLY)["jobs"]["pgbench"]["steps"]
    )
    (place.folder / "rate").write_text("1000")
    for script in (measure, summarise):
        done = shell(place, script, "-o", "pipefail", GITHUB_STEP_SUMMARY=str(summary))
        assert done.returncode == 0, done.stderr
    text = summary.read_text()
    assert re.search(r"\| \*\*TPS\*\* \|", text), "the comparison"
    assert "pgbench: TPS of 3 runs" in text, "the trend"


@pytest.mark.slow(5)
def test_lines_of_the_gitlab_example_keep_a_baseline_and_close_on_a_regression(place: Launchpad) -> None:
    kept = place.folder / "artifacts.zip"
    place.tool("curl", f'[ -e {kept} ] || exit 22; cp {kept} baseline.zip; echo "$@" >asked')
    place.tool("unzip", f'exec {sys.executable} -m zipfile -e "$2" "$4"')
    job = yaml.safe_load(GITLAB)["benchmark"]
    variables = {"CI_JOB_TOKEN": "t", "CI_API_V4_URL": "https://gitlab.example/api/v4", "CI_PROJECT_ID": "7"}
    for rate, code in (("1000", 0), ("500", 3)):
        (place.folder / "rate").write_text(rate)
        subprocess.run(["rm", "-rf", "runs", "baseline", "baseline.zip"], cwd=place.folder, check=True)
        done = shell(place, "\n".join(job["script"]), "-o", "pipefail", **variables, CI_DEFAULT_BRANCH="main")
        assert done.returncode == code, done.stderr
        assert "<testsuite" in (place.folder / "results.xml").read_text()
        if not code:
            with zipfile.ZipFile(kept, "w") as archive:
                for file in place.runs.rglob("*"):
                    archive.write(file, file.relative_to(place.folder))
    asked = (place.folder / "asked").read_text()
    assert "https://gitlab.example/api/v4/projects/7/jobs/artifacts/main/download?job=benchmark" in asked
