import logging
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

import pytest

from benchwatch.metrics.exposition import Exposition
from benchwatch.nutanix import poller as poller_module
from benchwatch.nutanix.client import Client
from benchwatch.nutanix.poller import Poller, start_pollers
from benchwatch.nutanix.simulator.cluster import Cluster
from benchwatch.settings.cvm_settings import CvmSettings, NutanixSettings, VdiskDisk, VdiskSelection
from benchwatch.values.durations import Duration
from tests.support.cvm.varied_cvm import VariedCvm
from tests.support.waiting import PATIENCE, eventually

DATA_UUID = "5f0d7d8e-3a52-4c0b-9f0e-000000045269"
ALL = VdiskSelection(include=(".*",))


@dataclass
class World:
    """A simulated cluster and pollers of it, all on one clock that the test moves; the wall clock may be `step` off."""

    stack: ExitStack
    now: float = 1_790_000_000.0
    step: float = 0
    cvms: list[VariedCvm] = field(default_factory=list)

    def clock(self) -> float:
        return self.now

    def wall_clock(self) -> float:
        return self.now + self.step

    def cluster(self, scene: str = "checkpoint", cvms: int = 1, vdisks: int = 4, *variations: str) -> None:
        cluster = Cluster(scene, cvms=cvms, vdisks=vdisks, seed=1, clock=self.clock)
        for number in range(cvms):
            self.cvms.append(self.stack.enter_context(VariedCvm(cluster, number, variations=variations)))

    def poller(self, settings: NutanixSettings | None = None, number: int = 0, deadline: float = PATIENCE) -> Poller:
        settings = settings or NutanixSettings()
        cvm = CvmSettings(name="cvm-a", url=self.cvms[number].url)
        mapping = {DATA_UUID: VdiskDisk(vm="db1", disk="scsi.1", role="data")}
        client = Client(cvm.url, deadline=deadline)
        return Poller(cvm, settings, mapping, client, wall_clock=self.wall_clock, monotonic=self.clock)

    def slow(self, seconds: float) -> None:
        """The first CVM takes so long for an answer."""
        enter = self.cvms[0].enter

        def slowly(target: str) -> None:
            self.now += seconds
            enter(target)

        self.cvms[0].enter = slowly  # type: ignore[method-assign]

    def poll(self, poller: Poller, seconds: float = 10) -> None:
        """One poll, then the clock goes on."""
        poller.poll()
        self.now += seconds


@pytest.fixture
def world() -> Iterator[World]:
    with ExitStack() as stack:
        yield World(stack)


def render(poller: Poller) -> str:
    return Exposition().render([poller])


def series(poller: Poller, name: str) -> dict[str, float]:
    """The samples of a metric by the labels between its braces."""
    found = re.findall(rf"^{name}(?:{{(.*)}})? (.+)$", render(poller), re.MULTILINE)
    return {labels.replace('cvm="cvm-a"', "").lstrip(","): float(value) for labels, value in found}


def paths(cvm: VariedCvm) -> list[str]:
    return [target.removeprefix("/vdisk_stats?vdisk_id=") for target in cvm.requests if target != "/"]


def test_before_the_first_poll_there_is_nothing(world: World) -> None:
    world.cluster()
    assert render(world.poller()) == ""


def test_a_poll_shows_the_pages(world: World) -> None:
    world.cluster()
    poller = world.poller()
    world.poll(poller)
    assert series(poller, "nutanix_cvm_up") == {"": 1}
    assert series(poller, "nutanix_cvm_last_success_timestamp_seconds") == {"": 1_790_000_000}
    assert len(series(poller, "nutanix_vdisk_info")) == 4
    assert series(poller, "nutanix_cvm_page_errors_total") == {}


def test_only_selected_vdisks_pages_are_read(world: World) -> None:
    world.cluster()
    poller = world.poller()
    world.poll(poller)
    assert paths(world.cvms[0]) == ["45269"]  # by the mapping
    assert list(series(poller, "nutanix_vdisk_details_timestamp_seconds")) == ['vdisk="45269"']
    assert 'vm="db1",disk="scsi.1",role="data"' in render(poller)


