"""What the launcher prints when benchmarks have ended: the results of each run and of the series, and what to do next.

`results` reads them from the recorded files after the benchmark has ended. If that fails, the record and the exit code
stay as they are.
"""

import logging
import shlex
import signal
from collections.abc import Sequence
from pathlib import Path

from ..compare.comparison import Comparisons, comparable
from ..compare.comparison import compare as compared
from ..compare.comparison_view import blocks as comparison_blocks
from ..compare.experiment import CannotCompare, Experiment
from ..compare.result import Result
from ..results.repeats import CONFIDENCE, finished
from ..results.requirements import Requirement, answers
from ..results.result_view import blocks, series
from ..results.subject import Subject, read_worker
from ..settings.record import SUFFIX
from ..settings.settings import RunsSettings
from ..show.as_text import text
from .child import ENDING, signals_held
from .printing import Terminal
from .worker_record import RunRecord, recorded

_TRIED = 5
"""Latest runs that are tried for a comparison: each is read."""


class Outcomes:
    """The results of a series of runs.

    Ctrl-C between two runs ends the series, even if a finalizer swallows the exception that it raises.
    """

    def __init__(self, terminal: Terminal, requirements: Sequence[Requirement]) -> None:
        self._terminal = terminal
        self._requirements = requirements
        self._results: list[Result] = []
        self._records: list[RunRecord] = []
        self._sides: dict[str, list[Result]] = {}  # results of variants
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

    def add(self, record: RunRecord, *, shown: bool = True, side: str = "") -> None:
        """Show the result of a run that has ended; if not `shown`, it only counts for the series.

        `side` is the name of its variant's experiment.
        """
        logging.getLogger("benchwatch.runs").setLevel(logging.CRITICAL)  # the exporter says what it cannot read
        self._records.append(record)
        found: list[Result] = []
        try:
            found = read_worker(record.folder, record.worker, RunsSettings())
            if not found:
                self._terminal.say(f"{record.run}: nothing was measured: no recognised output")
            elif shown:
                self._terminal.say(text(blocks(Subject(record.run, found, False))).rstrip("\n"))
        except KeyboardInterrupt:
            self._terminal.say(f"the result is not shown: see benchwatch show {record.folder}")
        except OSError as error:  # the folder is gone
            self._terminal.say(f"the result cannot be shown: {error.filename}: {error.strerror}")
        except Exception as error:  # the benchmark has ended, and so must this
            self._terminal.say(f"the result cannot be shown: {type(error).__name__}: {error}")
        self._results += found
        if side:
            self._sides.setdefault(side, []).extend(found)
        if not found:
            self._without.append(record.run)

    def pause(self, seconds: float) -> int:
        """Wait so long; returns the number of the signal that ended the wait or came before it, 0 if none did."""
        try:
            with signals_held():
                received = None if self._interrupted else signal.sigtimedwait(ENDING, seconds)
        except KeyboardInterrupt:
            return signal.SIGINT
        return received.si_signo if received else signal.SIGINT * self._interrupted

    def _comparison(self, sides: Sequence[str], confidence: float) -> Comparisons | None:
        """The finished runs of the variants compared with the first; None if it or all others have none."""
        runs = {side: finished(self._sides.get(side, [])) for side in sides}
        base, *others = [Experiment(side, own) for side, own in runs.items() if own or side == sides[0]]
        if not base.runs or not others:
            return None
        return compared(base, others, confidence=confidence, allowance=0.0, vary=())

    def are_sure(self, sides: Sequence[str], confidence: float) -> bool:
        """Whether each variant has a verdict with that probability."""
        try:
            found = self._comparison(sides, confidence)
        except CannotCompare:
            return False
        words = [row.verdict for other in found.others for row in other.verdicts] if found else []
        return len(words) >= len(sides) - 1 and all(word in ("better", "worse") for word in words)

    def together(self, name: str, *, repeated: bool, swept: bool, sides: Sequence[str] = ()) -> bool:
        """Show the result of the series, the requirements, and what to do next; false if a requirement is not met.

        `sides` are the names of variants, which are compared with the first of them.
        """
        met = not self._requirements
        try:
            for side in sides:
                if len(own := self._sides.get(side, [])) > 1:
                    self._terminal.say(text(series(Subject(side, own, True))).rstrip("\n"))
            if sides and (found := self._comparison(sides, CONFIDENCE)):
                self._terminal.say(text(comparison_blocks(found)).rstrip("\n"))
            if (repeated and len(self._results) > 1) or (swept and self._results):
                subject = Subject(name, self._results, repeated, swept, self._without)
                self._terminal.say(text(series(subject)).rstrip("\n"))
            if self._requirements:
                given = answers(self._requirements, self._results, self._without)
                met = all(answer.met for answer in given)
                for answer in given:
                    self._terminal.say(answer.line)
            if any(result.measured for result in self._results) and sides:
                paths = " ".join(shlex.quote(str(self._records[-1].folder.parent / side)) for side in sides)
                self._terminal.say(f"next: benchwatch compare {paths}\n      benchwatch report {paths}")
            elif any(result.measured for result in self._results):
                self._next(name if repeated or swept else self._records[-1].run, swept)
        except KeyboardInterrupt:
            pass
        except Exception as error:  # the benchmarks have ended, and so must this
            self._terminal.say(f"the summary of the results cannot be shown: {type(error).__name__}: {error}")
        return met

    def _next(self, name: str, swept: bool) -> None:
        folder = self._records[-1].folder.parent
        this = shlex.quote(str(folder / name))
        other = None
        if not swept:
            other = self._before(folder)
        well = all(result.state == "finished" for result in self._results)
        compare = f"benchwatch compare {shlex.quote(str(other))} {this}" if other and well else ""
        show = f"benchwatch show {this} --json"
        self._terminal.say(f"next: {compare or show}\n      benchwatch report {this}")

    def _before(self, folder: Path) -> Path | None:
        """The latest comparable run with a worker of that name, or the experiment that it repeats; None without one."""
        worker, own = self._records[-1].worker, {record.run for record in self._records}
        records = [path for path in folder.glob(f"*/{worker}{SUFFIX}") if path.parent.name not in own]
        newest = sorted(records, key=lambda path: path.stat().st_mtime, reverse=True)
        for path in newest[:_TRIED]:
            record = recorded(path)
            experiment = record.repeat_of if record else None
            repeats = [one for one in records if one.parent.name.startswith(f"{experiment}-")] if experiment else [path]
            finished = all((found := recorded(one)) and found.exit_code == 0 for one in repeats)
            if finished and self._is_comparable(path.parent, worker):
                return folder / (experiment or path.parent.name)
        return None

    def _is_comparable(self, folder: Path, worker: str) -> bool:
        """Whether `benchwatch compare` would take the run in that folder as the base of this one."""
        found = read_worker(folder, worker, RunsSettings(), logs=False)
        sides = [Experiment(one.name, [one]) for one in (*found, self._results[-1]) if one.measured]
        try:
            return len(sides) == 2 and bool(comparable(sides))
        except CannotCompare:
            return False
