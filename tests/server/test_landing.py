import base64
import hashlib
from html.parser import HTMLParser
from pathlib import Path

import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from benchwatch.model.cvm import Cvm, Vdisk
from benchwatch.model.run import Report, Run, Worker
from benchwatch.server.catalogue import LINES, Query
from benchwatch.server.landing import landing_page
from benchwatch.server.run_lines import WORKERS_SHOWN
from benchwatch.tools.registry import TOOLS
from tests.support.serving import NETWORK, NOW, FakeExporter, served

VOID = {"meta", "link", "input"}
HOSTILE = """<script>alert(1)</script>"'&amp;<img src=x onerror=alert(2)>"""


class Checker(HTMLParser):
    """Fails on an element that is not closed where it should be."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        assert len({name for name, _ in attrs}) == len(attrs), f"<{tag}> has an attribute twice"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()


def check(text: str) -> Checker:
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert checker.open == []
    return checker


def worker(name: str = "db1", run: str = "nightly", **more: object) -> Worker:
    known: dict[str, object] = {
        "tool": "pgbench",
        "state": "running",
        "unit": "TPS",
        "throughput": 12_345.6,
        "latency": 0.000789,
        "p99": 0.01234,
        "operations": 1_234_567.0,
        "start": NOW - 725,
        "last_report": NOW - 0.4,
        "reports": [Report(NOW - 724 + 10 * place, 100.0 + place, 0.001) for place in range(73)],
    }
    return Worker(run=run, name=name, **{**known, **more})  # type: ignore[arg-type]


def page(board: FakeExporter, user: str = "", **query: str) -> str:
    return landing_page(board, now=NOW, url="http://bench.example:19777", user=user, query=Query.of(query.items()))


def rows(text: str) -> list[list[str]]:
    """The texts of all rows of the page's tables but headings."""
    found = LexborHTMLParser(text).css("tbody tr:not(.part)")
    return [[cell.text(separator=" ", strip=True) for cell in row.css("th, td")] for row in found]


def cells(text: str, row: int = 0) -> list[str]:
    """The texts of one of these rows."""
    return rows(text)[row]


def names(text: str) -> list[str]:
    """The first cells of these rows."""
    return [" ".join(row[0].split()) for row in rows(text)]


def test_a_running_worker_is_shown_with_its_figures_in_fitting_units() -> None:
    assert cells(page(FakeExporter([worker()]))) == [
        "nightly  db1",
        "running",
        "pgbench",
        "12.3k TPS",
        "peak 172",
        "789 µs",
        "12.3 ms",
        "12m 05s",
        "0.4 s ago",
    ]


def test_a_percentile_that_is_older_than_the_mean_says_by_how_much() -> None:
    view = worker(latency=1.51, p99=0.128, time=NOW - 0.4, p99_time=NOW - 7, report_interval=1.0)
    row = [" ".join(cell.split()) for cell in cells(page(FakeExporter([view])))]
    assert row[5:7] == ["1.51 s", "128 ms 6.6 s older"]


def test_what_was_not_measured_is_a_dash_and_never_zero() -> None:
    text = page(
        FakeExporter(
            [worker(throughput=None, latency=None, p99=None, operations=None, start=None, last_report=None, reports=[])]
        )
    )
    assert cells(text) == ["nightly  db1", "running", "pgbench", "–", "", "–", "–", "–", "–"]


def test_a_stall_shows_zero_throughput_no_latency_and_its_reason() -> None:
    view = worker(state="stalled", reason="nothing completes", throughput=0.0, latency=None, p99=None)
    assert cells(page(FakeExporter([view])))[1:6] == ["stalled nothing completes", "pgbench", "0 TPS", "peak 172", "–"]


