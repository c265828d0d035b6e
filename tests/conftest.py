import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.places import RECORDINGS, Place, placing

# Ignored where the tests were started in the background, and so it would be by all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

SYSTEM = ("tests/system/", "tests/torture/")
"""Folders of tests that start real servers, each its own."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what starts real servers; the longest tests first, so that none is left over at the end."""
    for item in items:
        if item.nodeid.startswith(SYSTEM):
            item.add_marker("system")
    items.sort(key=lambda item: (-_seconds(item), item.get_closest_marker("system") is None))


def _seconds(item: pytest.Item) -> float:
    marker = item.get_closest_marker("slow")
    return float(marker.args[0]) if marker else 0.0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With `--dist loadgroup`: files stay together, as they share what they made; SYSTEM is spread by test."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler.loadgroup import LoadGroupScheduling  # of pytest-xdist, without which this is never called

    class ByFile(LoadGroupScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            group = str(super()._split_scope(nodeid))
            return nodeid.split("::")[0] if group == nodeid and not nodeid.startswith(SYSTEM) else group

    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.fixture
def recordings() -> Path:
    """Output of real tools, each with its command beside it."""
    return RECORDINGS


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Puts bytes or a recording under runs/, last written to at a given moment; gives its path."""
    return placing(tmp_path / "runs")
