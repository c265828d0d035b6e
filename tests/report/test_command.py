import base64
import json
import math
import os
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.plots.figure import DRAW, plotly
from benchwatch.tools.registry import names
from tests.compare.made import place as place_run
from tests.support.pages import Page
from tests.support.places import RECORDINGS, Place
from tests.support.waiting import PATIENCE

BEGIN = 1_790_000_000
PGBENCH = RECORDINGS / "dashboards/pgbench-rate-retries-15.18"
FIO = RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out"


def pgbench(place: Place, name: str, record: bytes = b"{}", *, log: bool = True) -> Path:
    """A run with 30 progress lines and, with `log`, its transaction log."""
    place(f"{name}/db1.err", PGBENCH / "stderr")
    place(f"{name}/db1.out", PGBENCH / "stdout")
    if log:
        place(f"{name}/db1.30137", PGBENCH / "db1.30137")
    return place(f"{name}/run.yaml", record).parent


@pytest.fixture(scope="module")
def run_page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    """Of one run of pgbench with a log."""
    folder = tmp_path_factory.mktemp("runs") / "a"
    folder.mkdir()
    for name in ("stderr", "stdout", "db1.30137"):
        shutil.copyfile(PGBENCH / name, folder / {"stderr": "db1.err", "stdout": "db1.out"}.get(name, name))
    return report(folder.parent, folder)


def report(tmp_path: Path, *arguments: str | Path) -> Page:
    output = tmp_path / "page.html"
    assert main(["report", *map(str, arguments), "--output", str(output)]) == 0
    return Page(output)


def test_a_run_with_a_log_gets_all_figures(run_page: Page) -> None:
    page = run_page
    titles = ["Throughput", "Mean latency", "Latency percentiles", "Latency heatmap", "Latency distribution"]
    titles.append("Latency by percentile")
    assert page.text("h3") == titles == [drawing.title for drawing in page.drawings()]
    assert page.text("h1") == ["a"]
    assert (
        sum("From the transaction log, every transaction in it" in caption for caption in page.text("figcaption")) == 3
    )


def test_an_objective_of_0_lies_below_a_logarithmic_axis(place: Place, tmp_path: Path) -> None:
    page = report(tmp_path, pgbench(place, "a", b"latency_objective: 0", log=False))
    assert page.text("figcaption")[1].endswith("The objective, 0, lies below the plot.")


def test_without_a_log_there_is_only_what_progress_lines_tell(place: Place, tmp_path: Path) -> None:
    assert report(tmp_path, pgbench(place, "a", log=False)).text("h3") == ["Throughput", "Mean latency"]


def sysbench(place: Place, name: str, *, every: int) -> tuple[Path, int]:
    """A worker of sysbench with only some bins of its histogram (it prints those that are not empty), and their sum."""
    output = (RECORDINGS / "sysbench/rw-t8-histogram-1.0.20/rw-t8-histogram-1.0.20.out").read_bytes()
    lines = output.splitlines(keepends=True)
    bins = [line for line in lines if re.fullmatch(rb"\s*[\d.]+ \|\**\s+\d+\s*", line)]
    assert len(bins) == 172
    left_out = [line for number, line in enumerate(bins) if every and number % every == 0]
    kept = sum(int(line.split()[-1]) for line in bins if line not in left_out)
    return place(name, b"".join(line for line in lines if line not in left_out)).parent, kept


def test_runs_and_workers_of_sysbench_may_have_different_bins(place: Place, tmp_path: Path) -> None:
    a, in_a = sysbench(place, "a/w.out", every=0)
    b, in_b = sysbench(place, "b/w.out", every=3)
    _, in_c = sysbench(place, "c/w1.out", every=3)
    c, more_in_c = sysbench(place, "c/w2.out", every=2)
    page = report(tmp_path, a, b, c)
    keys = list(page.drawing("Latency distribution").lines)
    assert keys == [f"a: {in_a:,} transactions", f"b: {in_b:,} transactions", f"c: {in_c + more_in_c:,} transactions"]
    assert len([one for one in page.drawings() if one.description.startswith("Heatmap")]) == 3
    captions = page.text("figcaption")
    assert sum(caption.startswith("Colour: transactions a second, from ") for caption in captions) == 1  # of all three
    assert not any(caption.endswith(". .") for caption in captions), captions


