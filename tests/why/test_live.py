"""The live engine: what it exports and when, in simulated rounds, beside slow and hostile servers."""

import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import numpy as np
import pytest

from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.prometheus import Prometheus, PrometheusError, Samples
from benchwatch.why.live import Engine
from tests.lab.judging import Round
from tests.lab.why import Recorded, simulated

from . import scenes
from .scenes import FAULT, LENGTH, T0, gauge, seen
from .test_sentences import BLOCKER, CASES, LOCKED


@pytest.fixture(scope="module")
def rounds() -> Mapping[str, Round]:
    return {one.fault: one for one in simulated("1")}


@pytest.mark.slow(15)
def test_each_scene_of_a_cvm_is_named_within_30_seconds_with_two_messages_at_most(rounds: Mapping[str, Round]) -> None:
    assert [fault for fault, one in rounds.items() if not one.layer_right] == []
    assert max(len(one.messages) for one in rounds.values()) == 2
    assert {one.messages[0].after for one in rounds.values() if one.messages} <= {5, 6, 7, 8}


def test_the_sentence_names_the_device_first_and_then_what_is_below_it(rounds: Mapping[str, Round]) -> None:
    first, last = rounds["oplog-full"].messages
    assert first.layer == "log_device"
    assert "writes of sdb (log) take" in first.text and "vdisk" not in first.text
    assert "; the log vdisk 40043 of pg1 takes" in last.text
    assert "the oplog is full, 40 % go there, usually 100 %" in last.text
    assert "usual (" in rounds["path-slow"].messages[-1].text
    assert "comes from hard disks" in rounds["reads-hdd"].messages[-1].text
    assert "comes from another node" in rounds["reads-remote"].messages[-1].text
    assert not rounds["steady"].messages


def key(one: Samples) -> tuple[str, ...]:
    return one.labels["__name__"], *(f"{name}={value}" for name, value in sorted(one.labels.items()))


class Counted(Recorded):
    """Counts the questions for raw samples; says that runs are slow from FAULT on, or `always`."""

    def __init__(self, samples: list[Samples], runs: list[str], always: bool = True) -> None:
        super().__init__(samples, runs)
        self.asked: list[tuple[str, float]] = []
        self.always = always

    def at(self, query: str, moment: float) -> list[tuple[Mapping[str, str], float]]:
        found = super().at(query, moment)
        active = [({"__name__": "run:benchwatch_run_state:begun", "run": one["run"]}, value) for one, value in found]
        return found if self.always or moment >= T0 + FAULT + 2 else active

    def samples(self, selector: str, begin: float, end: float) -> list[Samples]:
        self.asked.append((selector, end - begin))
        return super().samples(selector, begin, end)


def played(prometheus: Prometheus, begin: int, end: int) -> Iterator[tuple[int, str]]:
    """The page of an engine that looks each second from `begin` to `end`."""
    now = T0
    engine = Engine(prometheus, lambda: now)
    for second in range(begin, end):
        now = T0 + second
        engine.look()
        yield second, Exposition().render([engine])


def test_a_lock_is_exported_with_its_text_its_milliseconds_and_since_when() -> None:
    prometheus = Counted(list(seen(LOCKED, more=[BLOCKER]).all()), ["tpcb"])
    pages = dict(played(prometheus, FAULT - 5, LENGTH - 2))
    assert "benchwatch_run_why" not in pages[FAULT - 1]
    page = pages[LENGTH - 3]
    assert 'benchwatch_run_why_info{run="tpcb",host="db1",layer="database",text="pgbench on db1 takes 49 ms' in page
    assert "held by 'LOCK TABLE pgbench_branches'" in page
    assert 'benchwatch_run_why_seconds{run="tpcb",stage="lock",when="now"} 0.04' in page
    assert f'benchwatch_run_why_since_timestamp_seconds{{run="tpcb"}} {T0 + FAULT:.0f}'[:-1] in page
    texts = {
        line for page in pages.values() for line in page.splitlines() if line.startswith("benchwatch_run_why_info")
    }
    assert len(texts) <= 3, "a text per second would be a series per second"