def test_names_that_are_not_utf_8_stay_apart_and_names_show_what_they_are() -> None:
    runs = ["a\udcff", "a\udcfe", "run\u202egol.exe", "\x1b]0;x\x07"]
    text = page(FakeExporter([worker(run=run, start=NOW - place) for place, run in enumerate(runs)]))
    text.encode()
    shown = [node.text() for node in LexborHTMLParser(text).css("th a")]
    assert shown == ["a\\xff", "a\\xfe", "run\\u202egol.exe", "\\x1b]0;x\\x07"]


@pytest.mark.parametrize("state", ["running", "stalled", "finished", "failed", "interrupted", "abandoned"])
def test_a_state_is_a_colour_and_a_word(state: str) -> None:
    node = LexborHTMLParser(page(FakeExporter([worker(state=state)]))).css_first("tbody .state")
    assert node is not None
    assert (node.text(), node.attributes["class"]) == (state, f"state {state}")


def test_runs_that_are_on_come_first_and_the_newest_of_them_on_top() -> None:
    views = [
        worker(run="old", start=NOW - 900),
        worker(run="new", start=NOW - 10),
        worker(run="done", state="finished", end=NOW - 5),
    ]
    text = page(FakeExporter(views))
    assert [node.text() for node in LexborHTMLParser(text).css("tr.part")] == ["Active", "Ended"]
    assert names(text) == ["new db1", "old db1", "done db1"]


def test_active_runs_with_a_fault_come_first_and_failed_ones_end_the_list() -> None:
    views = [
        worker("a", run="new", start=NOW - 10),
        worker("a", run="silent", start=NOW - 900, state="stalled"),
        worker("a", run="half", start=NOW - 800),
        worker("b", run="half", start=NOW - 800, state="failed", end=NOW - 700),
        worker(run="done", state="finished", end=NOW - 5),
        worker(run="broken", state="failed", end=NOW - 3600),
        worker(run="long ago", state="failed", end=NOW - 200_000),
    ]
    text = page(FakeExporter(views))
    linked = [node.text() for node in LexborHTMLParser(text).css("th a")]
    assert linked == ["half", "silent", "new", "done", "broken", "long ago"]


def test_what_is_wrong_is_said_and_each_run_is_a_link_to_its_page() -> None:
    tree = LexborHTMLParser(page(FakeExporter([worker(run="a b/ä?")], faults=["runs/a/run.yaml:1: expected YAML"])))
    assert [node.text() for node in tree.css(".banner.warn")] == ["runs/a/run.yaml:1: expected YAML"]
    (link,) = tree.css("th a")
    assert link.attributes["href"] == "runs/a%20b%2F%C3%A4%3F"


def test_workers_of_one_run_stand_together_in_natural_order_with_their_sum() -> None:
    views = [worker(name) for name in ("db10", "db9", "db2", "²")]
    views.append(worker("db1", state="failed", end=NOW - 3, reason="exit code 2"))
    text = page(FakeExporter(views))
    assert names(text) == ["nightly", "db1", "db2", "db9", "db10", "²"]
    assert cells(text)[1] == "5 workers: 1 failed, 4 running"
    assert cells(text)[3] == "49.4k TPS together"


def test_workers_that_followed_each_other_are_not_added_up() -> None:
    views = [
        worker("db1", state="finished", start=NOW - 900, end=NOW - 700),
        worker("db2", state="finished", start=NOW - 690, end=NOW - 500),
    ]
    text = page(FakeExporter(views))
    assert names(text) == ["nightly", "db1", "db2"]
    assert "together" not in text
    views[1] = worker("db2", state="finished", start=NOW - 790, end=NOW - 500)
    assert "together" not in page(FakeExporter(views))
    views[1] = worker("db2", state="finished", start=NOW - 850, end=NOW - 500)
    assert cells(page(FakeExporter(views)))[3] == "24.7k TPS together"


def test_different_units_are_not_added_up() -> None:
    assert "together" not in page(FakeExporter([worker(), worker("vm1", unit="IOPS")]))
    assert "together" not in page(FakeExporter([worker(), worker("vm1", tool="sysbench")]))


