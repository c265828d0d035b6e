"""The vdisks on the page of a run, of CVMs whose samples are made up."""

from collections.abc import Iterator
from types import SimpleNamespace

from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.samples import Sample
from benchwatch.model.cvm import Vdisk
from benchwatch.nutanix import families
from benchwatch.server.vdisks import VdiskHistory, Vdisks
from tests.support.places import NOW


class Cvm:
    """A poller that has read so many vdisks at some time: those of pg1 are 0 and 1."""

    name = "cvm1"

    def __init__(self, vdisks: int) -> None:
        self.polls = 0
        self.load = 1.0
        self._vdisks = vdisks
        self.poll(NOW)

    def poll(self, time: float) -> None:
        self.status = SimpleNamespace(snapshot=SimpleNamespace(time=time))

    def samples(self) -> Iterator[Sample]:
        self.polls += 1
        for number in range(self._vdisks):
            vm, role = ("pg1", ("data", "log")[number]) if number < 2 else ("other", "")
            yield Sample(families.VDISK_INFO, (str(number), "", f"NFS:{number}", vm, "", role), 1)
            yield Sample(families.FRONTEND_OPS, (str(number), "read"), (100.0 + number) * self.load)
            yield Sample(families.FRONTEND_OPS, (str(number), "write"), 0.0)
            yield Sample(families.FRONTEND_LATENCY, (str(number), "read"), 0.001)


def test_those_of_the_runs_machine_are_shown_else_the_busiest_of_all() -> None:
    vdisks = Vdisks([Cvm(20)], Exposition().failed)  # type: ignore[list-item]
    assert {(one.vdisk, one.role) for one in vdisks.of({"pg1"})} == {("0", "data"), ("1", "log")}
    assert {one.vdisk for one in vdisks.of({"unknown"})} == {str(number) for number in range(14, 20)}


def test_a_poll_is_looked_at_once_and_each_is_a_point_of_the_plots() -> None:
    cvm = Cvm(2)
    vdisks, history = Vdisks([cvm], Exposition().failed), VdiskHistory()  # type: ignore[list-item]
    for second in range(30):
        if second % 10 == 0:
            cvm.poll(NOW + second)
        history.note(vdisks.of({"pg1"}))
    assert cvm.polls == 3
    operations, latency = history.plots(NOW - 60, 60.0)
    assert [line.name for line in operations.drawings] == ["data read", "log read"]
    assert [len(line.x) for line in (*operations.drawings, *latency.drawings)] == [3] * 4


def test_a_vdisk_that_does_nothing_for_a_while_has_a_zero_there_and_no_gap() -> None:
    cvm = Cvm(1)
    vdisks, history = Vdisks([cvm], Exposition().failed), VdiskHistory()  # type: ignore[list-item]
    for poll, cvm.load in enumerate((1.0, 0.0, 1.0)):
        cvm.poll(NOW + 30 * poll)
        history.note(vdisks.of({"pg1"}))
    operations, _ = history.plots(NOW - 60, 60.0)
    (line,) = operations.drawings
    assert line.name == "data read"
    assert line.y.tolist() == [100.0, 0.0, 100.0]


def test_vdisks_of_the_same_role_have_curves_and_names_of_their_own() -> None:
    history = VdiskHistory()
    figures = {"read": 100.0}, {"read": 0.001}
    history.note([Vdisk("cvm1", vdisk, "pg1", "", "data", NOW, *figures) for vdisk in ("40", "41")])
    operations, _ = history.plots(NOW - 60, 60.0)
    assert [line.name for line in operations.drawings] == ["data 40 read", "data 41 read"]
