"""Does to growing files what people, shells and log rotation do: python -m tests.torture.flows --minutes 60 [--seed N].

Many runs grow side by side, each from recordings of real tools: files are created, appended to, cut off, renamed,
rotated, written anew, removed, given holes and records, while an exporter's observer looks at them, is killed and
started again. After each round it is asserted that

- the live state is that of a fresh reader of the same files, at once and after a long silence;
- no step of benchwatch raised.

A flow that fails is printed with its steps; flow number N of a seed takes the same steps each time. The clock of the
flows is their own; only the wait until another change would show in a file's times is real.

An observer may know more than a reader that starts later: what it read from a part that was rotated away, and what a
record said before it became unusable. So it is started again after these. It may also know times and intervals better,
where they come from the modification times of files.
"""

import argparse
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.exposition import Exposition
from benchwatch.runs.stream import Stream
from benchwatch.runs.watcher import Runs
from benchwatch.settings.settings import RunsSettings

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from tests.torture.fuzz import corpus

BEGIN = 1_800_000_000.0
"""When the flows take place, Unix seconds: after all recordings."""
SILENCE = 3000.0
"""Seconds after which each run without an end is abandoned."""
LOOK = 0.25
COMPARISONS = 60
"""Comparisons, half a second apart, until the live state must be that of a fresh reader; six are enough."""
LARGEST = 160 * 1024
_NUMBERED = re.compile(r"\.\d+$")
_NAMES = (
    *("w.out", "w.out", "w.err", "w.json", "w.log", "x.out", "x.log", "stdout", "stderr", "pgbench.out"),
    *("w.4711", "w.4711.1", "w.4712", "x.77", "pgbench_log.99", "pgbench_log.99.1", "w.out.1", "w.log.1", "w"),
)
_UNUSABLE = b"labels: ["
_RECORDS = (
    b"exit_code: 0\n",
    b"exit_code: 1\nsignal: SIGKILL\n",
    b"start: 1799999990.5\n",
    b"labels: {vm: a}\nwarmup: 3s\nlatency_objective: 1ms\n",
    b"start: 1799999990.5\nend: 1799999999\nexit_code: 0\n",
    _UNUSABLE,
    b"",
)
Page = dict[str, str]


@cache
def _recordings() -> dict[str, list[bytes]]:
    """All that benchmarks printed, by tool and kind."""
    found: dict[str, list[bytes]] = {}
    for seed in corpus():
        if seed.kind not in ("cvm", "yaml"):
            found.setdefault(seed.kind, []).append(seed.data[:LARGEST])
    return found


def watch(root: Path) -> Runs:
    """A fresh observer of the runs in a folder."""
    return Runs([root], RunsSettings(), Buckets(1))


def settle(runs: Runs, now: float) -> None:
    """Let it read everything."""
    while runs.poll(now):
        pass


def page(runs: Runs) -> Page:
    """What is shown of the workers: series and numbers."""
    lines = Exposition().render(runs.workers, ("live", "runs")).splitlines()
    return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))


def _reports(stream: Stream) -> bool:
    return not stream.plan.is_log and stream.parser.records > 0


def _differences(live: Page, fresh: Page) -> list[str]:
    keys = sorted({*live, *fresh}, key=lambda key: ("benchwatch_run_state" not in key, key))
    return [
        f"{key}: live {live.get(key, 'absent')}, fresh {fresh.get(key, 'absent')}"
        for key in keys
        if live.get(key) != fresh.get(key) and not _is_same_time(key, live.get(key), fresh.get(key))
    ]


def _is_same_time(series: str, live: str | None, fresh: str | None) -> bool:
    """Whether both are times or intervals, and differ only as these may: by a second if a log's clock was set back."""
    if series.startswith("benchwatch_run_report_interval_seconds{") and fresh is None:
        return True
    if "_timestamp_seconds{" not in series or live is None or fresh is None:
        return False
    return abs(float(live) - float(fresh)) <= 1 or min(float(live), float(fresh)) > BEGIN - 1000


class Found(Exception):
    """A flow whose live state is not that of a fresh reader, or that benchwatch could not follow."""


