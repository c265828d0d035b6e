import pytest

from benchwatch.runs.layout import WatchedFile, group_name, plan, worker_name
from benchwatch.tools.fio import FIO
from benchwatch.tools.pgbench import PGBENCH


def workers(*names: str, modified: dict[str, float] | None = None) -> dict[str, list[list[str]]]:
    """Workers of a run "r" with these files: per worker its streams, per stream its files."""
    files = {}
    for number, name in enumerate(names):
        if name.endswith("?"):
            tool, kind, name = None, "", name[:-1]
        elif name.startswith("fio"):
            tool, kind = FIO, "text"
        else:
            log = name.startswith(("pgbench_log", "log_"))
            tool, kind = PGBENCH, "log" if log else "text"
        files[name] = WatchedFile((1, number), (modified or {}).get(name, 0.0), tool, kind)
    found = plan(files, "r")
    return {name: [[file for file, _ in stream.parts] for stream in streams] for name, streams in found.items()}


def test_files_that_differ_by_suffix_are_one_worker() -> None:
    assert workers("db1.err", "db1.out", "db2.err") == {"db1": [["db1.err"], ["db1.out"]], "db2": [["db2.err"]]}


def test_files_named_after_the_standard_streams_are_the_worker_named_after_the_run() -> None:
    assert workers("stdout", "stderr") == {"r": [["stderr"], ["stdout"]]}


@pytest.mark.parametrize(("out", "err"), [("out.out", "err.err"), ("stdout.log", "stderr.log"), ("out", "err")])
def test_a_pair_named_after_the_standard_streams_is_one_worker(out: str, err: str) -> None:
    """Some tools (YCSB, memtier) report to one and print their results to the other."""
    assert workers(out, err) == {"r": [[err], [out]]}
    assert workers(f"{out}?", err) == {"r": [[err]]}, "it has the same name when nothing was printed to the other yet"
    assert list(workers(out)) == [out.partition(".")[0]]


def test_dots_in_a_worker_name_stay() -> None:
    assert worker_name("vm1.example.com.push", "r") == "vm1.example.com"


def test_numbered_outputs_are_workers_of_their_own() -> None:
    assert workers("out.1", "out.2", "out.10") == {f"out.{n}": [[f"out.{n}"]] for n in (1, 10, 2)}
    assert worker_name("fio-3.33", "r") == "fio-3.33"


def test_rotated_parts_are_one_stream_oldest_first() -> None:
    assert workers("db1.err", "db1.err.1", "db1.err.2") == {"db1": [["db1.err.2", "db1.err.1", "db1.err"]]}


def test_a_part_that_is_not_recognised_by_itself_still_belongs() -> None:
    assert workers("fio.json?", "fio.json.1") == {"fio": [["fio.json.1", "fio.json"]]}


def test_unrecognised_files_are_left_alone() -> None:
    assert workers("notes.txt?", "db1.err") == {"db1": [["db1.err"]]}


def test_another_tool_under_the_same_name_is_another_worker() -> None:
    files = {
        "a.err": WatchedFile((1, 1), 0.0, PGBENCH, "text"),
        "a.json": WatchedFile((1, 2), 0.0, FIO, "text"),
    }
    assert sorted(plan(files, "r")) == ["a", "a.json"]


def test_the_logs_of_all_threads_stay_together_beside_another_tools_worker() -> None:
    files = {
        "w.json": WatchedFile((1, 1), 0.0, FIO, "text"),
        "w.4711": WatchedFile((1, 2), 0.0, PGBENCH, "log"),
        "w.4711.1": WatchedFile((1, 3), 0.0, PGBENCH, "log"),
    }
    found = {name: [stream.name for stream in streams] for name, streams in plan(files, "r").items()}
    assert found == {"w": ["w.json"], "w.4711": ["w.4711", "w.4711.1"]}


def test_the_log_of_one_tool_is_no_part_of_another_tools_worker() -> None:
    files = {"w.4711": WatchedFile((1, 1), 0.0, FIO, "text"), "w.4711.1": WatchedFile((1, 2), 0.0, PGBENCH, "log")}
    assert {name: [one.name for one in streams] for name, streams in plan(files, "r").items()} == {
        "w.4711": ["w.4711"],
        "w.4711.1": ["w.4711.1"],
    }


def test_logs_of_the_default_prefix_belong_to_the_only_worker() -> None:
    found = workers("db1.err", "pgbench_log.77", "pgbench_log.77.1")
    assert found == {"db1": [["db1.err"], ["pgbench_log.77"], ["pgbench_log.77.1"]]}


def test_logs_named_after_a_worker_belong_to_it() -> None:
    files = {
        "db1.err": WatchedFile((1, 1), 0.0, PGBENCH, "text"),
        "db2.err": WatchedFile((1, 2), 0.0, PGBENCH, "text"),
        "db2.55": WatchedFile((1, 3), 0.0, PGBENCH, "log"),
        "db2.55.1": WatchedFile((1, 4), 0.0, PGBENCH, "log"),
    }
    found = plan(files, "r")
    assert [stream.name for stream in found["db2"]] == ["db2.err", "db2.55", "db2.55.1"]
    assert [stream.is_log for stream in found["db2"]] == [False, True, True]


def test_logs_that_no_worker_can_be_told_for_are_a_worker_a_process() -> None:
    assert sorted(workers("db1.err", "db2.err", "pgbench_log.7", "pgbench_log.8")) == [
        "db1",
        "db2",
        "pgbench_log.7",
        "pgbench_log.8",
    ]


def test_a_log_alone_is_the_worker_of_its_prefix() -> None:
    assert workers("log_a.7", "log_a.7.1") == {"log_a": [["log_a.7"], ["log_a.7.1"]]}


def test_of_a_process_started_again_the_youngest_logs_count() -> None:
    names = ("db1.err", "pgbench_log.900", "pgbench_log.20", "pgbench_log.20.1")
    later = {"pgbench_log.900": 1000.0, "pgbench_log.20": 5000.0, "pgbench_log.20.1": 4990.0}
    assert workers(*names, modified=later)["db1"] == [["db1.err"], ["pgbench_log.20"], ["pgbench_log.20.1"]]
    together = {"pgbench_log.900": 4999.0, "pgbench_log.20": 5000.0}
    assert workers(*names, modified=together)["db1"] == [["db1.err"], ["pgbench_log.900"]]


def test_files_beside_the_folders_make_runs_by_name() -> None:
    names = ["a.err", "a.out", "a.out.1", "pgbench_log.7", "pgbench_log.7.1", "plain"]
    assert [group_name(name, names) for name in names] == ["a", "a", "a", "pgbench_log", "pgbench_log", "plain"]


def test_a_digit_that_is_no_number_is_part_of_a_name() -> None:
    assert workers("db1.err", "db1.err.\u00b2") == {"db1": [["db1.err"]], "db1.err": [["db1.err.\u00b2"]]}


def test_a_threads_log_belongs_to_its_process_while_the_first_threads_file_is_empty() -> None:
    assert workers("db1.err", "pgbench_log.77?", "pgbench_log.77.1") == {"db1": [["db1.err"], ["pgbench_log.77.1"]]}


def test_a_log_whose_suffix_is_no_number_is_not_named_after_a_process() -> None:
    assert workers("log_x.log", "log_x.log.1") == {"log_x": [["log_x.log.1", "log_x.log"]]}
    assert workers("log_x.out", "log_x.out.1", "log_x.out.4711") == {
        "log_x": [["log_x.out.1", "log_x.out"]],
        "log_x.out": [["log_x.out.4711"]],
    }
