"""What a PostgreSQL server says about itself, asked through psql over the connection that the benchmark uses.

psql -0 -z -A -t ends every field and row with a zero byte. It reads the queries from its standard input, never asks for
a password (-w), and has no terminal on which a wrapper such as ssh or sudo could ask. A query that takes too long, such
as a size or a number of rows, is cancelled; the other answers count. psql is in the folder of the benchmark's program.

The server counts as running on this machine if a process here started at the time that the server reports.
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from ..machine import question
from ..machine.disks import DATA, LOG, roles_of
from ..machine.host import Host
from .invocation import Benchmark
from .launcher import Facts, server_host

_PATIENCE = 3.0
"""Seconds to wait for the answers; ssh alone can take one."""
_PROCESS = "postgres"
_TO_START = {False: 5.0, True: 60.0}
"""How long before the start time that it reports the process of a server may have started, seconds: setting up huge
pages takes long. A server at another address than ours (it may be in a container) gets less, as a longer span would
match other servers.
"""

_ALWAYS = (
    "server_version block_size data_checksums wal_segment_size shared_buffers huge_pages huge_pages_status fsync"
    " full_page_writes synchronous_commit wal_level max_wal_size checkpoint_timeout checkpoint_completion_target"
    " data_directory"
)
_SECRET = re.compile(r"conninfo|passphrase|passw|secret|token|_command$|_key$|salt", re.IGNORECASE)
_QUESTIONS = f"""
set statement_timeout = '1s';
select name, current_setting(name) from pg_settings
 where name = any (string_to_array('{_ALWAYS}', ' '))
    or source not in ('default', 'override', 'session') and name not in ('application_name', 'client_encoding');
