"""What is shown of a run, while it runs and once it has ended."""

import json
import os
import re
from itertools import permutations
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.metrics.samples import Family
from benchwatch.tools.api import Misread
from benchwatch.tools.roles import roles_of
from benchwatch.tools.states import Written
from benchwatch.tools.sysbench import SYSBENCH

from .recordings import ARRIVED, LINE, ROOT, data_of, new_state, parse, read, state_of, text_of, timing_of, values

SUMMARY = text_of("rw-t8")[text_of("rw-t8").index("SQL statistics:") :]


def at_line(name: str, start: str) -> bytes:
    """A recording up to its first line that begins like this."""
    text = text_of(name)
    begin = text.index(f"\n{start}") + 1
    return text[: text.index("\n", begin) + 1].encode()


def test_the_line_of_a_database() -> None:
    state = state_of(at_line("rw-t8", "[ 3s ]"))
    assert values(state) == {
        ("tps",): 511.65,
        ("queries_per_second", "read"): 7130.09,
        ("queries_per_second", "write"): 2050.59,
        ("queries_per_second", "other"): 1026.29,
        ("latency_window_seconds", "0.95"): 0.03081,
        ("threads",): 8,
        ("transactions_total",): int(194.21 + 357.1 + 511.65 - 511.65 / 2),
        ("queries_total", "read"): int(2777.7 + 5032.55 + 7130.09 - 7130.09 / 2),
        ("queries_total", "write"): int(778.83 + 1423.4 + 2050.59 - 2050.59 / 2),
        ("queries_total", "other"): int(396.39 + 717.22 + 1026.29 - 1026.29 / 2),
        ("errors_total",): 0,
        ("reconnects_total",): 0,
    }
    figures = state.figures()
    assert (figures.throughput, figures.latency, figures.p99, figures.operations) == (511.65, None, None, 807)
    assert state.parameters() == {"threads": "8", "report_interval": "1"}
    assert state.report_interval == 1
    assert [report.throughput for report in state.history] == [194.21, 357.1, 511.65]


def test_without_a_last_interval_its_gauges_are_absent() -> None:
    found = values(state_of(at_line("rw-t8", "[ 3s ]")), current=False)
    assert {key[0] for key in found} == {"transactions_total", "queries_total", "errors_total", "reconnects_total"}


def test_the_line_of_fileio() -> None:
    found = values(state_of(at_line("fileio-rndrw-t4", "[ 2s ]")))
    line = at_line("fileio-rndrw-t4", "[ 2s ]").decode().splitlines()[-1].split()
    read_rate, write_rate = float(line[4]) * 2**20, float(line[7]) * 2**20
    assert found["bandwidth_bytes_per_second", "read"] == read_rate
    assert found["bandwidth_bytes_per_second", "write"] == write_rate
    assert found["throughput_bytes_per_second",] == read_rate + write_rate
    assert found["latency_window_seconds", "0.99"] == pytest.approx(float(line[-1]) / 1000)
    assert ("threads",) not in found


@pytest.mark.parametrize(
    ("name", "unit", "operations"),
    [
        ("rw-t8", "TPS", "transactions"),
        ("threads", "events/s", "events"),
        ("mutex", "events/s", "events"),
        ("memory", "B/s", "events"),
        ("fileio-rate", "B/s", "events"),
    ],
)
def test_the_unit_is_that_of_the_test(name: str, unit: str, operations: str) -> None:
    roles = roles_of(SYSBENCH.roles, {sample.family.name for sample in state_of(data_of(name)).samples(True)})
    assert (roles.unit.name, roles.operations) == (unit, operations)


def test_all_roles_are_families_of_the_tool() -> None:
    for roles in SYSBENCH.roles:
        assert roles.families <= set(SYSBENCH.families)
        labelled: list[Family | None] = [roles.rate, roles.result_rate, roles.total, roles.result_latency]
        assert all(family is not None and family.labels == roles.labels for family in labelled)