class _Source:
    """What is written to a file."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.data = b""
        """A recording of that kind."""
        self.done = 0
        """Bytes of it that were written."""


class Flow:
    """What happens to the files of one run. `steps` says what was done so far."""

    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        self.chance = random.Random(name)
        self.root = root
        self.folder = root / name
        self.folder.mkdir(parents=True)
        self.runs = watch(root)
        """The live observer."""
        self.steps: list[str] = []
        self.restart = False
        """Whether the observer must be started again before its state is compared."""
        self._now = BEGIN
        self._sources: dict[Path, _Source] = {}

    def step_and_look(self, now: float) -> None:
        """Do something to the files, or look, or both."""
        if self.chance.random() < 0.7:
            self._now = now
            self._step()
        if self.chance.random() < 0.02:
            self._start_again()
        if self.chance.random() < 0.8:
            self.runs.poll(now)
            self.steps.append("  looked")

    def _start_again(self) -> None:
        self.runs, self.restart = watch(self.root), False
        self.steps.append("  the observer is started again")

    def agrees(self, now: float) -> bool:
        """Whether the live state is that of a fresh reader. Raises Found if benchwatch could not read it."""
        if self.restart:
            self._start_again()
        if any(sum(_reports(stream) for stream in worker.streams) > 1 for worker in self.runs.workers):
            return True  # several outputs under one name: the order in which they came counts, and a sentence says so
        return not _differences(*self._compared(now))

    def _compared(self, now: float) -> tuple[Page, Page]:
        found = []
        for runs in (self.runs, watch(self.root)):
            settle(runs, now)
            if runs.faults.counts["internal"]:
                raise Found("\n".join([f"flow {self.name}:", *self.steps, *runs.problems]))
            found.append(page(runs))
        return found[0], found[1]

    def difference(self, now: float, when: str) -> str:
        """What was done, and what is shown live and by a fresh reader."""
        shown = _differences(*self._compared(now))
        return "\n".join([f"flow {self.name}, {when}:", *self.steps, *shown])

    def _step(self) -> None:
        files = sorted(path for path in self.folder.iterdir() if path.suffix != ".yaml")
        if not files or self.chance.random() < 0.15:
            self._create(self.folder / self.chance.choice(_NAMES))
            return
        path = self.chance.choice(files)
        self.chance.choice(_STEPS)(self, path)

    def _did(self, what: str, path: Path) -> None:
        if path.exists():
            os.utime(path, (self._now, self._now))
        size = path.stat().st_size if path.exists() else "gone"
        self.steps.append(f"{self._now - BEGIN:.2f}: {what} {path.name} ({size})")

    def _piece(self, path: Path, *, anew: bool = False) -> bytes:
        """The next piece of what is written to a file; another recording of the same kind follows the first."""
        kinds = _recordings()
        source = self._sources.get(path)
        if source is None or anew:
            logs = sorted(kind for kind in kinds if "log" in kind)
            likely = logs if _NUMBERED.search(path.name) and self.chance.random() < 0.8 else sorted(kinds)
            source = self._sources[path] = _Source(self.chance.choice(likely))
        if source.done >= len(source.data):
            number = self.chance.randrange(len(kinds[source.kind]))
            self.steps.append(f"  {path.name}: {source.kind} {number}")
            source.data, source.done = kinds[source.kind][number], 0
        begin = source.done
        source.done += self.chance.choice((1, 100, 1000, 5000, 40_000, len(source.data)))
        return source.data[begin : source.done]

    def _create(self, path: Path) -> None:
        self._lose(path)
        path.write_bytes(self._piece(path, anew=True) if self.chance.random() < 0.9 else b"")
        self._did("create", path)

    def _append(self, path: Path) -> None:
        with path.open("ab") as file:
            file.write(self._piece(path))
        self._did("append", path)

    def _cut(self, path: Path) -> None:
        size = path.stat().st_size
        os.truncate(path, self.chance.choice((0, size // 2, max(0, size - 1), self.chance.randrange(size + 1))))
        self._did("cut", path)

    def _cut_and_go_on(self, path: Path) -> None:
        """The writer does not append: a hole precedes what it writes next."""
        size = path.stat().st_size
        os.truncate(path, 0)
        with path.open("r+b") as file:
            file.seek(size)
            file.write(self._piece(path))
        self._did("cut and go on", path)

    def _rewrite(self, path: Path) -> None:
        path.write_bytes(self._piece(path, anew=True))
        self._did("rewrite", path)

    def _overwrite(self, path: Path) -> None:
        """From the beginning, without truncating."""
        if path in self._sources:
            self._sources[path].done = len(self._sources[path].data)
        data = self._piece(path)
        with path.open("r+b") as file:
            file.write(data)
        self._did("overwrite", path)

    def _change(self, path: Path) -> None:
        """Bytes in the first 16 KiB or near the end: a reader compares the first and the last blocks."""
        size = path.stat().st_size
        places = self.chance.randrange(min(size, 1 << 14) + 1), max(0, size - self.chance.randrange(400))
        with path.open("r+b") as file:
            file.seek(self.chance.choice(places))
            file.write(self.chance.choice((b"7", b"\n", b"tps = 1\n", b"?" * 300)))
        self._did("change", path)

    def _replace(self, path: Path) -> None:
        self._lose(path)
        beside = path.with_name(".new")
        beside.write_bytes(self._piece(path, anew=True))
        beside.replace(path)
        self._did("replace", path)

    def _remove(self, path: Path) -> None:
        self._lose(path)
        self._sources.pop(path, None)
        path.unlink()
        self._did("remove", path)

    def _rename(self, path: Path) -> None:
        to = path.with_name(self.chance.choice(_NAMES))
        self._lose(path)
        self._lose(to)
        path.replace(to)
        self._sources.pop(to, None)
        if source := self._sources.pop(path, None):
            self._sources[to] = source
        self.steps.append(f"{self._now - BEGIN:.2f}: rename {path.name} to {to.name}")

    def _rotate(self, path: Path) -> None:
        self._lose(path)
        for number in (3, 2, 1):
            part = path.with_name(f"{path.name}.{number}")
            before = path.with_name(f"{path.name}.{number - 1}") if number > 1 else path
            if part.exists():
                self._lose(part)
            if before.exists():
                before.replace(part)
                if source := self._sources.pop(before, None):
                    self._sources[part] = source
        path.write_bytes(self._piece(path))
        self._did("rotate", path)

    def _record(self, path: Path) -> None:
        record = path.with_name(self.chance.choice(("run.yaml", "w.yaml", f"{path.stem}.yaml")))
        if record.exists() and self.chance.random() < 0.3:
            record.unlink()
        else:
            content = self.chance.choice(_RECORDS)
            self.restart |= content == _UNUSABLE
            record.write_bytes(content)
        self._did("record", record)

    def _lose(self, path: Path) -> None:
        """A numbered file disappears: what was read of it may stay counted."""
        self.restart |= path.exists() and bool(_NUMBERED.search(path.name))


_STEPS: Sequence[Callable[[Flow, Path], None]] = (
    *(Flow._append,) * 8,
    *(Flow._rewrite, Flow._replace, Flow._rename, Flow._rotate, Flow._cut, Flow._record),
    *(Flow._change, Flow._remove, Flow._cut_and_go_on, Flow._overwrite),
)  # fmt: skip


class Flows:
    """Many flows, each in a folder of runs with an observer of its own."""

    def __init__(self, root: Path, seed: str, number: int) -> None:
        self.flows = [Flow(root / f"{one}", f"{seed}-{one}") for one in range(number)]
        self.chance = random.Random(seed)
        self.now = BEGIN

    def round(self) -> None:
        """Some steps of each flow, with looks in between; then compare. Raises Found."""
        for _ in range(self.chance.randrange(1, 7)):
            self.now += LOOK
            for flow in self.flows:
                flow.step_and_look(self.now)
        self._compare("at once")
        if self.chance.random() < 0.2:
            self.now += SILENCE
            self._compare("after a long silence")

    def _compare(self, when: str) -> None:
        differing = self.flows
        for _ in range(COMPARISONS):
            differing = [flow for flow in differing if not flow.agrees(self.now)]
            if not differing:
                return
            wait = time.monotonic() + 0.5
            while time.monotonic() < wait:
                self.now += 1  # only a live reader knows that its last bytes held no report: until both are silent
                for flow in differing:
                    settle(flow.runs, self.now)
                time.sleep(0.05)
        raise Found(differing[0].difference(self.now, when))


def follow(seed: str, flows: int, rounds: int) -> None:
    """So many flows for so many rounds. Raises Found."""
    with tempfile.TemporaryDirectory(prefix="benchwatch-flows-") as folder:
        found = Flows(Path(folder), seed, flows)
        for _ in range(rounds):
            found.round()


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=None, help="default: the time")
    parser.add_argument("--flows", type=int, default=24, help="runs side by side (24)")
    parser.add_argument("--rounds", type=int, default=12, help="rounds until they begin anew (12)")
    options = parser.parse_args()
    start = int(time.time()) if options.seed is None else options.seed
    end = time.monotonic() + 60 * options.minutes
    number = failed = 0
    while time.monotonic() < end:
        try:
            follow(f"{start}.{number}", options.flows, options.rounds)
        except Found as found:
            failed += 1
            print(f"flows: {found}\n", flush=True)
        number += 1
    print(f"flows: --seed {start}: {number} times {options.flows} flows of {options.rounds} rounds, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
