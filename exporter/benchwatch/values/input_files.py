"""What a command line names, as paths: globs that the shell left alone, archives, and `-` for standard input.

Archives (.gz, .tar, .tar.gz, .tgz, .tar.bz2, .tar.xz) are unpacked into a temporary folder that lasts as long as the
process; names and times of files are kept. Python 3.11 cannot read .zst, and a library would be for this alone.
"""

import argparse
import glob
import gzip
import os
import re
import shutil
import sys
import tarfile
import tempfile
import zlib
from functools import lru_cache
from pathlib import Path

_TAR = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_NUMBERED = re.compile(r"(.+)(#[1-9]\d{0,8})")


def expanded(text: str) -> list[Path]:
    """The paths that an argument stands for. Raises ArgumentTypeError for an archive that cannot be read."""
    if text == "-":
        return [_standard_input()]
    path = Path(text)
    numbered = _NUMBERED.fullmatch(text)
    if numbered and not os.path.lexists(path) and Path(numbered[1]).is_file():
        (path,) = _unpacked(Path(numbered[1]))
        return [path.with_name(path.name + numbered[2])]
    if not os.path.lexists(path) and glob.has_magic(text):
        found = sorted(map(Path, glob.glob(text, recursive=True)))  # noqa: PTH207
        return [each for one in found for each in _unpacked(one)] or [path]
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
    path = _scratch() / "stdin.out"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def _unpacked(path: Path) -> list[Path]:
    name = path.name.lower()
    if not path.is_file() or not name.endswith((*_TAR, ".gz", ".zst")):
        return [path]
    if name.endswith(".zst"):
        raise argparse.ArgumentTypeError(f"{path}: .zst is not read: unpack it, or: zstd -dc {path} | benchwatch ... -")
    try:
        return [_untarred(path) if name.endswith(_TAR) else _gunzipped(path)]
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise argparse.ArgumentTypeError(f"{path}: cannot be unpacked: {error}") from error


def _gunzipped(path: Path) -> Path:
    target = _scratch() / path.name[: -len(".gz")]
    with gzip.open(path) as packed, target.open("wb") as file:
        shutil.copyfileobj(packed, file, 1 << 20)
    status = path.stat()
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return target


def _untarred(path: Path) -> Path:
    """The only folder in the archive; a folder with the name of the archive, if it holds anything else."""
    suffix = next(one for one in sorted(_TAR, key=len, reverse=True) if path.name.lower().endswith(one))
    folder = _scratch() / (path.name[: -len(suffix)] or "archive")
    folder.mkdir()
    with tarfile.open(path) as archive:
        size, free = sum(member.size for member in archive), shutil.disk_usage(folder).free
        if size > free:
            raise OSError(f"its files take {size / 1e9:.1f} GB, {folder.parent.parent} has {free / 1e9:.1f} GB free")
        archive.extractall(folder, filter="data")
    only = list(folder.iterdir())
    return only[0] if len(only) == 1 and only[0].is_dir() else folder


def shown(path: Path) -> Path:
    """The path for people: inside of an archive, from there on."""
    inside = path.parts[len(Path(_all().name).parts) + 1 :] if _all.cache_info().currsize else ()
    return Path(*inside) if inside and path.is_relative_to(_all().name) else path


def _scratch() -> Path:
    """A new folder for one argument."""
    return Path(tempfile.mkdtemp(dir=_all().name))


@lru_cache(maxsize=1)
def _all() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="benchwatch-", ignore_cleanup_errors=True)
