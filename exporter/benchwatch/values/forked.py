"""One function for many things, by a process for each CPU; a terminal sees how far it is.

The processes are forked, so they have everything that was imported, and the things; only the answers are pickled. They
end when nobody is left to receive an answer, however the command ended.
"""

import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

MANY = 100
"""Things from which on several processes take less time than one."""
_STEP = 20
"""Answers after which a terminal is told again how many there are."""
_SAID_AFTER = 1.0
"""Seconds without a word to the terminal."""

_Thing = TypeVar("_Thing")
_Answer = TypeVar("_Answer")


def each(function: Callable[[_Thing], _Answer], things: Sequence[_Thing], words: str) -> Iterator[_Answer]:
    """The answers in the order of the things; `words` say what an answer is: "runs read"."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if len(things) < MANY or cpus == 1:
        yield from counted(map(function, things), len(things), words)
        return
    context = get_context("fork")
    ends = [context.Pipe(duplex=False) for _ in range(cpus)]
    receivers = [receiver for receiver, _ in ends]
    processes = [
        context.Process(target=_answer_all, args=(function, things[number::cpus], sender, receivers), daemon=True)
        for number, (_, sender) in enumerate(ends)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, about threads: a command has none
        for process in processes:
            process.start()
    for _, sender in ends:
        sender.close()

    def answer(number: int) -> _Answer:
        try:
            found: _Answer = receivers[number % cpus].recv()
        except EOFError:  # the process was killed
            found = function(things[number])
        return found

    try:
        yield from counted(map(answer, range(len(things))), len(things), words)
    finally:
        for process in processes:
            process.terminate()
            process.join()


def counted(answers: Iterable[_Answer], number: int, words: str) -> Iterator[_Answer]:
    """The answers, of which there will be this number; a terminal sees how many there are if they take a while."""
    begun, said = time.monotonic(), False
    try:
        for place, answer in enumerate(answers, 1):
            yield answer
            if place % _STEP == 1 and place < number and time.monotonic() - begun > _SAID_AFTER and sys.stderr.isatty():
                said = True
                print(f"\rbenchwatch: {place:,} of {number:,} {words}", end="", file=sys.stderr, flush=True)
    finally:
        if said:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _answer_all(
    function: Callable[[_Thing], _Answer],
    things: Sequence[_Thing],
    sender: "Connection[_Answer, Any]",
    receivers: Sequence["Connection[Any, _Answer]"],
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for receiver in receivers:
        receiver.close()
    with suppress(BrokenPipeError):
        for thing in things:
            sender.send(function(thing))