def test_pages_of_many_vdisks_take_turns(world: World) -> None:
    world.cluster("checkpoint", 1, 10)
    poller = world.poller(NutanixSettings(vdisks=VdiskSelection(include=(".*",), max_detail_pages=3)))
    for expected in (3, 6, 9, 10):
        world.poll(poller)
        assert len(series(poller, "nutanix_vdisk_details_timestamp_seconds")) == expected
    for _ in range(6):
        world.poll(poller)
    asked = paths(world.cvms[0])
    assert len(asked) == 30
    assert {asked.count(vdisk) for vdisk in set(asked)} == {3}
    ages = [world.now - when for when in series(poller, "nutanix_vdisk_details_timestamp_seconds").values()]
    assert max(ages) == 40


def test_pages_of_vdisks_are_read_only_while_the_interval_lasts(world: World) -> None:
    world.cluster("checkpoint", 1, 10)
    poller = world.poller(NutanixSettings(vdisks=ALL))
    world.slow(4)
    world.poll(poller)
    assert len(world.cvms[0].requests) == 3  # at 0 s, 4 s and 8 s
    assert series(poller, "nutanix_cvm_poll_duration_seconds") == {"": 12}


def test_one_page_of_a_vdisk_is_read_even_if_the_main_page_takes_longer_than_the_interval(world: World) -> None:
    world.cluster("checkpoint", 1, 2)
    poller = world.poller(NutanixSettings(vdisks=ALL))
    world.slow(12)
    seen = []
    for _ in range(2):
        world.poll(poller, 6)
        seen += series(poller, "nutanix_vdisk_details_timestamp_seconds")
    assert sorted(seen) == ['vdisk="40043"', 'vdisk="45269"']


def test_never_more_than_one_request_at_a_time(world: World) -> None:
    world.cluster("checkpoint", 1, 8)
    poller = world.poller(NutanixSettings(vdisks=ALL, oplog_flush_stats=True))
    world.poll(poller)
    assert len(world.cvms[0].requests) == 10
    assert world.cvms[0].most_at_once == 1


def test_the_oplog_page_is_read_if_wanted(world: World) -> None:
    world.cluster()
    poller = world.poller(NutanixSettings(oplog_flush_stats=True))
    world.poll(poller)
    assert "/oplog_flush_stats" in world.cvms[0].requests
    assert series(poller, "nutanix_oplog_utilisation_ratio")['store="lws"'] == 0
    assert 0 < series(poller, "nutanix_oplog_utilisation_ratio")['store="oplog"'] < 0.01


@pytest.mark.parametrize("variation", ["http500", "truncated", "not-a-cvm", "redirect", "closed", "not-http"])
def test_a_failed_poll_is_counted_and_keeps_the_last_numbers_for_three_intervals(world: World, variation: str) -> None:
    world.cluster()
    poller = world.poller()
    world.poll(poller)
    before = series(poller, "nutanix_vdisk_usage_bytes")
    world.cvms[0].variations.add(variation)
    reason = {"http500": "http_status", "not-a-cvm": "not_a_cvm", "not-http": "protocol"}.get(variation, variation)
    for polls in (1, 2):
        poller.poll()
        world.now += 9.9
        assert series(poller, "nutanix_cvm_up") == {"": 0}
        assert series(poller, "nutanix_cvm_page_errors_total") == {f'page="main",reason="{reason}"': polls}
        assert series(poller, "nutanix_vdisk_usage_bytes") == before
        world.now += 0.1
    world.poll(poller)
    assert series(poller, "nutanix_vdisk_usage_bytes") == {}
    assert series(poller, "nutanix_cvm_last_success_timestamp_seconds") == {"": 1_790_000_000}
    world.cvms[0].variations.clear()
    world.poll(poller)
    assert series(poller, "nutanix_cvm_up") == {"": 1}
    assert len(series(poller, "nutanix_vdisk_usage_bytes")) == 4
    assert series(poller, "nutanix_cvm_page_errors_total") == {f'page="main",reason="{reason}"': 3}


def test_a_cvm_that_never_answered_shows_that_it_is_down(world: World) -> None:
    world.cluster("checkpoint", 1, 4, "refused")
    poller = world.poller()
    world.poll(poller)
    assert series(poller, "nutanix_cvm_up") == {"": 0}
    assert series(poller, "nutanix_cvm_last_success_timestamp_seconds") == {}
    assert series(poller, "nutanix_cvm_page_errors_total") == {'page="main",reason="refused"': 1}
    assert "connection refused" in poller.status.error


