"""Patterns of vdisks: those that a hostile name could make slow are refused, others take little time on any name."""

import time

import pytest

from benchwatch.nutanix.cvm_settings import VdiskSelection
from benchwatch.nutanix.patterns import LONGEST, compiled, matches


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b",
        "(a|a)*b",
        "(a*)*",
        "(a|aa)+$",
        "(.*)*x",
        "(?:a?){30}a{30}",
        "a?" * 30 + "a" * 30,
        ".*a.*b.*c.*d",
        "((a+)b?)+c",
    ],
)
def test_a_pattern_that_could_take_long_is_refused_in_words(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"include: .* can divide a name in too many ways to be tried"):
        VdiskSelection(include=(pattern,))


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "(?P<x>", "*"])
def test_what_is_no_pattern_is_refused_in_words(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"exclude: .* is not a regular expression"):
        VdiskSelection(exclude=(pattern,))


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("45269", "45269"),
        ("vm-.*", "vm-7"),
        (".*(db|web)[0-9]+.*", "prod-db17-data"),
        ("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "1a8ef41c-ae3f-4293-a46e-49d7e6c1c907"),
        ("(?i)NFS:.*:.*", "nfs:4:7"),
        ("(?:.*-)?data", "data"),
        ("(?!tmp).*", "data"),
        ("(a++)+b", "aab"),
    ],
)
def test_usual_patterns_are_taken_and_take_little_time_on_any_name(pattern: str, name: str) -> None:
    found = compiled(pattern)
    assert matches(found, [name])
    began = time.process_time()
    for letter in ("a", "-", "0", ":", "db1"):
        assert not matches(found, [(letter * LONGEST)[: LONGEST - 1] + "\n"])
    assert time.process_time() - began < 20  # a pattern that backtracks takes hours


def test_a_name_beyond_the_length_matches_nothing() -> None:
    assert matches(compiled(".*"), ["a" * LONGEST])
    assert not matches(compiled(".*"), ["a" * (LONGEST + 1)])
