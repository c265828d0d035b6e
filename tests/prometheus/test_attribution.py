"""The short form of scripts/experiments/attribution: simulated faults, judged by the rules as they are."""

from pathlib import Path

import pytest

from attribution_rounds import judge, play
from attribution_simulated import conclude
from attribution_table import Judged, insert, tables
from tests.support.programs import program


@pytest.mark.slow(6)
def test_the_layer_of_a_fault_is_named_and_none_without_one(tmp_path: Path) -> None:
    scenes = [("steady", 1), ("path-slow", 2), ("oplog-bypassed", 3)]
    tape = play(scenes, tmp_path, skipped=60)
    judged = [conclude(one, {}) for one in judge(tape, scenes, tmp_path, program("promtool"))]
    named = {one.fault: one.ours for one in judged}
    assert named == {"steady": "none", "path-slow": "path", "oplog-bypassed": "oplog"}
    assert [one.fault for one in judged if one.wrong] == []


def test_what_is_slow_because_of_the_fault_is_not_wrong() -> None:
    named = {"log_device": 10, "oplog": 25, "path": 2}
    one = Judged("oplog-full", "oplog", named, 11, 40)
    assert one.ours == "oplog"
    assert one.wrong == {"path"}
    assert Judged("steady", "none", {"log_device": 1}, None, 0).wrong == {"log_device"}
    assert Judged("steady", "none", {}, None, 0).ours == "none"


def test_the_tables_stand_between_their_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    marks = "<!-- real: written by scripts/experiments -->\nold\n<!-- end of real -->"
    page.write_text(f"before\n{marks}\nafter\n")
    rounds = [
        Judged("lock", "database", {"database": 9}, 3, 10, "memory", "database"),
        Judged("lock", "database", {}, None, 0, "memory", "network"),
        Judged("no fault", "none", {}, None, 0, "memory", "memory"),
    ]
    insert(page, "real", tables(rounds, "3 rounds."))
    text = page.read_text()
    assert text.startswith("before\n<!-- real: written by scripts/experiments -->\n\n3 rounds.\n")
    assert text.endswith("\n\n<!-- end of real -->\nafter\n")
    assert "| lock | database | 2 | 50 % | 50 % | 0 | 3 (at most 3) | 0 % | 50 % |" in text
    assert "| lock (database) | 1 | **1** |" in text
    assert "| no fault (none) | **1** |  |" in text
    assert "old" not in text
    with pytest.raises(ValueError, match="expected the lines '<!-- other"):
        insert(page, "other", "")