class Hang:
    """Holds the requests of a simulated CVM from the `after`-th on, until the test ends."""

    def __init__(self, cvm: VariedCvm, after: int = 0) -> None:
        self.waiting, self.end = threading.Event(), threading.Event()
        enter = cvm.enter

        def hold(target: str) -> None:
            enter(target)
            if len(cvm.requests) > after:
                self.waiting.set()
                self.end.wait(PATIENCE)

        cvm.enter = hold  # type: ignore[method-assign]


@contextmanager
def polling(poller: Poller, hang: Hang) -> Iterator[None]:
    """While a poll waits for the CVM."""
    thread = threading.Thread(target=poller.poll)
    thread.start()
    try:
        assert hang.waiting.wait(PATIENCE)
        yield
    finally:
        hang.end.set()
        thread.join(PATIENCE)


@pytest.mark.parametrize("step", [0, 3600, -3600])
def test_a_hanging_cvm_is_down_and_without_numbers_after_three_intervals(world: World, step: float) -> None:
    world.cluster()
    poller = world.poller()
    world.poll(poller)
    assert len(series(poller, "nutanix_vdisk_usage_bytes")) == 4
    world.step = step  # of the wall clock
    with polling(poller, Hang(world.cvms[0], after=2)):
        world.now += 19.9
        assert series(poller, "nutanix_cvm_up") == {"": 1}
        assert len(series(poller, "nutanix_vdisk_usage_bytes")) == 4
        world.now += 0.1
        assert series(poller, "nutanix_cvm_up") == {"": 0}
        assert series(poller, "nutanix_vdisk_usage_bytes") == series(poller, "nutanix_vdisk_info") == {}
        assert series(poller, "nutanix_vdisk_details_timestamp_seconds") == {}
        assert series(poller, "nutanix_cvm_last_success_timestamp_seconds") == {"": 1_790_000_000}
        assert poller.status.error == "no page read for 30 s or more"
    assert series(poller, "nutanix_cvm_up") == {"": 1}
    assert len(series(poller, "nutanix_vdisk_usage_bytes")) == 4


def test_a_cvm_that_hangs_from_the_beginning_is_down_after_three_intervals(world: World) -> None:
    world.cluster()
    poller = world.poller()
    with polling(poller, Hang(world.cvms[0])):
        world.now += 29
        assert render(poller) == ""
        world.now += 1
        assert series(poller, "nutanix_cvm_up") == {"": 0}


def test_the_main_page_is_shown_while_the_page_of_a_vdisk_hangs(world: World) -> None:
    world.cluster()
    poller = world.poller()
    with polling(poller, Hang(world.cvms[0], after=1)):
        assert series(poller, "nutanix_cvm_up") == {"": 1}
        assert len(series(poller, "nutanix_vdisk_usage_bytes")) == 4
        world.now += 30
        assert series(poller, "nutanix_cvm_up") == {"": 0}
        assert series(poller, "nutanix_vdisk_usage_bytes") == {}


def test_pages_that_are_not_read_again_go_one_by_one(world: World) -> None:
    world.cluster()
    poller = world.poller(NutanixSettings(oplog_flush_stats=True))
    world.poll(poller)
    with polling(poller, Hang(world.cvms[0], after=4)):  # the main page is read again, 45269's is not
        assert list(series(poller, "nutanix_oplog_utilisation_ratio")) == ['store="oplog"', 'store="lws"']
        world.now += 20
        assert series(poller, "nutanix_cvm_up") == {"": 1}
        assert len(series(poller, "nutanix_vdisk_usage_bytes")) == 4
        assert series(poller, "nutanix_vdisk_details_timestamp_seconds") == {}
        assert series(poller, "nutanix_oplog_utilisation_ratio") == {}


