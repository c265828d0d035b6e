import errno
import os
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

from benchwatch.tools.invocation import find_benchmark
from benchwatch.tools.postgres import Server, Silent, ask
from tests.support.waiting import PATIENCE, eventually

# What is killed may take its time to end on a busy machine.
pytestmark = pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")


@pytest.fixture
def psql(tmp_path: Path) -> Path:
    path = tmp_path / "psql"
    path.touch()
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def script(psql: Path, text: str) -> None:
    psql.write_text(f"#!/bin/sh\n{text}\n")


def ask_of(psql: Path, *connection: str, timeout: float = PATIENCE) -> Server:
    return ask(find_benchmark([str(psql.with_name("pgbench"))], {"pgbench"}), connection, timeout)


def test_settings_come_by_name_and_secrets_are_left_out(psql: Path) -> None:
    secrets = ["primary_conninfo", "password=x", "ssl_passphrase_command", "x", "archive_command", "scp"]
    plain = ["shared_buffers", "128MB", "search_path", "a\nb", "{start}", "1790000000.25", "scale_factor", "5"]
    script(psql, shlex.join(["printf", r"%s\0", *secrets, *plain]))
    expected = {"shared_buffers": "128MB", "search_path": "a\nb", "scale_factor": "5"}
    assert ask_of(psql) == Server(expected, 1790000000.25, together=False)


@pytest.mark.parametrize(("answer", "together"), [("t", True), ("f", False)])
def test_whether_server_and_client_are_together_is_no_parameter(psql: Path, answer: str, together: bool) -> None:
    script(psql, rf"printf '{{together}}\0{answer}\0fsync\0on\0'")
    assert ask_of(psql) == Server({"fsync": "on"}, None, together)


@pytest.mark.parametrize(
    ("database", "shown"),
    [
        ("postgresql://bob:s%3A%40%2Fcret@db/x", "--dbname=postgresql://bob@db/x"),
        ("host=db password='s:@/cret' dbname=x", "--dbname=host=db dbname=x"),
    ],
)
def test_a_password_does_not_stand_among_the_arguments(psql: Path, database: str, shown: str) -> None:
    script(psql, r"""for a; do last=$a; done; printf 'arguments\0%s\0pw\0%s\0' "$last" "$PGPASSWORD" """)
    assert ask_of(psql, f"--dbname={database}").facts == {"arguments": shown, "pw": "s:@/cret"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "echo 'psql: error: connection refused' >&2; echo 'Is it there?' >&2; exit 2",
            "psql: error: connection refused",
        ),
        ("echo one >&2; echo two >&2; exit 2", "two"),
        ("exit 0", "psql said nothing"),
        ("sleep 30", "no answer within 0.2 s"),
    ],
)
def test_a_silent_server_is_one_clause(psql: Path, text: str, reason: str) -> None:
    script(psql, text)
    with pytest.raises(Silent, match=reason):
        ask_of(psql, timeout=0.2 if "sleep" in text else PATIENCE)


@pytest.fixture
def answered(psql: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that a script makes once it has answered: the time is up only after that, however busy the machine is."""
    path, communicate = psql.with_name("answered"), subprocess.Popen.communicate

    def late(process: "subprocess.Popen[bytes]", text: bytes | None, seconds: float) -> tuple[bytes, bytes]:
        eventually(path.exists, "psql has answered")
        while True:
            try:
                return communicate(process, text, seconds)
            except subprocess.TimeoutExpired as expired:
                if expired.stdout:
                    raise
                text = None  # it has been sent

    monkeypatch.setattr(subprocess.Popen, "communicate", late)
    return path


def test_what_was_answered_in_time_counts(psql: Path, answered: Path) -> None:
    script(psql, rf"printf '%s\0' fsync on shared_buffers 128MB wal_level; printf rep; touch {answered}; sleep 30")
    assert ask_of(psql, timeout=0.2).facts == {"fsync": "on", "shared_buffers": "128MB"}


def test_a_psql_that_may_not_be_killed_is_left_alone(
    psql: Path, answered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(psql.parent)
    os.mkfifo("fifo")
    script(psql, rf"printf 'fsync\0on\0'; touch {answered}; timeout 120 cat fifo; touch ended")

    def refuse(process: int, number: int) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "kill", refuse)
    monkeypatch.setattr(os, "killpg", refuse)
    assert ask_of(psql, timeout=0.2).facts == {"fsync": "on"}
    assert not Path("ended").exists()
    Path("fifo").write_text("")


def test_psql_that_is_not_there_is_one_clause(tmp_path: Path) -> None:
    with pytest.raises(Silent, match="psql cannot be started: No such file or directory"):
        ask_of(tmp_path / "psql")


def test_psql_has_no_terminal_to_ask_on(psql: Path) -> None:
    script(psql, r"if ( : </dev/tty ) 2>/dev/null; then printf 'tty\0yes\0'; else printf 'tty\0no\0'; fi")
    assert ask_of(psql).facts == {"tty": "no"}
