import subprocess
import sys

import pytest

from benchwatch.cli import main

LOADED = """
import sys
from benchwatch.cli import main
try:
    main(sys.argv[1:])
finally:
    print("loaded:", *sorted({"aiohttp", "matplotlib", "numpy"} & sys.modules.keys()))
"""


@pytest.mark.parametrize("arguments", ["--help", "serve --help", "watch --help", "nutanix check --help", "--version"])
def test_a_command_loads_no_library_that_it_does_not_use(arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments.split()], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    for name in ("serve", "metrics", "nutanix", "run", "watch", "report", "backfill", "compare"):
        assert f"\n    {name} " in shown
        with pytest.raises(SystemExit):
            main([name, "--help"])
        assert f"usage: benchwatch {name} " in capsys.readouterr().out
