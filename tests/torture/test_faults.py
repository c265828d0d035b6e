"""Nothing is lost, whatever happens to files, connections, disks; `python -m tests.torture` adds the slow faults."""

from pathlib import Path

import pytest

from .faults import FAULTS, Fault, Skipped


@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.name) for fault in FAULTS if fault.fast])
def test_nothing_is_lost(fault: Fault, tmp_path: Path) -> None:
    try:
        outcome = fault.run(tmp_path)
    except Skipped as reason:
        pytest.skip(str(reason))
    assert outcome.lost == 0, outcome.seen