def test_an_ended_run_with_a_warm_up_names_the_page_that_leaves_it_out() -> None:
    views = [
        worker(run="on", start=NOW - 10, warmup=60.0),
        worker(run="over", state="finished", end=NOW - 90, start=NOW - 100, warmup=2.1),
        worker(run="none", state="abandoned", end=NOW - 95, start=NOW - 100, warmup=2.1, throughput=None),
    ]
    text = page(FakeExporter(views))
    assert cells(text, 0)[1] == "running warm-up, 50 s left"
    assert cells(text, 1)[1] == "finished the result on its page leaves out the warm-up of 2.1 s"
    assert cells(text, 2)[1] == "abandoned the result on its page leaves out the warm-up of 2.1 s"
    assert cells(page(FakeExporter([worker(start=NOW - 61, warmup=60.0)])))[1] == "running"


def test_ended_runs_are_listed_by_their_end_with_their_results() -> None:
    views = [
        worker(run="first", state="finished", end=NOW - 7200, start=NOW - 9000),
        worker(run="second", state="failed", reason="exit code 1", end=NOW - 90, start=NOW - 100, throughput=None),
    ]
    text = page(FakeExporter(views))
    assert names(text) == ["first db1", "second db1"]
    assert cells(text, 0)[-2:] == ["30m 00s", "2h 00m ago"]
    assert cells(text, 1)[1:4] == ["failed exit code 1", "pgbench", "–"]
    assert cells(text, 1)[5:] == ["789 µs", "12.3 ms", "10 s", "1m 30s ago"]


def test_the_page_is_bounded_and_links_to_the_others() -> None:
    several = [worker(f"db{number}", "many", reports=[]) for number in range(WORKERS_SHOWN + 7)]
    ended = [worker(run=f"run{number}", state="finished", end=NOW - number) for number in range(2 * LINES)]
    board = FakeExporter([*several, *ended])
    first, second, third, beyond = (page(board, page=number, sort="name") for number in ("1", "2", "3", "99"))
    assert names(first)[0] == "many" and names(first)[WORKERS_SHOWN + 1] == "and 7 more workers"
    assert len(rows(first)) == WORKERS_SHOWN + 2 + LINES - 1
    assert len(rows(second)) == LINES and len(rows(third)) == 1
    assert third == beyond
    pages = LexborHTMLParser(second).css(".pages")
    assert [node.text(separator=" ", strip=True) for node in pages] == ["51 to 100 of 101 previous  next"]
    links = [node.attributes["href"] for node in LexborHTMLParser(second).css(".pages a")]
    assert links == ["?sort=name", "?sort=name&page=3"]
    assert not LexborHTMLParser(page(FakeExporter(ended[:LINES]))).css(".pages")


def repeats(name: str, *rates: float, **more: object) -> list[Worker]:
    runs = enumerate(rates, 1)
    known = {"state": "finished", "experiment": name} | more
    return [
        worker(
            run=f"{name}-{place}", throughput=rate, latency=1 / rate, start=NOW - 1000, end=NOW - 100 * place, **known
        )
        for place, rate in runs
    ]


def test_repeats_are_one_line_with_their_mean_and_its_interval_and_open_at_a_click() -> None:
    board = FakeExporter([*repeats("sync-off", 90.0, 100.0, 110.0), worker(run="other", state="finished", end=NOW - 5)])
    text = page(board)
    assert names(text) == ["other db1", "sync-off ×3"]
    # Student's t of 97.5 % with two degrees of freedom, 4.303, times 10 / sqrt(3)
    assert cells(text, 1)[1:4] == ["3 finished", "pgbench", "100 TPS ±24.8 %"]
    assert cells(text, 1)[-1] == "1m 40s ago"
    link = LexborHTMLParser(text).css_first("a.fold").attributes["href"] or ""
    opened = page(board, open=link.removeprefix("?open="))
    assert names(opened) == ["other db1", "sync-off ×3", "sync-off-3 db1", "sync-off-2 db1", "sync-off-1 db1"]
    assert LexborHTMLParser(opened).css_first("a.fold").attributes["href"] == "?"


