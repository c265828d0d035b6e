"""The files around the package: locks and the Prometheus configuration say what the package needs and offers."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchwatch.metrics.samples import PARTS
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUNTIME = PROJECT["project"]["dependencies"]
BUILD = PROJECT["build-system"]["requires"]
DEVELOPMENT = PROJECT["project"]["optional-dependencies"]["dev"]
LOCKS = {
    "requirements.txt": RUNTIME,
    "requirements-build.txt": BUILD,
    "requirements-dev.txt": RUNTIME + BUILD + DEVELOPMENT,
    "requirements-uv.txt": ["uv"],
}


def pins(name: str) -> dict[str, str]:
    """Locked versions by package; fails on a line that is neither a pin nor its hash."""
    versions = {}
    for line in (ROOT / name).read_text().replace("\\\n", " ").splitlines():
        if line.startswith("#") or not line:
            continue
        pin = re.fullmatch(r"([a-z0-9-]+)==(\S+)((?:\s+--hash=sha256:[0-9a-f]{64})+)\s*", line)
        assert pin, f"{name}: not an exact version with hashes: {line[:80]}"
        versions[pin[1]] = pin[2]
    return versions


@pytest.mark.parametrize("name", LOCKS)
def test_lock_has_an_exact_version_with_hashes_of_every_dependency(name: str) -> None:
    versions = pins(name)
    for requirement in map(Requirement, LOCKS[name]):
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), requirement


def test_locks_agree_with_each_other() -> None:
    development = pins("requirements-dev.txt")
    for name in LOCKS.keys() - {"requirements-uv.txt"}:
        assert pins(name).items() <= development.items()


@pytest.mark.parametrize("name", ["exporter/Dockerfile", "docker/fio.Dockerfile"])
def test_images_can_be_built_for_any_architecture(name: str) -> None:
    assert not re.search(r"amd64|arm64|x86_64|aarch64|--platform|TARGETARCH", (ROOT / name).read_text())


def test_license_is_named_where_package_indexes_and_readers_look() -> None:
    assert PROJECT["project"]["license"] == "Apache-2.0"
    files = PROJECT["project"]["license-files"]
    assert (ROOT / "LICENSE").read_text().lstrip().startswith("Apache License\n")
    assert "Copyright 2026 The benchwatch authors" in (ROOT / "NOTICE").read_text()
    assert set(files) <= {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines()}
    (copied,) = re.findall(
        r"^COPY (pyproject\.toml .*) \./$", (ROOT / "exporter" / "Dockerfile").read_text(), re.MULTILINE
    )
    assert {"README.md", *files} <= set(copied.split())


def test_prometheus_scrapes_every_part_of_the_exposition_once() -> None:
    config = yaml.safe_load((ROOT / "prometheus" / "prometheus.yml").read_text())
    jobs = [job for job in config["scrape_configs"] if job["job_name"].startswith("benchwatch-")]
    assert sorted(part for job in jobs for part in job["params"]["collect[]"]) == sorted(PARTS)


def copy_setup(checkout: Path) -> None:
    (checkout / "scripts").mkdir(parents=True)
    for name in ("scripts/setup", "requirements-dev.txt", "requirements-uv.txt", "pyproject.toml"):
        shutil.copy2(ROOT / name, checkout / name)


@pytest.mark.parametrize("has_uv", [True, False])
def test_setup_installs_the_locked_packages_by_uv_or_without_it_by_pip(has_uv: bool, tmp_path: Path) -> None:
    checkout, programs, log = tmp_path / "checkout", tmp_path / "bin", tmp_path / "log"
    copy_setup(checkout)
    programs.mkdir()
    stand_in = programs / "python3"
    stand_in.write_text(
        f"""#!/bin/sh
case $* in
"-m venv "*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
*" -r requirements-uv.txt")
    echo "$@" >>{log}
    while [ "$1" != --target ]; do shift; done
    mkdir -p "$2/bin"
    printf '#!/bin/sh\necho uv "$@" >>{log}\n' >"$2/bin/uv"
    chmod +x "$2/bin/uv"
    {str(has_uv).lower()} ;;
