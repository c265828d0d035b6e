"""Records in a run's folder: run.yaml for all workers, <worker>.yaml for one."""

import os
import time
from pathlib import Path

import pytest

from benchwatch.history.find import find_runs
from benchwatch.machine.mounts import Storage
from benchwatch.metrics.buckets import Buckets
from benchwatch.runs.append import NotStored, Room, put_record
from benchwatch.runs.files import listing
from benchwatch.runs.observed_run import ObservedRun
from benchwatch.runs.observer import Observer
from benchwatch.runs.place import RunPlace
from benchwatch.runs.unusable import Faults
from benchwatch.settings.record import Record, load_runfile, read_record
from benchwatch.settings.settings import NOT_KNOWN, Here, PushSettings, RunsSettings
from benchwatch.values.errors import ConfigError
from tests.support.places import NOW, RECORDINGS, Place

PGBENCH = RECORDINGS / "pgbench"
FIO = RECORDINGS / "fio"


class Watched:
    def __init__(self, folder: Path, here: Here = NOT_KNOWN) -> None:
        self.folder = folder
        self.faults = Faults()
        self.run = ObservedRun(RunPlace("a", folder, {}), RunsSettings(), Buckets(), self.faults, here)

    def look(self) -> dict[str, Observer]:
        self.run.look(listing(self.folder).files, NOW)
        while self.run.read(1_000_000, NOW):
            pass
        return {worker.name: worker for worker in self.run.workers}


@pytest.fixture
def watched(tmp_path: Path, place: Place) -> Watched:
    for worker in ("db1", "db2"):
        place(f"a/{worker}.err", PGBENCH / "tpcb-15.18.err")
    return Watched(tmp_path / "runs/a")


def samples(worker: Observer) -> list[tuple[str, tuple[str, ...], float]]:
    return [(sample.family.name, sample.labels, sample.value) for sample in worker.samples()]


def test_a_workers_record_goes_before_the_runs_key_by_key(watched: Watched) -> None:
    (watched.folder / "run.yaml").write_text(
        "labels: {cluster: a, vm: x}\nparameters: {cache: warm, fsync: on}\ndisks: {sdb: log}\ncommand: pgbench\n"
        "latency_objective: 2ms\nwarmup: 60\n"
    )
    (watched.folder / "db1.yaml").write_text(
        "labels: {vm: pg1}\nparameters: {cache: cold}\ndisks: {sdc: data}\ncommand: [pgbench, -S, a b]\n"
        "latency_objective: 1ms\nrepeat_of: huge\nstart: 1790000000.5\nend: 1790000060.5\n"
    )
    workers = watched.look()
    one, two = workers["db1"].runfile, workers["db2"].runfile
    assert one.labels == {"cluster": "a", "vm": "pg1"}
    assert one.parameters == {"cache": "cold", "fsync": "on", "command": "pgbench -S 'a b'"}
    assert one.disks == {"sdb": "log", "sdc": "data"}
    assert (one.latency_objective, one.warmup, one.repeat_of) == (0.001, 60, "huge")
    assert (one.start, one.end) == (1790000000.5, 1790000060.5)
    assert two.labels == {"cluster": "a", "vm": "x"}
    assert two.parameters == {"cache": "warm", "fsync": "on", "command": "pgbench"}
    assert (two.disks, two.latency_objective, two.repeat_of, two.end) == ({"sdb": "log"}, 0.002, "", None)


def places(worker: Observer) -> set[tuple[str, ...]]:
    names = ("benchwatch_run_host_info", "benchwatch_run_vm_info", "benchwatch_run_disk_info")
    return {(name[15:-5], *labels) for name, labels, value in samples(worker) if name in names and value == 1}


