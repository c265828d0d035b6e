from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from benchwatch.nutanix.client import Client
from benchwatch.nutanix.mapping import Unlisted
from benchwatch.nutanix.poller import Poller
from benchwatch.nutanix.simulator.cluster import Cluster
from benchwatch.nutanix.simulator.server import SimulatedCvm
from benchwatch.settings.cvm_settings import CvmSettings, NutanixSettings, VdiskDisk

THERE = "5f0d7d8e-3a52-4c0b-9f0e-000000045269"
MAPPING = {THERE: VdiskDisk(vm="pg1"), "nowhere": VdiskDisk(vm="pg2"), "no-vm": VdiskDisk()}
EXPECTED = "expected the uuid in the name of a vdisk of a running VM"


class Watch:
    """Two CVMs, their pollers on one clock, and who looks for the vdisks of the mapping."""

    def __init__(self, stack: ExitStack) -> None:
        self.now = 1_000_000.0
        cluster = Cluster("checkpoint", cvms=2, vdisks=4, seed=1, clock=lambda: self.now)
        self.cvms = [stack.enter_context(SimulatedCvm(cluster, number)) for number in range(2)]
        settings = NutanixSettings()
        self.pollers = [
            Poller(CvmSettings(name=str(number), url=cvm.url), settings, MAPPING, Client(cvm.url), monotonic=self.clock)
            for number, cvm in enumerate(self.cvms)
        ]
        self.unlisted = Unlisted(MAPPING, self.pollers, 10)

    def clock(self) -> float:
        return self.now

    def polls(self, number: int, *pollers: Poller) -> list[str]:
        """What is said of so many polls of these, all unless told otherwise."""
        said = []
        for _ in range(number):
            for poller in pollers or self.pollers:
                poller.poll()
            said += self.unlisted.news(self.now)
            self.now += 10
        return said


@pytest.fixture
def watch() -> Iterator[Watch]:
    with ExitStack() as stack:
        yield Watch(stack)


def test_a_vdisk_that_no_cvm_lists_for_three_polls_is_named_once(watch: Watch) -> None:
    assert watch.polls(3) == []
    assert watch.polls(1) == [
        f"mapping: no configured CVM lists the vdisk 'nowhere' (vm 'pg2'): {EXPECTED}",
        f"mapping: no configured CVM lists the vdisk 'no-vm': {EXPECTED}",
    ]
    assert watch.polls(10) == []


def test_nothing_is_said_while_a_cvm_does_not_answer(watch: Watch) -> None:
    assert watch.polls(10, watch.pollers[0]) == []
    assert watch.polls(3) == []
    assert len(watch.polls(1)) == 2


def test_nothing_is_said_without_cvms() -> None:
    assert Unlisted(MAPPING, [], 10).news(1e6) == []
