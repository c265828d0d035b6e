"""Comparing in the browser: the comparison of `benchwatch compare`, for everybody with the address."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
from selectolax.lexbor import LexborHTMLParser

from benchwatch.cli import main
from benchwatch.metrics.buckets import Buckets
from benchwatch.runs.watcher import Runs
from benchwatch.server import comparisons, past_runs
from benchwatch.server.exporter import Exporter
from benchwatch.server.looks import Looks
from benchwatch.settings.settings import RunsSettings
from tests.support.places import NOW, RECORDINGS, Place
from tests.support.serving import served
from tests.support.waiting import PATIENCE, eventually

EVIL = "<script>alert(1)</script>"


def reports(tps: float, count: int = 60, begin: float = NOW - 300) -> bytes:
    lines = [
        f"progress: {begin + n:.3f} s, {tps + n % 7:.1f} tps, lat {4000 / tps:.3f} ms stddev 0.100"
        for n in range(1, count + 1)
    ]
    return "\n".join([*lines, ""]).encode()


def run(place: Place, name: str, tps: float, record: str = "") -> Path:
    """A run of pgbench that finished."""
    place(f"{name}/db1.err", reports(tps), NOW - 240)
    given = ", ".join(filter(None, (f"end: {NOW - 240}, exit_code: 0", record)))
    return place(f"{name}/db1.yaml", f"{{{given}}}".encode(), NOW - 240).parents[1]


@contextmanager
def site(folder: Path, keep: int = 100) -> Iterator[str]:
    settings = RunsSettings(keep=keep)
    runs = Runs([folder], settings, Buckets())
    while runs.poll(NOW):
        pass
    board = Exporter(runs)
    with served(board, looks=Looks(settings, Buckets())) as server:  # type: ignore[arg-type]
        yield server.url


def comparison(url: str, *names: str) -> LexborHTMLParser:
    base, *others = names
    address = [("base", base), *(("other", other) for other in others)]
    found: list[str] = []

    def complete() -> bool:
        found[:] = [requests.get(f"{url}/compare", params=address, timeout=PATIENCE).text]
        return 'data-seconds="0"' in found[0]

    eventually(complete, "the comparison")
    return LexborHTMLParser(found[0])


def texts(tree: LexborHTMLParser, selector: str) -> list[str]:
    return [" ".join(node.text(separator=" ", strip=True).split()) for node in tree.css(selector)]


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    main(["compare", *map(str, arguments)])
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines() if line.strip()]


def rows(tree: LexborHTMLParser) -> list[str]:
    """Every line of the comparison as the command prints it; an empty cell of the page is a dash."""
    found = []
    for node in tree.css("section:first-of-type h3, section:first-of-type p, section:first-of-type tr"):
        cells = node.css("th, td") or [node]
        found.append(" ".join(cell.text(separator=" ", strip=True) for cell in cells if cell.text(strip=True) != "–"))
    return [" ".join(line.split()) for line in found if line.strip()]


def without_gaps(lines: Sequence[str]) -> list[str]:
    return [" ".join(word for word in line.split() if word != "-") for line in lines]


def test_the_page_shows_what_the_command_prints_and_the_plots_of_both(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (1, 2, 3):
        folder = run(place, f"on-{number}", 100.0 + number, "repeat_of: 'on', labels: {variant: a}")
        run(place, f"off-{number}", 200.0 + number, "repeat_of: 'off', labels: {variant: b}")
    heading, *lines = printed(capsys, folder / "on", folder / "off")
    with site(folder) as url:
        tree = comparison(url, "on", "off")
    assert texts(tree, "h1") == [heading] == ["off against on"]
    assert rows(tree) == without_gaps(lines)
    plots = texts(tree, ".chart > p")
    assert [plot.partition(":")[0] for plot in plots][:2] == ["Throughput", "Mean latency"]
    assert "on from" in plots[0] and "off from" in plots[0]


def test_several_sides_are_compared_with_the_base_as_the_command_does(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("a", "b", "c")
    folders = [run(place, name, tps) for name, tps in zip(names, (100.0, 150.0, 90.0), strict=True)]
    lines = printed(capsys, *(folders[0] / name for name in names))
    assert "b against a" in lines and "c against a" in lines
    with site(folders[0]) as url:
        assert rows(comparison(url, *names)) == without_gaps(lines)


def test_two_sweeps_are_compared_point_by_point_also_by_the_command(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    for sweep, factor in (("old", 1.0), ("new", 2.0)):
        for clients in (1, 4, 16) if sweep == "old" else (4, 16, 32):
            folder = run(
                place,
                f"{sweep}-clients{clients}",
                100.0 * factor * clients,
                f"sweep: {{of: {sweep}, point: {{clients: '{clients}'}}}}",
            )
    lines = printed(capsys, folder / "old", folder / "new")
    heads = [line for line in lines if " against " in line]
    assert heads == ["new/clients=4 against old/clients=4", "new/clients=16 against old/clients=16"]
    with site(folder) as url:
        tree = comparison(url, "old", "new")
    assert [line for line in rows(tree) if " against " in line] == heads
    assert texts(tree, ".note") == [
        "not compared: old/clients=1, new/clients=32: not every side has workers or points of these names"
    ]


def test_runs_that_left_memory_and_files_in_a_folder_of_many_are_compared(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run(place, "old", 100.0)
    place("single.err", reports(300.0), NOW - 240)
    place("single.yaml", f"{{end: {NOW - 240}, exit_code: 0}}".encode(), NOW - 240)
    with site(folder, keep=0) as url:
        assert "ended long ago" in requests.get(url, timeout=PATIENCE).text
        tree = comparison(url, "old", "single")
    assert texts(tree, "h1") == ["single against old"]
    assert [row for row in rows(tree) if row.startswith("TPS")][-1].startswith("TPS 103 303 +194.")


def test_a_run_without_an_end_is_compared_with_a_warning(place: Place) -> None:
    folder = run(place, "old", 100.0)
    place("now/db1.err", reports(120.0, begin=NOW - 60))
    with site(folder) as url:
        tree = comparison(url, "old", "now")
    assert "now, worker db1: the run has no end: silent for more than 300 s" in texts(tree, ".warning")
    assert any("not judged" in text for text in texts(tree, ".unclear"))


def test_what_is_ticked_leads_to_an_address_with_the_oldest_as_the_base(place: Place) -> None:
    folder = run(place, "old", 100.0)
    run(place, "new", 120.0)
    with site(folder) as url:
        page = LexborHTMLParser(requests.get(url, timeout=PATIENCE).text)
        ticks = [node.attributes for node in page.css("input[type=checkbox]")]
        assert {tick["value"] for tick in ticks} == {"old", "new"}
        assert {(tick["form"], tick["name"]) for tick in ticks} == {("compare", "run")}
        form = page.css_first("form#compare")
        assert form is not None and form.attributes["action"] == "compare"
        ticked = [("run", "new"), ("run", "old")]
        answer = requests.get(f"{url}/compare", params=ticked, timeout=PATIENCE, allow_redirects=False)
    assert (answer.status_code, answer.headers["Location"]) == (303, "compare?base=old&other=new")


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (("old", "gone"), "gone: no such run; expected the name of a run, of a repeated experiment or of a sweep"),
        (("old", "../runs/old"), "../runs/old: no such run; expected the name of a run, of a repeated experiment or"),
        (("old", "/etc"), "/etc: no such run; expected the name of a run, of a repeated experiment or of a sweep"),
        (("old", ".."), "..: no such run; expected the name of a run, of a repeated experiment or of a sweep"),
        (("old", EVIL), f"{EVIL}: no such run"),
        (("old", "old"), "compare: the same run was given twice; expected different ones"),
        (("old",), "compare: expected a base and another side: tick at least two runs on the overview"),
        (("", "old"), "compare: expected a base and another side: tick at least two runs on the overview"),
        (("old", "disk"), "old is a run of pgbench, disk of fio; expected runs of the same tool"),
        (("old", *"abcdefgh"), "compare: 9 sides; expected at most 8"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(place: Place, names: Sequence[str], sentence: str) -> None:
    folder = run(place, "old", 100.0)
    place("disk/disk1.out", RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out")
    with site(folder) as url:
        tree = comparison(url, *names)
    (note,) = texts(tree, ".note")
    assert note.startswith(sentence)
    assert not [node for node in tree.css("script") if "alert" in node.text()]


def test_runs_that_are_too_large_are_left_to_the_command(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "MOST_BYTES", 1000)
    folder = run(place, "a", 100.0)
    run(place, "b", 100.0)
    with site(folder) as url:
        (note,) = texts(comparison(url, "a", "b"), ".note")
    assert note.endswith("use benchwatch compare for more")


def test_a_scrape_is_answered_while_a_comparison_is_read_and_only_some_wait(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads, goes_on = threading.Event(), threading.Event()

    def wait(*_: object, **__: object) -> None:
        reads.set()
        assert goes_on.wait(PATIENCE)

    monkeypatch.setattr(comparisons, "side", wait)
    monkeypatch.setattr(comparisons, "_FIRST", 0.05)
    folder = run(place, "a", 100.0)
    for name in "bcdef":
        run(place, name, 100.0)
    with site(folder) as url:
        pages = [requests.get(f"{url}/compare?base=a&other={name}", timeout=PATIENCE).text for name in "bcdef"]
        assert reads.wait(PATIENCE)
        assert requests.get(f"{url}/metrics", timeout=PATIENCE).status_code == 200
        goes_on.set()
    assert ["Reading the runs" in page for page in pages] == [True] * 4 + [False]
    assert "Other comparisons are running" in pages[-1]


def test_a_comparison_is_read_once_for_all_who_look(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    made = comparisons.side
    monkeypatch.setattr(
        comparisons, "side", lambda name, *more, **given: read.append(name) or made(name, *more, **given)
    )
    folder = run(place, "a", 100.0)
    run(place, "b", 150.0)
    with site(folder) as url:
        assert len({comparison(url, "a", "b").html for _ in range(3)}) == 1
        assert read == ["a", "b"]
        monkeypatch.setattr(comparisons, "KEPT", 0.0)
        comparison(url, "b", "a")
        eventually(lambda: (comparison(url, "b", "a"), time.sleep(0.01), len(read) > 4)[-1], "it is read again")


def test_the_overview_has_the_figures_of_runs_that_have_left_memory_while_somebody_looks(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        folder = run(place, f"run-{number}", 100.0 * (number + 1), "repeat_of: run" if number < 3 else "")
    place("broken/db1.out", b"\x00nothing\n", NOW - 240)
    place("large/db1.err", reports(900.0, count=600, begin=NOW - 900), NOW - 240)
    place("large/db1.yaml", f"{{end: {NOW - 240}, exit_code: 0}}".encode(), NOW - 240)
    monkeypatch.setattr(past_runs, "MOST_BYTES", 20_000)
    with site(folder, keep=0) as url:

        def listed(**query: str) -> list[str]:
            return texts(LexborHTMLParser(requests.get(url, params=query, timeout=PATIENCE).text), "tbody tr")

        assert sum("ended long ago" in line for line in listed()) == 6
        eventually(lambda: "run ×3" in " ".join(listed()) and "peak 406" in listed(q="run-3")[1], "the figures")
        gone = [line.split()[0] for line in listed() if "ended long ago" in line]
        assert sorted(gone) == ["broken", "large"]
