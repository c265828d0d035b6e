"""The live engine: what it exports and when, in simulated rounds, beside slow and hostile servers."""

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import pytest

from benchwatch.metrics.exposition import Exposition
from benchwatch.why.live import Engine
from benchwatch.why.prometheus import Prometheus, PrometheusError
from benchwatch.why.seen import Samples
from tests.lab.why import Heard, Recorded, simulated

from .scenes import FAULT, LENGTH, T0, seen
from .test_sentences import BLOCKER, CASES, LOCKED


@pytest.fixture(scope="module")
def rounds() -> Mapping[str, Heard]:
    return {one.round.fault: one for one in simulated("1")}


@pytest.mark.slow(15)
def test_each_scene_of_a_cvm_is_named_within_30_seconds_with_two_messages_at_most(rounds: Mapping[str, Heard]) -> None:
    assert {fault: one.layer for fault, one in rounds.items()} == {
        fault: one.round.expected for fault, one in rounds.items()
    }
    assert max(one.messages for one in rounds.values()) == 2
    assert {one.said[0][0] for one in rounds.values() if one.said} <= {2, 3, 4, 5}, "seconds until the first message"


def test_the_sentence_names_the_device_first_and_then_what_is_below_it(rounds: Mapping[str, Heard]) -> None:
    first, *_, last = rounds["oplog-full"].said
    assert first[1] == "log_device"
    assert "writes of sdb take" in first[2] and "vdisk" not in first[2]
    assert "vdisk 40043" in last[2] and "the oplog is full, 40 % go there, usually 100 %" in last[2]
    assert "usual (" in rounds["path-slow"].said[-1][2]
    assert "comes from hard disks" in rounds["reads-hdd"].said[-1][2]
    assert "comes from another node" in rounds["reads-remote"].said[-1][2]
    assert not rounds["steady"].said


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
    assert len(texts) <= 2, "a text per second would be a series per second"


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


def test_two_runs_on_one_server_each_get_a_verdict() -> None:
    samples = list(seen(CASES["log device"][0]).all())
    other = [one._replace(labels=one.labels | {"run": "other"}) for one in samples if one.labels.get("run")]
    *_, (_, page) = played(Counted([*samples, *other], ["tpcb", "other"]), FAULT - 2, LENGTH - 3)
    assert 'run="tpcb",host="db1",layer="log_device"' in page
    assert 'run="other",host="db1",layer="log_device"' in page


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


class Away(Counted):
    """A Prometheus that does not answer at some seconds."""

    def at(self, query: str, moment: float) -> list[tuple[Mapping[str, str], float]]:
        if FAULT + 3 <= moment - T0 < FAULT + 6:
            raise PrometheusError("away")
        return super().at(query, moment)


def test_a_prometheus_that_was_away_is_said_and_judged_from_when_it_is_back() -> None:
    pages = dict(played(Away(list(seen(LOCKED).all()), ["tpcb"]), FAULT - 5, LENGTH - 2))
    assert "benchwatch_why_up 0" in pages[FAULT + 4]
    assert "benchwatch_why_up 1" in pages[LENGTH - 3]
    assert 'layer="database"' in pages[LENGTH - 3]


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
    engine = Engine(Prometheus(f"http://127.0.0.1:{listening.getsockname()[1]}", 0.0, 0.0, 0.5))
    looks = threading.Thread(target=engine.look, daemon=True)
    looks.start()
    assert "benchwatch_why_up 0" in Exposition().render([engine])
    looks.join(8)
    assert not looks.is_alive(), "one deadline for the whole answer"
    listening.close()
