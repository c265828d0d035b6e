"""The one configuration file: YAML, checked whole before anything starts.

Every key is optional. A key that is not known, or a value of another kind than expected, is an error that names the
file, the line, the key and what was expected.
"""

import re
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import yaml

from .durations import Duration
from .errors import ConfigError
from .nutanix.settings import NutanixSettings

Count = Annotated[int, msgspec.Meta(ge=0)]
_T = TypeVar("_T")
_FAULT = re.compile(r"(?P<what>.*?)(?: - at `(?P<where>key in )?\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")


class RunsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where runs are looked for, and how long they are kept."""

    path: str = "runs"
    """Folder of runs; relative to the configuration file."""
    poll_interval: Duration = Duration(0.25)
    """Seconds between two looks at the files of runs that are on."""
    keep: int = 100
    """How many ended runs are remembered; older ones are let go, their files stay."""
    abandoned_after: Duration = Duration(300)
    """Seconds of silence after which a run without an end counts as abandoned."""
    latency_objective: Duration | None = None
    """Latency that a run should stay below, seconds, where its run.yaml names none."""


class PushSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is done with output that is sent to /ingest/<run>/<worker>."""

    enabled: bool = True
    path: str | None = None
    """Folder it is written to, watched like the folder of runs; by default that folder."""
    max_push_bytes: Count = 64 * 1024**3
    """Bytes of one push, or of one file that is sent in pieces."""
    max_run_bytes: Count = 1024**4
    """Bytes that the files of a run may have, for more to be pushed to it."""
    max_run_files: Count = 10_000
    max_folder_bytes: Count = 4 * 1024**4
    """Bytes that all runs of the folder may have, for more to be pushed."""
    max_runs: Count = 50_000
    """How many runs the folder may have, for a further one to be pushed."""
    keep_free_bytes: Count = 1024**3
    """Bytes of the folder's file system that pushes leave free."""


class WebSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How pages are served."""

    hosts: list[str] = []
    """Names under which it is asked for, besides localhost and addresses; by default any, but none on loopback."""


class HistogramSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How fine the exported histograms are."""

    buckets_per_octave: int = 4
    """4, 2 or 1 buckets between a latency and its double."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be configured."""

    runs: RunsSettings = RunsSettings()
    push: PushSettings = PushSettings()
    web: WebSettings = WebSettings()
    histogram: HistogramSettings = HistogramSettings()
    disks: dict[str, str] = {}
    """Role of a disk of this machine by device name, for example `sdb: log`."""
    nutanix: NutanixSettings = NutanixSettings()


def load_settings(path: Path | None) -> Settings:
    """The settings of a file, or the defaults without one. Raises ConfigError."""
    if path is None:
        return Settings()
    settings = read_yaml(path, Settings)
    if settings.histogram.buckets_per_octave not in (1, 2, 4):
        got = settings.histogram.buckets_per_octave
        raise ConfigError(f"{path}: histogram.buckets_per_octave: expected 1, 2 or 4, got {got}")
    return settings


def read_yaml(path: Path, kind: type[_T]) -> _T:
    """The content of a YAML file as a struct; an empty file is an empty mapping. Raises ConfigError."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "expected UTF-8 text"
        raise ConfigError(f"{path}: cannot be read: {reason}") from error
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise ConfigError(f"{path}{line}: expected YAML: {getattr(error, 'problem', error)}") from error
    try:
        return msgspec.convert({} if content is None else content, kind, dec_hook=_convert)
    except msgspec.ValidationError as error:
        raise ConfigError(_sentence(path, text, content, str(error))) from error


def _convert(kind: type, value: Any) -> Any:
    if kind is Duration:
        return Duration.read(value)
    raise NotImplementedError(f"no conversion to {kind}")  # pragma: no cover


def _sentence(path: Path, text: str, content: Any, fault: str) -> str:
    """msgspec's message (`Expected ... - at `$.runs.keep``) with the file, the line and the value."""
    match = _FAULT.fullmatch(fault)
    assert match
    what = match["what"]
    steps = [key or index for key, index in _STEP.findall(match["path"] or "")]
    unknown = re.search(r"unknown field `(.*?)`", what)
    if unknown:
        steps.append(unknown[1])
        what = "no such key"
    node, value = yaml.compose(text), content
    for step in steps:
        if isinstance(node, yaml.MappingNode):
            found = [entry for key, entry in node.value if key.value == step]
            value = value[step] if found and not unknown else value
        elif isinstance(node, yaml.SequenceNode) and step.isdigit():
            found, value = [node.value[int(step)]], value[int(step)]
        else:
            found = []
        if not found:  # the value of a mapping, whose key msgspec does not name
            break
        node = found[0]
    line = node.start_mark.line + 1 if node else 1
    got = "" if unknown or ("got " in what and "`" not in what) else f" ({value!r})"
    where = ".".join(steps).replace("....", ", one of its values") or "the whole file"
    return f"{path}:{line}: {where}: {what[:1].lower()}{what[1:]}{got}"
