"""What all commands have in common: help, one kind of failure, and what happens to a mistyped word."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.values.errors import EXIT_CODES
from tests.support.places import RECORDINGS
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parent.parent
COMMANDS = [
    *(
        ["serve"],
        ["run"],
        ["show"],
        ["list"],
        ["watch"],
        ["why"],
        ["metrics"],
        ["compare"],
        ["history"],
        ["report"],
        ["backfill"],
        ["completion"],
        ["push"],
    ),
    *(["nutanix", "check"], ["nutanix", "save"], ["nutanix", "simulate"]),
]
PGBENCH = str(RECORDINGS / "pgbench" / "tpcb-15.18.out")


def failure(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and stderr of a command that prints nothing on stdout."""
    code = main(arguments)
    out, err = capsys.readouterr()
    assert out == ""
    return code, err


def help_of(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["serve", "--web.listen-address", "nowhere"], 2),
        (["serve", "--web.listen"], 2),
        (["run"], 2),
        (["run", "--pause", "1s", "--", "pgbench"], 2),
        (["watch", "http://127.0.0.1:9", "--once"], 1),
        (["watch", "ftp://x"], 2),
        (["metrics", "nowhere"], 2),
        (["metrics", PGBENCH, "--collect", "all"], 2),
        (["compare", "nowhere", PGBENCH], 2),
        (["compare", "README.md", PGBENCH], 1),
        (["compare", PGBENCH], 2),
        (["report", "README.md"], 1),
        (["backfill", "README.md"], 1),
        (["backfill", PGBENCH, "--into", "nowhere"], 2),
        (["nutanix", "check", "http://127.0.0.1:9"], 1),
        (["nutanix", "save", "http://127.0.0.1:9"], 1),
        (["nutanix", "simulate", "--scene", "storm"], 2),
        (["nutanix", "simulat"], 2),
        (["backfil"], 2),
    ],
)
def test_every_failure_is_one_sentence_of_benchwatch_and_an_exit_code(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(arguments) == code
    err = capsys.readouterr().err
    assert err.startswith("benchwatch: ")
    assert "usage:" not in err
    assert "Traceback" not in err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_says_what_for_in_a_line_and_shows_examples(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = help_of(capsys, *command)
    usage, purpose, rest = text.split("\n\n", 2)
    assert usage.startswith(f"usage: benchwatch {' '.join(command)}")
    assert purpose.count("\n") == 0
    assert purpose.endswith(".")
    assert max(map(len, text.splitlines())) <= 100
    examples = rest.partition("\nexamples:\n")[2].partition("\n\n")[0].splitlines()
    assert 2 <= len(examples) <= 4
    assert all(line.startswith(f"  benchwatch {' '.join(command)}") for line in examples)
    assert "\ngeneral options:\n  -h, --help" in text
    monkeypatch.setenv("COLUMNS", "80")
    narrow = help_of(capsys, *command).partition("\nexamples:")[0]
    assert max(map(len, narrow.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_names_the_value_of_an_option_in_capitals_or_lists_the_choices(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    values = re.findall(r"^  --[a-z.-]+ (\S+)", help_of(capsys, *command), re.MULTILINE)
    assert [value for value in values if not re.fullmatch(r"[A-Z:=]+|\{[a-z,]+\}", value)] == []


def test_no_command_shows_the_overview_with_every_command_and_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    code, err = failure(capsys)
    assert code == 2
    assert err == help_of(capsys)
    listed = err.partition("\ncommands:\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"^  (\w+) +\S", listed, re.MULTILINE)) == {command for command, *_ in COMMANDS}
    for number, meaning in EXIT_CODES.items():
        assert re.search(rf"^  {number} +{re.escape(meaning.split()[0])}", err, re.MULTILINE)
    assert failure(capsys, "nutanix") == (2, help_of(capsys, "nutanix"))


def test_the_glossary_of_exit_codes_is_the_same_in_the_documentation() -> None:
    page = (ROOT / "docs" / "exit-codes.md").read_text()
    documented = dict(re.findall(r"^\| (\S+) \| ([^|]+) \|", page, re.MULTILINE))
    assert {code: documented.get(str(code)) for code in EXIT_CODES} == EXIT_CODES


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["comprae", "a", "b"], "got 'comprae'; did you mean compare?"),
        (["nutanix", "chekc"], "got 'chekc'; did you mean check?"),
        (["compare", "a", "b", "--formt", "json"], "no option --formt; did you mean --format?"),
        (["compare", "a", "b", "--format=jsn"], "--format: expected terminal, markdown, csv, json or junit, got 'jsn'"),
        (["compare", "a", "b", "--format=jsn"], "did you mean json?"),
        (["run", "--nmae", "a", "--", "pgbench"], "no option --nmae; did you mean --name?"),
        (["run", "--name", "a", "--", "pgbnech"], "did you mean pgbench?"),
        (["serve", "--config", "x"], "no option --config; did you mean --config.file?"),
        (["serve", "runs"], "unexpected argument 'runs'"),
        (["nutanix", "simulate", "--scene", "chekpoint"], "did you mean checkpoint?"),
    ],
)
def test_a_mistyped_word_is_named_with_the_likeliest_one(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, err = failure(capsys, *arguments)
    assert code == 2
    assert sentence in err


@pytest.mark.parametrize(
    "arguments",
    [["compare", "a", "b", "--conf", "0.9"], ["run", "--rep", "2", "--", "pgbench"], ["report", PGBENCH, "--out", "x"]],
)
def test_options_are_not_abbreviated(
    arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, err = failure(capsys, *arguments)
    assert code == 2
    assert "no option" in err
    assert "did you mean" in err


def test_run_without_a_command_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["run"], ["run", "--name", "a"], ["run", "--name", "a", "--"]):
        code, err = failure(capsys, *arguments)
        assert code == 2
        assert err.startswith("benchwatch: no benchmark given: write its command after --\n")
        assert "benchwatch run --name test1 -- pgbench" in err


INTERRUPTED = """
import sys
from benchwatch.__main__ import entry

class Announcement:
    def find_spec(name, *_):
        if name == "benchwatch.cli":
            print("here", flush=True)

sys.meta_path.insert(0, Announcement)
sys.exit(entry())
"""


def test_interrupting_at_any_moment_shows_no_traceback() -> None:
    """From the moment that the entry imports the commands: what comes before is Python's own."""
    arguments = [sys.executable, "-c", INTERRUPTED, "nutanix", "simulate", "--listen", "127.0.0.1:0"]
    for delay in (0, 0.02, 0.05, 0.1, 0.2, 0.4):
        with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "here\n"
            time.sleep(delay)
            os.kill(process.pid, signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (130, ""), delay


def _ended(shell: str) -> tuple[int, str]:
    script = f'benchwatch() {{ "{sys.executable}" -m benchwatch "$@"; }}; cd "{RECORDINGS}/pgbench"; {shell}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "command", ["show tpcb-15.18.out", "list tpcb-15.18.out", "compare tpcb-15.18.out tpcb-13.16.out"]
)
def test_a_command_without_standard_output_works(command: str) -> None:
    assert _ended(f"benchwatch {command} >&-") == (0, "")


def test_standard_output_that_is_full_is_said_and_the_command_has_failed() -> None:
    full = "benchwatch: the output cannot be written: No space left on device\n"
    assert _ended("benchwatch show tpcb-15.18.out >/dev/full") == (1, full)


def test_that_the_current_folder_was_removed_is_said(tmp_path: Path) -> None:
    removed = f"mkdir {tmp_path}/gone; cd {tmp_path}/gone; rmdir {tmp_path}/gone; "
    said = "benchwatch: the current folder was removed: change to one that exists\n"
    assert _ended(f"{removed}benchwatch show a") == (2, said)


def test_a_reader_that_has_seen_enough_of_a_comparison_is_no_failure() -> None:
    shell = "benchwatch compare tpcb-15.18.out tpcb-13.16.out | true; exit ${PIPESTATUS[0]}"
    assert _ended(shell) == (0, "")


def test_a_fault_of_benchwatch_is_named_with_its_place_and_what_to_report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(_: object) -> int:
        return 1 // 0

    monkeypatch.setattr("benchwatch.cli._run", faulty)
    code, err = failure(capsys, "show", PGBENCH)
    assert code == 1
    assert re.fullmatch(
        r"benchwatch: a fault of benchwatch: ZeroDivisionError: .* \(test_command_line\.py:\d+\)\n"
        r"Please report it with what BENCHWATCH_TRACEBACK=1 prints\.\n",
        err,
    )
    monkeypatch.setenv("BENCHWATCH_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["show", PGBENCH])
