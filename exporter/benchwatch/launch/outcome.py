"""What the launcher prints when benchmarks have ended: the result of each run, that of the series, and what to do next.

The result is made from the recorded files by `results`, after the benchmark has ended; whatever goes wrong with that
changes neither the record nor the exit code.
"""

import logging
import shlex
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..settings.settings import RunsSettings
from ..tools.api import Tool
from .child import ENDING, signals_held
from .record import RunRecord
from .terminal import Terminal

if TYPE_CHECKING:
    from ..results.requirements import Requirement
    from ..results.result import RunResult


def read_requirements(texts: Sequence[str], tool: Tool | None) -> list["Requirement"]:
    """Raises UserError for what cannot be required of that tool."""
    if not texts:
        return []
    from ..results.requirements import requirement

    return [requirement(text, tool) for text in texts]


class Outcomes:
    """The results of a series of runs.

    Ctrl-C between two runs ends the series, even if a finalizer swallows the exception that it raises.
    """

    def __init__(self, terminal: Terminal, requirements: Sequence["Requirement"]) -> None:
        self._terminal = terminal
        self._requirements = requirements
        self._results: list[RunResult] = []
        self._records: list[RunRecord] = []
        self._without: list[str] = []  # runs without a result
        self._interrupted = False

    def __enter__(self) -> "Outcomes":
        self._handler = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._handler)

    def _interrupt(self, *_: object) -> None:
        self._interrupted = True
        raise KeyboardInterrupt

    def add(self, record: RunRecord, *, shown: bool = True) -> None:
        """Show the result of a run that has ended; `shown` is false for one that belongs to the series only."""
        logging.getLogger("benchwatch.runs").setLevel(logging.CRITICAL)  # the exporter says what it cannot read
        self._records.append(record)
        known = len(self._results)
        try:
            self._add(record, shown)
        except KeyboardInterrupt:
            self._terminal.say(f"the result is not shown: see benchwatch show {record.folder}")
        except OSError as error:  # the folder is gone
            self._terminal.say(f"the result cannot be shown: {error.filename}: {error.strerror}")
        except Exception as error:  # the benchmark has ended, and so must this
            self._terminal.say(f"the result cannot be shown: {type(error).__name__}: {error}")
        if len(self._results) == known:
            self._without.append(record.run)

    def pause(self, seconds: float) -> int:
        """Wait that long; returns the number of the signal that ended the wait or came before it, 0 without one."""
        try:
            with signals_held():
                received = None if self._interrupted else signal.sigtimedwait(ENDING, seconds)
        except KeyboardInterrupt:
            return signal.SIGINT
        return received.si_signo if received else signal.SIGINT * self._interrupted

    def _add(self, record: RunRecord, shown: bool) -> None:
        from ..results.result import Subject, read_worker
        from ..results.text import text

        found = read_worker(record.folder, record.worker, RunsSettings())
        if not found:
            self._terminal.say(f"{record.run}: nothing was measured: no output of a known form")
            return
        self._results += found
        if shown:
            self._terminal.say(text(Subject(record.run, found, False)).rstrip("\n"))

    def together(self, name: str, *, repeated: bool, swept: bool) -> bool:
        """Show the result of a series, requirements, and what to do next; false if a requirement is not met."""
        met = True
        try:
            if (repeated and len(self._results) > 1) or (swept and self._results):
                from ..results.result import Subject
                from ..results.text import series

                self._terminal.say(series(Subject(name, self._results, repeated, swept, self._without)).rstrip("\n"))
            if self._requirements:
                from ..results.requirements import answers

                found = answers(self._requirements, self._results, self._without)
                met = all(answer.met for answer in found)
                for answer in found:
                    self._terminal.say(answer.line)
            if any(result.measured for result in self._results):
                self._next(name if repeated or swept else self._records[-1].run, swept)
        except KeyboardInterrupt:
            met = not self._requirements
        except Exception as error:  # the benchmarks have ended, and so must this
            self._terminal.say(f"the summary of the results cannot be shown: {type(error).__name__}: {error}")
            met = not self._requirements
        return met

    def _next(self, name: str, swept: bool) -> None:
        folder = self._records[-1].folder.parent
        this = shlex.quote(str(folder / name))
        other = None
        if not swept:
            other = _before(folder, {record.run for record in self._records}, self._records[-1].worker)
        well = all(result.state == "finished" for result in self._results)
        compare = f"benchwatch compare {shlex.quote(str(other))} {this}" if other and well else ""
        show = f"benchwatch show {this} --json"
        self._terminal.say(f"next: {compare or show}\n      benchwatch report {this}")


def _before(folder: Path, own: set[str], worker: str) -> Path | None:
    """The latest other run with a worker of that name, or the experiment that it repeats; None if there is none."""
    from ..settings.record import SUFFIX, load_runfile
    from ..values.errors import UserError

    records = [path for path in folder.glob(f"*/{worker}{SUFFIX}") if path.parent.name not in own]
    for path in sorted(records, key=lambda path: path.stat().st_mtime, reverse=True):
        try:
            name = load_runfile(path, RunsSettings()).repeat_of
        except (UserError, OSError):
            continue
        each = [one for one in records if one.parent.name.startswith(f"{name}-")] if name else [path]
        if all(map(_ended_well, each)):  # `compare` would refuse another
            return folder / (name or path.parent.name)
    return None


def _ended_well(path: Path) -> bool:
    from ..settings.record import load_runfile
    from ..values.errors import UserError

    try:
        return load_runfile(path, RunsSettings()).exit_code == 0
    except (UserError, OSError):
        return False
