"""The published experiments without a database at their smallest: fio's and a scene on a simulated CVM."""

import json
import re
from pathlib import Path

import pytest

from tests.support.experiments import experiment, only_runs_stay

JOBS = {
    "random-read-8k": "read",
    "random-write-8k": "write",
    "sequential-write-1m": "write",
    "sequential-read-1m": "read",
    "latency-write-8k": "write",
    "latency-read-8k": "read",
}


def rows(printed: str, start: str) -> list[list[str]]:
    return [line.split() for line in printed.splitlines() if re.match(start, line)]


@pytest.mark.slow(12)
def test_fio_prints_what_each_of_the_hero_jobs_reached(tmp_path: Path) -> None:
    printed = experiment("fio", tmp_path, seconds=1, size=8)
    (output,) = tmp_path.glob("runs/hero-*/disk1.out")
    final = json.loads("{" + output.read_text().rpartition("\n{\n")[2])
    table = {row[0]: row for row in rows(printed, "|".join(JOBS))}
    assert {job: row[1] for job, row in table.items()} == JOBS
    for job in final["jobs"]:
        reached = job[JOBS[job["jobname"]]]
        _, _, target, iops, bandwidth, mean, unit, *_ = table[job["jobname"]]
        assert (target, unit) == ("-", "ms")
        assert int(iops) == round(reached["total_ios"] / reached["runtime"] * 1000)
        assert float(bandwidth) == round(reached["io_bytes"] / reached["runtime"] / 1000, 1)
        assert float(mean) == round(reached["clat_ns"]["mean"] / 1e6, 3)
    assert len(list(tmp_path.glob("hero-*.html"))) == 1
    only_runs_stay(tmp_path)


def test_fixed_rate_shows_targets_and_warns_of_the_mistake(tmp_path: Path) -> None:
    printed = experiment("fixed-rate", tmp_path, seconds=1, size=8)
    assert [row[1:3] for row in rows(printed, "mixed-70-30")] == [
        ["read", "70"],
        ["write", "30"],
        ["read", "100"],
        ["write", "100"],
    ]
    assert re.findall("^warning .*$", printed, re.MULTILINE) == [
        "warning for job mixed-70-30: rwmixread_with_rate_iops"
    ]
    only_runs_stay(tmp_path)


@pytest.mark.slow(35)
@pytest.mark.parametrize(("scene", "most"), [("up-migration", "estore_hdd"), ("locality", "estore_ssd_remote")])
def test_where_reads_come_from_is_seen_through_prometheus(tmp_path: Path, scene: str, most: str) -> None:
    printed = experiment(scene, tmp_path, seconds=31, every=2)
    heading, *lines = (
        re.split(r"\s{2,}", line.strip()) for line in printed.splitlines() if re.match(r" time |\d\d:\d\d  cvm1 ", line)
    )
    table = [dict(zip(heading, line, strict=True)) for line in lines]
    table = [line for line in table if line.get(most, "-") != "-"]  # its page was scraped by then
    assert table, printed
    percents = [
        {name: int(part.removesuffix(" %")) for name, part in line.items() if part.endswith(" %")} for line in table
    ]
    assert all(99 <= sum(each.values()) <= 101 for each in percents), printed
    assert percents[0][most] > 25, printed  # so it is for the first minute, which a busy machine may take to begin
    assert len(list(tmp_path.glob(f"{scene}-*.png"))) == 1
    only_runs_stay(tmp_path)
