"""Parts of final reports beside each other."""

import csv
import io
import json
from pathlib import Path

import pytest

from benchwatch.cli import main
from tests.support.places import RECORDINGS

A, B = (RECORDINGS / f"pgbench/multi-script-r-{version}.out" for version in ("15.18", "18.6"))


def compared(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    assert main(["compare", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_scripts_come_first_then_the_statements_that_changed_most(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line.strip() for line in compared(capsys, A, B).splitlines()]
    head = next(place for place, line in enumerate(lines) if line.startswith("part "))
    assert [line.split("  ")[0] for line in lines[head + 1 : head + 8]] == [
        "script 1 TPS",
        "script 2 TPS",
        "script 3 TPS",
        "script 1 mean",
        "script 2 mean",
        "script 3 mean",
        "script 1: END;",
    ]
    assert lines[head + 7].split()[-6:] == ["125", "µs", "77.0", "µs", "-38.4", "%"]
    assert lines[head + 13] == "and 12 more"


def test_json_and_csv_have_every_part_as_the_tool_printed_it(capsys: pytest.CaptureFixture[str]) -> None:
    (other,) = json.loads(compared(capsys, A, B, "--format", "json"))["others"]
    first = {"name": "pgbench_result_script_tps", "labels": {"script": "0"}, "base": 1779.218765, "other": 2390.773205}
    assert {key: other["parts"][0][key] for key in first} == first
    assert len(other["parts"]) == 24
    rows = list(csv.DictReader(io.StringIO(compared(capsys, A, B, "--csv"))))
    (row,) = [one for one in rows if one["part"] == "script=0, statement=END;"]
    assert (row["measure"], row["base_value"], row["verdict"]) == (
        "pgbench_result_statement_latency_average_seconds",
        "0.000125",
        "",
    )


def test_kinds_of_requests_are_parts_and_groups_of_the_tool_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [RECORDINGS / f"sysbench/fileio-rndrw-{kind}-1.0.20" for kind in ("t4", "direct")]
    out = compared(capsys, *runs)
    assert [line.split()[:2] for line in out.splitlines() if "IOPS" in line] == [
        [kind, "IOPS"] for kind in ("read", "write", "sync")
    ]
    fio = [RECORDINGS / f"fio/json-multi-stonewall-{version}.out" for version in ("3.33", "3.42")]
    assert "\n  part " not in compared(capsys, *fio)
