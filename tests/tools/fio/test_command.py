import os
from pathlib import Path

import pytest

from benchwatch.tools.fio.command import options_and_jobs, read, targets
from benchwatch.tools.launcher import Command, CommandLine
from benchwatch.values.errors import UserError

JOBS = """\
; a comment
[global]
runtime=60
directory=/data
time_based
[first]
rw=read
filename=a:b
[second]
stonewall
runtime=2m
ramp_time=10s
rw = write
"""


@pytest.fixture
def job_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("job.fio").write_text(JOBS)
    Path("other.fio").write_text("[third]\nruntime=90\n")
    Path("bare.fio").write_text("[fourth]\n")
    return "job.fio"


def command(text: str, version: str = "fio-3.33", *, percentiles: bool = True) -> Command:
    return read(CommandLine(text.split(), version, percentiles))


def jobs(text: str) -> list[dict[str, str]]:
    return options_and_jobs(text.split())[1]


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("--name=j", "--output-format=json+ --status-interval=1 --eta=never"),
        ("-name j", "--output-format=json+ --status-interval=1 --eta=never"),
        ("--name=j --status-interval=5 --eta=always", "--output-format=json+"),
        ("--name=j --output-format=json+,normal", "--status-interval=1 --eta=never"),
        ("--output-format json --name=j", "--status-interval=1 --eta=never"),
        ("--name=j --output-format=normal", "--eta=never"),
        ("--name=j --eta-newline=1s", "--output-format=json+ --status-interval=1"),
        ("--minimal --name=j", "--eta=never"),
        ("--client=host --name=j", ""),
    ],
)
def test_only_missing_flags_are_added(text: str, flags: str) -> None:
    assert " ".join(command(text).added) == flags


def test_without_percentiles_there_are_no_bins() -> None:
    assert command("--name=j", percentiles=False).added[0] == "--output-format=json"


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("--name=j --output-format=json", "no live percentiles"),
        ("--name=j --output-format=normal", "benchwatch shows only its results"),
        ("--name=j --output-format=terse", "benchwatch shows nothing of it"),
        ("--minimal --name=j", "fio prints terse, as requested"),
        ("--client=host --name=j", "run fio on each host"),
    ],
)
def test_what_will_not_be_seen_is_said(text: str, remark: str) -> None:
    (sentence,) = command(text).remarks
    assert remark in sentence


def test_an_old_fio_keeps_its_report_which_is_all_that_is_read_of_it() -> None:
    prepared = command("--name=j", "fio-2.21")
    assert prepared.added == ("--eta=never",)
    (remark,) = prepared.remarks
    assert "before 3.0, benchwatch reads only the normal report" in remark


@pytest.mark.parametrize("text", ["--server", "--showcmd job.fio", "--parse-only", "--version", "--enghelp=libaio"])
def test_what_measures_nothing_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is not a benchmark"):
        command(text)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("--name=j --runtime=90 --ramp_time 10", 100),
        ("--runtime=1m --name=a --name=b --runtime=30", 60),
        ("--runtime=1m --name=a --name=b --stonewall --startdelay=5", 125),
        ("--name=j --size=1g", None),
        ("--runtime=60 --name=a --name=b --wait_for=a", None),
        ("job.fio", 190),
        ("job.fio --section=first", 60),
        ("job.fio --section=first --section second", 190),
        ("--name=j --runtime=70 job.fio", 200),
        ("job.fio other.fio", 280),
        ("--runtime=10 --section=first other.fio job.fio", 190),
        ("--runtime=10 bare.fio job.fio", 200),
        ("--runtime=10 job.fio bare.fio", None),
        ("job.fio missing.fio", None),
        ("--runtime=10 job.fio --section second", 130),
        ("missing.fio", None),
    ],
)
def test_the_length_follows_from_command_and_job_file(job_file: str, text: str, length: float | None) -> None:
    assert command(text).length == length


def test_a_job_file_is_read_as_fio_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "job.fio"
    file.write_text(
        "[one]\nstonewall\n  rw=read ; comment\n\tbs=4k # comment\n\n"
        "[global]\nruntime=9\n[one]\n[global_too]\nbs=8k\n[two]\n"
    )
    assert jobs(str(file)) == [
        {"name": "one", "stonewall": "1", "rw": "read", "bs": "4k"},
        {"name": "one", "runtime": "9"},
        {"name": "two", "runtime": "9", "bs": "8k"},
    ]


def test_a_job_file_that_comes_through_a_pipe_is_left_to_fio() -> None:
    reader, writer = os.pipe()
    os.write(writer, JOBS.encode())
    os.close(writer)
    assert command(f"/dev/fd/{reader}").length is None
    assert os.read(reader, 65536) == JOBS.encode()
    os.close(reader)


def test_the_target_is_the_first_file_or_folder(job_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISK", "sdb")
    assert targets(jobs(job_file))[0] == Path("/data/a")
    assert targets(jobs("--name=j --filename=/dev/${DISK}")) == [Path("/dev/sdb")]
    assert targets(jobs("--name=j")) == [tmp_path]


def test_a_value_apart_is_no_job_file(job_file: str) -> None:
    found = jobs("--filename data --rw read --time_based job.fio")
    assert [job["name"] for job in found] == ["first", "second"]
    assert found[1] == {
        "filename": "data",
        "rw": "write",
        "time_based": "1",
        "runtime": "2m",
        "directory": "/data",
        "stonewall": "1",
        "ramp_time": "10s",
        "name": "second",
    }
