"""Records: YAML files in a run's folder that describe the run.

`run.yaml` applies to the whole run. `<worker>.yaml` applies to one worker and overrides `run.yaml`; labels, parameters
and disks are overridden key by key. `benchwatch run` writes `<worker>.yaml`. Every key is optional:

labels: {cluster: a, vm: pg1}       further labels of benchwatch_run_info
parameters: {shared_buffers: 16GB}  in addition to what the tool prints
latency_objective: 1ms
host: db1                           the machine whose disks and processors the run uses: node_exporter's label `host`
client: bench1                      the machine of the benchmark itself, if it differs from that of the server
vm: pg1                             VM name in the vdisk mapping, if it differs from `host`
disks: {sdb: log, sdc: data}        roles of the host's disks by device name
found: {host: db1, disks: {sdb: log}}   the same as found by `benchwatch run`; the keys above override it
command: pgbench -P 1 ...           or a list of arguments
start: 1790000000.0                 Unix seconds
scheduled: {at: 1790000000.0, late: 0.0002, clock_error: 0.001}   the moment for which the start waited; how many
                                    seconds later it started, and how far off the clock was at most (if known)
warmup: 60s                         time at the start that results should leave out
repeat_of: huge-pages               the experiment that this run repeats
sweep: {of: curve, point: {clients: 4}, order: shuffled, seed: 7}   the sweep of which this run is a point
before: {command: ..., output: ...}  what `benchwatch run --before` did before the run
end: 1790000600.0                   Unix seconds; this and the following keys appear when the benchmark has ended
exit_code: 0
signal: SIGINT                      the signal that ended it
cpu_seconds: 31.4                   CPU time that the benchmark used
"""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from ..values.durations import Duration, PointInTime
from ..values.errors import ConfigError, excerpt
from ..values.yaml import RECORD, read_yaml
from .settings import NOT_KNOWN, Here, HostName, RunsSettings

NAME = "run.yaml"
SUFFIX = ".yaml"
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,127}")
_RESERVED = frozenset({"run", "worker", "tool", "tool_version", "job", "instance", "le", "quantile"})

MOST_PARAMETERS = 2
"""Parameters that a sweep can vary."""
_Text = str | int | float | bool


class Found(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the run is, as a launcher found out."""

    host: HostName = ""
    """Empty if unknown: it is not necessarily the machine that wrote the record."""
    client: HostName = ""
    disks: dict[str, str] = {}
    """Roles by name of the disk in node_exporter."""


class SweepPoint(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The point of a sweep that a run is."""

    of: str
    """Name of the sweep."""
    point: dict[str, _Text]
    """The parameters that the sweep varies, in the order of the sweep."""
    order: str = ""
    """The order in which its runs were started."""
    seed: int | None = None
    """The seed of a random order."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.point) <= MOST_PARAMETERS:
            raise ValueError(f"point: expected one or two parameters, got {len(self.point)}")

    @property
    def values(self) -> dict[str, str]:
        """The point as text."""
        return {name: _text(value) for name, value in self.point.items()}


class Scheduled(msgspec.Struct, frozen=True, kw_only=True):
    """The moment for which the start of a run waited."""

    at: PointInTime
    late: float | None = None
    """Seconds from that moment to the start; None before the start."""
    clock_error: Duration | None = None
    """Seconds by which the machine's clock was off at most; None if unknown."""


class Before(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was done before the run (`run --before`)."""

    command: str
    output: str = ""


class Record(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of one record. None: not given."""

    labels: Mapping[str, _Text] = {}
    parameters: Mapping[str, _Text] = {}
    latency_objective: Duration | None = None
    host: HostName | None = None
    client: HostName | None = None
    vm: HostName | None = None
    disks: dict[str, str] = {}
    found: Found | None = None
    command: str | list[str] = ""
    start: PointInTime | None = None
    scheduled: Scheduled | None = None
    warmup: Duration | None = None
    repeat_of: str | None = None
    sweep: SweepPoint | None = None
    before: Before | None = None
    end: PointInTime | None = None
    exit_code: Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**32)] | None = None
    signal: str | None = None
    cpu_seconds: Duration | None = None


