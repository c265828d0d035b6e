"""Recorded runs, from what is asked of a Prometheus."""

from collections.abc import Iterator, Mapping

import pytest

from benchwatch.metrics.prometheus import Samples, Seen
from benchwatch.why.judging import explanations, usual_of_kin
from benchwatch.why.seen import seen_run
from tests.lab.why import Recorded

from .scenes import FAULT, HOSTS, LENGTH, T0, gauge, seen
from .test_sentences import BLOCKER, CASES, explained


class Ended(Recorded):
    """The run began at T0 and ended with its last sample."""

    def at(self, query: str, moment: float) -> list[tuple[Mapping[str, str], float]]:
        return [({"run": "tpcb"}, T0 if "start_timestamp" in query else T0 + LENGTH)]


def configured(fault: Mapping[str, float]) -> Iterator[Samples]:
    yield from seen(fault, missing=["benchwatch_run_disk_info"]).all()
    for device, role in (("sdb", "log"), ("sdc", "data")):
        yield gauge("benchwatch_disk_info", 1, 1, host=HOSTS["server"], device=device, role=role)


@pytest.mark.parametrize("name", CASES)
def test_what_is_asked_for_is_enough_for_each_cause(name: str) -> None:
    samples = seen(CASES[name][0], more=[BLOCKER] if name == "lock" else [])
    (found,) = explanations(Ended(list(samples.all()), ["tpcb"]), "tpcb", None, None, T0 + LENGTH) or []
    assert found.cause.layer == CASES[name][1]
    assert found.cause.text == explained(samples).cause.text
    assert not found.unseen


def test_a_slow_time_lasts_until_some_seconds_were_as_usual_or_the_run_has_ended() -> None:
    class Active(Ended):
        def at(self, query: str, moment: float) -> list[tuple[Mapping[str, str], float]]:
            return super().at(query, moment) if "start_timestamp" in query else []

    samples = list(seen(CASES["network"][0]).all())
    for prometheus, now, over in ((Ended, LENGTH, True), (Active, LENGTH, False), (Active, LENGTH + 20, True)):
        (found,) = explanations(prometheus(samples, ["tpcb"]), "tpcb", None, None, T0 + now) or []
        assert found.over is over


def test_of_a_run_that_says_it_began_in_1970_the_last_month_is_asked_for() -> None:
    asked: list[float] = []

    class Ancient(Recorded):
        def at(self, query: str, moment: float) -> list[tuple[Mapping[str, str], float]]:
            return [({"run": "tpcb"}, 0.0)] if "start_timestamp" in query else []

        def samples(self, selector: str, begin: float, end: float) -> list[Samples]:
            asked.append(begin)
            assert len(asked) < 1000
            return super().samples(selector, begin, end)

    samples = list(seen(CASES["log device"][0]).all())
    (found,) = explanations(Ancient(samples, ["tpcb"]), "tpcb", None, None, T0 + LENGTH) or []
    assert found.cause.layer == CASES["log device"][1]
    assert min(asked) == T0 + LENGTH - 30 * 86400


def test_a_slow_device_is_named_whose_role_only_the_configuration_has() -> None:
    of_tpcb = Ended(list(configured(CASES["log device"][0])), ["tpcb"])
    (found,) = explanations(of_tpcb, "tpcb", None, None, T0 + LENGTH) or []
    assert "writes of sdb (log) take 74.7 ms, usually 800 µs" in found.cause.text


def test_the_usual_of_a_later_run_of_the_kind_has_the_figures_of_its_devices() -> None:
    later = seen_run(Seen(configured({})), "tpcb", T0, T0 + FAULT)
    later = later._replace(facts=later.facts._replace(start=T0 + LENGTH + 5))
    usual = usual_of_kin(Ended(list(configured({})), ["tpcb"]), later, T0 + LENGTH + 10)
    assert usual
    assert usual.window.disk("sdb", "write").wait == pytest.approx(0.0008)
