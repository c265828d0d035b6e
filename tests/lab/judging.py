"""Rounds of faults, judged by what a person read last within 30 s of the onset; tables for the documentation."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

WITHIN = 30
"""Seconds from the onset in which the last message counts."""
QUIET = "none"
"""The layer of a round without a fault."""


class Message(NamedTuple):
    """What was sent: seconds since the onset, the layer it names (empty: none), and its sentence."""

    after: float
    layer: str
    text: str


class Round(NamedTuple):
    """A fault from one moment to another, Unix seconds, while so many processes wanted the machine's processors.

    `expected` is the layer it is in, `cause` a regular expression that its cause must match.
    """

    fault: str
    expected: str
    cause: str
    messages: Sequence[Message] = ()
    begin: float = 0.0
    end: float = 0.0
    load: float | None = None

    @property
    def in_time(self) -> list[Message]:
        """The messages that count."""
        return [message for message in self.messages if message.after <= WITHIN]

    @property
    def layer_right(self) -> bool:
        """A quiet round is right without any message."""
        last = [message.layer for message in self.in_time[-1:]] or [QUIET]
        return last == [self.expected]

    @property
    def cause_right(self) -> bool:
        """Whether the layer is right, and the cause."""
        return self.layer_right and all(re.search(self.cause, message.text) for message in self.in_time[-1:])


def report(rounds: Sequence[Round]) -> str:
    """A row for each fault, in Markdown, and what was not right. Causes count where rounds say what they must match."""
    rows = [["fault", "its layer", "rounds", "layer right", "cause right", "most messages", "first message after"]]
    for fault in dict.fromkeys(one.fault for one in rounds):
        own = [one for one in rounds if one.fault == fault]
        layers, causes = sum(one.layer_right for one in own), sum(one.cause_right for one in own)
        row = [fault, own[0].expected, f"{len(own)}", f"{layers} of {len(own)}", f"{causes} of {len(own)}"]
        first = sorted(one.messages[0].after for one in own if one.messages)
        delay = f"{first[len(first) // 2]:.0f} s (at most {first[-1]:.0f} s)" if first else "-"
        rows.append([*row, f"{max(len(one.messages) for one in own)}", delay])
    faults = [one for one in rounds if one.expected != QUIET]
    layers, causes = sum(one.layer_right for one in faults), sum(one.cause_right for one in faults)
    total = f"{layers} of {len(faults)} layers and {causes} of {len(faults)} causes right"
    if not any(one.cause for one in rounds):
        rows = [row[:4] + row[5:] for row in rows]
        total = f"{layers} of {len(faults)} layers right"
    loads = sorted(one.load for one in rounds if one.load is not None)
    total += f"; load {loads[0]:.1f} to {loads[-1]:.1f}" if loads else ""
    wrong = [(one.fault, one.in_time) for one in rounds if not one.cause_right]
    said = [f"- not right: {fault}: {heard[-1].text if heard else 'no message'}" for fault, heard in wrong]
    return "\n".join([table(rows), f"\n{total}.", *said])


def insert(document: Path, section: str, text: str) -> None:
    """Replace what is between the marks of a section. Raises ValueError if they are not there."""
    begin, end = f"<!-- {section}: written by tests/lab -->", f"<!-- end of {section} -->"
    before, found, rest = document.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise ValueError(f"{document}: expected the lines {begin!r} and {end!r}")
    document.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows in Markdown, the first one the header."""
    lines = [f"|{'|'.join(row)}|" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])
