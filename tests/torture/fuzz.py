"""Feeds mutated recordings to all parsers.

    nice .venv/bin/python -m tests.torture.fuzz --minutes 5 [--seed N] [--only KIND] [--again FILE]

The corpus is tests/recordings: output of every tool in every kind, pages of a CVM, and records of runs. An input is one
of them, or a part, with some bytes changed, cut, doubled, moved, or replaced by what other inputs have or by numbers
that no tool prints. For each input it is asserted that

- nothing raises but what is documented to (ConfigError of a record);
- the records are the same wherever the stream is cut into chunks, and behind a prefix those of the stream without it;
- no sample is NaN or infinite, none negative, no histogram decreases;
- the exposition can be rendered and is what prometheus_client reads;
- it takes at most SECONDS of processor time for each MiB or part of one.

An input that fails is written to --folder, named after what failed, and the command ends with 1 if there is one. Input
number N of a seed is always the same. `--again FILE` judges stored inputs.
"""

import argparse
import dataclasses
import math
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from hashlib import sha1
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from prometheus_client.parser import text_string_to_metric_families

from benchwatch.metrics.buckets import Buckets
from benchwatch.metrics.exposition import RENDER_ERRORS, Exposition
from benchwatch.metrics.samples import HistogramValue, Sample, SampleColumn, SummaryValue
from benchwatch.nutanix.cvm_snapshot import CvmSource, Detail, Snapshot, Status
from benchwatch.nutanix.pages.main_page import read_main_page
from benchwatch.nutanix.pages.oplog_page import read_oplog_page
from benchwatch.nutanix.pages.vdisk_page import read_vdisk_page
from benchwatch.runs.prefix import Unprefixed, find_prefix
from benchwatch.settings.record import load_runfile
from benchwatch.settings.settings import RunsSettings, load_settings
from benchwatch.tools.api import Begin, Misread, Parser, Tool
from benchwatch.tools.registry import TOOLS
from benchwatch.tools.states import State, Written
from benchwatch.values.errors import ConfigError

RECORDINGS = Path(__file__).parents[1] / "recordings"
SECONDS = 4.0
NOW = 1_795_200_000.0
LARGEST = 96 * 1024
"""Bytes of a recording that are used at a time."""
RECORDS = (
    b"labels: {cluster: a, vm: pg1, day: 2026-09-21, rate: 1.5, on: yes}\nparameters:\n  shared_buffers: 16GB\n"
    b"  base: &base [1, 0x1f, 0o17, 1:30, .inf, .nan, ~]\nlatency_objective: 1ms\ndisks: {<<: {sdb: log}, sdc: data}\n"
    b"command: [pgbench, -S, 'a b', \"c\", *base]\nstart: 1790000000.0\nend: 1790000600\nexit_code: 0\nwarmup: 30s\n",
    b"runs: {path: runs, poll_interval: 250ms, keep: 100, limits: {scripts: 3}}\nweb: {hosts: [a]}\nnutanix:\n"
    b"  cvms: [{name: a, url: 'http://10.0.0.1:2009'}]\n  vdisks: {include: ['45269', 'vm-.*'], max_detail_pages: 3}\n"
    b"  mapping: {1a8ef41c: {vm: db1, disk: scsi.1, role: data}}\n",
)
NUMBERS = (
    *b"0 -0 -1 1e308 1e309 -1e309 nan -nan inf Infinity NaN 0.0000000001 2147483648 4294967296".split(),
    *b"9223372036854775807 9223372036854775808 18446744073709551616 99999999999999999999999".split(),
    b"1.7976931348623157e308",
)
TEXTS = (
    *(
        b"\n",
        b"\r",
        b"\r\n",
        b"\0",
        b"\xff",
        b"\xc3",
        b"\x1b[31m",
        b" ",
        b"\t",
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b",",
        b":",
    ),
    *(
        b"<table>",
        b"</table>",
        b"<td>",
        b"<tr>",
        b"</p>",
        b"<b>",
        b"&amp;",
        b"&#0;",
        b"progress: ",
        b'{\n  "fio version" : ',
    ),
    *(b"tps = ", b"&a ", b"*a", b"!!timestamp ", b"---\n", b"\xe2\x80\xa8", b"9" * 400, b"a" * 3000, b"{" * 300),
)
PREFIXES = (
    b"",
    b"",
    b"",
    b"",
    b"",
    b"pgbench-1  | ",
    b"2026-11-20T10:00:01.5Z stdout F ",
    b"    ",
    b"\x1b[36mx | \x1b[0m",
)