@pytest.mark.parametrize("name", ["point-select-t8-p0", "fileio-rndrw-direct"])
def test_a_percentile_that_is_switched_off_is_absent(name: str) -> None:
    assert not [key for key in values(read(data_of(name))[-1]) if "latency_window" in key[0]]


def test_an_interval_in_which_nothing_ended_has_no_latency() -> None:
    found = values(state_of(at_line("server-stop5s-t4", "[ 5s ]")))
    assert found["tps",] == 0
    assert not [key for key in found if "latency" in key[0]]


def test_a_frozen_server_is_idle_and_then_shows_its_true_latency() -> None:
    idle = [state_of(at_line("server-stop5s-t4", f"[ {second}s ]")).idle_reports for second in range(1, 11)]
    assert idle == [0, 0, 0, 0, 1, 2, 3, 0, 0, 0]
    found = values(state_of(at_line("server-stop5s-t4", "[ 8s ]")))
    assert found["latency_window_seconds", "0.99"] == pytest.approx(4.68357)


def test_a_run_goes_on_beyond_its_time_while_the_server_is_frozen() -> None:
    state = state_of(data_of("server-stop-at-end"))
    assert state.outcome == "finished"
    assert state.start is not None
    assert state.end == pytest.approx(state.start + 8.9161, abs=1e-3)


def test_slow_events_are_not_idle_as_long_as_statements_are_done() -> None:
    for second in range(1, 8):
        data = at_line("slow-query-interval", f"[ {second}s ]")
        assert state_of(data).idle_reports == 0
    assert " tps: 0.00 qps: " in text_of("slow-query-interval")


def test_a_stopped_sysbench_leaves_a_gap_that_its_next_line_covers() -> None:
    text = text_of("sysbench-sigstop3s")
    assert [second for second in range(1, 9) if f"[ {second}s ]" not in text] == [3, 4]
    state = state_of(data_of("sysbench-sigstop3s"))
    assert state.start is not None
    assert [round(report.time - state.start) for report in state.history] == [1, 2, 5, 6, 7, 8, 9]
    before, after = (values(state_of(at_line("sysbench-sigstop3s", f"[ {second}s ]"))) for second in (2, 5))
    assert after["transactions_total",] > before["transactions_total",]
    assert state.report_interval == 1


@pytest.mark.parametrize("name", ["sigint", "sigterm", "server-killed", "backends-terminated", "stdout-file-killed"])
def test_a_killed_run_says_nothing_of_its_end(name: str) -> None:
    state = state_of(data_of(name))
    assert (state.outcome, state.end, state.reason) == ("", None, "")
    assert state.last_report is not None
    assert not [key for key in values(state) if key[0].startswith("result_")]


def test_a_forced_shutdown_is_a_failure_with_results() -> None:
    state = state_of(data_of("forced-shutdown"))
    assert state.outcome == "failed"
    assert values(state)["result_tps",] == 7457.64
    assert values(state)["transactions_total",] == 37293
    assert state.figures().throughput == 7457.64


def test_a_failure_before_the_start_has_an_end_and_no_start() -> None:
    for name in ("connection-refused", "server-hung-at-connect", "fileio-no-files"):
        state = state_of(data_of(name))
        assert (state.start, state.end, values(state)) == (None, ARRIVED, {})


def test_reports_of_checkpoints_are_no_end_and_all_are_added_up() -> None:
    state, outcomes = new_state(), set()
    for record in parse(data_of("checkpoints"))[:-3]:
        state.apply(record, "stdout", ARRIVED)
        outcomes.add(state.outcome)
        assert not [key for key in values(state) if key[0].startswith(("result_", "latency_seconds"))]
    assert outcomes == {""}
    found = values(state_of(data_of("checkpoints")))
    assert found["transactions_total",] == found["result_transactions",] == 1550 + 2793 + 724
    assert found["errors_total",] == 1
    assert found["result_tps",] == pytest.approx(5067 / 6.0117)
    assert found["result_latency_min_seconds",] == 0.00052
    assert found["result_latency_max_seconds",] == 0.14814
    assert found["result_latency_average_seconds",] == pytest.approx((3.98633 + 6.00456 + 2.01372) / 5067)
    assert not [key for key in found if key[0] == "result_latency_seconds"], "of no part follows that of the whole"