select '{{start}}', extract(epoch from pg_postmaster_start_time());
select '{{host}}', :'HOST';
select '{{together}}', inet_server_addr() is not distinct from inet_client_addr();
select 'database_size', pg_size_pretty(pg_database_size(current_database()));
"""
_URI_PASSWORD = re.compile(r"^(postgres(?:ql)?://[^/@:]*):([^@/]*)@")
_URI_HOST = re.compile(r"postgres(?:ql)?://(?:[^@/]*@)?(\[[^]]*\]|[^:/?,]*)")
_KEY_HOST = re.compile(r"\bhost\s*=\s*('[^']*'|[^\s,]+)")
_KEY_PASSWORD = re.compile(r"\bpassword\s*=\s*('(?:[^'\\]|\\.)*'|\S+)\s*")


class Server(NamedTuple):
    """What a server says."""

    facts: dict[str, str]
    """Settings and other parameters, by name."""
    start: float | None
    """When it was ready to start its other processes, Unix seconds."""
    together: bool
    """Whether client and server have the same address, or none: both are on one machine unless a port is forwarded."""
    host: str = ""
    """Where psql found it: an address, a name, or the folder of a socket; empty: unknown."""


class Silent(Exception):
    """The server gave no answer; the reason, one clause."""


def facts(benchmark: Benchmark, connection: Sequence[str], host: Host, questions: str = "") -> Facts:
    """What the server that psql reaches with these arguments reports about itself, and the storage of its files.

    `questions` are further queries in SQL; each answers with a parameter's name and its value.
    """
    client = benchmark.machine(host)
    told = _address(connection)
    try:
        said = ask(benchmark, connection, _PATIENCE, questions)
    except Silent as silent:
        remark = f"the server's settings are not recorded: {silent}"
        return Facts(host=server_host(told, benchmark, host), client=client, remarks=(remark,))
    process = None
    if not benchmark.elsewhere and said.start is not None:
        process = host.process_started_at(_PROCESS, said.start, _TO_START[said.together])
    if process is None:
        server = server_host(said.host or told, benchmark, host)
        remark = (
            f"no process of {host.name} is the server at {said.host}: if the port is forwarded, name the server's "
            f"machine with --host"
        )
        forwarded = not benchmark.elsewhere and server == host.name and said.host[:1] not in ("", "/", "@")
        return Facts(said.facts, host=server, client=client, remarks=(remark,) if forwarded else ())
    files = _files(process, said.facts.get("data_directory", ""), host)
    return Facts(
        said.facts,
        {name: fact for path, part in files for name, fact in host.storage.facts(path, part).items()},
        roles_of(((path, LOG if part == "wal" else DATA) for path, part in files), host.storage),
        client=client,
        here=True,
    )


def facts_at(words: Mapping[str, str], said: Mapping[str, str], benchmark: Benchmark, host: Host) -> Facts:
    """The same of the server at these words of a connection string (host, port, user, db ...), and what a tool said."""
    names = {"db": "dbname"}
    quoted = [f"{names.get(name, name)}='{value}'" for name, value in words.items() if value and "'" not in value]
    found = facts(benchmark, [f"--dbname={' '.join(quoted)}"], host)
    return found._replace(parameters={**found.parameters, **said})


def _files(process: int, told: str, host: Host) -> list[tuple[Path, str]]:
    """Folders of the server and their content, if they are known and have the same paths here."""
    folder = host.working_folder(process) or (Path(told) if told else None)
    if folder is None or not host.has_our_root(process):
        return []
    # Its links cannot be followed by everybody.
    return [(folder, "data"), *([(folder / "pg_wal", "wal")] if os.access(folder, os.X_OK) else [])]


def _address(connection: Sequence[str]) -> str:
    """The address of a server in the arguments of psql or the environment; empty: its socket, or a service file."""
    text = " ".join(connection)
    found = _URI_HOST.search(text) or _KEY_HOST.search(text)
    return found[1].strip("'[]") if found else os.environ.get("PGHOST", "")


def ask(benchmark: Benchmark, connection: Sequence[str], timeout: float, questions: str = "") -> Server:
    """What the server behind this connection answers within `timeout` seconds. Raises Silent."""
    if benchmark.makes_container:
        raise Silent(f"{benchmark.wrapper[0]} would make a container for the question")
    environment = os.environ | {"PGCONNECT_TIMEOUT": "2", "PGAPPNAME": "benchwatch"}
    arguments = [_without_password(argument, environment) for argument in connection]
    command = [*benchmark.sibling("psql"), "-X", "-q", "-A", "-t", "-w", "-z", "-0", *arguments]
    try:
        answer = question.ask(command, timeout, _QUESTIONS + questions, environment)
    except OSError as error:
        raise Silent(f"{command[0]} cannot be started: {error.strerror}") from None
    words = answer.out.rpartition("\0")[0].split("\0")
    found = dict(zip(words[::2], words[1::2], strict=False))
    if not found and answer.late:
        raise Silent(f"no answer within {timeout:.1f} s")
    if not found:
        complaint = answer.err.strip().splitlines() or ["psql said nothing"]
        raise Silent(next((line for line in complaint if "error" in line or "FATAL" in line), complaint[-1]))
    start, together, host = (found.pop(f"{{{name}}}", "") for name in ("start", "together", "host"))
    facts = {name: value for name, value in found.items() if not _SECRET.search(name)}
    return Server(facts, float(start) if start else None, together == "t", host)


def _without_password(argument: str, environment: dict[str, str]) -> str:
    """The argument; its password moves to the environment, where other users do not see it."""
    option, equals, value = argument.partition("=")
    if option != "--dbname":
        return argument
    if match := _URI_PASSWORD.match(value):
        environment["PGPASSWORD"] = unquote(match[2], errors="surrogateescape")
        value = f"{match[1]}@{value[match.end() :]}"
    elif match := _KEY_PASSWORD.search(value):
        environment["PGPASSWORD"] = match[1].strip("'")
        value = value[: match.start()] + value[match.end() :]
    return option + equals + value
