"""Vdisks that the mapping names and no CVM lists: misspelt, of a CVM that is not configured, or of a VM that is off."""

from collections.abc import Sequence

from ..values.errors import excerpt
from .pages.main_page import MainPage, file_name
from .poller import KEEP_INTERVALS, Poller
from .settings import Mapped


class Unlisted:
    """What the pollers have missed; asked now and then on a monotonic clock, seconds."""

    def __init__(self, mapping: Mapped, pollers: Sequence[Poller], poll_interval: float) -> None:
        self._mapping = mapping
        self._pollers = pollers
        self._interval = poll_interval
        self._due = 0.0
        self._missing: dict[str, float] = {}  # since when; one that moves may be on no page for a poll
        self._said: set[str] = set()

    def news(self, now: float) -> list[str]:
        """A sentence for each vdisk that has been on no CVM's page for three polls, while all CVMs answer."""
        if not self._pollers or now < self._due:
            return []
        self._due = now + self._interval
        snapshots = [poller.status.snapshot for poller in self._pollers]
        listed = {name for snapshot in snapshots if snapshot for name in _listed(snapshot.main)}
        if not all(snapshots):  # one may be on a CVM that does not answer
            self._missing.clear()
            return []
        self._said -= listed
        self._missing = {name: self._missing.get(name, now) for name in self._mapping if name not in listed}
        late = now - KEEP_INTERVALS * self._interval
        new = [name for name, since in self._missing.items() if since <= late and name not in self._said]
        self._said.update(new)
        return [
            f"mapping: no configured CVM lists the vdisk {excerpt(name)}"
            + (f" (vm {excerpt(vm)})" if (vm := self._mapping[name].vm) else "")
            + ": expected the uuid in the name of a vdisk of a running VM"
            for name in new
        ]


def _listed(main: MainPage) -> set[str]:
    return {file_name(row.name).lower() for table in (main.hosted, main.frontend) for row in table.rows}
