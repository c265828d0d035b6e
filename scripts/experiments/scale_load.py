"""Many machines at once: each sends the recording under a name of its own, in its own time or hurried."""

import heapq
import http.client
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from demo_processes import Failure
from scale_receivers import Receiver
from scale_remote_write import Snappy, read_requests
from scale_ways import CVM, MACHINE, WAYS

MACHINES_OF_A_CVM = 10
_SENDERS = 8
_GOLDEN = 0.618034
"""Its multiples spread evenly between two whole numbers, however many there are."""
_TYPES = {
    1: {"Content-Type": "application/x-protobuf", "X-Prometheus-Remote-Write-Version": "0.1.0"},
    2: {
        "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request",
        "X-Prometheus-Remote-Write-Version": "2.0.0",
    },
}


class Tape:
    """The requests of one machine, which begin again after `length` milliseconds."""

    def __init__(self, folder: Path, version: int, recorded: bytes) -> None:
        self.requests = read_requests(folder, version)
        self.version = version
        self.recorded = recorded
        self.times = [int(request.stamps.max()) for request in self.requests]
        first = min(int(request.stamps.min()) for request in self.requests)
        self.length = self.times[-1] - first + 500
        self.samples = sum(len(request.stamps) for request in self.requests)

    def name(self, number: int) -> bytes:
        """Of the machine with this number."""
        head, _, digits = self.recorded.rpartition(b"-")
        return b"%s-%0*d" % (head, len(digits), number)


class Turn(NamedTuple):
    """A request that is due: when, Unix milliseconds, of which machine, which one, and how much later than recorded."""

    due: int
    number: int
    place: int
    shift: int


class Sent:
    """What was sent and taken so far; one for each sender, added up."""

    def __init__(self) -> None:
        self.samples = 0
        self.bytes = 0
        self.requests = 0
        self.refused = 0
        self.late = 0.0
        """Seconds by which the last request was taken after it was due."""


class Load:
    """Machines that send `seconds`: in real time or, if `hurried`, those before now as fast as they are taken."""

    def __init__(
        self, receiver: Receiver, recording: Path, way: str, machines: int, seconds: float, *, hurried: bool
    ) -> None:
        version = WAYS[way].version
        cvms = -(-machines // MACHINES_OF_A_CVM)
        tapes = [(Tape(recording / way, version, MACHINE), machines), (Tape(recording / "cvm", 1, CVM), cvms)]
        self.sent = [Sent() for _ in range(_SENDERS)]
        self.failures: list[str] = []
        self._receiver = receiver
        self._hurried = hurried
        self._stop = threading.Event()
        self._begin = int(time.time() * 1000) - (int(seconds * 1000) if hurried else 0)
        self._end = self._begin + int(seconds * 1000)
        self._threads = [
            threading.Thread(target=self._guarded, args=(sent, share))
            for sent, share in zip(self.sent, self._shares(tapes), strict=True)
        ]

    def run(self, look: Callable[["Load"], bool]) -> None:
        """Sends until the end, or until `look`, which is called every second, says so. Raises Failure."""
        for thread in self._threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in self._threads) and not self.failures and look(self):
                time.sleep(1)
        finally:
            self._stop.set()
            for thread in self._threads:
                thread.join()
        if self.failures:
            raise Failure(self.failures[0])

    def total(self) -> Sent:
        """Of all senders; `late` is that of the latest."""
        total = Sent()
        for sent in self.sent:
            total.samples += sent.samples
            total.bytes += sent.bytes
            total.requests += sent.requests
            total.refused += sent.refused
            total.late = max(total.late, sent.late)
        return total

    def _shares(self, tapes: Sequence[tuple[Tape, int]]) -> Iterator[list[tuple[Tape, list[Turn]]]]:
        turns = [(tape, [self._first(tape, number, count) for number in range(count)]) for tape, count in tapes]
        for sender in range(_SENDERS):
            yield [(tape, every[sender::_SENDERS]) for tape, every in turns]

    def _first(self, tape: Tape, number: int, count: int) -> Turn:
        """Where on the tape a machine begins: all over it, and spread over the time between two requests."""
        index = number * len(tape.requests) // count
        wait = int(number * _GOLDEN % 1 * tape.length / len(tape.requests))
        due = self._begin + wait
        return Turn(due, number, index, due - tape.times[index])

    def _guarded(self, sent: Sent, share: list[tuple[Tape, list[Turn]]]) -> None:
        try:
            self._send_all(sent, share)
        except Exception as error:
            self.failures.append(f"the load ended: {type(error).__name__}: {error}")

    def _send_all(self, sent: Sent, share: list[tuple[Tape, list[Turn]]]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._receiver.port, timeout=120)
        snappy = Snappy()
        queue = [(turn, owner) for owner, (_, turns) in enumerate(share) for turn in turns]
        heapq.heapify(queue)
        while queue and not self._stop.is_set():
            turn, owner = queue[0]
            if turn.due > self._end:
                break
            tape = share[owner][0]
            if not self._hurried:
                self._stop.wait(max(0.0, turn.due / 1000 - time.time()))
                if self._stop.is_set():
                    break
            request = tape.requests[turn.place]
            body = snappy.compress(request.moved(tape.recorded, tape.name(turn.number), turn.shift))
            self._post(connection, body, tape.version, sent)
            sent.samples += len(request.stamps)
            sent.requests += 1
            sent.bytes += len(body)
            sent.late = 0.0 if self._hurried else time.time() - turn.due / 1000
            heapq.heapreplace(queue, (self._next(tape, turn), owner))

    @staticmethod
    def _next(tape: Tape, turn: Turn) -> Turn:
        index, shift = turn.place + 1, turn.shift
        if index == len(tape.requests):
            index, shift = 0, shift + tape.length
        return Turn(tape.times[index] + shift, turn.number, index, shift)

    def _post(self, connection: http.client.HTTPConnection, body: bytes, version: int, sent: Sent) -> None:
        headers = {"Content-Encoding": "snappy", **_TYPES[version]}
        while True:
            connection.request("POST", self._receiver.path, body, headers)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status < 300:
                return
            if answer.status != 429 and answer.status < 500:
                raise Failure(f"{self._receiver.name} refused a request with {answer.status}: {text[:300]!r}")
            sent.refused += 1
            if self._stop.wait(0.5):
                return
