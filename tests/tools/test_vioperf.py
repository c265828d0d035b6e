"""vioperf, in the form of the one published run: every row is the rate of its last 10 s, tests follow each other."""

import re

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.api import Misread
from benchwatch.tools.states import State
from benchwatch.tools.vioperf import VIOPERF
from tests.support.places import RECORDINGS

TEXT = (RECORDINGS / "vioperf" / "published-form" / "published-form.out").read_text()
ROWS = [re.split(r" *\| ", line) for line in TEXT.splitlines() if re.match(r"(Write|ReWrite|Read|SkipRead) ", line)]
MB = 1 << 20


def read(text: str) -> tuple[State, list[Misread]]:
    parser, state, misread = VIOPERF.parser("text"), VIOPERF.state(Buckets()), []
    for record in (*parser.feed(text.encode()), *parser.close()):
        if isinstance(record, Misread):
            misread.append(record)
        else:
            state.apply(record, "out", 0.0)
    return state, misread


def shown(text: str) -> dict[tuple[str, ...], float]:
    return {(one.family.name, *one.labels): one.value for one in read(text)[0].samples(current=True)}


@pytest.mark.parametrize("row", range(len(ROWS)))
def test_the_last_row_is_what_is_shown(row: int) -> None:
    until = TEXT.index("\n", TEXT.index("| ".join(TEXT.splitlines()[6 + row].split("| "))))
    test, *_, threads = ROWS[row][:8]
    now = [float(number) for number in ROWS[row][4].split("+")]
    found = shown(TEXT[: until + 1])
    assert found["vioperf_threads",] == float(threads)
    ops = {"Write": ["write"], "Read": ["read"], "ReWrite": ["read", "write"]}.get(test)
    if ops is None:
        assert found["vioperf_seeks_per_second", test] == now[0]
    else:
        names = [("vioperf_bandwidth_bytes_per_second", test, op) for op in ops]
        assert [found[name] for name in names] == [MB * number for number in now]


def test_tests_follow_each_other_and_every_line_is_understood() -> None:
    state, misread = read(TEXT)
    assert misread == []
    assert state.start is not None and state.last_report is not None
    assert state.last_report - state.start == 300
    assert state.parameters()["directory"] == "/home"
    results = {name: value for name, value in shown(TEXT).items() if "_result_" in name[0]}
    last = {row[0]: [float(number) for number in row[3].split("+")] for row in ROWS}
    assert results == {
        ("vioperf_result_bandwidth_bytes_per_second", "Write", "write"): MB * last["Write"][0],
        ("vioperf_result_bandwidth_bytes_per_second", "ReWrite", "read"): MB * last["ReWrite"][0],
        ("vioperf_result_bandwidth_bytes_per_second", "ReWrite", "write"): MB * last["ReWrite"][1],
        ("vioperf_result_bandwidth_bytes_per_second", "Read", "read"): MB * last["Read"][0],
        ("vioperf_result_seeks_per_second", "SkipRead"): last["SkipRead"][0],
    }


@pytest.mark.parametrize(
    ("what", "instead"),
    [("SkipRead", "Compress"), ("| 336+335 ", "| 336+335+1 "), ("seeks/s ", "pages/s "), ("| 1655 ", "| fast ")],
)
def test_what_is_not_certain_counts_as_not_understood(what: str, instead: str) -> None:
    assert what in TEXT
    _, misread = read(TEXT.replace(what, instead))
    assert misread
