"""What the launcher prints when benchmarks have ended: the results of each run and of the series, and what to do next.

`results` reads them from the recorded files after the benchmark has ended. If that fails, the record and the exit code
stay as they are.
"""

import logging
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ..compare.comparison import Comparisons, comparable, compare
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
from ..show.content import Block
from .sinks import Terminal
from .worker_record import RunRecord, recorded

_TRIED = 5
"""Latest runs that are tried for a comparison: each is read."""


class Outcomes:
    """The results of a series of runs."""

    def __init__(self, terminal: Terminal, requirements: Sequence[Requirement]) -> None:
        self.records: list[RunRecord] = []
        """Those of all runs that have ended."""
        self._terminal = terminal
        self._requirements = requirements
        self._results: list[Result] = []
        self._of_setup: dict[str, list[Result]] = {}
        self._without: list[str] = []  # runs without a result
        logging.getLogger("benchwatch.runs").setLevel(logging.CRITICAL)  # the exporter says what it cannot read

    def add(self, record: RunRecord, setup: str, *, shown: bool = True) -> None:
        """Show the result of a run of that setup; if not `shown`, it only counts for the series."""
        self.records.append(record)
        found: list[Result] = []
        with self._says(f"the result is not shown: see benchwatch show {record.folder}", "the result"):
            found = read_worker(record.folder, record.worker, RunsSettings())
            if not found:
                self._terminal.say(f"{record.run}: nothing was measured: no recognised output")
            elif shown:
                self._show(blocks(Subject(record.run, found, False)))
        self._results += found
        self._of_setup.setdefault(setup, []).extend(found)
        if not found:
            self._without.append(record.run)

    def are_sure(self, sides: Sequence[str], confidence: float) -> bool:
        """Whether the comparison of each variant with the first has a verdict with that probability."""
        try:
            found = self._comparison(sides, confidence)
        except CannotCompare:
            return False
        words = [row.verdict for other in found.others for row in other.verdicts] if found else []
        return len(words) >= len(sides) - 1 and all(word in ("better", "worse") for word in words)

    def conclude(self, name: str, kind: str, sides: Sequence[str]) -> bool:
        """Show the results of the series, the requirements, and what to do next; false if a requirement is not met.

        `kind` is run, series or sweep; `sides` are the names of variants, which are compared with the first of them.
        """
        met = not self._requirements
        with self._says("", "the summary of the results"):
            for side in sides:
                if len(own := self._of_setup.get(side, [])) > 1:
                    self._show(series(Subject(side, own, True)))
            compared = True
            try:
                if sides and (comparisons := self._comparison(sides, CONFIDENCE)):
                    self._show(comparison_blocks(comparisons))
            except CannotCompare as error:
                self._terminal.say(f"not compared: {error}")
                compared = False
            if not sides and kind != "run" and len(self._results) > (kind == "series"):
                self._show(series(Subject(name, self._results, kind == "series", kind == "sweep", self._without)))
            if self._requirements:
                given = answers(self._requirements, self._results, self._without)
                met = all(answer.met for answer in given)
                for answer in given:
                    self._terminal.say(answer.line)
            if any(result.measured for result in self._results):
                self._next(name, kind, sides, compared)
        return met

    @contextmanager
    def _says(self, interrupted: str, what: str) -> Iterator[None]:
        """Whatever goes wrong is said: the benchmark has ended, and so must this."""
        try:
            yield
        except KeyboardInterrupt:
            if interrupted:
                self._terminal.say(interrupted)
        except OSError as error:  # the folder is gone
            self._terminal.say(f"{what} cannot be shown: {error.filename}: {error.strerror}")
        except Exception as error:
            self._terminal.say(f"{what} cannot be shown: {type(error).__name__}: {error}")

    def _show(self, shown: Iterable[Block]) -> None:
        self._terminal.say(text(shown).rstrip("\n"))

    def _comparison(self, sides: Sequence[str], confidence: float) -> Comparisons | None:
        """The finished runs of the variants compared with the first; None if it or all others have none."""
        runs = {side: finished(self._of_setup.get(side, [])) for side in sides}
        base, *others = [Experiment(side, own) for side, own in runs.items() if own or side == sides[0]]
        if not base.runs or not others:
            return None
        return compare(base, others, confidence=confidence, allowance=0.0, vary=())

    def _next(self, name: str, kind: str, sides: Sequence[str], compared: bool) -> None:
        """Say which commands go on from here, as far as all that they need is there."""
        folder = self.records[-1].folder.parent
        well = all(result.state == "finished" for result in self._results)
        if sides:
            own = others = [side for side in sides if finished(self._of_setup.get(side, []))]
            well = well and compared and not self._without
            for side in sides:
                if side not in own:
                    self._terminal.say(f"{side} is not compared: none of its runs finished")
        else:
            own = [self.records[-1].run if kind == "run" else name]
            others = [*self._before(folder), *own] if kind != "sweep" and well else own
        if own:
            each = shlex.join(str(folder / one) for one in others)
            show = f"compare {each}" if len(others) > 1 and well else f"show {each} --json"
            report = shlex.join(str(folder / one) for one in own)
            self._terminal.say(f"next: benchwatch {show}\n      benchwatch report {report}")

    def _before(self, folder: Path) -> list[str]:
        """The latest comparable run with a worker of that name, or the experiment that it repeats, if it finished."""
        worker, own = self.records[-1].worker, {record.run for record in self.records}
        records = [path for path in folder.glob(f"*/{worker}{SUFFIX}") if path.parent.name not in own]
        for path in sorted(records, key=lambda path: path.stat().st_mtime, reverse=True)[:_TRIED]:
            record = recorded(path)
            experiment = record.repeat_of if record else None
            repeats = [path]
            if experiment:
                repeats = [one for one in records if one.parent.name.startswith(f"{experiment}-")]
            if all((found := recorded(one)) and found.exit_code == 0 for one in repeats):
                read = read_worker(path.parent, worker, RunsSettings(), logs=False)
                sides = [Experiment(one.name, [one]) for one in (*read, self._results[-1]) if one.measured]
                try:
                    if len(sides) == 2 and comparable(sides):
                        return [experiment or path.parent.name]
                except CannotCompare:
                    pass
        return []
