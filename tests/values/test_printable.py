import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from benchwatch.launch.sinks import Terminal
from benchwatch.values.printable import lines, printable
from tests.support.waiting import PATIENCE

OSC_52 = "\x1b]52;c;cm0gLXJm\x07"
SUMMARY = (
    "transaction type: <builtin: select only>\nnumber of clients: 1\ntps = 100.0 (without initial connection time)\n"
)


@pytest.mark.parametrize("text", ["", "test1", "Größe µs", "基準 🏁", 'a "quoted" <b>[red]back\\slash'])
def test_what_can_be_printed_stays(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]52;c;cm0=\x07", "\\x1b]52;c;cm0=\\x07"),
        ("\x1b[2Jb", "\\x1b[2Jb"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x7f\x00", "\\x7f\\x00"),
        ("\x9b31m", "\\u009b31m"),
        ("run\u202egol.exe\u2066", "run\\u202egol.exe\\u2066"),
        ("a\u2028b\u200bc\ufeff", "a\\u2028b\\u200bc\\ufeff"),
        ("a\udcff.log", "a\\xff.log"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_a_terminal_would_obey_is_named(text: str, shown: str) -> None:
    assert printable(text) == shown
    shown.encode()


def test_names_that_differ_in_bytes_stay_apart() -> None:
    names = ["a\udcff", "a\udcfe", "a\x9b", "a\x1b"]

    assert len({printable(name) for name in names}) == len(names)


def test_line_breaks_of_a_text_may_be_its_own() -> None:
    assert lines("a\x1b\nb\r\n") == "a\\x1b\nb\\r\n"


def test_what_the_launcher_says_is_printable(capfd: pytest.CaptureFixture[str]) -> None:
    with Terminal() as terminal:
        terminal.say(f"fio by job:\n  {OSC_52}")
    assert capfd.readouterr().err == "benchwatch: fio by job:\n  \\x1b]52;c;cm0gLXJm\\x07\n"


def metrics(folder: Path, **streams: int) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "benchwatch", "metrics", str(folder)]
    return subprocess.run(command, check=True, timeout=PATIENCE, **streams)  # type: ignore[call-overload,no-any-return]


def test_file_names_in_the_log_are_printable(tmp_path: Path) -> None:
    (tmp_path / "db1.out").write_text(SUMMARY)
    (tmp_path / f"notes{OSC_52}.txt").write_text("remember the milk\n" * 10_000)
    err = metrics(tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE).stderr
    assert b"notes\\x1b]52;c;cm0gLXJm\\x07.txt is ignored" in err
    assert b"\x1b" not in err


def test_metrics_on_a_terminal_are_printable_and_elsewhere_exact(tmp_path: Path) -> None:
    (tmp_path / "db1.out").write_text(SUMMARY)
    (tmp_path / "run.yaml").write_text('parameters: {jit: "a\\e]0;b"}\n')
    exact = metrics(tmp_path, stdout=subprocess.PIPE).stdout
    assert b'name="jit",value="a\x1b]0;b"' in exact
    ours, theirs = pty.openpty()
    shown = bytearray()
    process = subprocess.Popen([sys.executable, "-m", "benchwatch", "metrics", str(tmp_path)], stdout=theirs)
    os.close(theirs)
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # the other end has been closed
        pass
    assert process.wait(PATIENCE) == 0
    os.close(ours)
    assert bytes(shown).replace(b"\r\n", b"\n") == exact.replace(b"\x1b", b"\\x1b")
