import errno
import os
import threading

from benchwatch.launch.sinks import Sink, forward, pipe, write_to
from tests.support.waiting import PATIENCE, eventually


def test_bytes_arrive_in_order_whatever_a_write_takes() -> None:
    taken = bytearray()

    def write(data: memoryview) -> int:
        taken.extend(data[:3])
        return len(data[:3])

    sink = Sink(write)
    for number in range(100):
        sink.put(b"%05d" % number)
    sink.close()
    assert bytes(taken) == b"".join(b"%05d" % number for number in range(100))
    assert sink.lost == 0


def test_what_cannot_be_written_is_counted_and_the_rest_goes_on() -> None:
    taken = []

    def write(data: memoryview) -> int:
        if data[0] == ord("x"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken.append(bytes(data))
        return len(data)

    sink = Sink(write)
    for data in (b"one", b"xxxx", b"two"):
        sink.put(data)
    sink.close()
    assert taken == [b"one", b"two"]
    assert (sink.lost, sink.reason) == (4, "No space left on device")


def test_a_place_that_is_stuck_does_not_hold_up_its_giver_or_the_other_place() -> None:
    stuck = threading.Event()

    def write(data: memoryview) -> int:
        stuck.wait()
        return len(data)

    slow = Sink(write)
    taken = bytearray()
    quick = Sink(lambda data: taken.extend(data) or len(data))
    reader, writer = pipe()
    reading = forward({reader: (slow.put, quick.put)})
    chunk = b"x" * 1_000_000
    for number in range(100):
        eventually(lambda given=number: given * len(chunk) - len(taken) < 32_000_000, "the other is near")
        left = memoryview(chunk)
        while left:
            left = left[os.write(writer, left) :]
    os.close(writer)
    reading.join(PATIENCE)
    quick.close()
    assert len(taken) == 100_000_000
    assert 0 < slow.lost < 100_000_000
    assert slow.reason == "too slow"
    stuck.set()
    slow.close()


def test_a_pipe_that_does_not_block_is_waited_for() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    sink = Sink(write_to(writer))
    sink.put(b"x" * 300_000)
    taken = 0
    while taken < 300_000:
        taken += len(os.read(reader, 65536))
    sink.close()
    assert sink.lost == 0
    os.close(reader)
    os.close(writer)
