"""The vdisks of CVMs whose samples are made up, as data."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from benchwatch.metrics.samples import Sample
from benchwatch.model.cvm import Vdisk
from benchwatch.nutanix import families
from benchwatch.server.exporter import Exporter
from tests.support.places import NOW


class Cvm:
    """A poller that has read so many vdisks at some time: those of pg1 are 0 and 1."""

    name = "cvm1"
    url = "http://cvm1:2009"

    def __init__(self, vdisks: int) -> None:
        self.polls = 0
        self.load = 1.0
        self._vdisks = vdisks
        self.poll(NOW)

    def poll(self, time: float) -> None:
        self.status = SimpleNamespace(snapshot=SimpleNamespace(time=time), error="", up=True, last_success=time)

    def samples(self) -> Iterator[Sample]:
        self.polls += 1
        for number in range(self._vdisks):
            vm, role = ("pg1", ("data", "log")[number]) if number < 2 else ("other", "")
            yield Sample(families.VDISK_INFO, (str(number), "", f"NFS:{number}", vm, "", role), 1)
            yield Sample(families.FRONTEND_OPS, (str(number), "read"), (100.0 + number) * self.load)
            yield Sample(families.FRONTEND_OPS, (str(number), "write"), 0.0)
            yield Sample(families.FRONTEND_LATENCY, (str(number), "read"), 0.001)


def test_a_poll_is_looked_at_once_and_has_the_names_roles_and_figures_of_its_vdisks() -> None:
    cvm = Cvm(3)
    runs: Any = None
    poller: Any = cvm
    exporter = Exporter(runs, [poller])
    for second in range(30):
        if second % 10 == 0:
            cvm.poll(NOW + second)
        (shown,) = exporter.cvms()
    assert cvm.polls == 3
    names = ("pg1", "data"), ("pg1", "log"), ("other", "")
    figures = [({"read": 100.0 + number, "write": 0.0}, {"read": 0.001}) for number in range(3)]
    assert list(shown.vdisks) == [
        Vdisk("cvm1", str(number), vm, "", role, NOW + 20, *figures[number]) for number, (vm, role) in enumerate(names)
    ]
