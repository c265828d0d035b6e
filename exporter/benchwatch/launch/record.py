"""A worker's record, `runs/<run>/<worker>.yaml` (see settings.record): created before the start, completed at the end.

Whoever creates the file owns the name, so that two launchers cannot record the same worker.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from ..settings.record import SUFFIX, load_runfile
from ..settings.settings import RunsSettings
from ..values.errors import UserError

_SUFFIX = re.compile(r"\.(?:[a-z]+|\d+(?:\.\d+)?)")


class RunRecord:
    """A worker's record, and the paths of the worker's other files."""

    def __init__(self, runs: Path, run: str, worker: str) -> None:
        self.folder = runs / run
        self.run = run
        self.worker = worker
        self._content: dict[str, Any] = {}

    @property
    def path(self) -> Path:
        """The file."""
        return self.file(SUFFIX.lstrip("."))

    def file(self, suffix: str) -> Path:
        """Another file of the worker."""
        return self.folder / f"{self.worker}.{suffix}"

    def check_is_new(self) -> None:
        """Raises UserError if files of this worker exist already."""
        if self.folder.exists() and not self.folder.is_dir():
            raise UserError(f"{self.folder} is there already, and no folder: choose another --name")
        files = self.folder.glob(f"{self.worker}.*") if self.folder.is_dir() else ()
        taken = sorted(file.name for file in files if _SUFFIX.fullmatch(file.name, len(self.worker)))
        if taken:
            raise UserError(
                f"{self.folder / taken[0]} is there already: choose another --name or --worker, or remove the files of"
                f" worker {self.worker} in {self.folder}"
            )

    def create(self) -> None:
        """Take the name. Raises UserError if it is taken, or the folder cannot be written to."""
        self.check_is_new()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.path.open("x").close()
        except FileExistsError:
            raise UserError(f"{self.path} is there already: choose another --name or --worker") from None
        except OSError as error:
            raise UserError(f"{self.folder} cannot be written to: {error.strerror}; nothing was started") from error

    def write(self, **content: Any) -> None:
        """Add to the content and replace the file atomically. Raises OSError."""
        self._content |= {name: value for name, value in content.items() if value not in (None, "", {}, [])}
        beside = self.folder / f".{self.path.name}"
        text = yaml.safe_dump(self._content, sort_keys=False, allow_unicode=True, width=120)
        try:
            with beside.open("w", encoding="utf-8") as file:
                file.write(text)
            beside.replace(self.path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise

    def check(self) -> None:
        """Raises UserError if the exporter would reject it."""
        load_runfile(self.path, RunsSettings())

    def remove(self) -> None:
        """Release the name: nothing was started."""
        for file in (self.path, self.file("out"), self.file("err")):
            file.unlink(missing_ok=True)
        with suppress(OSError):  # other workers' files remain
            self.folder.rmdir()