HERE = {("host", "box", "server"), ("host", "box", "client"), ("vm", "box", "box")}


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ("labels: {a: b}", HERE),
        ("vm: pg1", {*HERE - {("vm", "box", "box")}, ("vm", "box", "pg1")}),
        ("host: db1", {("host", "db1", "server"), ("vm", "db1", "db1")}),
        ("{host: db1, client: c1}", {("host", "db1", "server"), ("host", "c1", "client"), ("vm", "db1", "db1")}),
        ("client: c1", {("host", "box", "server"), ("host", "c1", "client"), ("vm", "box", "box")}),
        (
            "found: {host: db1, client: c1, disks: {sdb: log, sdc: data}}\ndisks: {sdd: log, sde: temp}",
            {
                *{("host", "db1", "server"), ("host", "c1", "client"), ("vm", "db1", "db1")},
                *{("disk", "db1", "sdc", "data"), ("disk", "db1", "sdd", "log"), ("disk", "db1", "sde", "temp")},
            },
        ),
        ("{host: db2, found: {host: db1}}", {("host", "db2", "server"), ("vm", "db2", "db2")}),
        ("found: {client: c1}", {("host", "c1", "client")}),
        ("found: {disks: {sdb: log}}", {("disk", "", "sdb", "log")}),
    ],
)
def test_a_run_is_where_its_records_say_else_where_it_was_found_else_here(
    tmp_path: Path, place: Place, record: str, expected: set[tuple[str, ...]]
) -> None:
    place("a/db1.err", PGBENCH / "tpcb-15.18.err")
    place("a/run.yaml", record.encode())
    assert places(Watched(tmp_path / "runs/a", Here("box")).look()["db1"]) == expected


def test_a_machine_that_is_configured_under_another_name_has_that_whatever_a_launcher_on_it_calls_it(
    tmp_path: Path, place: Place
) -> None:
    place("a/db1.err", PGBENCH / "tpcb-15.18.err")
    place("a/db2.err", PGBENCH / "tpcb-15.18.err")
    place("a/db1.yaml", b"found: {host: kernel, client: kernel, disks: {sdb: log}}")
    place("a/db2.yaml", b"{host: kernel, found: {host: kernel, client: other}}")
    workers = Watched(tmp_path / "runs/a", Here("box", "", "kernel")).look()
    assert places(workers["db1"]) == {*HERE, ("disk", "box", "sdb", "log")}
    assert places(workers["db2"]) == {
        *{("host", "kernel", "server"), ("host", "other", "client"), ("vm", "kernel", "kernel")}
    }


def test_a_workers_record_says_where_it_is_whatever_was_found_of_it(watched: Watched) -> None:
    (watched.folder / "run.yaml").write_text("{host: db1, disks: {sdb: log}}")
    (watched.folder / "db1.yaml").write_text("found: {host: db2, client: c1, disks: {sda: log}}")
    (watched.folder / "db2.yaml").write_text("{host: db3, vm: pg3}")
    workers = watched.look()
    disk = ("sdb", "log")
    assert places(workers["db1"]) == {
        *{("host", "db1", "server"), ("host", "c1", "client"), ("vm", "db1", "db1"), ("disk", "db1", *disk)}
    }
    assert places(workers["db2"]) == {("host", "db3", "server"), ("vm", "db3", "pg3"), ("disk", "db3", *disk)}


def test_what_fio_does_it_does_on_the_host_alone(tmp_path: Path, place: Place) -> None:
    place("a/disk1.json", FIO / "jsonplus-si1-libaio-qd16-3.42.out")
    worker = Watched(tmp_path / "runs/a", Here("box", "pg1")).look()["disk1"]
    assert places(worker) == {("host", "box", "server"), ("vm", "box", "pg1")}


