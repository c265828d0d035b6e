"""What every view shows of all recordings is what the golden files say (README.md)."""

import time
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.golden.layout import Recording, groups
from tests.golden.views import VIEWS, views

FOLDER = Path(__file__).parent
GROUPS = groups()


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def golden(view: str, group: str) -> Path:
    return FOLDER / view / f"{group}.txt"


@pytest.mark.parametrize(("group", "recordings"), GROUPS.items(), ids=GROUPS)
def test_views_show_what_the_golden_files_say(
    group: str,
    recordings: Sequence[Recording],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    found = views(recordings, tmp_path, monkeypatch)
    assert tuple(found) == VIEWS
    regenerate = request.config.getoption("--regenerate", False)
    differences: list[str] = []
    for view, text in found.items():
        path = golden(view, group)
        if regenerate:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        wanted = path.read_text() if path.exists() else ""
        name = str(path.relative_to(FOLDER))
        differences += unified_diff(wanted.splitlines(), text.splitlines(), name, "found", n=1, lineterm="")
    if differences and not regenerate:
        pytest.fail("\n".join(differences), pytrace=False)


def test_each_golden_file_belongs_to_recordings(request: pytest.FixtureRequest) -> None:
    known = {golden(view, group) for view in VIEWS for group in GROUPS}
    unknown = {path for view in VIEWS for path in (FOLDER / view).rglob("*.txt")} - known
    if request.config.getoption("--regenerate", False):
        for path in unknown:
            path.unlink()
        unknown = set()
    assert unknown == set()
