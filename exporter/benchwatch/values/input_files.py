"""What a command line names, as paths: globs that the shell left alone, archives, and `-` for standard input.

Archives (.gz, .zst, .tar, .tar.gz, .tgz, .tar.bz2, .tar.xz, .tar.zst), and those in them, are unpacked into a temporary
folder that lasts as long as the process; names and times of files are kept. The program `zstd` unpacks .zst: Python
reads it from 3.14.
"""

import argparse
import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from .printable import say

_TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_PACKED = (*_TAR, ".gz", ".zst")
_NUMBERED = re.compile(r"(.+)(#[1-9]\d{0,8})")


def expanded(text: str) -> list[Path]:
    """The paths that an argument stands for. Raises ArgumentTypeError for an archive that cannot be read.

    One of several that a glob matches is left out; a sentence on stderr names it.
    """
    if text == "-":
        return [_standard_input()]
    path = Path(text)
    numbered = _NUMBERED.fullmatch(text)
    if numbered and not os.path.lexists(path) and Path(numbered[1]).is_file():
        (path,) = _unpacked(Path(numbered[1]))
        return [path.with_name(path.name + numbered[2])]
    if not os.path.lexists(path) and glob.has_magic(text):
        found: list[Path] = []
        for one in sorted(map(Path, glob.glob(text, recursive=True))):  # noqa: PTH207
            try:
                found += _unpacked(one)
            except argparse.ArgumentTypeError as error:
                say(str(error))
        return found or [path]
    return _unpacked(path)


def one_path(text: str) -> Path:
    """The only path that an argument stands for."""
    found = expanded(text)
    if len(found) != 1:
        raise argparse.ArgumentTypeError(f"expected one run, got {len(found)} that {text!r} matches")
    return found[0]


@lru_cache(maxsize=1)
def _standard_input() -> Path:
    """What standard input holds, as a file; read once."""
    path = _scratch(Path("-")) / "stdin.out"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def _unpacked(path: Path) -> list[Path]:
    name = path.name.lower()
    if not path.is_file() or not name.endswith(_PACKED):
        return [path]
    if name.endswith(".zst"):
        return _unpacked(_decompressed(path))
    try:
        return [_untarred(path) if name.endswith(_TAR) else _gunzipped(path)]
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise argparse.ArgumentTypeError(f"{path}: cannot be unpacked: {error}") from error


def _decompressed(path: Path) -> Path:
    program = shutil.which("zstd")
    if program is None:
        raise argparse.ArgumentTypeError(f"{path}: reading .zst needs the program zstd: install the package zstd")
    target = _scratch(path) / path.name[: -len(".zst")]
    done = subprocess.run([program, "-dqo", target, "--", path], capture_output=True, check=False)
    if done.returncode:
        raise argparse.ArgumentTypeError(f"{path}: cannot be unpacked: zstd exited with code {done.returncode}")
    return target


def _gunzipped(path: Path) -> Path:
    target = _scratch(path) / path.name[: -len(".gz")]
    with gzip.open(path) as packed, target.open("wb") as file:
        shutil.copyfileobj(packed, file, 1 << 20)
    status = path.stat()
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return target


def _untarred(path: Path) -> Path:
    """The only folder in the archive; a folder with the name of the archive, if it holds anything else."""
    suffix = next(one for one in sorted(_TAR, key=len, reverse=True) if path.name.lower().endswith(one))
    folder = _scratch(path) / (path.name[: -len(suffix)] or "archive")
    folder.mkdir()
    with tarfile.open(path) as archive:
        size, free = sum(member.size for member in archive), shutil.disk_usage(folder).free
        if size > free:
            raise OSError(f"its files take {size / 1e9:.1f} GB, {folder.parent.parent} has {free / 1e9:.1f} GB free")
        archive.extractall(folder, filter="data")
    for inner in sorted(path for path in folder.rglob("*") if path.is_file()):
        _open_inside(inner)
    only = list(folder.iterdir())
    return only[0] if len(only) == 1 and only[0].is_dir() else folder


def _open_inside(inner: Path) -> None:
    """Put what an archive in an archive holds into its place; one that cannot be unpacked stays."""
    with suppress(argparse.ArgumentTypeError, OSError):
        (content,) = _unpacked(inner)
        target = inner.with_name(content.name)
        if not target.exists():
            content.rename(target)
            inner.unlink()


def unopened(files: Iterable[Path]) -> str:
    """A sentence about archives among the files of folders; empty if there are none."""
    found = sorted(path for path in files if path.name.lower().endswith(_PACKED))
    if not found:
        return ""
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    one = shown(found[0])
    return f"{one}{more}: archives in a folder are not opened; name them, such as '{one.parent}/*{one.suffix}'"


def shown(path: Path) -> Path:
    """The path for people: inside of an archive, from there on; of what one file was packed into, that file."""
    for folder in (path, *path.parents):
        if folder in _ORIGINS:
            return path.relative_to(folder) if path != folder else _ORIGINS[folder]
    return path


_ORIGINS: dict[Path, Path] = {}
"""By a folder of unpacked files: the archive."""


def _scratch(origin: Path) -> Path:
    """A new folder for what an argument holds."""
    folder = Path(tempfile.mkdtemp(dir=_all().name))
    _ORIGINS[folder] = origin
    return folder


@lru_cache(maxsize=1)
def _all() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="benchwatch-", ignore_cleanup_errors=True)