"-m pip "*) echo "$@" >>{log} ;;
esac
"""
    )
    stand_in.chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PIP_INDEX_URL": "https://index.example"}
    command = [checkout / "scripts/setup"]
    subprocess.run(command, check=True, capture_output=True, env=environment, timeout=PATIENCE)
    lines = log.read_text().splitlines()
    assert all("--require-hashes" in line for line in lines if " -r " in line)
    installed = [(line.split()[0], "requirements-dev.txt" in line, "--editable ." in line) for line in lines[1:]]
    installer = "uv" if has_uv else "-m"
    assert installed == [(installer, True, False), (installer, False, True)]
    assert (checkout / ".venv" / "benchwatch.stamp").exists()


def test_setup_does_not_empty_the_environment_of_another_checkout(tmp_path: Path) -> None:
    checkout, other = tmp_path / "checkout", tmp_path / "other"
    copy_setup(checkout)
    other.mkdir()
    (other / "kept").touch()
    (checkout / ".venv").symlink_to(other)
    done = subprocess.run([checkout / "scripts/setup"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        f"setup: .venv is a link to {other}, which would be emptied. Remove the link, then start again.\n"
    )
    assert (other / "kept").exists()


@pytest.mark.parametrize(("argument", "needed"), [("", "fio"), ("tests", "fio victoria-metrics caddy chromium")])
def test_setup_asks_for_what_only_tests_need_only_for_them(argument: str, needed: str, tmp_path: Path) -> None:
    missing = {
        "fio",
        "victoria-metrics",
        "vmagent",
        "caddy",
        "chromium",
        "chromium-browser",
        "google-chrome",
        "apt-get",
    }
    for folder in reversed(os.environ["PATH"].split(":")):
        for program in Path(folder).glob("*"):
            if program.name not in missing:
                (tmp_path / program.name).unlink(missing_ok=True)
                (tmp_path / program.name).symlink_to(program)
    command = [ROOT / "scripts/setup", *filter(None, [argument])]
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment)
    assert done.stderr == (
        f"setup: needs the programs of these Debian packages: {needed}. Install them, then start again.\n"
    )
    assert done.returncode == 1


@pytest.mark.parametrize("argument", ["-h", "--help"])
def test_test_explains_itself_and_checks_nothing(argument: str) -> None:
    done = subprocess.run(
        [ROOT / "scripts/test", argument], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    usage, *examples = re.findall(r"^  (scripts/test.*)$", done.stdout, re.MULTILINE)
    assert usage == "scripts/test [quick] [PYTEST_ARGUMENT...]"
    assert any(example.startswith("scripts/test quick ") for example in examples)
    assert "test: " not in done.stdout


def test_usage_and_options_have_lines_of_their_own_in_a_scripts_first_comment() -> None:
    found = []
    folders = [ROOT / folder for folder in ("scripts", "tests/experiments", "tests/lab", "tests/deploy")]
    scripts = [path for folder in folders for path in folder.iterdir() if path.is_file() and not path.suffix]
    for path in scripts:
        (head,) = re.findall(r"^#!.*\n((?:#.*\n)*)", path.read_text())
        misplaced = re.compile(rf"# \S.*\b{path.relative_to(ROOT)} |# {path.relative_to(ROOT)} |# --[a-z]|.{{121}}")
        found += [f"{path.name}: {line}" for line in head.splitlines() if misplaced.match(line)]
    assert found == []


@pytest.mark.parametrize(("argument", "expected"), [("11", "12 or 13, got 11"), ("--help", "12 or 13, got --help")])
def test_test_debian_says_which_releases_it_knows(argument: str, expected: str) -> None:
    done = subprocess.run(
        [ROOT / "scripts/test-debian", argument], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"test-debian: expected {expected}\n")


def test_the_tests_that_documents_name_exist() -> None:
    pages = [ROOT / "SECURITY.md", ROOT / "tests" / "torture" / "__main__.py", *(ROOT / "docs").glob("*.md")]
    named = {name for page in pages for name in re.findall(r"tests/[a-z0-9_/]+\.py", page.read_text())}
    assert len(named) > 15
    assert [name for name in sorted(named) if not (ROOT / name).is_file()] == []


def assigned(script: str) -> set[str]:
    """The variables that a shell script sets, without those that are local to a function."""
    code = re.sub(r"\"[^\"\n]*\"|'[^'\n]*'|#.*", "", script)
    local = {name for names in re.findall(r"\blocal (?:-n )?([^;\n]*)", code) for name in re.findall("[a-z_]+", names)}
    return set(re.findall(r"^\s*([a-z_]+)=", code, re.MULTILINE)) - local


def test_experiments_set_no_variable_of_the_files_that_they_source() -> None:
    shared = {path.name: path.read_text() for path in (ROOT / "tests" / "experiments").glob("*.sh")}
    for script in (path for path in (ROOT / "tests" / "experiments").iterdir() if path.is_file() and not path.suffix):
        sourced = {*re.findall(r"([a-z]+\.sh)\"", script.read_text())} - {"fleet.sh"}
        sourced |= {"common.sh"} if "postgres.sh" in sourced else set()
        theirs = {name for file in sourced for name in assigned(shared[file])}
        assert assigned(script.read_text()) & theirs <= {"as_server"}, script.name
