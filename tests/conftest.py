import gc
import logging
import os
import signal
from collections.abc import Generator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.places import RECORDINGS, Place, placing

# Ignored where the tests were started in the background, and so it would be by all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
# What commands remember from one to the next is no test's, except where it sets another folder.
os.environ["XDG_CACHE_HOME"] = os.devnull
# What is printed is as wide as it is anywhere, whatever the terminal.
os.environ.pop("COLUMNS", None)
# argparse looks for translations of each of its words, on disk and in each command.
os.environ["LANGUAGE"] = "C"
# Prometheus and its tools live shortly here: less collecting of garbage is a quarter less processor time.
os.environ.setdefault("GOGC", "1000")
os.environ.setdefault("GOMEMLIMIT", "512MiB")
# On a busy machine any example may take any time.
settings.register_profile("any machine", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

SYSTEM = ("tests/system/", "tests/torture/test_faults", "tests/torture/test_hostile_cvm")
"""How the paths of tests begin that start real servers, each its own."""
SPREAD = ("tests/golden/", *SYSTEM)
"""How the paths of tests begin that share nothing with others of their file."""
ONE_BY_ONE = ("tests/system/test_demo.py", "tests/system/test_experiments.py", "tests/system/test_wheel.py")
"""Files of those whose tests use what there is once: default ports, huge pages, the wheel that they built."""


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Nothing that is collected is garbage: no collection of that looks for it, now or later.

    Where several processes collect all tests, each begins elsewhere: pytest rewrites the asserts of a module once. In a
    fresh clone that takes ten seconds of processor time, which every process would need otherwise.
    """
    gc.disable()
    try:
        given = getattr(session.config, "workerinput", None)
        if given and session.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
            _import_modules(int(given["workerid"].removeprefix("gw")) / given["workercount"])
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_modules(begin: float) -> None:
    """Those of all tests, from that part of them on."""
    tests = Path(__file__).parent
    modules = sorted(tests.rglob("test_*.py"))
    first = int(len(modules) * begin)
    for path in modules[first:] + modules[:first]:
        with suppress(Exception, pytest.skip.Exception):  # collecting says what is wrong with it
            import_module(".".join(path.relative_to(tests.parent).with_suffix("").parts))


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
    """With `--dist loadfile`: files stay together, as their tests share what they made; those of SPREAD do not."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler.loadfile import LoadFileScheduling  # there if this is called

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            is_spread = nodeid.startswith(SPREAD) and not nodeid.startswith(ONE_BY_ONE)
            return nodeid if is_spread else str(super()._split_scope(nodeid))

    config.option.loadscopereorder = False  # the order is that of collection
    return Scheduling(config, log)


@pytest.fixture(autouse=True)
def _all_messages() -> None:
    """Commands that tests run in their own process silence what the exporter says of runs, for the rest of it."""
    logging.getLogger("benchwatch.runs").setLevel(logging.NOTSET)


@pytest.fixture
def recordings() -> Path:
    """Output of real tools, each with its command beside it."""
    return RECORDINGS


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Puts bytes or a recording under runs/, last written to at a given moment; gives its path."""
    return placing(tmp_path / "runs")
