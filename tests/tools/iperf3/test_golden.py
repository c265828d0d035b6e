"""Whole expositions of some recordings, before the last line and after it."""

from pathlib import Path

import pytest

from tests.tools.golden import assert_golden, exposition

from .recordings import data_of, state_of

GOLDEN = Path(__file__).parent / "golden"
FILES = [
    "json-udp-omit-3.18.out",
    "stream-p2-bidir-3.22.out",
    "stream-sigint-3.22.out",
    "stream-udp-3.22.server.out",
    "text-p4-bidir-3.12.out",
    "text-udp-reverse-p2-3.12.out",
]


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("moment", ["running", "ended"])
def test_the_exposition_is_the_golden_one(file: str, moment: str) -> None:
    data = data_of(file)
    if moment == "running":
        if file.startswith("json-"):
            pytest.skip("there is one document, at the end")
        ends = [data.find(mark) for mark in (b'{"event":"error"', b'{"event":"end"', b"\n[ ID]")]
        data = (
            data[: data.rindex(b"\n[ ID]")] if file.startswith("text-") else data[: min(end for end in ends if end > 0)]
        )
    state = state_of(data)
    assert bool(state.outcome) == (moment == "ended")
    found = exposition("golden", "iperf3", state, moment == "running")
    assert_golden(GOLDEN / f"{file.removesuffix('.out')}.{moment}.prom", found)
