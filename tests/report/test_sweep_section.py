"""The page of a sweep: its table, and the curves over the parameter and over the throughput."""

from pathlib import Path

from benchwatch.cli import main
from tests.compare.made import place
from tests.results.test_scalability import NUMBERS, law
from tests.results.test_sweep import BENT, point
from tests.support.pages import Page


def report(tmp_path: Path, *paths: Path) -> Page:
    output = tmp_path / "page.html"
    assert main(["report", *map(str, paths), "--output", str(output)]) == 0
    return Page(output)


def test_a_sweep_is_drawn_over_its_parameter_and_as_a_capacity_curve(tmp_path: Path) -> None:
    for n in NUMBERS:
        rates = [BENT(n) * (1 + part) for part in (-0.01, 0, 0.01)]
        point(tmp_path, {"clients": int(n)}, rates, "latency_objective: 3ms\n")
    page = report(tmp_path, tmp_path / "curve")
    assert page.text("h1") == ["curve"]
    assert page.text("h2")[:2] == ["Sweep: pgbench", "Points"]
    assert page.text("h3")[:4] == ["TPS over clients", "latency mean over clients", "latency mean over TPS", "curve"]
    assert len(page.drawings()) == 3
    assert any(text.startswith("knee: clients 8, 5,369 TPS") for text in page.text("p"))
    rates, latencies, capacity = page.text("figcaption")
    assert rates.endswith("Dashed: the universal scalability law.")
    assert latencies.endswith("Dotted: the objective.")
    assert capacity.endswith("in order. Dashed: the peak by the universal scalability law.")
    over = page.drawing("TPS over clients")
    assert over.description == "TPS over clients: 1: 1000; 2: 1923; 4: 3478; 8: 5369; 16: 6038; 32: 4644"
    line = over.lines["curve"]
    assert (line["x"], [round(y) for y in line["y"]]) == ([1, 2, 4, 8, 16, 32], [1000, 1923, 3478, 5369, 6038, 4644])
    assert [place for place, size in enumerate(line["marker"]["size"]) if size > 7] == [3]  # the knee
    assert len(line["error_y"]["array"]) == 6
    assert over.lines["curve, law"]["line"]["dash"] == "dash"
    assert page.drawing("latency mean over TPS").lines["curve"]["x"] == line["y"]


def test_a_second_parameter_has_a_line_a_value(tmp_path: Path) -> None:
    for threads in (1, 2):
        for n in NUMBERS:
            point(tmp_path, {"clients": int(n), "threads": threads}, [law(1000 * threads, 0.1, 0.01)(n)])
    page = report(tmp_path, tmp_path / "curve")
    heat, *curves = page.drawings()
    names = [[name for name in one.lines if "," not in name] for one in curves]
    assert [each[:2] for each in names] == [["threads 1", "threads 2"]] * 3
    assert heat.title == "TPS over clients and threads"
    (cells,) = heat.figure["data"]
    assert [len(line) for line in cells["z"]] == [len(NUMBERS)] * 2
    assert cells["text"][0][0] == "1,000"
    best = max((value, x, y) for y, line in enumerate(cells["z"]) for x, value in enumerate(line))
    (frame,) = heat.figure["layout"]["shapes"]
    assert (frame["x0"], frame["y0"]) == (best[1] - 0.5, best[2] - 0.5)
    assert page.text("p")[0].startswith(f"curve: highest at threads 2, clients {NUMBERS[best[1]]:g}, ")


def test_a_sweep_beside_another_run_is_a_section_of_its_own(tmp_path: Path) -> None:
    for n in (1, 2, 4, 8):
        point(tmp_path, {"clients": n}, [1000.0 * n])
    other = place(tmp_path / "other", [1000.0] * 20)
    page = report(tmp_path, tmp_path / "curve", other)
    assert page.text("h2")[:2] == ["Sweep: pgbench", "Points"]
    assert "What changed" not in page.text("h2")


def test_words_and_what_has_not_finished_leave_a_table(tmp_path: Path) -> None:
    for word in ("simple", "prepared"):
        point(tmp_path, {"protocol": word}, [1000.0])
    record = tmp_path / "curve-protocolsimple/run.yaml"
    record.write_text(record.read_text() + "exit_code: 2\n")
    page = report(tmp_path, tmp_path / "curve")
    assert len(page.drawings()) == 0
    assert any("curve-protocolsimple" in text and text.endswith("left out.") for text in page.text("p"))