@pytest.mark.parametrize("step", [3600, -3600])
def test_a_step_of_the_wall_clock_drops_and_keeps_nothing(world: World, step: float) -> None:
    world.cluster()
    poller = world.poller()
    world.poll(poller)
    world.step = step
    world.cvms[0].variations.add("http500")
    world.poll(poller)
    assert len(series(poller, "nutanix_vdisk_usage_bytes")) == 4
    assert len(series(poller, "nutanix_vdisk_details_timestamp_seconds")) == 1
    world.poll(poller)
    assert series(poller, "nutanix_vdisk_usage_bytes") == {}
    assert series(poller, "nutanix_vdisk_details_timestamp_seconds") == {}


def test_a_polling_thread_that_died_leaves_nothing_behind(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.cluster()
    poller = world.poller()
    world.poll(poller)

    def dies(html: bytes, most: int) -> None:
        raise SystemExit

    monkeypatch.setattr(poller_module, "read_main_page", dies)
    with pytest.raises(SystemExit):
        poller.run()
    world.now += 20
    assert series(poller, "nutanix_cvm_up") == {"": 0}
    assert series(poller, "nutanix_vdisk_usage_bytes") == {}


def test_a_page_that_drips_ends_the_poll_at_the_deadline(world: World) -> None:
    world.cluster("checkpoint", 1, 4, "slow")
    poller = Poller(
        CvmSettings(name="cvm-a", url=world.cvms[0].url), NutanixSettings(), {}, Client(world.cvms[0].url, deadline=0.2)
    )
    poller.poll()
    assert series(poller, "nutanix_cvm_page_errors_total") == {'page="main",reason="timeout"': 1}
    assert 0.2 <= series(poller, "nutanix_cvm_poll_duration_seconds")[""] < PATIENCE


def test_an_error_of_its_own_is_counted_and_does_not_end_the_polling(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(html: bytes, most: int) -> None:
        raise ZeroDivisionError

    world.cluster()
    poller = world.poller()
    with monkeypatch.context() as patch:
        patch.setattr(poller_module, "read_main_page", broken)
        world.poll(poller)
    assert series(poller, "nutanix_cvm_up") == {"": 0}
    assert series(poller, "nutanix_cvm_page_errors_total") == {'page="main",reason="internal"': 1}
    assert "ZeroDivisionError" in caplog.text
    world.poll(poller)
    assert series(poller, "nutanix_cvm_up") == {"": 1}


def test_details_are_shown_of_vdisks_without_an_id(world: World) -> None:
    world.cluster()
    cvm = world.cvms[0]
    page = cvm.page
    cvm.page = lambda target: (page(target) or "").replace("VDisk Id", "Number")  # type: ignore[method-assign]
    poller = world.poller(NutanixSettings(vdisks=ALL))
    for _ in range(2):
        world.poll(poller)
    names = [f'vdisk="NFS:{vdisk} (5f0d7d8e-3a52-4c0b-9f0e-{int(vdisk):012d})"' for vdisk in cvm.cluster.vdisks]
    assert list(series(poller, "nutanix_vdisk_details_timestamp_seconds")) == names
    assert series(poller, "nutanix_vdisk_random_ratio")[f'{names[0]},op="write"'] == 1
    assert series(poller, "nutanix_cvm_page_errors_total") == {}


def test_a_vdisk_gone_between_list_and_page_is_no_error(world: World) -> None:
    world.cluster("checkpoint", 1, 4, "vdisk-gone")
    poller = world.poller(NutanixSettings(vdisks=ALL))
    world.poll(poller)
    assert len(series(poller, "nutanix_vdisk_info")) == 4
    assert len(series(poller, "nutanix_vdisk_details_timestamp_seconds")) == 3
    world.poll(poller)
    assert len(series(poller, "nutanix_vdisk_info")) == 3
    assert len(series(poller, "nutanix_vdisk_details_timestamp_seconds")) == 3
    assert series(poller, "nutanix_cvm_page_errors_total") == {}


def test_a_vdisk_that_stays_listed_without_its_page_is_an_error(world: World) -> None:
    world.cluster("checkpoint", 1, 4)
    cvm = world.cvms[0]
    page = cvm.page
    cvm.page = lambda target: None if "40043" in target else page(target)  # type: ignore[method-assign]
    poller = world.poller(NutanixSettings(vdisks=ALL))
    world.poll(poller)
    assert series(poller, "nutanix_cvm_page_errors_total") == {}
    world.poll(poller)
    assert series(poller, "nutanix_cvm_page_errors_total") == {'page="vdisk_stats",reason="http_status"': 1}
    assert len(series(poller, "nutanix_vdisk_details_timestamp_seconds")) == 3
    assert series(poller, "nutanix_cvm_up") == {"": 1}


def test_a_vdisk_that_moved_is_shown_by_the_cvm_that_has_it(world: World) -> None:
    world.cluster("locality", 2, 1)
    first, second = world.poller(number=0), world.poller(number=1)
    for poller in (first, second):
        poller.poll()
    assert list(series(first, "nutanix_vdisk_details_timestamp_seconds")) == ['vdisk="45269"']
    assert series(second, "nutanix_vdisk_details_timestamp_seconds") == {}
    world.now += 65
    for poller in (first, second):
        poller.poll()
    assert series(first, "nutanix_vdisk_info") == series(first, "nutanix_vdisk_details_timestamp_seconds") == {}
    assert list(series(second, "nutanix_vdisk_details_timestamp_seconds")) == ['vdisk="45269"']
    assert all(series(poller, "nutanix_cvm_page_errors_total") == {} for poller in (first, second))


def test_details_that_cannot_be_read_again_are_dropped_after_three_rounds(world: World) -> None:
    world.cluster("checkpoint", 1, 4)
    cvm = world.cvms[0]
    page = cvm.page

    def no_details(target: str) -> str | None:
        if target != "/":
            raise ConnectionResetError
        return page(target)

    poller = world.poller(NutanixSettings(vdisks=ALL))
    world.poll(poller)
    assert len(series(poller, "nutanix_vdisk_details_timestamp_seconds")) == 4
    cvm.page = no_details  # type: ignore[method-assign]
    left = []
    for _ in range(3):
        poller.poll()
        left.append(len(series(poller, "nutanix_vdisk_details_timestamp_seconds")))
        world.now += 10
    assert left == [3, 2, 0]  # one is asked for a poll, as the connection is in trouble
    assert series(poller, "nutanix_cvm_up") == {"": 1}
    assert series(poller, "nutanix_cvm_page_errors_total") == {'page="vdisk_stats",reason="closed"': 3}


@pytest.mark.parametrize("page", ["45269", "oplog_flush_stats"])
def test_a_poll_requests_nothing_more_of_a_cvm_that_does_not_answer(world: World, page: str) -> None:
    world.cluster()
    cvm = world.cvms[0]
    answer = cvm.page

    def none_after(target: str) -> str | None:
        if page in target:
            raise ConnectionResetError
        return answer(target)

    cvm.page = none_after  # type: ignore[method-assign]
    world.poll(world.poller(NutanixSettings(vdisks=ALL, oplog_flush_stats=True)))
    assert page in cvm.requests[-1]


def test_the_log_reports_a_page_that_stays_broken_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    world.cluster()
    cvm = world.cvms[0]
    page = cvm.page
    cvm.page = lambda target: None if "45269" in target else page(target)  # type: ignore[method-assign]
    poller = world.poller(NutanixSettings(vdisks=VdiskSelection(include=(".*",), max_detail_pages=1)))
    for _ in range(20):
        world.poll(poller)
    cvm.page = page  # type: ignore[method-assign]
    for _ in range(4):
        world.poll(poller)
    assert [record.getMessage() for record in caplog.records] == [
        "cvm cvm-a: page vdisk_stats: http_status: HTTP status 404",
        "cvm cvm-a: page vdisk_stats: readable again",
    ]


def test_a_restart_of_stargate_drops_details_from_before(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    world.cluster("checkpoint", 1, 4, "restart")
    poller = world.poller(NutanixSettings(vdisks=VdiskSelection(include=(".*",), max_detail_pages=2)))
    world.poll(poller, 20)
    world.poll(poller, 20)
    started = series(poller, "nutanix_stargate_start_timestamp_seconds")[""]
    assert len(series(poller, "nutanix_vdisk_details_timestamp_seconds")) == 4
    world.poll(poller)
    assert series(poller, "nutanix_stargate_start_timestamp_seconds")[""] > started
    assert len(series(poller, "nutanix_vdisk_details_timestamp_seconds")) == 2
    assert caplog.text.count("Stargate was restarted") == 1


def test_the_log_has_one_line_for_each_change_of_condition(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    world.cluster()
    poller = world.poller()
    for _ in range(2):
        world.poll(poller)
    for variation in ("http500", "truncated"):
        world.cvms[0].variations = {variation}
        for _ in range(3):
            world.poll(poller)
    world.cvms[0].variations = {"columns-extra"}
    for _ in range(3):
        world.poll(poller)
    lines = [record.getMessage().partition(" (")[0] for record in caplog.records]
    assert [re.sub(r"\d+", "N", line) for line in lines] == [
        "cvm cvm-a: page main: http_status: HTTP status N",
        "cvm cvm-a: page main: truncated: ends after N of N bytes",
        "cvm cvm-a: page main: readable again",
        "cvm cvm-a: page main, in part: unrecognised: N items not recognised: run benchwatch nutanix check",
    ]


def test_what_is_not_understood_is_counted_by_section(world: World) -> None:
    world.cluster("checkpoint", 1, 4, "columns-extra")
    poller = world.poller()
    for _ in range(2):
        world.poll(poller)
    counts = series(poller, "nutanix_cvm_unrecognised_rows_total")
    assert counts['section="hosted_vdisks"'] == counts['section="nfs"'] == 4
    assert counts['section="read_source"'] == 4


def test_front_end_rows_without_a_hosted_vdisk_are_counted(world: World) -> None:
    world.cluster("checkpoint", 1, 4, "rows-extra")
    poller = world.poller()
    for _ in range(2):
        world.poll(poller)
    assert series(poller, "nutanix_cvm_unmatched_rows_total") == {"": 2}
    world.cvms[0].variations = {"names-differ"}
    world.poll(poller)
    assert series(poller, "nutanix_cvm_unmatched_rows_total") == {"": 2}
    assert set(series(poller, "nutanix_vdisk_frontend_busy_ratio")) == set(series(poller, "nutanix_vdisk_busy_ratio"))


def test_polls_start_on_a_grid_and_never_overlap(world: World) -> None:
    world.cluster()
    began: list[float] = []
    waits: list[float] = []
    durations = iter([0.5, 12.0, 25.0, 0.5, 0.5])
    origin = world.now

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        world.now += seconds
        return len(waits) == 5

    cvm = CvmSettings(name="cvm-a", url=world.cvms[0].url)
    poller = Poller(
        cvm, NutanixSettings(), {}, Client(cvm.url), wall_clock=world.clock, monotonic=world.clock, wait=wait
    )
    poll = poller.poll

    def timed() -> None:
        began.append(world.now - origin)
        poll()
        world.now += next(durations)

    poller.poll = timed  # type: ignore[method-assign]
    poller.run()
    assert began == [0, 10, 30, 60, 70]
    assert waits == [9.5, 8, 5, 9.5, 9.5]


def test_a_started_poller_polls_and_stops(world: World) -> None:
    world.cluster()
    settings = NutanixSettings(
        cvms=(CvmSettings(name="cvm-a", url=world.cvms[0].url),), poll_interval=Duration(0.05), allow_fast_polling=True
    )
    (poller,) = start_pollers(settings, {})
    eventually(lambda: world.cvms[0].requests.count("/") >= 3, "it polls three times")
    poller.stop()
    eventually(lambda: not any(thread.name == "cvm cvm-a" for thread in threading.enumerate()), "its thread ends")
    assert poller.status.last_success is not None


def test_a_scrape_sees_one_snapshot_while_another_is_made(world: World) -> None:
    world.cluster("up-migration", 1, 1)
    poller = world.poller()
    poller.poll()
    enough = threading.Event()

    def polls() -> None:
        while not enough.is_set():
            world.now += 1
            poller.poll()

    thread = threading.Thread(target=polls)
    thread.start()
    exposition = Exposition()
    seen = set()
    try:
        while len(seen) < 10:
            text = exposition.render([poller])
            front, back = (
                re.findall(rf'nutanix_vdisk_{view}_ops_per_second{{.*op="read"}} (.*)', text)
                for view in ("frontend", "backend")
            )
            assert front == back
            assert thread.is_alive()
            seen.add(front[0])
    finally:
        enough.set()
        thread.join(PATIENCE)
