"""The documentation: links lead somewhere, and what it names is there."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from benchwatch.cli import main

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page
    for pattern in ("*.md", "docs/**/*.md", "deploy/**/*.md", "tests/recordings/**/*.md")
    for page in ROOT.glob(pattern)
)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_within_the_checkout_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if re.match(r"https?:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_index_names_every_page_of_the_documentation() -> None:
    index = (ROOT / "docs" / "README.md").read_text()
    missing = [
        page.name for page in (ROOT / "docs").glob("*.md") if page.name != "README.md" and page.name not in index
    ]
    assert missing == []


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


def test_lines_of_the_readme_that_write_into_the_folder_work_one_after_the_other(tmp_path: Path) -> None:
    """Both are pasted into one shell, in which neither may leave the folder; the programs only say where they are."""
    lines = [line.strip() for line in (ROOT / "README.md").read_text().splitlines() if "mkdir -p runs/" in line]
    assert [re.findall(r"&& (\w+) ", line) for line in lines] == [["pgbench"], ["fio"]]
    script = "\n".join(["pgbench() { pwd; }", "fio() { pwd; }", *lines])
    subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, check=True)
    outputs = ["runs/test1/db1.out", "runs/test2/disk1.out"]
    assert [(tmp_path / name).read_text() for name in outputs] == [f"{tmp_path}\n"] * 2


def test_changelog_begins_with_the_version_of_the_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    sections = re.findall(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert version == next(name for name in sections if name != "Unreleased")


def test_rooms_of_the_architecture_are_the_packages() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    packages = {path.parent.name for path in (ROOT / "exporter" / "benchwatch").glob("*/__init__.py")}
    (order,) = re.findall(r"^    (values < .*)$", text, re.MULTILINE)
    assert set(re.split(r" < |, ", order)) == packages | {"cli"}


def test_modules_that_the_architecture_names_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    modules = re.findall(r"`((?:\w+/)+\w+\.py)`", text)
    assert modules
    for module in modules:
        assert (ROOT / "exporter" / "benchwatch" / module).exists(), module


def test_each_noun_of_the_glossary_is_one_class() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text().partition("## Words")[2].partition("\n## ")[0]
    words = re.findall(r"^\| (\w+) \| .+ \| `([\w.]+)\.(\w+)` \|$", text, re.MULTILINE)
    assert len({noun for noun, _, _ in words}) == len(words) == 20
    package = ROOT / "exporter" / "benchwatch"
    classes = [
        (str(path.relative_to(package).with_suffix("")).replace("/", "."), name)
        for path in package.rglob("*.py")
        for name in re.findall(r"^class (\w+)", path.read_text(), re.MULTILINE)
    ]
    for noun, module, name in words:
        assert [where for where, other in classes if other == name] == [module], noun
        assert noun.title() == name.removesuffix("s"), noun


@pytest.mark.parametrize("command", ["run", "watch", "compare", "report", "backfill"])
def test_page_of_a_command_names_each_of_its_options(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    options = set(re.findall(r"(?<!\w)--[a-z][a-z.-]+", capsys.readouterr().out))
    page = (ROOT / "docs" / f"{command}.md").read_text()
    common = {"--help", "--log.level", "--config.file", "--percentiles"}
    assert {option for option in options - common if option not in page} == set()