def test_figures_of_fio_are_by_operation(tmp_path: Path) -> None:
    page = report(tmp_path, FIO)
    assert page.text("h3")[:5] == [
        "IOPS",
        "Bandwidth",
        "Mean latency",
        "Latency percentiles of read",
        "Latency percentiles of write",
    ]
    assert {"Latency heatmap, read", "Latency distribution, write"} <= set(page.text("h3"))
    assert list(page.drawing("IOPS").lines) == ["read", "write"]


def test_results_are_those_of_the_tool(run_page: Page) -> None:
    (tps,) = re.findall(r"tps = (\S+)", (PGBENCH / "stdout").read_text())
    (mean,) = re.findall(r"latency average = (\S+) ms", (PGBENCH / "stdout").read_text())
    rows = run_page.rows()
    assert rows["TPS"] == [tps]
    assert rows["latency average"] == [f"{float(mean):g} ms"]
    (skipped,) = re.findall(r"skipped: (\d+)", (PGBENCH / "stdout").read_text())
    assert rows["skipped transactions"] == [skipped]


def test_the_main_figures_come_first(run_page: Page, tmp_path: Path) -> None:
    of_pgbench, of_fio = (
        dict(zip(page.text("dt"), page.text("dd"), strict=True)) for page in (run_page, report(tmp_path, FIO))
    )
    logged = sorted(int(line.split()[2]) for line in (PGBENCH / "db1.30137").read_text().splitlines())
    printed = re.findall(r'"99.000000" : (\d+)', FIO.read_text())[-2:]
    assert of_pgbench["latency max"] == f"{logged[-1] / 1e3:.1f} ms"
    assert of_pgbench["latency p99"] == f"{logged[len(logged) * 99 // 100] / 1e3:.1f} ms"
    assert [of_fio[f"{op} latency p99"] for op in ("read", "write")] == [f"{int(ns) / 1e3:.0f} µs" for ns in printed]


def test_drawings_say_what_they_show_in_words(run_page: Page) -> None:
    rates = [float(rate) for rate in re.findall(r"s, (\S+) tps", (PGBENCH / "stderr").read_text())]
    throughput, *others = run_page.drawings()
    assert throughput.description.startswith(f"Throughput: a from {min(rates):.0f} to {max(rates):.0f}, median ")
    assert throughput.lines["a"]["y"] == rates
    assert all(drawing.description for drawing in others)


def test_the_page_loads_nothing_and_follows_the_theme(run_page: Page) -> None:
    page = run_page
    assert page.loaded == []
    assert not {"link", "iframe", "object", "img"} & {tag for tag, _ in page.elements}
    assert "@media (prefers-color-scheme:dark)" in page.source
    colours = re.findall(r'"(?:color|fillcolor)":"([^"]*)"', json.dumps([each.figure for each in page.drawings()]))
    assert not [colour for colour in colours if not colour.startswith("--")]
    style = page.source.partition("<style>")[2].partition("</style>")[0]
    assert not re.search(r"@import|url\((?!#)", style)


