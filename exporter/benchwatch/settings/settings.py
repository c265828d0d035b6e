"""The configuration file: YAML, which is checked as a whole before anything starts.

Every key is optional. An unknown key, or a value of an unexpected kind, is an error that names the file, the line, the
key and what was expected.
"""

from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from ..metrics.limits import DEFAULT, Limits
from ..values.durations import Duration
from ..values.yaml import read_yaml
from .cvm_settings import NutanixSettings

Count = Annotated[int, msgspec.Meta(ge=0)]
HostName = Annotated[str, msgspec.Meta(max_length=255)]


class Here(NamedTuple):
    """Names of this machine, where runs are unless they name another machine. Empty: unknown."""

    host: str = ""
    """Its name."""
    vm: str = ""
    """Its name in the mapping of vdisks to virtual machines, if it differs from `host`."""
    own_name: str = ""
    """Its own host name, which a launcher on it records."""


NOT_KNOWN = Here()


class RunsSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where runs are, when they count as abandoned, and how many stay in memory."""

    path: str = "runs"
    """Folder of runs; relative to the configuration file."""
    poll_interval: Duration = Duration(0.25)
    """Seconds between two checks of the files of active runs."""
    keep: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 100
    """Finished runs that stay in memory; files are never removed."""
    abandoned_after: Duration = Duration(300)
    """Silence in seconds after which a run without an end counts as abandoned; at least four report intervals."""
    latency_objective: Duration | None = None
    """Latency in seconds that a run should stay below, unless its run.yaml gives another."""
    limits: Limits = DEFAULT

    def __post_init__(self) -> None:
        if not 0.01 <= self.poll_interval <= 3600:
            raise ValueError(f"poll_interval: expected 10ms to 1h, got {self.poll_interval:g}s")


class PushSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where pushed output goes, and how much of it is accepted."""

    enabled: bool = True
    path: str | None = None
    """The folder for pushes, which is watched like the folder of runs; by default, it is that folder."""
    max_push_bytes: Count = 64 * 1024**3
    """Bytes of one push, or of one file that is sent in pieces."""
    max_folder_bytes: Count = 4 * 1024**4
    """Bytes of all runs in the folder above which pushes are refused; a file takes 4 KiB more than it has."""
    keep_free_bytes: Count = 1024**3
    """Free bytes that pushes leave on the folder's file system."""


class WebSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How pages are served."""

    hosts: list[str] = []
    """Host names to answer to in addition to localhost and addresses. Default: any on a network, none on loopback."""


class HistogramSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How fine the exported histograms are."""

    buckets_per_octave: int = 4
    """4, 2 or 1 buckets between a latency and its double."""

    def __post_init__(self) -> None:
        if self.buckets_per_octave not in (1, 2, 4):
            raise ValueError(f"buckets_per_octave: expected 1, 2 or 4, got {self.buckets_per_octave}")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be configured."""

    runs: RunsSettings = RunsSettings()
    push: PushSettings = PushSettings()
    web: WebSettings = WebSettings()
    histogram: HistogramSettings = HistogramSettings()
    host: HostName = ""
    """The name of this machine in the label `host` of its node_exporter; by default, its host name."""
    vm: HostName = ""
    """The name of this machine in the mapping of virtual machines; by default, `host`."""
    disks: dict[str, str] = {}
    """Roles of this machine's disks by device name, such as `sdb: log`."""
    nutanix: NutanixSettings = NutanixSettings()


def load_settings(path: Path | None) -> Settings:
    """The settings of a file, or the defaults without one. Raises ConfigError."""
    return Settings() if path is None else read_yaml(path, Settings)
