"""Places for pushes: how many clients can push at a time, and which of them is closed to make room for another."""

import asyncio
from collections import Counter
from types import TracebackType

from .refused import Refused


class PushPlace:
    """The place of one push; a context manager."""

    def __init__(self, places: "Places", address: str, seconds: float | None) -> None:
        self._places = places
        self._seconds = seconds
        self._timeout = asyncio.timeout(seconds)
        self._refusal: Exception | None = None
        self._entered = False
        self.address = address
        self.heard = asyncio.get_running_loop().time()
        """When data last arrived, by the event loop's clock."""

    @property
    def silent(self) -> float:
        """Seconds since data last arrived."""
        return asyncio.get_running_loop().time() - self.heard

    def give_up(self, refusal: Exception) -> None:
        """End the push at once, with that answer."""
        if not self._refusal:
            self._refusal = refusal
            if self._entered:
                self._timeout.reschedule(asyncio.get_running_loop().time())

    async def __aenter__(self) -> "PushPlace":
        await self._timeout.__aenter__()
        self._entered = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._entered = False
        self._places.leave(self)
        try:
            await self._timeout.__aexit__(kind, error, traceback)
        except TimeoutError:
            raise self._refusal or Refused(408, f"the body did not arrive within {self._seconds} s") from None
        if self._refusal and kind is None:
            raise self._refusal


class Places:
    """At most `limit` places.

    If all are taken, the candidate to make room is the push that has been silent longest among those of the address
    with the most pushes. A new push replaces it if it has been silent for `patience` seconds, or if the new push's
    address has less than its share of the places. Otherwise the new push is refused.
    """

    def __init__(self, limit: int, *, patience: float, seconds: float | None = None) -> None:
        self._limit = limit
        self._patience = patience
        self._seconds = seconds
        self._taken: list[PushPlace] = []

    def take(self, address: str) -> PushPlace:
        """A place for a push of a client at that address. Raises Refused."""
        if len(self._taken) >= self._limit:
            self._make_room(address)
        place = PushPlace(self, address, self._seconds)
        self._taken.append(place)
        return place

    def leave(self, place: PushPlace) -> None:
        """Free the place for others."""
        if place in self._taken:
            self._taken.remove(place)

    def _make_room(self, address: str) -> None:
        counts = Counter(place.address for place in self._taken)
        most = max(counts.values())
        longest = max((place for place in self._taken if counts[place.address] == most), key=lambda each: each.silent)
        share = self._limit / len(counts | Counter({address: 1}))
        owed = counts[address] + 1 <= share and counts[address] < most
        if longest.silent < self._patience and not owed:
            raise Refused(429, f"{self._limit} pushes are active, which is the maximum: try again later")
        self.leave(longest)
        sentence = f"closed to make room for another push, after {longest.silent:.0f} s of silence: push again"
        longest.give_up(Refused(408, sentence))