def test_several_runs_are_compared_with_the_first(place: Place, tmp_path: Path) -> None:
    one = pgbench(place, "one", b"parameters: {shared_buffers: 1GB, fsync: on}")
    two = pgbench(place, "two", b"parameters: {shared_buffers: 8GB, fsync: on}")
    page = report(tmp_path, one, two)
    assert page.text("h1") == ["two against one"]
    assert page.text("h2")[:2] == ["What changed", "pgbench"]
    rows = page.rows()
    assert rows["TPS"][:3] == ["47.6", "47.6", "0.0 %"]
    assert rows["shared_buffers"] == ["1GB", "8GB"]
    chips = re.findall(r'class="chip".*? stroke="(.*?)"', page.source)
    assert chips == ["var(--s0)", "var(--s1)"] * 2, "in two tables: the colours of the reader's theme"
    assert "Parameters of all runs" in page.text("h2")
    assert rows["fsync"] == ["on"]
    assert [title for title in page.text("h3") if "heatmap" in title] == [
        "Latency heatmap: one",
        "Latency heatmap: two",
    ]


def test_experiments_are_compared_by_their_repeats(place: Place, tmp_path: Path) -> None:
    for name in ("base", "huge"):
        for number in (1, 2, 3):
            pgbench(place, f"{name}-{number}", f"repeat_of: {name}\n".encode(), log=False)
    folder = place("x", b"").parent
    page = report(tmp_path, folder / "base", folder / "huge")
    assert page.text("h1") == ["huge against base"]
    (verdict,) = (text for text in page.text("p") if text.startswith("latency mean"))
    assert verdict.endswith("3 v 3 runs, by the differences between them")
    change = r"0\.0 % \(95 % interval 0\.0 to 0\.0 %\)"
    assert re.fullmatch(rf"base \S+ ms → huge \S+ ms latency mean, {change}, no difference shown", page.text("p")[0])
    assert [title for title in page.text("h3") if title.startswith("Change against")] == ["Change against base"]
    one = report(tmp_path, folder / "base")
    assert (one.text("h1"), "What changed" in one.text("h2")) == (["base"], False)


def test_repeats_are_a_median_in_a_band_with_one_name_and_one_heatmap(place: Place, tmp_path: Path) -> None:
    for name in ("base", "huge"):
        for number in (1, 2, 3):
            pgbench(place, f"{name}-{number}", f"repeat_of: {name}\n".encode())
    folder = place("x", b"").parent
    page = report(tmp_path, folder / "base", folder / "huge")
    throughput = page.drawing("Throughput")
    assert list(throughput.lines) == ["base", "huge"]
    assert sum(trace.get("fill") == "toself" for trace in throughput.figure["data"]) == 2
    assert [title for title in page.text("h3") if "heatmap" in title] == [
        f"Latency heatmap: {s}" for s in ("base", "huge")
    ]
    one = report(tmp_path, folder / "base-1")
    pooled, single = (each.drawings()[-3].figure["data"][0]["customdata"] for each in (page, one))
    assert sum(map(sum, pooled)) == pytest.approx(sum(map(sum, single)), rel=0.1), "the mean of three alike"
    assert {"Each of the 6 runs"} == set(page.text("summary"))


def test_experiments_of_the_same_name_are_two_sides(place: Place, tmp_path: Path) -> None:
    for folder in "xy":
        for number in (1, 2):
            pgbench(place, f"{folder}/a-{number}", b"repeat_of: a", log=False)
    folder = tmp_path / "runs"
    page = report(tmp_path, folder / "x/a", folder / "y/a")
    assert page.text("h1") == [f"{folder / 'y/a'} against {folder / 'x/a'}"]
    assert f"Change against {folder / 'x/a'}" in page.text("h3")


def test_runs_of_different_tools_are_chapters_and_no_comparison(place: Place, tmp_path: Path) -> None:
    page = report(tmp_path, pgbench(place, "one", log=False), RECORDINGS / "fio/json-multi-stonewall-3.42.out")
    assert page.text("h1") == ["one and json-multi-stonewall-3.42"]
    assert not [title for title in page.text("h2") if title.startswith("What changed")]
    assert {"pgbench", "fio", "Parameters: pgbench", "Parameters: fio"} <= set(page.text("h2"))
    assert "Different" not in page.text("h3")