def test_disks_of_this_machine_are_checked_and_those_of_another_are_not(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for disk in ("sdb", "sdb/sdb1"):
        (tmp_path / "sys/devices" / disk).mkdir(parents=True)
    (tmp_path / "sys/devices/sdb/queue").mkdir()
    (tmp_path / "sys/class/block").mkdir(parents=True)
    (tmp_path / "sys/class/block/sdb1").symlink_to(tmp_path / "sys/devices/sdb/sdb1")
    monkeypatch.setattr("benchwatch.runs.run_records.Storage", lambda: Storage(sys=tmp_path / "sys"))
    place("a/db1.err", PGBENCH / "tpcb-15.18.err")
    place("a/db2.err", PGBENCH / "tpcb-15.18.err")
    place("a/run.yaml", b"disks: {sdb1: log, sdz: data}")
    place("a/db2.yaml", b"host: db2")
    watched = Watched(tmp_path / "runs/a", Here("box"))
    workers = watched.look()
    assert places(workers["db1"]) == {*HERE, ("disk", "box", "sdb", "log")}
    assert places(workers["db2"]) == {
        *{("host", "db2", "server"), ("vm", "db2", "db2"), ("disk", "db2", "sdb1", "log")},
        ("disk", "db2", "sdz", "data"),
    }
    assert watched.faults.counts == {"disk": 1}
    assert caplog.messages == ["run a: disks: 'sdz' is no disk of this machine: expected a name that lsblk shows"]


def test_exit_codes_are_each_workers_own(watched: Watched) -> None:
    watched.look()
    (watched.folder / "db1.yaml").write_text("exit_code: 0\nend: 1790000060.5\n")
    (watched.folder / "db2.yaml").write_text("exit_code: 130\nsignal: SIGINT\n")
    workers = watched.look()
    assert {name: (worker.phase, worker.reason) for name, worker in workers.items()} == {
        "db1": ("finished", ""),
        "db2": ("interrupted", "ended by SIGINT"),
    }


def test_a_record_is_no_output_and_reading_it_again_reads_no_output_again(watched: Watched) -> None:
    before = watched.look()
    (watched.folder / "db1.yaml").write_text("labels: {vm: pg1}\n")
    (watched.folder / "other.yaml").write_text("labels: {vm: pg2}\n")
    after = watched.look()
    assert after == before
    assert watched.faults.counts == {}
    assert ("benchwatch_run_info", ("pgbench", ""), 1) in samples(after["db1"])
    assert after["db1"].runfile.labels == {"vm": "pg1"}
    (watched.folder / "db1.yaml").unlink()
    assert watched.look()["db1"].runfile.labels == {}


def test_a_text_that_gets_another_name_after_its_recorded_end_is_shown_on(watched: Watched) -> None:
    (watched.folder / "db1.yaml").write_text("exit_code: 0\nend: 1790000060.5\n")
    watched.look()
    (watched.folder / "db1.err").rename(watched.folder / "db1.out")
    assert watched.look()["db1"].phase == "finished"


def test_a_recorded_end_is_compared_with_the_output_only_when_a_file_has_changed(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def birth(path: Path) -> float:
        asked.append(path.name)
        return path.stat().st_mtime - 100

    monkeypatch.setattr("benchwatch.runs.run_records.birth", birth)
    later = time.time_ns() + 60_000_000_000
    monkeypatch.setattr("benchwatch.runs.files.time.time_ns", lambda: later)
    (watched.folder / "db1.yaml").write_text("exit_code: 1\nend: 1790000060.5\n")
    (watched.folder / "notes").write_text("what no tool prints, so that each look is a whole one\n")
    os.utime(watched.folder / "db1.yaml", (1790000061, 1790000061))
    os.utime(watched.folder / "db1.err", (1790000161, 1790000161))
    assert watched.look()["db1"].runfile.outdated
    asked.clear()
    assert watched.look()["db1"].runfile.outdated
    assert asked == []
    os.utime(watched.folder / "db1.err", (1790000062, 1790000062))
    assert watched.look()["db1"].phase == "failed"


def test_a_bad_record_leaves_what_was_known_and_is_counted_once(watched: Watched) -> None:
    (watched.folder / "db1.yaml").write_text("labels: {vm: pg1}\n")
    watched.look()
    (watched.folder / "db1.yaml").write_text("labels: {vm: pg1, job: x}\n")
    for _ in range(3):
        assert watched.look()["db1"].runfile.labels == {"vm": "pg1"}
    assert watched.faults.counts == {"run_yaml": 1}


def test_a_changed_run_yaml_reaches_workers_with_records_of_their_own(watched: Watched) -> None:
    (watched.folder / "db1.yaml").write_text("labels: {vm: pg1}\n")
    watched.look()
    (watched.folder / "run.yaml").write_text("labels: {cluster: b}\n")
    assert watched.look()["db1"].runfile.labels == {"cluster": "b", "vm": "pg1"}


@pytest.mark.parametrize(
    "text", ["labels: {day: !!timestamp x}\n", "start: .nan\n", "a: [\n", "parameters: {x: !!int ''}\n"]
)
def test_a_pushed_record_that_cannot_be_used_is_refused_and_leaves_nothing(tmp_path: Path, text: str) -> None:
    with pytest.raises(NotStored) as caught:
        put_record(tmp_path / "a/db1.yaml", text.encode(), Room(PushSettings(keep_free_bytes=0), lambda _: None))
    assert caught.value.reason == "invalid"
    assert str(caught.value).startswith("a/db1.yaml:1: ")
    assert list((tmp_path / "a").iterdir()) == []


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("start: .nan", "start: expected Unix seconds such as 1790000000.5, got nan"),
        ("end: .inf", "end: expected Unix seconds such as 1790000000.5, got inf"),
        ("end: -.inf", "end: expected Unix seconds such as 1790000000.5, got -inf"),
        ("start: 1790000000000", "start: expected Unix seconds such as 1790000000.5, got 1790000000000"),
        ("start: 0", "start: expected Unix seconds such as 1790000000.5, got 0"),
        ("start: true", "start: expected Unix seconds such as 1790000000.5, got True"),
        ("warmup: .inf", "warmup: expected a duration such as 500ms, 10s or 5m, got inf"),
        ("warmup: 99999999999s", "warmup: expected a duration such as 500ms, 10s or 5m, got '99999999999s'"),
        ("latency_objective: .nan", "latency_objective: expected a duration such as 500ms, 10s or 5m, got nan"),
        ("cpu_seconds: .nan", "cpu_seconds: expected a duration such as 500ms, 10s or 5m, got nan"),
        ("cpu_seconds: -1", "cpu_seconds: expected a duration such as 500ms, 10s or 5m, got -1"),
        ("exit_code: 4294967296", "exit_code: expected a whole number <= 4294967295, got 4294967296"),
    ],
)
def test_a_number_that_no_benchmark_can_have_is_refused_in_one_sentence(
    tmp_path: Path, line: str, expected: str
) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(line + "\n")
    with pytest.raises(ConfigError) as caught:
        load_runfile(path, RunsSettings())
    assert str(caught.value) == f"{path}:1: {expected}"


