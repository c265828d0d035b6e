"""The pages in a real browser, which is started once."""

import base64
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from demo_processes import Processes
from tests.support.browser import PROGRAM, Browser
from tests.support.places import RECORDINGS
from tests.support.servers import Exporter
from tests.support.waiting import eventually

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(not PROGRAM, reason="needs Chromium: scripts/setup tests installs it"),
]
EVIL = "<img src=x onerror=alert(1)>"
PLOTS = "document.querySelectorAll('#course .chart[data-drawn]').length"
CANVAS = "document.querySelector('#course .canvas')"
CANVASES = "[...document.querySelectorAll('#course .canvas[data-time]')]"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def exporter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exporter]:
    """Of a run that goes on, and an ended one of fio with a hostile name."""
    folder = tmp_path_factory.mktemp("exporter")
    (folder / "runs" / "live").mkdir(parents=True)
    (folder / "runs" / EVIL).mkdir()
    (folder / "runs" / EVIL / "disk1.out").write_bytes(
        (RECORDINGS / "fio/jsonplus-si1-libaio-qd16-3.42.out").read_bytes()
    )
    report(folder / "runs", 60)
    processes = Processes(folder, os.environ)
    try:
        yield Exporter(processes, folder / "runs")
    finally:
        processes.stop_all()


@pytest.fixture(autouse=True)
def no_complaints(browser: Browser, exporter: Exporter) -> Iterator[None]:
    """Nothing is asked of others, and the policy stops nothing."""
    browser.requested.clear()
    browser.complaints.clear()
    yield
    assert [url for url in browser.requested if not url.startswith((exporter.url, "data:"))] == []
    assert browser.complaints == []


def report(runs: Path, seconds: int) -> None:
    """So many seconds up to now."""
    now = time.time()
    with (runs / "live" / "db1.err").open("a") as file:
        for age in range(seconds - 1, -1, -1):
            file.write(f"progress: {now - age:.3f} s, {100 + seconds}.0 tps, lat 2.000 ms stddev 0.100\n")


@contextmanager
def reporting(runs: Path) -> Iterator[None]:
    """A report a second: one alone may be old when a busy machine shows it."""
    over = threading.Event()

    def report_on() -> None:
        while not over.wait(1.1):
            report(runs, 1)

    thread = threading.Thread(target=report_on)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_the_page_is_live_without_being_loaded_again(browser: Browser, exporter: Exporter) -> None:
    browser.open(f"{exporter.url}/", "document.querySelector('th a')")
    browser.value("document.querySelector('th a').click()")
    browser.wait(f"{PLOTS} == 2")
    assert browser.value("location.pathname") == "/runs/live"
    before = browser.value(f"window.canvas = {CANVAS}; window.kept = canvas.data[0].x.length")
    with reporting(exporter.runs):
        browser.wait(f"{CANVAS}.data[0].x.length > window.kept")
        browser.wait("document.querySelector('#now').textContent.includes('101 TPS')")
    assert browser.value("window.kept") == before, "it was loaded again"
    assert browser.value(f"window.canvas === {CANVAS}"), "it was drawn anew: zoom and what is switched off are lost"


def test_the_landing_page_is_live_but_for_what_the_reader_has_selected(browser: Browser, exporter: Exporter) -> None:
    browser.open(f"{exporter.url}/", "document.querySelector('th a')")
    summary = "document.querySelector('.summary').textContent"
    browser.value("getSelection().selectAllChildren(document.querySelector('.summary'))")
    browser.value("window.fetched = 0; window.load = window.fetch; window.fetch = (...a) => (fetched += 1, load(...a))")
    browser.value(f"window.kept = {summary}")
    browser.wait("fetched == 2")
    assert browser.value(summary) == browser.value("window.kept")
    browser.value("getSelection().removeAllRanges()")
    browser.wait(f"{summary} != window.kept")