def test_a_run_that_cannot_be_compared_leaves_the_others_compared(tmp_path: Path) -> None:
    base, same, none = (
        RECORDINGS / f"fio/{name}.out"
        for name in ("json-multi-stonewall-3.33", "json-multi-stonewall-3.42", "jsonplus-si1-libaio-qd16-3.42")
    )
    page = report(tmp_path, base, none, same)
    assert f"{base.stem} and {none.stem} have no measure in common; expected the same jobs." in page.text("p")
    assert f"Change against {base.stem}" in page.text("h3")
    assert f"{same.stem} against {base.stem}" in page.text("h3")
    bars = page.drawing(f"Change against {base.stem}").figure["layout"]["yaxis"]["ticktext"]
    assert not [name for name in bars if same.stem in name]  # one other


def test_intervals_hold_together_whatever_the_number_of_runs(place: Place, tmp_path: Path) -> None:
    page = report(tmp_path, *(pgbench(place, name) for name in "abc"))
    assert sum("Thin lines: 97.5 % intervals" in caption for caption in page.text("figcaption")) == 1


def transactions(rate: int, slow: int = 0) -> bytes:
    """The log of 100 s with about that many transactions a second of 2 ms, so many of 100 ms among them."""
    return "".join(
        f"0 1 {100_000 if second == 50 and number < slow else 2000 + second % 7} 0 {BEGIN + second} {number}\n"
        for second in range(100)
        for number in range(rate + second % 5)
    ).encode()


def counted(place: Place, name: str, log: bytes, exit_code: int = 0) -> Path:
    """A run of which there is the log only."""
    place(f"{name}/db1.100", log)
    return place(f"{name}/run.yaml", f"exit_code: {exit_code}".encode()).parent


def test_a_run_that_failed_is_said_and_not_judged(place: Place, tmp_path: Path) -> None:
    page = report(
        tmp_path, counted(place, "whole", transactions(100)), counted(place, "killed", transactions(200), 137)
    )
    fault = "killed, worker db1: the run failed: exit code 137"
    assert f"{fault}." in page.text("p")
    (verdict,) = [text for text in page.text("p") if text.startswith("TPS +98.")]
    assert verdict.endswith(f", not judged: {fault}")


def test_a_wide_interval_hides_no_bar(place: Place, tmp_path: Path) -> None:
    runs = [counted(place, name, transactions(*of)) for name, of in (("one", (100, 0)), ("two", (107, 5)))]
    page = report(tmp_path, *runs)
    (caption,) = [text for text in page.text("figcaption") if text.startswith("Green: ")]
    assert caption.endswith("cut off at the ends of the plot.")
    bars = page.drawing("Change against one").figure
    low, high = bars["layout"]["xaxis"]["range"]
    assert bars["data"][0]["x"][0] > 0.08 * (high - low)


def test_runs_of_different_tools_are_not_compared(place: Place, tmp_path: Path) -> None:
    page = report(tmp_path, pgbench(place, "a"), FIO)
    assert page.text("h2")[:2] == ["pgbench", "fio"]
    assert "Change against a" not in page.text("h3")


def test_the_warm_up_is_marked_and_left_out(run_page: Page, place: Place, tmp_path: Path) -> None:
    page = report(tmp_path, pgbench(place, "a", b"warmup: 5s"))
    (mark,) = page.drawing("Throughput").marks
    assert (mark["x0"], mark["x1"], mark["label"]["text"]) == (0, 5000, "warm-up")
    assert any("The figures leave out the warm-up of 5 s." in text for text in page.text("p"))
    assert {"failed, whole run", "latency p99", "TPS"} <= set(page.text("dt"))
    assert "Results of the whole run" in page.text("h2")
    counts = [
        re.findall(r"a: ([\d,]+) t", next(iter(each.drawing("Latency distribution").lines)))[0]
        for each in (page, run_page)
    ]
    left, all_of_it = (int(count.replace(",", "")) for count in counts)
    lines = [line.split() for line in (PGBENCH / "db1.30137").read_text().splitlines()]
    assert all_of_it == sum(line[2].isdigit() for line in lines)
    assert 0 < left < all_of_it