def test_a_record_with_such_a_number_leaves_what_was_known(watched: Watched) -> None:
    (watched.folder / "run.yaml").write_text("labels: {vm: pg1}\nstart: .nan\n")
    worker = watched.look()["db1"]
    assert watched.faults.counts == {"run_yaml": 1}
    assert all(value == value for _, _, value in samples(worker))


def test_the_name_of_a_label_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(f"labels: {{{'x' * 128}: 1}}\n")
    assert load_runfile(path, RunsSettings()).labels == {"x" * 128: "1"}
    path.write_text(f"labels: {{{'x' * 129}: 1}}\n")
    with pytest.raises(
        ConfigError, match=r"expected a name of letters, digits and _ .*, of at most 128 characters, got 'xxx"
    ):
        load_runfile(path, RunsSettings())


def many_records(folder: Path, count: int) -> Watched:
    for number in range(count):
        (folder / f"w{number}.err").write_bytes((PGBENCH / "tpcb-15.18.err").read_bytes())
        (folder / f"w{number}.yaml").write_text(f"labels: {{vm: v{number}}}\n")
    return Watched(folder)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []

    def read(path: Path) -> Record:
        names.append(path.name)
        return read_record(path)

    monkeypatch.setattr("benchwatch.runs.run_records.read_record", read)
    return names


def test_no_worker_is_shown_without_its_own_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = counted(monkeypatch)
    watched = many_records(tmp_path, 40)
    watched.run.look(listing(tmp_path).files, NOW)
    while watched.run.read(10, NOW):
        for worker in watched.run.workers:
            assert worker.runfile.labels["vm"] == worker.name.replace("w", "v")
    assert len(watched.run.workers) == len(read) == 40


def test_a_changed_run_yaml_has_no_other_record_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = many_records(tmp_path, 20)
    later = time.time_ns() + 60_000_000_000  # a record that was written a moment ago may be written again unseen
    monkeypatch.setattr("benchwatch.runs.files.time.time_ns", lambda: later)
    watched.look()
    read = counted(monkeypatch)
    (tmp_path / "run.yaml").write_text("labels: {cluster: b}\n")
    assert watched.look()["w7"].runfile.labels == {"cluster": "b", "vm": "v7"}
    assert read == ["run.yaml"]


def test_commands_that_read_files_once_have_every_record(tmp_path: Path) -> None:
    many_records(tmp_path, 20)
    (run,) = find_runs([tmp_path], RunsSettings(), Buckets())
    assert {run.new_worker(name).runfile.labels["vm"] for name in run.plans} == {f"v{number}" for number in range(20)}