def test_fewer_than_three_repeats_have_no_interval_and_a_failed_one_is_counted_but_not_averaged() -> None:
    failed = repeats("a", 1.0, 80.0, 120.0)
    failed[0] = worker(run="a-1", state="failed", throughput=1.0, end=NOW - 100, experiment="a")
    text = page(FakeExporter(failed))
    assert cells(text)[1:4] == ["1 failed 2 finished", "pgbench", "100 TPS"]


def test_a_sweep_is_one_line_from_its_least_to_its_most() -> None:
    views = [
        worker(
            run=f"c-{clients}", throughput=float(rate), state="finished", end=NOW - rate, experiment="c", point=point
        )
        for clients, rate in ((1, 100), (4, 300), (16, 800))
        for point in [{"clients": str(clients)}]
    ]
    text = page(FakeExporter(views))
    assert cells(text)[0] == "c  3 points, 3 runs"
    assert cells(text)[3] == "100 to 800 TPS"


def test_an_active_repeat_stands_alone_while_it_runs() -> None:
    views = [*repeats("s", 100.0, 100.0), worker(run="s-3", experiment="s")]
    assert names(page(FakeExporter(views))) == ["s-3 db1", "s ×2"]


def test_search_and_filters_choose_runs_by_name_label_tool_and_state() -> None:
    views = [
        worker(run="main-1", state="finished", end=NOW - 1, labels={"branch": "main"}),
        worker(run="topic-1", state="finished", end=NOW - 2, labels={"branch": "Topic"}),
        worker(run="disk", tool="fio", unit="IOPS", state="failed", end=NOW - 3),
    ]
    board = FakeExporter(views)
    assert names(page(board, q="BRANCH=topic")) == ["topic-1 db1"]
    assert names(page(board, q="main -1")) == ["main-1 db1"]
    assert names(page(board, tool="fio")) == ["disk db1"]
    assert names(page(board, state="finished", q="1")) == ["main-1 db1", "topic-1 db1"]
    nothing = page(board, q="nothing")
    assert rows(nothing) == [] and "No run matches." in nothing
    chosen = LexborHTMLParser(page(board, tool="fio", q='"x')).css("form option[selected], form input[name=q]")
    assert [node.attributes["value"] for node in chosen] == ['"x', "fio", "newest"]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("newest", ["c", "b", "a"]),
        ("name", ["a", "b", "c"]),
        ("throughput", ["b", "a", "c"]),
        ("latency", ["b", "a", "c"]),
        ("p99", ["a", "b", "c"]),
        ("duration", ["c", "b", "a"]),
        ("nonsense", ["c", "b", "a"]),
    ],
)
def test_the_reader_chooses_the_order_and_what_lacks_the_figure_comes_last(sort: str, order: list[str]) -> None:
    views = [
        worker("w", "a", throughput=10.0, latency=0.2, p99=0.1, state="finished", start=NOW - 300, end=NOW - 30),
        worker("w", "b", throughput=20.0, latency=0.1, p99=0.2, state="finished", start=NOW - 200, end=NOW - 20),
        worker("w", "c", throughput=None, latency=None, p99=None, state="finished", start=NOW - 100, end=NOW - 10),
    ]
    assert [name.removesuffix(" w") for name in names(page(FakeExporter(views), sort=sort))] == order


def test_runs_that_have_left_memory_are_listed_by_name() -> None:
    board = FakeExporter([worker(run="present", state="failed", end=NOW - 3)], pages={"gone": Run("gone")})
    text = page(board)
    assert names(text) == ["gone", "present db1"]
    assert cells(text)[1] == "ended long ago: its page has the figures"
    assert names(page(board, q="gon")) == ["gone"]