def test_the_rate_of_all_is_right_though_a_busy_machine_made_the_part_of_a_checkpoint_longer_than_it_says() -> None:
    text = text_of("checkpoints").replace("(774.51 per sec.)", "(730.00 per sec.)")
    assert values(state_of(text.encode()))["result_tps",] == pytest.approx(5067 / 6.0117)


@pytest.mark.parametrize("part", [1, 2, 3])
def test_a_part_in_which_nothing_ended_has_no_lowest_or_highest_latency(part: int) -> None:
    text = text_of("checkpoints")
    begin = [found.start() for found in re.finditer("Latency .ms.:", text)][part - 1]
    silent = re.sub(r"(min|max):( +)\S+", r"\1:\g<2>0.00", text[begin:], count=2)
    found = values(state_of((text[:begin] + silent).encode()))
    latencies = [float(each) / 1000 for each in re.findall(r" (?:min|max): +(\S+)", text[:begin] + silent)]
    assert found["result_latency_min_seconds",] == pytest.approx(min(filter(None, latencies[::2])))
    assert found["result_latency_max_seconds",] == pytest.approx(max(latencies[1::2]))


def test_a_line_in_the_middle_of_a_checkpoints_report_is_read() -> None:
    state = state_of(data_of("checkpoints"))
    assert [report.throughput for report in state.history] == [675.31, 871.40, 903.85, 930.03, 958.45, 724.69]


def test_the_queue_of_a_rate_that_is_too_high() -> None:
    state = state_of(data_of("rw-rate-overload"))
    assert values(state)["queue_length",] > 10_000
    assert state.parameters()["rate"] == "5000"
    assert values(state)["latency_window_seconds", "0.99"] > 1


def test_the_order_of_streams_makes_no_difference() -> None:
    text = text_of("forced-shutdown")
    place = text.index("FATAL:")
    parts = {
        "out": (text[:place] + text[text.index("SQL statistics:") :]).encode(),
        "err": text[place : text.index("SQL statistics:")].encode(),
        "lost": b"a word of the shell\n",
    }
    found = []
    for order in permutations(parts):
        state = new_state()
        for name in order:
            for record in parse(parts[name]):
                if not isinstance(record, Misread):
                    state.apply(record, name, ARRIVED)
        for name in parts:
            state.written(name, Written(ARRIVED - 5))
        found.append((values(state), state.outcome, state.reason, state.start, state.end, state.figures()))
    assert all(each == found[0] for each in found)
    assert found[0][1] == "failed"


def test_a_run_is_dated_by_the_last_write_less_the_time_of_its_last_line() -> None:
    state = state_of((LINE.format(1, 50) + LINE.format(2, 60)).encode(), arrived=1000.2)
    assert state.start == pytest.approx(998.2)
    assert state.last_report == pytest.approx(1000.2)
    assert [report.time for report in state.history] == pytest.approx([999.2, 1000.2])
    before = state.version
    state.written("stream 0", Written(1000.2))
    assert state.version == before
    state.written("stream 0", Written(1000.1, begun=998.0))
    assert state.version > before
    assert state.start == 998.0
    assert state.figures().time == pytest.approx(1000.0)


def test_a_line_of_rounded_time_is_not_before_the_making_of_its_file() -> None:
    state = state_of((LINE.format(1, 50) + LINE.format(3, 60)).encode(), arrived=1002.6)
    state.written("stream 0", Written(1002.6, begun=1000.0))
    assert state.start == 1000.0


