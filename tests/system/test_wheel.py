"""The wheel, in an empty environment of each supported Python that the machine has.

The Python of `.venv` gets, from `.venv`, exactly the packages that the wheel declares (links to them): everything is
tried. Other Pythons cannot load those; by default the tests prove that they install the wheel and compile each of its
modules. With BENCHWATCH_TEST_INDEX=1 pip installs the locked packages for them, and everything is tried as well.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path

import pytest
import requests
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from demo_processes import Processes
from tests.support.places import RECORDINGS
from tests.support.servers import Exporter

ROOT = Path(__file__).parents[2]
OWN = sys.executable
FROM_INDEX = bool(os.environ.get("BENCHWATCH_TEST_INDEX"))
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
FIO = RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out"


def done(*command: str | Path) -> str:
    """What a command prints; it runs where no package of this checkout can be imported."""
    ended = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=600, cwd="/", check=False)
    assert ended.returncode == 0, ended.stderr + ended.stdout
    return ended.stdout


OTHERS = [minor for minor in (11, 12, 13, 14) if minor != sys.version_info.minor]
"""Other supported Pythons, 3.x."""


def python_of(minor: int) -> str:
    """One on PATH, or of pyenv, whose stand-ins on PATH find only the chosen ones; without one the test is skipped."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    places = [shutil.which(f"python3.{minor}"), *map(str, sorted(pyenv.glob(f"3.{minor}.*/bin/python3.{minor}")))]
    for one in filter(None, places):
        if subprocess.run([one, "-c", ""], capture_output=True).returncode == 0:
            return one
    pytest.skip(f"no Python 3.{minor} here")


def needed(name: str) -> set[str]:
    """The distributions that one needs, without extras, and those that these need."""
    wanted = {canonicalize_name(name)}
    for requirement in map(Requirement, distribution(name).requires or ()):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            wanted |= needed(requirement.name)
    return wanted


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, as building leaves folders beside the source."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE"):
        shutil.copyfile(ROOT / name, source / name)
    leftovers = shutil.ignore_patterns("*.egg-info", "__pycache__")
    shutil.copytree(ROOT / "exporter/benchwatch", source / "exporter/benchwatch", ignore=leftovers)
    done(*PIP, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", built, source)
    (found,) = built.iterdir()
    return found


@pytest.fixture
def install(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Installs the wheel into a new environment of that Python; gives the environment."""

    def install(python: str) -> Path:
        place = tmp_path / "environment"
        monkeypatch.delenv("PYTHONPATH", raising=False)  # what a developer set there would be found first
        done(python, "-m", "venv", "--without-pip", place)
        into = [*PIP, "--python", place / "bin/python", "install", "--no-compile"]
        if FROM_INDEX:
            done(*into, "--require-hashes", "--only-binary", ":all:", "-r", ROOT / "requirements.txt")
        elif python == OWN:
            (packages,) = place.glob("lib/*/site-packages")
            for name in needed("benchwatch") - {"benchwatch"}:
                found = distribution(name)
                for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
                    (packages / top).symlink_to(Path(str(found.locate_file(top))))
        done(*into, "--no-deps", "--no-index", wheel)
        return place

    return install


@pytest.mark.parametrize("minor", [sys.version_info.minor, *(OTHERS if FROM_INDEX else ())])
def test_an_installed_wheel_needs_only_what_it_declares(
    minor: int, install: Callable[[str], Path], processes: Processes, tmp_path: Path
) -> None:
    place = install(OWN if minor == sys.version_info.minor else python_of(minor))
    command = place / "bin/benchwatch"
    module = done(place / "bin/python", "-c", "import benchwatch; print(benchwatch.__file__)")
    assert Path(module).is_relative_to(place)
    assert done(command, "--help").startswith("usage: benchwatch COMMAND")
    runs = tmp_path / "runs"
    runs.mkdir()
    shutil.copyfile(FIO, runs / "disk1.out")
    here = done(sys.executable, "-m", "benchwatch", "metrics", runs)
    assert "fio_result_iops" in here
    assert done(command, "metrics", runs) == here

    class Installed(Exporter):
        def command(self) -> list[str]:
            return [str(command)]

    exporter = Installed(processes, runs)
    assert "fio_result_iops" in exporter.text()
    assert "disk1" in requests.get(exporter.url, timeout=60).text


@pytest.mark.parametrize("minor", () if FROM_INDEX else OTHERS)
def test_another_python_installs_the_wheel_and_compiles_all_of_it(minor: int, install: Callable[[str], Path]) -> None:
    place = install(python_of(minor))
    (packages,) = place.glob("lib/*/site-packages")
    modules = {path.relative_to(packages) for path in packages.glob("benchwatch/**/*.py")}
    assert modules == {path.relative_to(ROOT / "exporter") for path in ROOT.glob("exporter/benchwatch/**/*.py")}
    done(place / "bin/python", "-W", "error", "-m", "compileall", "-q", packages / "benchwatch")
    assert (place / "bin/benchwatch").exists()


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        head, _, readme = archive.read(name).decode().partition("\n\n")
    assert readme == (ROOT / "README.md").read_text()
    lines = head.splitlines()
    for minor in (11, 12, 13):
        assert f"Classifier: Programming Language :: Python :: 3.{minor}" in lines
    for line in ("Requires-Python: >=3.11", "Description-Content-Type: text/markdown", "Classifier: Typing :: Typed"):
        assert line in lines
    assert any(line.startswith("Keywords: ") for line in lines)
