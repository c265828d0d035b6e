import subprocess
import sys

import pytest

from tests.support.waiting import PATIENCE

LOADED = """
import sys
from benchwatch.cli import main
try:
    main(sys.argv[1:])
finally:
    print("loaded:", *sorted({"aiohttp", "plotly", "numpy"} & sys.modules.keys()))
"""


@pytest.mark.parametrize("arguments", ["--help", "serve --help", "watch --help", "nutanix check --help", "--version"])
def test_a_command_loads_no_library_that_it_does_not_use(arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments.split()], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stdout.splitlines()[-1] == "loaded:"
