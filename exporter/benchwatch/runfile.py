"""run.yaml: what a run's folder says of the run itself. Every key is optional:

labels: {cluster: a, vm: pg1}       further labels of benchwatch_run_info
parameters: {shared_buffers: 16GB}  beside what the tool prints
latency_objective: 1ms
disks: {sdb: log, sdc: data}        roles of disks by device name
command: pgbench -P 1 ...           or a list of arguments
start: 1790000000.0                 Unix seconds
exit_code: 0                        present once the benchmark has ended
"""

import re
from pathlib import Path

import msgspec

from .config import RunsSettings, read_yaml
from .durations import Duration
from .errors import ConfigError

NAME = "run.yaml"
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_RESERVED = frozenset({"run", "worker", "tool", "tool_version", "job", "instance", "le", "quantile"})

_Text = str | int | float | bool


class _Content(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    labels: dict[str, _Text] = {}
    parameters: dict[str, _Text] = {}
    latency_objective: Duration | None = None
    disks: dict[str, str] = {}
    command: str | list[str] = ""
    start: float | None = None
    exit_code: int | None = None


class RunFile(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a run beside its output, defaults of the configuration included."""

    labels: dict[str, str] = {}
    parameters: dict[str, str] = {}
    latency_objective: float | None = None
    """Seconds."""
    disks: dict[str, str] = {}
    start: float | None = None
    """Unix seconds."""
    exit_code: int | None = None
    abandoned_after: float = 300.0
    """Seconds of silence."""


def default_runfile(settings: RunsSettings) -> RunFile:
    """What holds for a run without a run.yaml."""
    return RunFile(latency_objective=settings.latency_objective, abandoned_after=settings.abandoned_after)


def load_runfile(path: Path, settings: RunsSettings) -> RunFile:
    """The content of a run.yaml over the defaults. Raises ConfigError."""
    content = read_yaml(path, _Content)
    for name in content.labels:
        if not _LABEL.fullmatch(name) or name.startswith("__") or name in _RESERVED:
            taken = f"other than {', '.join(sorted(_RESERVED))}"
            raise ConfigError(f"{path}: labels: expected a name of letters, digits and _ {taken}, got {name!r}")
    parameters = {name: _text(value) for name, value in content.parameters.items()}
    if content.command:
        command = content.command
        parameters.setdefault("command", command if isinstance(command, str) else " ".join(command))
    objective = content.latency_objective
    return RunFile(
        labels={name: _text(value) for name, value in content.labels.items()},
        parameters=parameters,
        latency_objective=settings.latency_objective if objective is None else objective,
        disks=content.disks,
        start=content.start,
        exit_code=content.exit_code,
        abandoned_after=settings.abandoned_after,
    )


def _text(value: _Text) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