class Failed(Exception):
    """What an input does that it must not do: a word, and a sentence."""

    def __init__(self, word: str, sentence: str) -> None:
        super().__init__(f"{word}: {sentence}")
        self.word = word


class Seed(NamedTuple):
    """What inputs are made of: what judges it, and the bytes."""

    kind: str
    data: bytes


class _Source:
    """The samples of a state or a CVM, for an exposition."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.labels = (("run", "r"), ("worker", "w"))
        self.version = 0
        self._samples = samples

    def samples(self) -> Sequence[Sample]:
        """See samples.Source."""
        return self._samples


def corpus() -> list[Seed]:
    """All that is recorded, by what judges it."""
    found = [Seed("yaml", record) for record in RECORDS]
    for path in sorted(RECORDINGS.rglob("*")):
        if not path.is_file() or path.suffix == ".cmd":
            continue
        data = path.read_bytes()
        if path.suffix == ".html":
            found.append(Seed("cvm", data))
            continue
        for tool in TOOLS:
            if kind := tool.recognise(data[: 64 * 1024]):
                found.append(Seed(f"{tool.name} {kind}", data))
                break
    return found


def mutated(seeds: Sequence[Seed], chance: random.Random) -> Seed:
    """One of the seeds, changed."""
    kinds = sorted({seed.kind for seed in seeds})
    kind = chance.choice(kinds)
    same = [seed.data for seed in seeds if seed.kind == kind]
    data = bytearray(_part(chance.choice(same), chance))
    for _ in range(chance.choice((0, 1, 1, 2, 3, 5, 10, 40))):
        _MUTATIONS[chance.randrange(len(_MUTATIONS))](data, chance, same)
    prefix = chance.choice(PREFIXES)
    if prefix and kind.endswith("text"):
        data = bytearray(b"".join(prefix + line for line in bytes(data).splitlines(keepends=True)))
    return Seed(kind, bytes(data[: 2 * LARGEST]))


def _part(data: bytes, chance: random.Random) -> bytes:
    if len(data) > LARGEST or chance.random() < 0.1:
        begin = chance.choice((0, 0, chance.randrange(max(1, len(data)))))
        data = data[begin : begin + chance.randrange(1, LARGEST)]
    return data


def _place(data: bytearray, chance: random.Random) -> int:
    return chance.randrange(len(data) + 1)


def _flip(data: bytearray, chance: random.Random, same: Sequence[bytes]) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _insert(data: bytearray, chance: random.Random, same: Sequence[bytes]) -> None:
    place = _place(data, chance)
    data[place:place] = chance.choice(TEXTS)


def _delete(data: bytearray, chance: random.Random, same: Sequence[bytes]) -> None:
    place = _place(data, chance)
    del data[place : place + chance.choice((1, 2, 10, 100, 3000))]


def _double(data: bytearray, chance: random.Random, same: Sequence[bytes]) -> None:
    place, length = _place(data, chance), chance.choice((1, 20, 200, 2000))
    data[place:place] = data[place : place + length] * chance.choice((1, 1, 3))


def _splice(data: bytearray, chance: random.Random, same: Sequence[bytes]) -> None:
    other = _part(chance.choice(same), chance)
    begin = chance.randrange(len(other) + 1)
    place = _place(data, chance)
    data[place : place + chance.choice((0, 0, 50))] = other[begin : begin + chance.choice((30, 300, 3000))]


def _move(data: bytearray, chance: random.Random, same: Sequence[bytes]) -> None:
    begin = _place(data, chance)
    piece = data[begin : begin + 200]
    del data[begin : begin + 200]
    place = _place(data, chance)
    data[place:place] = piece


def _number(data: bytearray, chance: random.Random, same: Sequence[bytes]) -> None:
    """Another number in the place of one."""
    digits = b"0123456789"
    begin = _place(data, chance)
    while begin < len(data) and data[begin] not in digits:
        begin += 1
    end = begin
    while end < len(data) and data[end] in digits:
        end += 1
    if begin < end:
        data[begin:end] = chance.choice(NUMBERS)


def _line(data: bytearray, chance: random.Random, same: Sequence[bytes]) -> None:
    """A line more, or less."""
    begin = data.find(b"\n", _place(data, chance)) + 1
    end = data.find(b"\n", begin) + 1
    if 0 < begin < end:
        data[begin:end] = b"" if chance.random() < 0.5 else 2 * data[begin:end]


_MUTATIONS: Sequence[Callable[[bytearray, random.Random, Sequence[bytes]], None]] = (
    _flip, _flip, _insert, _insert, _delete, _double, _splice, _move, _number, _number, _number, _line,
)  # fmt: skip


def judge(seed: Seed, chance: random.Random) -> None:
    """Raises Failed."""
    began = time.process_time()
    try:
        if seed.kind == "yaml":
            _judge_yaml(seed.data)
        elif seed.kind == "cvm":
            _judge_cvm(seed.data)
        else:
            _judge_stream(seed, chance)
    except (Failed, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise Failed(type(error).__name__, traceback.format_exc(limit=-6)) from error
    took, most = time.process_time() - began, SECONDS * (1 + len(seed.data) // 2**20)
    if took > most:
        raise Failed(
            "slow", f"took {took:.1f} s of processor time for {len(seed.data)} bytes; expected at most {most:g}"
        )


def _judge_yaml(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.yaml"
        path.write_bytes(data)
        for load in (lambda: load_runfile(path, RunsSettings()), lambda: load_settings(path)):
            try:
                load()
            except ConfigError as error:
                if "\n" in str(error) or len(str(error)) > 2000:
                    raise Failed("message", f"{str(error)[:3000]!r}; expected one short line") from None


def _judge_cvm(data: bytes) -> None:
    main, oplog, page = read_main_page(data), read_oplog_page(data), read_vdisk_page(data)
    source = CvmSource("a", {})
    details = {name: Detail(NOW, stats) for name, stats in page.vdisks.items()}
    source.status = Status(up=True, snapshot=Snapshot(NOW, main, details, Detail(NOW, oplog.values)))
    _check(list(source.samples()))


def _judge_stream(seed: Seed, chance: random.Random) -> None:
    head = seed.data[: 64 * 1024]
    name, _, kind = seed.kind.partition(" ")
    tool = next(tool for tool in TOOLS if tool.name == name)
    found = None if any(each.recognise(head) for each in TOOLS) else find_prefix(head, TOOLS)
    parsers: list[Callable[[], Parser]] = [lambda: tool.parser(kind)]
    if found:
        parsers.append(lambda: Unprefixed(found[0].parser(found[1]), found[2]))
        list(found[2].moments(found[0], found[1], seed.data))
        _check_plain(found, seed.data)
    for new in parsers:
        cuts = sorted(chance.randrange(len(seed.data) + 1) for _ in range(chance.choice((1, 3, 30))))
        compared = (found[0] if found else tool, (found[1] if found else kind).startswith("log"))
        whole, pieces = (_comparable(new, seed.data, where, *compared) for where in ([], cuts))
        if whole != pieces:
            raise Failed("chunks", f"other records if cut at {cuts}: {_difference(whole, pieces)}")
        _parse(new, seed.data, cuts, settle=True)
    owner = found[0] if found else tool
    for state in _states(owner, seed, parsers[-1]):
        for current in (True, False):
            _check(list(state.samples(current)))
        for number in (
            *state.figures(),
            state.start,
            state.end,
            state.last_report,
            state.report_interval,
        ):
            if number is not None and not math.isfinite(number):
                raise Failed("number", f"{state.figures()}, {state.start}, {state.end}: not finite")
    if found is None:
        last = 0
        for moment in tool.moments(kind, seed.data):
            if not (last <= moment.offset <= len(seed.data) and math.isfinite(moment.time)):
                raise Failed("moments", f"{moment} after offset {last} of {len(seed.data)} bytes")
            last = moment.offset


def _check_plain(found: tuple[Tool, str, Any], data: bytes) -> None:
    """The records behind a prefix are those of the stream without it."""
    tool, kind, prefix = found
    behind = _comparable(lambda: Unprefixed(tool.parser(kind), prefix), data, [], tool, False)
    plain = _comparable(lambda: tool.parser(kind), prefix.plain(data), [], tool, False)
    if behind != plain:
        raise Failed("prefix", f"other records behind {prefix.example!r}: {_difference(plain, behind)}")


def _parse(new: Callable[[], Parser], data: bytes, cuts: Sequence[int], settle: bool = False) -> list[Any]:
    """The records; with `settle` the parser is asked after each chunk for what may be the last line."""
    parser = new()
    records: list[Any] = []
    for begin, end in pairwise([0, *cuts, len(data)]):
        records += parser.feed(data[begin:end])
        _ = parser.undated, parser.records
        if settle:
            parser.settle()
    return [*records, *parser.close()]


def _comparable(new: Callable[[], Parser], data: bytes, cuts: Sequence[int], tool: Tool, log: bool) -> list[Any]:
    """The records; those of a log come in heaps, as the chunks do, so what a state makes of them."""
    records = _parse(new, data, cuts)
    misread = [repr(record) for record in records if isinstance(record, Misread)]
    if not log:
        return list(map(_plain, records))
    state = tool.state(Buckets())
    for record in records:
        if not isinstance(record, Misread | Begin):
            state.apply(record, "s", NOW)
    # Where the clock was set back within a second, its latest transaction is not looked for.
    last = None if state.last_report is None else math.floor(state.last_report)
    return [*misread, *map(repr, state.samples(True)), state.start, last]


def _plain(record: Any) -> Any:
    """What a record says: equal for equal ones."""
    if isinstance(record, msgspec.Struct):
        return msgspec.json.encode(record)
    if isinstance(record, np.ndarray):
        return record.tolist()
    if isinstance(record, list | tuple):
        return type(record).__name__, *map(_plain, record)
    if dataclasses.is_dataclass(record):
        return type(record).__name__, *(_plain(getattr(record, one.name)) for one in dataclasses.fields(record))
    return repr(record)


def _difference(one: Sequence[Any], two: Sequence[Any]) -> str:
    place = next(
        (place for place, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1]), min(len(one), len(two))
    )
    return f"record {place} of {len(one)} and {len(two)}: {one[place : place + 1]} and {two[place : place + 1]}"[:600]


def _states(tool: Tool, seed: Seed, new: Callable[[], Parser]) -> Iterator[State]:
    """The states of all runs in a stream, some time after."""
    parser, state = new(), tool.state(Buckets())
    records = [*parser.feed(seed.data), *parser.settle(), *parser.close()]
    for number, record in enumerate(records):
        if isinstance(record, Begin):
            state.tick(NOW)
            yield state
            state = tool.state(Buckets())
        elif not isinstance(record, Misread):
            state.apply(record, "s", NOW)
            if number % 7 == 0:
                state.tick(NOW + number / 10)
    state.written("s", Written(NOW, NOW - 60, False, parser.undated))
    state.tick(NOW + 100)
    yield state
    state.over()
    _ = dict(state.parameters()), state.version, state.tool_version, list(state.history), state.reason
    yield state


def _check(samples: Sequence[Sample | SampleColumn]) -> None:
    for sample in samples:
        if isinstance(sample, SampleColumn):
            numbers = sample.numbers
        elif isinstance(value := sample.value, HistogramValue):
            numbers = [*value.counts, *([] if math.isnan(value.sum) else [value.sum])]  # NaN: unknown
            if any(low > high for low, high in pairwise(value.counts)):
                raise Failed("histogram", f"{sample.family.name} {sample.labels} decreases")
        elif isinstance(value, SummaryValue):
            numbers = [value.count, value.sum]
        else:
            numbers = [value]
        if not all(math.isfinite(number) and number >= 0 for number in numbers):
            raise Failed("number", f"{sample.family.name} {sample.labels}: {numbers[-3:]}")
    exposition = Exposition()
    text = exposition.render([_Source(samples)])
    if f'{RENDER_ERRORS.name}{{of="samples"}} 0' not in text and RENDER_ERRORS.name in text:
        raise Failed("render", "cannot be rendered")
    keys = [line.rpartition(" ")[0] for line in text.split("\n") if line and not line.startswith("#")]
    if len(keys) != len(set(keys)):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise Failed("twice", f"{twice}: a series twice")
    with suppress(StopIteration):
        list(text_string_to_metric_families(text))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--inputs", type=int, default=0, help="stop after so many inputs instead")
    parser.add_argument("--seed", type=int, default=None, help="default: the time")
    parser.add_argument("--only", default="", help="only kinds with this in their name")
    parser.add_argument("--folder", type=Path, default=Path(".fuzz"), help="folder for inputs that fail (.fuzz)")
    parser.add_argument("--again", type=Path, nargs="+", default=[], metavar="FILE", help="check stored inputs again")
    options = parser.parse_args()
    if options.again:
        return _again(options.again)
    seeds = [seed for seed in corpus() if options.only in seed.kind]
    start = int(time.time()) if options.seed is None else options.seed
    print(f"fuzz: {len(seeds)} seeds of {len({seed.kind for seed in seeds})} kinds, --seed {start}", flush=True)
    end = time.monotonic() + 60 * options.minutes
    number, failures, size, slowest = 0, set(), 0, 0.0
    while number < options.inputs if options.inputs else time.monotonic() < end:
        chance = random.Random(f"{start}.{number}")
        number += 1
        seed = mutated(seeds, chance)
        size += len(seed.data)
        began = time.process_time()
        try:
            judge(seed, chance)
        except Failed as error:
            what = (
                seed.kind,
                error.word,
                "" if error.word in ("chunks", "prefix") else str(error).splitlines()[-1][:60],
            )
            if what not in failures:
                failures.add(what)
                options.folder.mkdir(parents=True, exist_ok=True)
                path = options.folder / f"{seed.kind.replace(' ', '-')}.{error.word}.{sha1(seed.data).hexdigest()[:8]}"
                path.write_bytes(seed.data)
                print(f"fuzz: input {number - 1}, {seed.kind}: {error}\n      written to {path}", flush=True)
        slowest = max(slowest, time.process_time() - began)
    print(
        f"fuzz: {number} inputs, {size / 1e6:.1f} MB, slowest {slowest:.2f} s of processor time, {len(failures)} failed"
    )
    return 1 if failures else 0


def _again(paths: Sequence[Path]) -> int:
    failed = 0
    for path in paths:
        kind = path.name.partition(".")[0].replace("-", " ")
        try:
            judge(Seed(kind, path.read_bytes()), random.Random(0))
            print(f"fuzz: {path}: fine")
        except Failed as error:
            failed = 1
            print(f"fuzz: {path}: {error}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
