"""The published experiments at their smallest: each runs to its end and leaves nothing but its runs."""

import fcntl
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support.experiments import command, experiment, only_runs_stay
from tests.support.waiting import PATIENCE, eventually

HUGE_PAGES = [Path(f"/sys/kernel/mm/hugepages/hugepages-{size}kB/nr_hugepages") for size in (2048, 1048576)]


@pytest.mark.slow(10)
def test_density_steps_up_the_number_of_databases_with_a_worker_each(tmp_path: Path) -> None:
    printed = experiment("density", tmp_path, databases=2, seconds=2, rate=100, scale=1)
    table = re.findall(r"^(density-\S+-(\d)) +(\d) +([\d.]+) +([\d.]+) +[\d.]+ +([\d.]+)%$", printed, re.MULTILINE)
    assert [row[2] for row in table] == ["1", "2"], printed
    assert table[0][5] == "100.0"
    for run, number, _, total, each, _ in table:
        outputs = sorted((tmp_path / "runs" / run).glob("db?.out"))
        rates = [float(re.findall(r"^tps = ([\d.]+)", output.read_text(), re.MULTILINE)[0]) for output in outputs]
        assert len(rates) == int(number)
        assert float(total) == pytest.approx(sum(rates), abs=0.1)
        assert float(each) == pytest.approx(sum(rates) / len(rates), abs=0.1)
    only_runs_stay(tmp_path)


def test_an_experiment_that_is_interrupted_leaves_nothing_behind(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("density", tmp_path, databases=2, seconds=60, rate=10, scale=1), process_group=0, stdout=subprocess.PIPE
    ) as process:
        eventually(lambda: list(tmp_path.glob("runs/density-*/db1.err")), "a run is on")
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) == 130
    only_runs_stay(tmp_path)


@pytest.mark.slow(30)
@pytest.mark.skipif(
    not all(os.access(pages, os.W_OK) for pages in HUGE_PAGES), reason="only root can reserve huge pages of both sizes"
)
def test_huge_pages_compares_three_kinds_and_gives_the_pages_back(tmp_path: Path) -> None:
    with HUGE_PAGES[0].open() as machine:  # these are its own: tests of another checkout wait
        fcntl.flock(machine, fcntl.LOCK_EX)
        before = [pages.read_text() for pages in HUGE_PAGES]
        printed = experiment("huge-pages", tmp_path, seconds=2, warmup=1, repeats=1, scale=2, rate=100)
        assert [pages.read_text() for pages in HUGE_PAGES] == before
    for kind in ("default", "2MB", "1GB"):
        assert re.search(rf"huge-pages-\S+-{kind}\b", printed), printed
    sizes = {path.parent.name.split("-")[-2]: path.read_text() for path in tmp_path.glob("runs/*/db1.yaml")}
    assert "huge_pages: 'off'" in sizes["default"]
    assert "huge_page_size: 2MB" in sizes["2MB"]
    assert "huge_page_size: 1GB" in sizes["1GB"]
    only_runs_stay(tmp_path)


@pytest.mark.slow(25)
@pytest.mark.skipif(
    os.geteuid() != 0
    or subprocess.run([shutil.which("losetup") or "false", "-f"], capture_output=True).returncode != 0,
    reason="only root can make loop devices, where the machine has them",
)
def test_checkpoint_gives_log_and_data_a_disk_each_and_removes_them(tmp_path: Path) -> None:
    printed = experiment("checkpoint", tmp_path, seconds=3, rate=20, scale=1)
    for target in ("0.5", "0.9"):
        assert re.search(rf"^checkpoint-{target}-\S+ .* -$", printed, re.MULTILINE), printed
        (record,) = tmp_path.glob(f"runs/checkpoint-{target}-*/db1.yaml")
        assert re.search(r"^disks:\n  loop\d+: log\n  loop\d+: data$", record.read_text(), re.MULTILINE)
    assert len(list(tmp_path.glob("checkpoint-*.html"))) == 1
    assert str(tmp_path) not in subprocess.check_output(["losetup", "-a"], text=True)
    only_runs_stay(tmp_path)


@pytest.mark.parametrize(
    ("name", "option", "sentence"),
    [
        ("density", "--databases=0", "--databases: expected a whole number above 0, got 0"),
        ("density", "--databases=1", "--databases: expected at least 2, got 1: that is too little for a result"),
        ("density", "--seconds=2", "--seconds: expected at least 5, got 2: that is too little for a result"),
        ("huge-pages", "--repeats=2", "--repeats: expected at least 3, got 2: that is too little for a result"),
        ("huge-pages", "--seconds=9", "--seconds: expected at least 10, got 9: that is too little for a result"),
        ("checkpoint", "--seconds=60", "--seconds: expected at least 120, got 60: that is too little for a result"),
        ("fio", "--seconds=1", "--seconds: expected at least 5, got 1: that is too little for a result"),
        ("fixed-rate", "--seconds=9", "--seconds: expected at least 10, got 9: that is too little for a result"),
        ("locality", "--seconds=90", "--seconds: expected at least 120, got 90: that is too little for a result"),
        ("up-migration", "--seconds=30", "--seconds: expected at least 120, got 30: that is too little for a result"),
        ("up-migration", "--every=100", "--every: expected at most half of --seconds, got 100"),
    ],
)
def test_a_wrong_option_is_one_sentence(tmp_path: Path, name: str, option: str, sentence: str) -> None:
    words = [*command(name, tmp_path), option]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (2, f"{name}: {sentence}\n")
    assert not (tmp_path / "runs").exists() or name == "up-migration"