def test_a_stall_is_marked(tmp_path: Path) -> None:
    stopped = RECORDINGS / "pgbench/sigstop-cont-15.18"
    page = report(tmp_path, stopped)
    assert any("Marked: 1 stall, 3.7 s in all." in caption for caption in page.text("figcaption"))


@pytest.mark.parametrize(("objective", "said"), [("200us", "200 µs"), ("20ms", "20 ms")])
def test_the_objective_is_drawn(objective: str, said: str, place: Place, tmp_path: Path) -> None:
    page = report(tmp_path, pgbench(place, "a", f"latency_objective: {objective}".encode()))
    assert sum(f"Dotted: the objective, {said}." in caption for caption in page.text("figcaption")) == 2
    for title in ("Latency percentiles", "Mean latency"):
        drawing = page.drawing(title)
        low, high = drawing.figure["layout"]["yaxis"]["range"]
        assert low < math.log10(drawing.levels[f"objective {said}"]) < high


@pytest.mark.parametrize(("objective", "said"), [("1us", "1 µs, lies below"), ("100s", "100 s, lies above")])
def test_an_objective_that_would_flatten_a_plot_is_named(
    objective: str, said: str, place: Place, tmp_path: Path
) -> None:
    page = report(tmp_path, pgbench(place, "a", f"latency_objective: {objective}".encode()))
    assert sum(f"The objective, {said} the plot." in caption for caption in page.text("figcaption")) == 1
    assert page.drawing("Latency percentiles").levels  # there latencies cover two decades
    assert not page.drawing("Mean latency").levels


EVIL = "<script>alert(1)</script>"


def test_what_others_wrote_stays_text(place: Place, tmp_path: Path) -> None:
    record = f"""
labels: {{vm: '{EVIL}'}}
parameters: {{'<b>$x^2': '"><img src=x onerror=alert(1)>', 'a$b': '$\\frac', "work_mem\\u202e": "a\\e]0;b"}}
command: '</style></title>{EVIL}'
"""
    page = report(tmp_path, pgbench(place, "<svg onload=x> $\\frac{1}", record.encode()), pgbench(place, "b"))
    tags = {tag for tag, _ in page.elements}
    assert not {"img", "b"} & tags
    assert [attributes for tag, attributes in page.elements if tag == "script" and not attributes] == [{}, {}]
    assert not any(re.search("<(?!/?extra>)", json.dumps(drawing.figure)) for drawing in page.drawings())
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert page.source.replace(plotly(), "").count("</style>") == 1
    assert page.rows()["Label vm"] == [EVIL, "–"]
    assert page.rows()["work_mem\\u202e"] == ["a\\x1b]0;b", "-"]
    assert any("<svg onload=x> $\\\\frac{1}" in head for head in page.text("h1"))
    (policy,) = [attributes["content"] for tag, attributes in page.elements if "http-equiv" in attributes]
    hashes = " ".join(
        f"'sha256-{base64.b64encode(sha256(one.encode()).digest()).decode()}'" for one in (plotly(), DRAW)
    )
    assert policy == f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:"


@pytest.mark.parametrize("others", [0, 1])
def test_a_single_latency_is_reported(others: int, place: Place, tmp_path: Path) -> None:
    text = (RECORDINGS / "pgbench/tpcb-t-mode-15.18.out").read_text()
    place("one/db1.out", re.sub(r"actually processed: \d+/\d+", "actually processed: 1/1", text).encode())
    one = place("one/db1.100", f"0 1 1234 0 {BEGIN} 500000\n".encode()).parent
    page = report(tmp_path, one, *(pgbench(place, f"other{number}") for number in range(others)))
    assert "Latency distribution" in page.text("h3")
    assert "one: 1 transactions" in page.drawing("Latency distribution").lines
    captions = " ".join(page.text("figcaption"))
    assert ("One operation only." in captions) == ("Latency by percentile" not in page.text("h3")) == (not others)