def test_the_report_dates_a_run_exactly() -> None:
    state = state_of((LINE.format(1, 50) + SUMMARY).encode(), arrived=1010.0)
    state.written("stream 0", Written(1010.0, begun=1003.2))
    assert state.start == pytest.approx(1010.0 - 6.0513)
    assert state.end == state.last_report == pytest.approx(1010.0)


def test_text_behind_the_last_line_does_not_move_the_start() -> None:
    parser = SYSBENCH.parser("text")
    parser.feed(LINE.format(5, 50).encode())
    assert not parser.undated
    parser.feed(b"Terminated\n")
    assert parser.undated
    state = state_of(LINE.format(5, 50).encode())
    state.written("stream 0", Written(1060.0, begun=1000.1, undated=True))
    assert state.start == pytest.approx(1055.0)
    state.written("stream 0", Written(1010.0, begun=1000.1, undated=True))
    assert state.start == 1000.1


@pytest.mark.parametrize("name", ["rw-t8", "fileio-rate", "threads", "server-stop5s-t4", "checkpoints"])
def test_the_start_as_seen_live_is_that_of_the_threads(name: str) -> None:
    """With the true arrivals: every line places the start within the busy machine's delay of that line."""
    parser, state, data = SYSBENCH.parser("text"), new_state(), data_of(name)
    position, starts, threads = 0, [], 0.0
    for arrived, size in timing_of(name):
        piece = data[position : position + size]
        position += size
        threads = arrived if b"Threads started!" in piece else threads
        for record in parser.feed(piece):
            state.apply(record, "stdout", arrived)
        if threads and not parser.undated:
            assert state.start is not None
            starts.append(state.start - threads)
    assert len(starts) >= 5
    assert max(map(abs, starts)) < 0.5
    assert abs(starts[-1]) < 0.1


def test_a_report_without_its_time_leaves_the_start_where_the_last_line_has_it() -> None:
    summary = "".join(line for line in SUMMARY.splitlines(keepends=True) if "total time" not in line)
    state = state_of((LINE.format(1, 50) + LINE.format(6, 60) + summary).encode(), arrived=1010.0)
    assert (state.outcome, state.start, state.end) == ("finished", 1004.0, 1010.0)
    assert values(state)["transactions_total",] == 2807


def test_a_report_shows_the_maximum_that_sysbench_prints_beside_its_100th_percentile(tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    assert main(["report", str(ROOT / "ro-t8-p999x-1.0.20"), "--output", str(output)]) == 0
    rows = re.findall(r">(latency (?:max|p100))<.*?<td[^>]*>([^<]*)<", output.read_text(), re.DOTALL)
    assert dict(rows) == {"latency max": "70.71 ms", "latency p100": "70.55 ms"}


def test_errors_a_second_are_by_the_time_that_sysbench_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A launched sysbench begins to measure after it has opened its connections, here 0.4 s later."""
    (tmp_path / "w.out").write_bytes(data_of("wo-t8-interval2"))
    written = ARRIVED - 1000
    os.utime(tmp_path / "w.out", (written, written))
    (tmp_path / "w.yaml").write_text(f"start: {written - 7.0349 - 0.4}\nend: {written}\n")
    assert main(["show", str(tmp_path), "--json"]) == 0
    (subject,) = json.loads(capsys.readouterr().out)["subjects"]
    (result,) = subject["results"]
    rates = [one["value"] for one in result["figures"] if one["name"] == "retried_per_second"]
    assert rates == [pytest.approx(69 / 7.0349)], "9.81 per sec. in its report"
    assert result["seconds"] == pytest.approx(7.4349)


def test_blanks_that_a_program_before_each_line_stripped_do_not_matter() -> None:
    """`while read -r line; do echo "$(date) $line"; done` strips them."""
    whole = data_of("cpu")
    stripped = b"\n".join(line.strip() for line in whole.split(b"\n"))
    assert values(state_of(stripped)) == values(state_of(whole))
