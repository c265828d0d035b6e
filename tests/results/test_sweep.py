"""A sweep of pgbench with known throughput and latency, as `show` tells it."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchwatch.cli import main
from tests.compare.made import place
from tests.results.test_scalability import NUMBERS, law
from tests.support.places import RECORDINGS

from .conftest import Show

BENT = law(1000, 0.03, 0.005)


def point(runs: Path, values: Mapping[str, object], tps: Sequence[float], more: str = "") -> None:
    """The repeats of a point; with these clients, as many as there are rates, latencies as Little's law has them."""
    name = "-".join(["curve", *(f"{key}{value}" for key, value in values.items())])
    clients = float(str(values.get("clients", 10)))
    inner = ", ".join(f"{key}: {value}" for key, value in values.items())
    for number, rate in enumerate(tps, 1):
        record = f"sweep: {{of: curve, point: {{{inner}}}}}\n{more}" + f"repeat_of: {name}\n" * (len(tps) > 1)
        run = f"{name}-{number}" if len(tps) > 1 else name
        place(runs / run, rate, latency=1000 * clients / rate, clients=int(clients), record=record)


def curve_of(show: Show, runs: Path) -> Mapping[str, Any]:
    _, out, _ = show(runs / "curve", "--json")
    (curve,) = json.loads(out)["subjects"][0]["sweep"]["curves"]
    assert isinstance(curve, dict)
    return curve


def test_a_sweep_is_a_table_with_its_knee_its_law_and_the_most_that_keeps_the_objective(
    show: Show, tmp_path: Path
) -> None:
    for n in NUMBERS:
        rates = [BENT(n) * (1 + part) for part in (-0.01, 0, 0.01)]
        point(tmp_path, {"clients": int(n)}, rates, "latency_objective: 3ms\n")
    code, out, err = show(tmp_path / "curve")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "curve: sweep, 18 runs of 60 s",
        "  clients  runs           TPS            mean",
        "        1     3  1,000 ±2.5 %  1.00 ms ±2.5 %",
        "        2     3  1,923 ±2.5 %  1.04 ms ±2.5 %",
        "        4     3  3,478 ±2.5 %  1.15 ms ±2.5 %",
        "        8     3  5,369 ±2.5 %  1.49 ms ±2.5 %",
        "       16     3  6,038 ±2.5 %  2.65 ms ±2.5 %",
        "       32     3  4,644 ±2.5 %  6.89 ms ±2.5 %",
        "  knee: clients 8, 5,369 TPS, mean 1.49 ms; beyond it latency grows faster than throughput",
        out.splitlines()[9],
        "  peak: clients 13.9 (13.8 to 14.1), 6,087 TPS by the law",
        "  objective: clients 16, 6,038 TPS, mean 2.65 ms: the most that keeps the mean within 3 ms",
        "  ±: half of the 95 % interval of the mean",
    ]
    assert out.splitlines()[9].startswith("  Universal Scalability Law: contention 0.0")
    curve = curve_of(show, tmp_path)
    assert (curve["parameter"], curve["knee"], curve["most_within_objective"]) == ("clients", "8", "16")
    assert curve["law"]["contention"]["value"] == pytest.approx(0.03, abs=0.002)
    assert curve["law"]["coherence"]["value"] == pytest.approx(0.005, rel=0.02)
    assert curve["points"][3]["runs"] == [f"curve-clients8-{number}" for number in (1, 2, 3)]


def test_a_curve_that_keeps_growing_has_no_knee_and_no_peak_however_noisy(show: Show, tmp_path: Path) -> None:
    chance = np.random.default_rng(2)
    for n in NUMBERS:
        point(tmp_path, {"clients": int(n)}, list(1000 * n * (1 + 0.03 * chance.normal(size=3))))
    _, out, _ = show(tmp_path / "curve")
    assert "knee: none up to clients 32" in out
    assert "peak: none up to clients 64, twice the largest measured" in out
    curve = curve_of(show, tmp_path)
    assert (curve["knee"], curve["law"]["peak"]["value"], curve["most_within_objective"]) == (None, None, None)


def test_three_points_are_too_few_for_a_law_and_single_runs_have_no_interval(show: Show, tmp_path: Path) -> None:
    for n in (1, 2, 4):
        point(tmp_path, {"clients": n}, [1000.0 * n])
    lines = show(tmp_path / "curve")[1].splitlines()
    assert lines[2:] == [
        "        1     1  1,000  1.00 ms",
        "        2     1  2,000  1.00 ms",
        "        4     1  4,000  1.00 ms",
        "  knee: none up to clients 4",
        "  too few points for a fit: 3, expected 4 or more",
        "  too few runs for intervals of the points: expected 3 or more a point (--repeat 3)",
    ]


def test_the_objective_is_kept_up_to_the_first_point_that_misses_it(show: Show, tmp_path: Path) -> None:
    for n, tps in ((1, 1000.0), (2, 400.0), (4, 4000.0)):
        point(tmp_path, {"clients": n}, [tps], "latency_objective: 3ms\n")
    assert "objective: clients 1, 1,000 TPS, mean 1.00 ms: the most that" in show(tmp_path / "curve")[1]
    for n in (1, 2, 4):
        record = tmp_path / f"curve-clients{n}/run.yaml"
        record.write_text(record.read_text().replace("3ms", "0.5ms"))
    assert "objective: no value of clients keeps the mean within 500 µs" in show(tmp_path / "curve")[1]