def test_a_run_that_only_its_files_date_says_so(place: Place, tmp_path: Path) -> None:
    path = place("a.err", RECORDINGS / "pgbench/tpcb-15.18.err", written=BEGIN + 4)
    page = report(tmp_path, path)
    (began,) = page.rows()["Began"]
    assert began == "2026-09-21 14:13:20 UTC (from when its files were last modified)"
    assert "a: no timestamps in the output; using file modification times." in page.text("p")


def test_a_run_that_its_output_dates_does_not(run_page: Page) -> None:
    assert run_page.rows()["Began"] == ["2026-11-20 12:27:11 UTC"]
    assert not any("last modified" in text for text in run_page.text("p"))


def test_names_of_jobs_stay_text_in_drawings_too(place: Place, tmp_path: Path) -> None:
    job = re.findall(rb'"jobname" : "(\w+)"', FIO.read_bytes())[0]
    content = FIO.read_bytes().replace(b'"jobname" : "' + job, b'"jobname" : "<script>$x^2$')
    page = report(tmp_path, place("a.out", content), place("b.out", content))
    assert [attributes for tag, attributes in page.elements if tag == "script" and not attributes] == [{}, {}]
    assert not any(re.search("<(?!/?extra>)", json.dumps(drawing.figure)) for drawing in page.drawings())


def test_a_job_may_be_named_all(place: Place, tmp_path: Path) -> None:
    job = re.findall(rb'"jobname" : "(\w+)"', FIO.read_bytes())[0]
    content = FIO.read_bytes().replace(b'"jobname" : "' + job, b'"jobname" : "all')
    page, of_two = report(tmp_path, place("a.out", content)), report(tmp_path, place("b.out", content), FIO)
    assert page.text("dt") == report(tmp_path, FIO).text("dt")
    assert f"Change against {of_two.text('h1')[0].split()[-1]}" in of_two.text("h3")


def test_many_workers_are_one_line(place: Place, tmp_path: Path) -> None:
    for number in range(8):
        folder = place(f"many/db{number}.err", PGBENCH / "stderr").parent
    page = report(tmp_path, folder)
    assert any("With several workers or jobs, the sum." in caption for caption in page.text("figcaption"))
    rates = [float(rate) for rate in re.findall(r"s, (\S+) tps", (PGBENCH / "stderr").read_text())]
    assert f"to {8 * max(rates):,.0f}," in page.drawings()[0].description