def test_the_list_is_searched_while_the_reader_types_and_ticks_stay(browser: Browser, exporter: Exporter) -> None:
    runs = "[...document.querySelectorAll('tbody th[scope=row] a')].map(link => link.textContent).join()"
    browser.open(f"{exporter.url}/", f"{runs}.startsWith('live,')")
    browser.value("window.kept = document.querySelector('#live'); document.querySelector('input[value=live]').click()")
    browser.wait("!window.kept.isConnected")
    assert browser.value("document.querySelector('input[value=live]').checked"), "the list that is fetched again"
    typed = "document.querySelector('input[name=q]')"
    browser.value(f"{typed}.value = 'live'; {typed}.dispatchEvent(new Event('input', {{bubbles: true}}))")
    browser.wait(f"{runs} == 'live' && location.search.includes('q=live')")
    assert browser.value("document.querySelector('input[value=live]').checked && Boolean(window.kept)")
    browser.value("document.querySelector('#compare button').click()")
    browser.wait("location.pathname == '/compare'")
    assert browser.value("location.search") == "?base=live"
    browser.wait("document.querySelector('.note')?.textContent.includes('tick at least two runs')")


def test_what_the_reader_searches_stays_chosen_while_the_page_is_live(browser: Browser, exporter: Exporter) -> None:
    runs = "[...document.querySelectorAll('tbody th[scope=row] a')].map(link => link.textContent).join()"
    browser.open(f"{exporter.url}/", f"{runs}.startsWith('live,')")
    browser.value("document.querySelector('input[name=q]').value = 'LIVE'; document.querySelector('button').click()")
    browser.wait(f"location.search.includes('q=LIVE') && {runs} == 'live'")
    browser.value("window.fetched = 0; window.load = window.fetch; window.fetch = (...a) => (fetched += 1, load(...a))")
    browser.wait("fetched == 2")
    assert browser.value(runs) == "live"
    assert browser.value("document.querySelector('input[name=q]').value") == "LIVE"


@pytest.mark.parametrize("width", [390, 1600])
def test_it_fits_its_width_and_times_do_not_overlap(width: int, browser: Browser, exporter: Exporter) -> None:
    browser.tell("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    browser.open(f"{exporter.url}/runs/live", f"{PLOTS} == 2")
    assert browser.value("document.documentElement.scrollWidth") <= width
    sides = browser.value(
        f"{CANVASES}.map(one => one.querySelector('.nsewdrag').getBoundingClientRect())"
        ".map(box => [box.left, box.right])"
    )
    assert sides[0] == sides[1] and sides[0][1] - sides[0][0] > width / 2, "one time axis above the other"
    boxes = f"[...{CANVAS}.querySelectorAll('.xtick text')].map(text => text.getBoundingClientRect())"
    times = browser.value(f"{boxes}.map(box => [box.left, box.right])")
    assert len(times) > 2
    assert all(right < left for (_, right), (left, _) in pairwise(times)), "times overlap"


def move(browser: Browser, plot: int, part: float, kind: str = "mouseMoved", **more: Any) -> None:
    """The pointer to that part of the width of a plot."""
    box = browser.value(
        f"(({CANVASES})[{plot}].scrollIntoView(), {CANVASES}[{plot}].querySelector('.nsewdrag')"
        ".getBoundingClientRect().toJSON())"
    )
    x, y = box["left"] + part * box["width"], box["top"] + box["height"] / 2
    browser.tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)


