import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwatch.server.answers import Refused
from benchwatch.server.ingest import Pushes, check_name
from benchwatch.server.own_metrics import OwnMetrics


@settings(max_examples=300)
@given(st.one_of(st.text(), st.text(alphabet="ab.-_/\\%\0\n", max_size=140)))
def test_a_name_is_taken_just_when_it_is_plain(name: str) -> None:
    plain = re.fullmatch(r"[A-Za-z0-9._-]+", name) is not None and len(name) <= 128 and not name.startswith(".")
    if plain:
        assert check_name("run", name) == name
    else:
        with pytest.raises(Refused) as caught:
            check_name("run", name)
        assert caught.value.status == 400
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "a\\b", "a\0", "a\n", ".hidden", "é", "x" * 129])
def test_a_name_that_could_leave_the_folder_is_refused(name: str) -> None:
    with pytest.raises(Refused) as caught:
        check_name("worker", name)
    assert str(caught.value).startswith("worker ")
    assert str(caught.value).endswith("expected 1 to 128 letters, digits, '.', '_' or '-', and no '.' at the start")


def test_counters_begin_at_zero() -> None:
    own = OwnMetrics()
    Pushes(own)
    assert {line for line in own.render().splitlines() if line.startswith("benchwatch_push_")} == {
        'benchwatch_push_requests_total{code="200"} 0.0',
        "benchwatch_push_active 0.0",
        "benchwatch_push_bytes_total 0.0",
    }