def test_nothing_recognised_is_said(
    capsys: pytest.CaptureFixture[str], place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    notes = place("notes.txt", b"remember the milk\n")
    assert main(["report", str(notes)]) == 1
    assert f"notes.txt: expected output of {names()}" in capsys.readouterr().err
    assert main(["report", str(place("records/run.yaml", b"{}"))]) == 1
    assert f"run.yaml: expected output of {names()}" in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()
    run, empty = pgbench(place, "a"), notes.parent / "empty"
    empty.mkdir()
    for path, code in ((notes, 0), (run / "run.yaml", 0), (empty, 1)):
        assert main(["report", str(run), str(path)]) == code
        out, err = capsys.readouterr()
        assert err == (
            ""
            if path.suffix == ".yaml"
            else f"benchwatch: nothing recognised in {path}: expected output of {names()}\n"
        )
    assert out.startswith("report.html: 1 run, ")
    assert main(["report", str(tmp_path / "nowhere")]) == 2
    assert "nowhere: cannot be read" in capsys.readouterr().err


def test_a_page_has_the_warnings_of_show(tmp_path: Path) -> None:
    unsteady = place_run(tmp_path / "a", [1000.0] * 60 + [700.0] * 60, record=f"start: {BEGIN - 100}\n")
    said = ["a is not steady: TPS 1,000 up to 160 s, then 700 (-30.0 %)."]
    assert [text for text in report(tmp_path, unsteady).text("p") if "steady" in text] == said
    steady = place_run(tmp_path / "b", [1000.0] * 120)
    both = report(tmp_path, unsteady, steady)
    assert [text for text in both.text("p") if text in said] == said
    assert both.source.index(said[0]) < both.source.index("<h2>"), "beside the headline, not behind all tables"
    shutil.copyfile(FIO, tmp_path / "fio.out")
    document = tmp_path / "fio.out"
    document.write_text(
        document.read_text().replace('"rw" : "randrw"', '"rw" : "randrw", "rwmixread" : "70", "rate_iops" : "7,3"')
    )
    (option,) = [text for text in report(tmp_path, document).text("p") if "rate_iops" in text]
    assert option == "fio, job rrw: rwmixread has no effect with rate_iops: reads and writes have a rate of their own."


def test_a_run_without_a_report_gets_a_page_that_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    refused = RECORDINGS / "pgbench/conn-refused-15.18.err"
    assert main(["report", str(refused), "--output", str(output)]) == 1
    said = capsys.readouterr().err
    assert "There is nothing to draw: pgbench wrote no report while it ran" in said
    page = Page(output)
    assert any("Connection refused" in text for text in page.text("p"))
    assert not page.drawings()
    assert "1970" not in page.source


def test_a_folder_that_cannot_be_read_hides_no_other_run(
    capsys: pytest.CaptureFixture[str], place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        pgbench(place, name, log=False)
    denied, scan = str(tmp_path / "runs/b"), os.scandir

    def scandir(path: object) -> object:
        if str(path) == denied:
            raise PermissionError(13, "Permission denied", denied)
        return scan(str(path))

    monkeypatch.setattr(os, "scandir", scandir)
    assert main(["report", str(tmp_path / "runs"), "--output", str(tmp_path / "page.html")]) == 1
    assert f"{denied}: cannot be read: Permission denied" in capsys.readouterr().err
    assert Page(tmp_path / "page.html").text("h1") == ["c against a"]


def test_output_that_cannot_be_written_is_said(
    capsys: pytest.CaptureFixture[str], place: Place, tmp_path: Path
) -> None:
    assert main(["report", str(pgbench(place, "a")), "--output", str(tmp_path)]) == 2
    assert f"--output: {tmp_path} cannot be written: Is a directory" in capsys.readouterr().err


def test_an_experiment_and_one_of_its_runs_are_refused(
    capsys: pytest.CaptureFixture[str], place: Place, tmp_path: Path
) -> None:
    runs = [pgbench(place, f"a-{number}", b"repeat_of: a") for number in (1, 2)]
    assert main(["report", str(runs[0].with_name("a")), str(runs[1]), "--output", str(tmp_path / "page.html")]) == 2
    assert "report: the same run was given twice; expected different ones" in capsys.readouterr().err


def test_the_same_run_twice_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = RECORDINGS / "pgbench/sigstop-cont-15.18"
    assert main(["report", str(run), str(run / ".." / run.name), "--output", str(tmp_path / "page.html")]) == 2
    assert "the same run was given twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--warmup", "soon", "expected a duration such as 500ms, 10s or 5m, got 'soon'"),
        ("--prometheus", "9090", "--prometheus: expected HOST:PORT or a URL such as http://127.0.0.1:9090, got '9090'"),
    ],
)
def test_wrong_use_is_explained(option: str, value: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "a", option, value]) == 2
    assert expected in capsys.readouterr().err


def test_labels_of_all_workers_are_facts_of_the_run(place: Place, tmp_path: Path) -> None:
    run = pgbench(place, "a", b"labels: {storage: ssd}")
    for worker, labels in (("db1", "{vm: pg1, host: h1}"), ("db2", "{vm: pg2}"), ("db3", "{vm: pg1}")):
        place(f"a/{worker}.err", PGBENCH / "stderr")
        place(f"a/{worker}.yaml", f"labels: {labels}".encode())
    rows = report(tmp_path, run).rows()
    found = {name: value for name, value in rows.items() if name.startswith("Label ")}
    assert found == {"Label storage": ["ssd"], "Label vm": ["pg1, pg2"], "Label host": ["h1"]}


