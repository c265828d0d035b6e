"""The fuzzer: some of its inputs, and that it finds what it looks for."""

import math
import random
from collections.abc import Sequence
from typing import Any

import pytest

from benchwatch.metrics.samples import Family, HistogramValue, Sample
from benchwatch.tools.pgbench import PGBENCH
from benchwatch.tools.pgbench.text import TextParser
from tests.torture.fuzz import Failed, Seed, _check, corpus, judge, mutated

GAUGE, HISTOGRAM = Family("a", "gauge", "A."), Family("b", "histogram", "B.")
LABELLED = Family("c", "gauge", "C.", ("name",))


@pytest.fixture(scope="module")
def seeds() -> list[Seed]:
    return corpus()


def test_the_corpus_has_every_parser(seeds: list[Seed]) -> None:
    assert {seed.kind for seed in seeds} >= {
        *("pgbench text", "pgbench log", "pgbench log aggregate", "fio text", "cvm", "yaml")
    }


@pytest.mark.parametrize("part", range(4))
def test_no_input_takes_a_parser_away(part: int, seeds: list[Seed]) -> None:
    for number in range(60):
        chance = random.Random(f"1.{part}.{number}")
        judge(mutated(seeds, chance), chance)


@pytest.mark.parametrize("word", ["chunks", "ZeroDivisionError"])
def test_a_parser_that_depends_on_chunks_or_raises_is_found(
    monkeypatch: pytest.MonkeyPatch, word: str, seeds: list[Seed]
) -> None:
    class Wrong(TextParser):
        def feed(self, data: bytes) -> list[Any]:
            return [len(data) if word == "chunks" else 1 // 0]

    monkeypatch.setattr(type(PGBENCH), "parser", lambda *_: Wrong())
    seed = next(seed for seed in seeds if seed.kind == "pgbench text")
    with pytest.raises(Failed) as found:
        judge(seed, random.Random(1))
    assert found.value.word == word


@pytest.mark.parametrize(
    ("samples", "word"),
    [
        ([Sample(GAUGE, (), math.nan)], "number"),
        ([Sample(GAUGE, (), math.inf)], "number"),
        ([Sample(GAUGE, (), -1)], "number"),
        ([Sample(HISTOGRAM, (), HistogramValue(["1", "+Inf"], [2, 1], 1.0))], "histogram"),
        ([Sample(GAUGE, (), 1), Sample(GAUGE, (), 1)], "twice"),
    ],
)
def test_samples_that_no_tool_has_are_found(samples: Sequence[Sample], word: str) -> None:
    with pytest.raises(Failed) as found:
        _check(samples)
    assert found.value.word == word


def test_a_line_separator_in_a_label_ends_no_sample() -> None:
    _check([Sample(LABELLED, ("a\u2028b\u2028c",), 1), Sample(LABELLED, ("a\u2029b\u2029c",), 1)])


def test_an_input_is_the_same_for_its_seed_and_number(seeds: list[Seed]) -> None:
    assert [mutated(seeds, random.Random("1.7")) for _ in range(2)] == 2 * [mutated(seeds, random.Random("1.7"))]
    assert isinstance(mutated(seeds, random.Random("1.8")), Seed)
