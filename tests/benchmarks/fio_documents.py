"""How long a json+ document of 32 jobs takes from its bytes to the state, windowed quantiles included.

    python tests/benchmarks/fio_documents.py

The documents are made from two successive ones of the recording jsonplus-numjobs64-3.33 (64 clones with some 50 bins of
latency each): with 32 of its jobs as they are; with 32 different names, so that nothing is summed up before the
quantiles; and with 200 bins a job besides. Printed are medians of processor time in milliseconds, by step, and the
ratio of the whole to json.loads of the same bytes, round by round.
"""

import json
import re
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from beside import as_the_command
from tests.support.bins import BIN_OF_KEY

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.fio import FIO
from benchwatch.tools.fio.counters import count
from benchwatch.tools.fio.document import decode
from benchwatch.tools.fio.framing import Framer

RECORDING = Path(__file__).parents[1] / "recordings/fio/jsonplus-numjobs64-3.33.out"
JOBS = 32
ROUNDS = 100
KEYS = list(BIN_OF_KEY)


def documents(rename: bool, bins: int | None) -> list[bytes]:
    """Two successive documents of 32 jobs, in fio's own layout."""
    texts = re.findall(r"\{\n  \"fio version\".*?\n\}\n", RECORDING.read_text(), re.DOTALL)[:2]
    made = []
    for number, text in enumerate(texts, 1):
        document = json.loads(text)
        document["jobs"] = document["jobs"][:JOBS]
        for place, job in enumerate(document["jobs"]):
            if rename:
                job["jobname"] = f"job{place}"
            if bins:
                latency = job["read"]["clat_ns"]
                latency["bins"] = dict.fromkeys(KEYS[600 : 600 + bins], number * (1 + place))
                latency["N"] = sum(latency["bins"].values())
        made.append(json.dumps(document, indent=2, separators=(",", " : ")).encode() + b"\n")
    return made


def timed(act: Callable[..., Any], *arguments: Any) -> float:
    """Processor time that one call takes, milliseconds."""
    begin = time.thread_time()
    act(*arguments)
    return (time.thread_time() - begin) * 1e3


def one_round(first: bytes, second: bytes) -> dict[str, float]:
    """The times of each step for the second document, after the first one."""

    def whole() -> None:
        for record in parser.feed(second):
            state.apply(record, "stdout", 1.0)

    steps = {"framing": timed(Framer().feed, second), "decode": timed(decode, second)}
    state, decoded = FIO.state(Buckets()), decode(second)
    state.apply(count(decode(first)), "stdout", 0.0)
    steps["state"] = timed(lambda: state.apply(count(decoded), "stdout", 1.0))
    state, parser = FIO.state(Buckets()), FIO.parser("text")
    state.apply(parser.feed(first)[0], "stdout", 0.0)
    steps["whole"] = timed(whole)
    steps["json.loads"] = timed(json.loads, second)
    return steps


def measure(title: str, first: bytes, second: bytes) -> None:
    """Print the medians for a pair of documents."""
    rounds = [one_round(first, second) for _ in range(ROUNDS)]
    medians = {step: statistics.median(each[step] for each in rounds) for step in rounds[0]}
    ratio = statistics.median(each["whole"] / each["json.loads"] for each in rounds)
    steps = ", ".join(f"{step} {value:.2f} ms" for step, value in medians.items())
    print(f"{title}, {len(second) / 1e3:.0f} kB: {steps}; whole / json.loads {ratio:.2f}")


def main() -> None:
    """Measure all three kinds of documents."""
    as_the_command()
    measure(f"{JOBS} clones", *documents(rename=False, bins=None))
    measure(f"{JOBS} jobs", *documents(rename=True, bins=None))
    measure(f"{JOBS} jobs with 200 bins", *documents(rename=True, bins=200))


if __name__ == "__main__":
    main()