def test_a_second_parameter_has_a_line_a_value_in_the_order_of_numbers(show: Show, tmp_path: Path) -> None:
    for threads in (10, 9):
        for n in (1, 2, 4, 8):
            point(tmp_path, {"clients": n, "threads": threads}, [threads * law(100, 0.1, 0.0)(n)])
    _, out, _ = show(tmp_path / "curve")
    assert [line.split()[:3] for line in out.splitlines()[2:10]] == [
        ["threads", str(threads), str(n)] for threads in (9, 10) for n in (1, 2, 4, 8)
    ]
    assert "threads 9: peak: none" in out
    assert "threads 10: Universal Scalability Law: contention 0.1 " in out


def test_where_no_latency_is_known_nothing_is_said_of_a_knee(show: Show, tmp_path: Path) -> None:
    recording = (RECORDINGS / "iperf3/stream-tcp-3.18.out").read_text()
    recording = re.sub(r'"target_bitrate":\d+', '"target_bitrate":0', recording)
    for streams in (1, 2, 4, 8):
        folder = tmp_path / f"curve-streams{streams}"
        folder.mkdir()
        (folder / "net.out").write_text(recording)
        (folder / "run.yaml").write_text(f"sweep: {{of: curve, point: {{streams: {streams}}}}}\n")
    code, out, _ = show(tmp_path / "curve")
    assert (code, out.splitlines()[0]) == (0, "curve: sweep, 4 runs of 4 s")
    assert "knee" not in out


@pytest.mark.parametrize(("inner", "number"), [("", 0), ("a: 1, b: 2, c: 3", 3)])
def test_a_point_without_parameters_or_with_three_is_refused(
    show: Show, inner: str, number: int, tmp_path: Path
) -> None:
    place(tmp_path / "curve-1", 1000.0, record=f"sweep: {{of: curve, point: {{{inner}}}}}\n")
    code, _, err = show(tmp_path / "curve")
    assert (code, err.count("\n")) == (2, 1)
    assert f"curve-1/run.yaml:1: sweep: point: expected one or two parameters, got {number}" in err


def test_words_have_a_table_without_a_knee_or_a_law(show: Show, tmp_path: Path) -> None:
    for word in ("simple", "prepared", "extended", "other"):
        point(tmp_path, {"protocol": word}, [1000.0])
    _, out, _ = show(tmp_path / "curve")
    assert [line.split()[0] for line in out.splitlines()[2:6]] == ["extended", "other", "prepared", "simple"]
    assert "knee" not in out
    assert "scalability" not in out


def test_sizes_are_in_their_order_and_have_no_knee_or_law(show: Show, tmp_path: Path) -> None:
    for size, rate in (("64k", 500.0), ("4k", 2000.0), ("1M", 40.0), ("16k", 1000.0)):
        point(tmp_path, {"bs": size}, [rate])
    lines = show(tmp_path / "curve")[1].splitlines()
    assert [line.split()[0] for line in lines[2:6]] == ["4k", "16k", "64k", "1M"]
    assert not [line for line in lines if "knee" in line or "fit" in line]


def test_what_has_not_finished_is_named_and_left_out(show: Show, tmp_path: Path) -> None:
    for n in (1, 2):
        point(tmp_path, {"clients": n}, [1000.0 * n])
    record = tmp_path / "curve-clients2/run.yaml"
    record.write_text(record.read_text() + "exit_code: 2\n")
    _, out, _ = show(tmp_path / "curve")
    assert out.splitlines()[0] == "curve: sweep, 1 run of 60 s"
    assert out.splitlines()[-1] == "  without curve-clients2 (failed)"


def test_a_point_is_an_experiment_and_a_sweep_is_compared_with_sweeps_only(
    show: Show, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in (1, 2):
        point(tmp_path, {"clients": n}, [1000.0 * n, 1001.0 * n, 999.0 * n])
    assert "curve-clients2: 3 runs of 60 s together" in show(tmp_path / "curve-clients2")[1]
    assert main(["compare", str(tmp_path / "curve-clients1"), str(tmp_path / "curve-clients2")]) == 0
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "curve"), str(tmp_path / "curve-clients2")]) == 1
    assert capsys.readouterr().err == (
        "benchwatch: nothing to compare: no worker or point of one side has the name of one of the other "
        "(curve/clients=1, curve/clients=2; curve-clients2); compare their files instead\n"
    )


def test_markdown_has_the_table_and_the_lines(show: Show, tmp_path: Path) -> None:
    for n in (1, 2):
        point(tmp_path, {"clients": n}, [1000.0 * n])
    _, out, _ = show(tmp_path / "curve", "--format", "markdown")
    assert "| clients | runs | TPS | mean |\n" in out
    assert out.count("curve-clients") == 0


def test_values_that_the_law_does_not_know_are_said_to_have_none(show: Show, tmp_path: Path) -> None:
    for value in (0, 10, 20, 30):
        point(tmp_path, {"offset": value}, [1000.0 + value])
    _, out, _ = show(tmp_path / "curve")
    assert "  no fit: expected values and throughputs above 0\n" in out
