"""`benchwatch completion`: what each shell makes of its script."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchwatch.cli import main
from tests.support.waiting import PATIENCE


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("backfill", "simulate", "runs.path", "web.config.file", "confidence", "markdown"):
        assert word in script


def test_bash_completes_commands_options_and_choices() -> None:
    script = f"""
        eval "$({sys.executable} -m benchwatch completion bash)"
        complete_line() {{
          COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
          _shtab_benchwatch
          echo "${{COMPREPLY[*]}}"
        }}
        complete_line benchwatch com
        complete_line benchwatch compare a b --form
        complete_line benchwatch report a --prom
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["compare completion", "--format", "--prometheus"]


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_completes_commands_options_choices_and_files(tmp_path: Path) -> None:
    (tmp_path / "web.yml").touch()
    lines = (
        "com",
        "nutanix ch",
        "compare a b --form",
        "compare a b --format m",
        "serve --web.config.file w",
        "push --f",
        "run --variant-file w",
    )
    asked = "; ".join(f"complete -C 'benchwatch {line}'; echo" for line in lines)
    script = f"{sys.executable} -m benchwatch completion fish | source; {asked}"
    done = subprocess.run(
        ["fish", "--no-config", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    words = [[line.partition("\t")[0] for line in part.splitlines()] for part in done.stdout.split("\n\n")]
    expected = [
        ["compare", "completion"],
        ["check"],
        ["--format"],
        ["markdown"],
        ["web.yml"],
        ["--follow"],
        ["web.yml"],
        [],
    ]
    assert (words, done.stderr) == (expected, "")


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_completes_commands_options_choices_and_files(tmp_path: Path) -> None:
    (tmp_path / "web.yml").touch()
    command = [sys.executable, "-m", "benchwatch", "completion", "zsh"]
    (tmp_path / "_benchwatch").write_bytes(subprocess.run(command, capture_output=True, check=True).stdout)
    process, terminal = pty.fork()
    if not process:
        os.chdir(tmp_path)
        os.execvpe("zsh", ["zsh", "-f", "-i"], os.environ | {"HOME": str(tmp_path), "TERM": "dumb"})
    try:
        os.write(terminal, b"fpath=($PWD $fpath); autoload -U compinit; compinit -D -u; PS1=rea''dy\n")
        read_until(terminal, rb"\nready|\rready")
        for line, pattern in (
            (b"comp", rb"compare +--.*completion +--"),
            (b"nutanix ch", rb"benchwatch nutanix check "),
            (b"compare a b --form", rb"benchwatch compare a b --format "),
            (b"compare a b --format m", rb"benchwatch compare a b --format markdown "),
            (b"serve --web.config.file w", rb"benchwatch serve --web.config.file web.yml "),
        ):
            os.write(terminal, b"benchwatch " + line + b"\t")
            read_until(terminal, pattern)
            os.write(terminal, b"\x15")  # Ctrl-U
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


def read_until(terminal: int, pattern: bytes) -> None:
    shown, deadline = b"", time.monotonic() + PATIENCE
    while not re.search(pattern, shown, re.DOTALL):
        ready, _, _ = select.select([terminal], [], [], max(0, deadline - time.monotonic()))
        assert ready, shown
        shown += os.read(terminal, 65536)