def test_the_objective_has_a_verdict(place: Place, tmp_path: Path) -> None:
    met = pgbench(place, "met", b'{"latency_objective": "20ms"}')
    missed = pgbench(place, "missed", b'{"latency_objective": "1ms"}')
    verdicts = [
        "met, mean 3.91 ms against 20 ms, above it in 0 of 19 reports",
        "missed, mean 3.91 ms against 1 ms, above it in 19 of 19 reports",
    ]
    one = report(tmp_path, met)
    assert one.rows()["Objective"] == verdicts[:1]
    (summary,) = [text for text in one.text("p") if text.startswith("pgbench ")]
    assert f"Objective {verdicts[0]}." in summary
    both = report(tmp_path, met, missed, pgbench(place, "none")).rows()["Objective"]
    assert both == [*verdicts, "–"]


def test_the_percentile_curve_reaches_p99_99_and_comes_from_bins(place: Place, tmp_path: Path) -> None:
    latencies = [1000] * 98_000 + [2000] * 1_890 + [30_000] * 90 + [50_000] * 20
    lines = (f"0 1 {latency} 0 {BEGIN + i // 1000} 0\n" for i, latency in enumerate(latencies))
    page = report(tmp_path, place("long/db1.100", "".join(lines).encode()).parent)
    (said,) = [text for text in page.text("figcaption") if "p99.99" in text]
    assert "p50 1 ms, p90 1 ms, p99 2.01 ms, p99.9 30 ms, p99.99 50 ms." in said
    ticks = page.drawing("Latency by percentile").figure["layout"]["xaxis"]["ticktext"]
    assert [text for text in ticks if text.startswith("99")] == ["99", "99.9", "99.99", "99.999"]


def contrast(one: str, other: str) -> float:
    """As WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lines_and_text_can_be_seen_on_their_card(theme: str, run_page: Page) -> None:
    """WCAG 2.2, level AA: 4.5 to 1 for text, which the percentiles' names at their lines are, and 3 to 1 for lines."""
    themes = dict(zip(("light", "dark"), re.findall(r":root\{\s*(--ink[^}]*)\}", run_page.source), strict=True))
    colours = dict(pair.strip().split(":") for pair in themes[theme].split(";"))
    needed = {"q": 4.5, "s": 3.0, "--ink": 4.5, "--soft": 4.5, "--stall": 3.0}
    for name, colour in colours.items():
        least = needed.get(name) or (needed[name[2]] if re.fullmatch(r"--[qs]\d", name) else 0.0)
        assert contrast(colour, colours["--card"]) >= least, name


def test_what_scrolls_on_a_screen_does_not_in_print(run_page: Page) -> None:
    style = run_page.source.partition("<style>")[2].partition("</style>")[0]
    screen, _, printed = style.partition("@media print")
    scrolling = re.findall(r"([^{}]+)\{[^{}]*overflow-x:auto", screen)
    assert scrolling
    assert all(f"{selector.strip()}{{overflow:visible}}" in printed for selector in scrolling)


def test_an_earlier_report_stays_if_there_is_no_room_for_a_new_one(place: Place, tmp_path: Path) -> None:
    output = tmp_path / "earlier.html"
    output.write_text("earlier")
    command = [sys.executable, "-m", "benchwatch", "report", str(pgbench(place, "a")), "--output", str(output)]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 1; exec "$@"', "bash", *command], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (2, f"benchwatch: --output: {output} cannot be written: File too large\n")
    assert output.read_text() == "earlier"
    assert not (tmp_path / ".earlier.html.new").exists()