def test_the_course_is_that_of_the_whole_run_or_says_how_much_of_it() -> None:
    def course(reports: list[Report], start: float) -> tuple[str, str]:
        text = page(FakeExporter([worker(reports=reports, start=start)]))
        return cells(text)[4], LexborHTMLParser(text).css_first(".spark svg").attributes["aria-label"] or ""

    whole = [Report(NOW - 3600 + 60 * place, 5.0, 0.001) for place in range(60)]
    assert course(whole, NOW - 3600) == ("peak 5.00", "Throughput over 59m 00s, peak 5.00")
    last = [Report(NOW - 299 + place, 5.0, 0.001) for place in range(300)]
    assert course(last, NOW - 3600) == ("peak 5.00, last 4m 59s", "Throughput over its last 4m 59s, peak 5.00")


def test_cvms_are_shown_with_age_and_error() -> None:
    board = FakeExporter(
        targets=[
            Cvm("a", "http://10.0.0.1:2009", True, NOW - 3.2, "", (Vdisk("a", "1"),) * 12),
            Cvm("b", "javascript:alert(1)", False, NOW - 312.0, "connection refused"),
            Cvm("c", "http://10.0.0.3:2009"),
        ]
    )
    text = page(board)
    assert cells(text, 0) == ["a", "answers", "3.2 s ago", "12", "http://10.0.0.1:2009", "–"]
    assert cells(text, 1) == ["b", "no answer", "5m 12s ago", "–", "javascript:alert(1)", "connection refused"]
    assert cells(text, 2) == ["c", "not polled yet", "–", "–", "http://10.0.0.3:2009", "–"]
    assert [node.text() for node in LexborHTMLParser(text).css("tr.bad th")] == ["b"]


def test_an_empty_exporter_says_what_to_do_next(tmp_path: Path) -> None:
    tree = LexborHTMLParser(page(FakeExporter(push_folder=tmp_path)))
    assert tree.css_first("details[open]") is not None
    shown = [node.text() for node in tree.css("pre code")]
    assert shown[:2] == [
        "pgbench -P 1 -T 600 mydb 2>&1 | tee -p pgbench.log | "
        "curl -sS -T - http://bench.example:19777/ingest/my-run/pgbench1",
        "fio --output-format=json+ --status-interval=1 --eta=never job.fio 2>&1 | tee -p fio.log | "
        "curl -sS -T - http://bench.example:19777/ingest/my-run/fio1",
    ]
    assert len(shown) == len(TOOLS)


def test_the_help_is_folded_once_there_are_runs(tmp_path: Path) -> None:
    tree = LexborHTMLParser(page(FakeExporter([worker()], push_folder=tmp_path)))
    assert tree.css_first("details") is not None
    assert tree.css_first("details[open]") is None


def test_with_pushes_switched_off_the_help_names_files_instead() -> None:
    text = page(FakeExporter())
    assert "ingest" not in text
    assert "pgbench -P 1 -T 600 mydb &gt; runs/my-run/pgbench1.log 2&gt;&amp;1" in text


def test_a_user_is_named_in_the_push_command_quoted_for_the_shell(tmp_path: Path) -> None:
    assert "curl -sS -u &#x27;a b&#x27; -T -" in page(FakeExporter(push_folder=tmp_path), user="a b")


def test_catching_up_and_not_being_ready_are_said() -> None:
    text = page(FakeExporter(ready=False, catching_up="reading 3 files, 41 % of 1.2 GB"))
    assert "Not ready: still reading the runs that existed at the start" in text
    assert "Catching up: reading 3 files, 41 % of 1.2 GB." in text