def test_the_stages_add_up_to_the_latency_that_the_sentence_says_in_each_second() -> None:
    def course(one: Samples) -> Samples:
        if one.labels["__name__"] != "pgbench_latency_average_seconds":
            return one
        second = np.floor(one.times - T0)
        return one._replace(values=np.where(second < FAULT, 0.006, 0.03 + 0.002 * (second - FAULT)))

    prometheus = Counted([course(one) for one in seen(LOCKED, more=[BLOCKER]).all()], ["tpcb"])
    pages = [page for _, page in played(prometheus, FAULT - 5, LENGTH - 2) if "benchwatch_run_why_info{" in page]
    assert len(pages) > 10
    for page in pages:
        stages = re.findall(r'benchwatch_run_why_seconds\{run="tpcb",stage="[^"]+",when="now"\} (\S+)', page)
        latency = re.search(r"takes (\S+) ms a transaction", page)
        assert latency and float(latency[1]) == pytest.approx(1000 * sum(map(float, stages)), rel=0.01)


def test_vdisks_are_asked_for_although_a_run_was_slow_before_the_first_page_of_its_cvm() -> None:
    first = FAULT + 6
    info = gauge("nutanix_vdisk_info", 1, 1, cvm="cvm1", vdisk="40043", vm="db1")
    info = info._replace(times=info.times[first:], values=info.values[first:])
    machine = gauge("benchwatch_run_vm_info", 1, 1, run="tpcb", worker="db1", host="db1", vm="db1")
    late = Counted(list(seen(CASES["log device"][0], more=[machine, info]).all()), ["tpcb"])
    for second, _ in played(late, FAULT - 40, first + 5):
        if second == first:
            assert len(late.asked) > 2
            late.asked.clear()
    assert any("nutanix_vdisk_frontend" in selector and "40043" in selector for selector, _ in late.asked)


def test_machines_of_a_young_run_are_asked_for_only_while_it_is_slow() -> None:
    young = Counted(list(seen(LOCKED).all()), ["tpcb"], always=False)
    for second, _ in played(young, FAULT - 40, FAULT + 6):
        if second == FAULT:
            assert len(young.asked) == 41
    assert len(young.asked) > 41 + 6


def test_slow_runs_share_their_questions_and_each_has_its_own_answer() -> None:
    def other(one: Samples) -> Samples:
        named = {"tpcb": "other", "db1": "db2", "client1": "client2"}
        return one._replace(labels={name: named.get(value, value) for name, value in one.labels.items()})

    both = [*seen(LOCKED, more=[BLOCKER]).all(), *map(other, seen(CASES["log device"][0]).all())]
    prometheus = Counted(both, ["tpcb", "other"])
    pages = {}
    for second, pages[second] in played(prometheus, FAULT - 5, LENGTH - 2):
        if second == FAULT + 8:
            prometheus.asked.clear()
        if second == FAULT + 9:
            assert len(prometheus.asked) == 2
    page = pages[LENGTH - 3]
    assert 'benchwatch_run_why_info{run="tpcb",host="db1",layer="database",text="pgbench on db1 takes 49 ms' in page
    assert 'benchwatch_run_why_info{run="other",host="db2",layer="log_device",text="pgbench on db2 takes 49 ms' in page


def test_raw_samples_are_asked_for_only_while_a_run_is_slow_or_young() -> None:
    quiet = Counted(list(seen({}).all()), ["tpcb"], always=False)
    pages = played(quiet, 0, FAULT)
    for second, _ in pages:
        if second == 50:
            quiet.asked.clear()  # young runs are watched closely
    assert not quiet.asked
    slow = Counted(list(seen(LOCKED).all()), ["tpcb"], always=False)
    for second, _ in played(slow, FAULT - 60, LENGTH):
        if second == FAULT + 2:
            slow.asked.clear()
    assert slow.asked and max(seconds for _, seconds in slow.asked) <= 5, "only what is new"
    assert len(slow.asked) <= 2 * (LENGTH - FAULT), "one range of the run and one of its machines a second"


def test_a_slow_time_that_lasts_is_looked_at_every_five_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenes, "LENGTH", FAULT + 60)
    lasting = Counted(list(seen(LOCKED).all()), ["tpcb"], always=False)
    pages = []
    for second, page in played(lasting, FAULT - 60, FAULT + 58):
        pages.append(page)
        if second == FAULT + 27:
            lasting.asked.clear()
    assert 'layer="database"' in pages[-1]
    assert 2 * 5 <= len(lasting.asked) <= 2 * 7


def test_two_runs_on_one_server_each_get_a_verdict() -> None:
    samples = list(seen(CASES["log device"][0]).all())
    other = [one._replace(labels=one.labels | {"run": "other"}) for one in samples if one.labels.get("run")]
    *_, (_, page) = played(Counted([*samples, *other], ["tpcb", "other"]), FAULT - 2, LENGTH - 3)
    assert 'run="tpcb",host="db1",layer="log_device"' in page
    assert 'run="other",host="db1",layer="log_device"' in page