def test_what_is_pointed_at_is_read_in_all_plots_and_a_zoom_zooms_all(browser: Browser, exporter: Exporter) -> None:
    browser.tell("Emulation.setDeviceMetricsOverride", width=1280, height=1000, deviceScaleFactor=1, mobile=False)
    browser.open(f"{exporter.url}/runs/live", f"{PLOTS} == 2")
    move(browser, 0, 0.4)
    browser.wait(f"{CANVASES}.every(one => one.querySelector('.hoverlayer .legendtext'))")
    read = browser.value(f"{CANVASES}.map(one => one.querySelector('.hoverlayer').textContent)")
    times = [re.match(r"\d+:\d\d", text) for text in read]
    assert times[0] and times[1] and times[0][0] == times[1][0]
    assert re.search("2 ?ms", read[1])
    spans = f"{CANVASES}.map(one => one._fullLayout.xaxis.range.map(end => one._fullLayout.xaxis.d2c(end)))"
    whole = browser.value(spans)
    held = {"button": "left", "buttons": 1, "clickCount": 1}
    for part, kind, more in ((0.3, "mousePressed", held), (0.5, "mouseMoved", held), (0.6, "mouseReleased", held)):
        move(browser, 0, part, kind, **more)
    browser.wait("location.hash.startsWith('#zoom=')")
    browser.wait(f"{spans}.every(([begin, end]) => end - begin < {0.5 * (whole[0][1] - whole[0][0])})")
    zoomed = browser.value(spans)
    assert zoomed[0] == pytest.approx(zoomed[1], abs=1)
    browser.tell("Page.reload")
    browser.wait(f"{PLOTS} == 2 && {spans}[1][0] > {whole[1][0]}")
    returned = f"{spans}.every(([begin]) => begin === {whole[0][0]}) && !location.hash"

    def double_click() -> bool:
        """On a busy machine, two clicks may be too far apart to be one double click."""
        for count in (1, 2):
            for kind in ("mousePressed", "mouseReleased"):
                move(browser, 1, 0.5, kind, button="left", buttons=1, clickCount=count)
        return bool(browser.value(returned))

    eventually(double_click, "the whole run is shown again")


def test_a_plot_that_cannot_be_drawn_says_so_in_its_place(browser: Browser, exporter: Exporter) -> None:
    browser.open(f"{exporter.url}/runs/live", f"{PLOTS} == 2")
    browser.value("document.querySelector('#course .chart script').textContent = '{'; plots.draw()")
    browser.wait("document.querySelectorAll('#course .canvas').length == 1")
    said = browser.value("document.querySelector('#course .chart').innerText")
    assert said.startswith("cannot be drawn: ") and "Throughput: live from " in said


def test_it_is_dark_where_the_reader_is(browser: Browser, exporter: Exporter) -> None:
    colours = []
    for scheme in ("light", "dark"):
        browser.tell("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        browser.open(f"{exporter.url}/runs/live", f"{PLOTS} == 2")
        for chosen, name in (
            ("body", "backgroundColor"),
            (".canvas .scatterlayer .js-line", "stroke"),
            ("#now p", "color"),
        ):
            colours.append(browser.value(f"getComputedStyle(document.querySelector('{chosen}')).{name}"))
    browser.tell("Emulation.setEmulatedMedia", features=[])
    assert all(light != dark for light, dark in zip(colours[:3], colours[3:], strict=True)), colours


def test_it_is_whole_without_scripts_and_can_be_printed(browser: Browser, exporter: Exporter) -> None:
    browser.tell("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(f"{exporter.url}/runs/live", "document.querySelectorAll('#course figure').length == 2")
    assert "Throughput: live from " in browser.value("document.querySelector('#course .chart').innerText")
    printed = base64.b64decode(browser.tell("Page.printToPDF", printBackground=True)["data"])
    browser.tell("Emulation.setScriptExecutionDisabled", value=False)
    assert printed.startswith(b"%PDF") and len(printed) > 10_000


def test_a_hostile_name_is_text_in_links_and_on_its_page(browser: Browser, exporter: Exporter) -> None:
    browser.open(f"{exporter.url}/", "document.querySelector('th a')")
    browser.value("[...document.querySelectorAll('th a')].find(link => link.textContent != 'live').click()")
    browser.wait(f"{PLOTS} > 5")
    assert browser.value("document.querySelector('h1').textContent") == EVIL
    assert browser.value("document.images.length") == 0
    assert browser.value("document.querySelector('.heatmaplayer image').getBoundingClientRect().width") > 100
