"""Whole expositions of some recordings, before the last document and after it."""

from pathlib import Path

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.fio import FIO
from tests.tools.golden import assert_golden, exposition

from .recordings import ARRIVED, data_of, texts_of

GOLDEN = Path(__file__).parent / "golden"
NAMES = [
    "client-clones-jsonplus-si1-3.33.out",
    "json-multi-stonewall-3.42.out",
    "json-si1-randrw-3.33.out",
    "json-sync-fsync8-3.33.out",
    "json-unified1-3.42.out",
    "jsonplus-numjobs64-3.33.out",
    "jsonplus-si1-libaio-qd16-3.7.out",
    "jsonplus-si1-libaio-qd16-3.42.out",
    "sigint-json-outputfile-3.33/out.json",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("moment", ["running", "ended"])
def test_the_exposition_is_the_golden_one(name: str, moment: str) -> None:
    data = data_of(name)
    if moment == "running":
        data = data[: data.rindex(texts_of(data)[-1])]
        if not texts_of(data):
            pytest.skip("a client prints one document")
    state, parser = FIO.state(Buckets(per_octave=1)), FIO.parser("text")
    for record in [*parser.feed(data), *parser.close()]:
        state.apply(record, "stdout", ARRIVED)
    found = exposition("golden", "fio", state, moment == "running")
    assert_golden(GOLDEN / f"{Path(name).with_suffix('').as_posix().replace('/', '-')}.{moment}.prom", found)