_MERGED = frozenset({"labels", "parameters", "disks", "command"})
_REPLACED = [name for name in Record.__struct_fields__ if name not in _MERGED]
"""Keys whose value replaces the value of the record below."""


class RunFile(Record, frozen=True, kw_only=True):
    """What the records of a run and the configuration say about a worker."""

    labels: Mapping[str, str] = {}
    parameters: Mapping[str, str] = {}
    """With the command."""
    warmup: Duration = Duration(0)
    repeat_of: str = ""
    signal: str = ""
    here: Here = NOT_KNOWN
    outdated: bool = False
    """Whether the start and end in the records are ignored because they are those of an earlier run."""
    abandoned_after: float = 300.0
    """Seconds of silence."""

    @property
    def server(self) -> str:
        """The machine whose disks and processors the run uses; empty if unknown."""
        return self.host or (self.here.host if self.found is None else self._called(self.found.host))

    @property
    def peer(self) -> str:
        """The machine of the benchmark itself, if its tool has a server; empty if unknown."""
        found = self.found or Found(client="" if self.host else self.here.host)
        return self.client or self._called(found.client)

    def _called(self, name: str) -> str:
        """The name of a machine; if it is this one, its configured name."""
        return self.here.host if name and name == self.here.own_name else name

    @property
    def virtual_machine(self) -> str:
        """The name of the server as a virtual machine; empty if unknown."""
        return self.vm or (self.here.vm if self.server == self.here.host else "") or self.server

    @property
    def roles(self) -> dict[str, str]:
        """The roles of the server's disks by device. A role in `disks` is removed from the disks that were found."""
        found = self.found.disks if self.found else {}
        given = set(self.disks.values())
        return {disk: role for disk, role in found.items() if role not in given} | self.disks

    def of_earlier(self) -> "RunFile":
        """A copy without the start, end and exit of an earlier run."""
        none = dict.fromkeys(("start", "scheduled", "end", "exit_code", "cpu_seconds"))
        return msgspec.structs.replace(self, **none, signal="", outdated=True)

    @property
    def cpus_used(self) -> float | None:
        """CPUs that the benchmark used on average from start to end; None if not recorded."""
        if self.cpu_seconds is None or self.start is None or self.end is None or self.end <= self.start:
            return None
        return self.cpu_seconds / (self.end - self.start)


def default_runfile(settings: RunsSettings, here: Here = NOT_KNOWN) -> RunFile:
    """The values for a run without records."""
    return RunFile(
        here=here,
        latency_objective=settings.latency_objective,
        abandoned_after=settings.abandoned_after,
    )


def load_runfile(path: Path, settings: RunsSettings) -> RunFile:
    """The content of a record, with the configuration's defaults. Raises ConfigError."""
    return merge(read_record(path), default_runfile(settings))


def read_record(path: Path) -> Record:
    """The content of a record. Raises ConfigError."""
    content = read_yaml(path, Record, RECORD)
    for name in content.labels:
        check_label(name, f"{path}: labels")
    return content


def merge(content: Record, beneath: RunFile) -> RunFile:
    """The values `beneath`, overridden and extended by the content of a record."""
    command = content.command if isinstance(content.command, str) else shlex.join(content.command)
    given = {name: _text(value) for name, value in content.parameters.items()}
    return msgspec.structs.replace(
        beneath,
        labels={**beneath.labels, **{name: _text(value) for name, value in content.labels.items()}},
        parameters={**beneath.parameters, **({"command": command} if command else {}), **given},
        disks=beneath.disks | content.disks,
        **{name: value for name in _REPLACED if (value := getattr(content, name)) is not None},
    )


def check_label(name: str, where: str) -> str:
    """Returns the name of a label of a run. Raises ConfigError if it is not valid."""
    if not _LABEL.fullmatch(name) or name.startswith("__") or name in _RESERVED:
        taken = f"other than {', '.join(sorted(_RESERVED))}"
        raise ConfigError(
            f"{where}: expected a name of letters, digits and _ {taken}, of at most 128 characters, got {excerpt(name)}"
        )
    return name


def _text(value: _Text) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