def test_hostile_text_is_escaped_everywhere() -> None:
    views = [
        worker(HOSTILE, HOSTILE, tool=HOSTILE, state=state, reason=HOSTILE, unit=HOSTILE, end=NOW)
        for state in ("running", "failed", HOSTILE)
    ]
    ended = [worker(HOSTILE, "done", tool=HOSTILE, state="failed", reason=HOSTILE, unit=HOSTILE, end=NOW)]
    cvms = [Cvm(HOSTILE, HOSTILE, False, NOW - 1.0, HOSTILE), Cvm("b", "http://" + HOSTILE)]
    board = FakeExporter([*views, *ended], cvms, False, catching_up=HOSTILE, push_folder=Path(HOSTILE))
    text = landing_page(board, now=NOW, url="http://" + HOSTILE, user=HOSTILE)
    checked = check(text)
    assert "img" not in checked.names
    assert not {name for name in checked.attributes if name.startswith("on")}
    assert text.count("<script>") == 1
    assert HOSTILE not in text
    assert cells(text)[0] == HOSTILE


@settings(max_examples=200)
@given(
    st.lists(
        st.builds(
            Worker,
            run=st.text(),
            name=st.text(),
            tool=st.text(),
            state=st.sampled_from(["running", "stalled", "finished", "failed", "interrupted", "abandoned"]),
            reason=st.text(),
            unit=st.text(),
            experiment=st.sampled_from(["", "a"]),
            throughput=st.none() | st.floats(),
            latency=st.none() | st.floats(),
            p99=st.none() | st.floats(),
            operations=st.none() | st.floats(),
            start=st.none() | st.floats(-1e12, 1e12),
            end=st.none() | st.floats(-1e12, 1e12),
            last_report=st.none() | st.floats(-1e12, 1e12),
            reports=st.lists(
                st.builds(Report, st.floats(NOW - 400, NOW + 100), st.floats(), st.none() | st.floats()), max_size=9
            ),
        ),
        max_size=4,
    ),
    st.dictionaries(
        st.sampled_from(["q", "tool", "state", "sort", "page", "open"]), st.sampled_from(["a", "", HOSTILE, "2"])
    ),
)
def test_whatever_is_shown_the_page_is_well_formed(views: list[Worker], query: dict[str, str]) -> None:
    check(page(FakeExporter(views), **query))


def test_the_page_loads_nothing_and_its_policy_allows_just_its_own_script_and_style(tmp_path: Path) -> None:
    with served(FakeExporter([worker()], push_folder=tmp_path)) as server:
        answer = requests.get(server.url)
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    tree = LexborHTMLParser(answer.text)
    assert "style" not in check(answer.text).attributes
    for element, directive in (("script", "script-src"), ("style", "style-src")):
        node = tree.css_first(element)
        assert node is not None
        digest = base64.b64encode(hashlib.sha256(node.text().encode()).digest()).decode()
        assert policy[directive] == f"'sha256-{digest}'"
    loaded = [node.attributes.get("src") or node.attributes.get("href") for node in tree.css("[src], link")]
    assert all(target and target.startswith("data:") for target in loaded)


@pytest.mark.usefixtures("network")
def test_the_push_command_names_the_host_the_page_was_asked_for(tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path), address=NETWORK) as server:
        named = requests.get(server.url, headers={"Host": "bench.lan:8080"}).text
        hostile = requests.get(server.url, headers={"Host": 'x"; rm -rf ~ #'}).text
    assert "-T - http://bench.lan:8080/ingest/my-run/pgbench1" in named
    assert f"-T - http://localhost:{server.port}/ingest/my-run/pgbench1" in hostile


def test_without_script_the_page_fetches_itself_again() -> None:
    many = page(FakeExporter([worker(f"db{number}") for number in range(40)]))
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in page(FakeExporter())
    assert '<noscript><meta http-equiv="refresh" content="10"></noscript>' in many


@pytest.mark.parametrize("state", ["running", "finished"])
def test_how_the_output_was_read_is_said_beside_the_state(state: str) -> None:
    notes = ("run 6 of 6 in this file", "'<db>  | ' before each line left out")
    text = page(FakeExporter([worker(state=state, end=NOW, notes=notes)]))
    assert "run 6 of 6 in this file" in text
    assert "&#x27;&lt;db&gt;  | &#x27; before each line left out" in text