def test_people_are_told_after_5_seconds_of_the_layer_that_is_found_until_then() -> None:
    """For two seconds, time outside the database looks like the network."""
    locked, network = ({key(one): one for one in seen(fault).all()} for fault in (LOCKED, LOCKED | CASES["network"][0]))
    samples = []
    for name, one in locked.items():
        values = one.values.copy()
        if name[0] != "pg_sessions_time_active_seconds_total" and name in network:
            values[FAULT : FAULT + 3] = network[name].values[FAULT : FAULT + 3]
        samples.append(one._replace(values=values))
    pages = dict(played(Counted(samples, ["tpcb"]), FAULT - 5, LENGTH - 2))
    told = {line for page in pages.values() for line in page.splitlines() if line.startswith("benchwatch_run_why_m")}
    assert [line.partition("layer=")[2].partition(",")[0] for line in told] == ['"database"']


def test_two_runs_on_one_server_with_one_cause_are_one_message() -> None:
    samples = list(seen(CASES["log device"][0]).all())
    other = [one._replace(labels=one.labels | {"run": "other"}) for one in samples if one.labels.get("run")]
    messages = {
        line
        for _, page in played(Counted([*samples, *other], ["tpcb", "other"]), FAULT - 2, LENGTH - 3)
        for line in page.splitlines()
        if line.startswith("benchwatch_run_why_message{")
    }
    since = f"{datetime.fromtimestamp(T0 + FAULT, UTC):%H:%M:%S}"
    assert messages == {
        f'benchwatch_run_why_message{{run="other",host="db1",layer="log_device",since="{since}",corrected=""}} 1'
    }


def test_an_earlier_slow_time_two_minutes_before_hides_no_second_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raw samples are asked for anew when a run becomes slow; they must not begin in the middle of the earlier one."""
    earlier, later, length = 180, 300, 330
    monkeypatch.setattr(scenes, "FAULT", later)
    monkeypatch.setattr(scenes, "LENGTH", length)
    samples = []
    for one in seen(CASES["log device"][0]).all():
        if one.labels["__name__"] == "pgbench_latency_average_seconds":
            one.values[earlier : earlier + 20] = 0.049
        samples.append(one)

    def page(begin: int, first: int, last: int) -> str:
        """At the end, of an engine that looks from `begin`; the run is slow by the rules from `first` to `last`."""

        class Slow(Recorded):
            def at(self, query: str, moment: float) -> list[tuple[Mapping[str, str], float]]:
                slow = first <= moment - T0 < last
                return super().at(query, moment) if slow else [({"run": "tpcb"}, 1.0)]

        return dict(played(Slow(samples, ["tpcb"]), begin, later + 9))[later + 8]

    assert 'layer="log_device",text=' in page(later - 60, later + 2, length)
    assert 'layer="log_device",text=' in page(earlier - 60, earlier + 2, earlier + 20), "their usual has slow seconds"


class Away(Counted):
    """A Prometheus that does not answer at some seconds."""

    def at(self, query: str, moment: float) -> list[tuple[Mapping[str, str], float]]:
        if FAULT + 3 <= moment - T0 < FAULT + 6:
            raise PrometheusError("away")
        return super().at(query, moment)


def test_a_prometheus_that_was_away_is_said_and_judged_from_when_it_is_back(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    pages = dict(played(Away(list(seen(LOCKED).all()), ["tpcb"]), FAULT - 5, LENGTH - 2))
    assert "benchwatch_why_up 0" in pages[FAULT + 4]
    assert "benchwatch_why_up 1" in pages[LENGTH - 3]
    assert 'layer="database"' in pages[LENGTH - 3]
    assert caplog.messages == [
        "cannot tell why runs are slow: away",
        "Prometheus answers again: slow runs are explained",
    ]


def test_a_prometheus_that_drips_delays_no_page() -> None:
    """It sends a byte now and then, and never an end."""
    listening = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = listening.accept()
        with connection:
            for part in (b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", *[b"{"] * 100):
                try:
                    connection.sendall(part)
                except OSError:
                    return
                time.sleep(0.1)

    threading.Thread(target=drip, daemon=True).start()
    engine = Engine(Prometheus(f"http://127.0.0.1:{listening.getsockname()[1]}", 0.5))
    looks = threading.Thread(target=engine.look, daemon=True)
    looks.start()
    assert "benchwatch_why_up 0" in Exposition().render([engine])
    looks.join(8)
    assert not looks.is_alive(), "one deadline for the whole answer"
    listening.close()
