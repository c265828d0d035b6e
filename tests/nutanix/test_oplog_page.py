from pathlib import Path

import pytest

from benchwatch.nutanix import families as f
from benchwatch.nutanix.pages.oplog_page import OplogPage, read_oplog_page
from tests.support.vdisks import of_family


def page(*cells: str) -> bytes:
    return f"<table><tr><td>5<td>1<tr><td><b>Total</b>{''.join(f'<td>{cell}' for cell in cells)}</table>".encode()


def utilisation(page: OplogPage) -> dict[str, float]:
    return {store: ratio for (store,), ratio in of_family(page.values, f.OPLOG_UTILISATION).items()}


def test_an_empty_oplog_is_used_to_0(recordings: Path) -> None:
    found = read_oplog_page((recordings / "nutanix/oplog_flush_stats.html").read_bytes())
    assert utilisation(found) == {"oplog": 0.0, "lws": 0.0}
    assert found.unrecognised == []


@pytest.mark.parametrize("told", ["12.5", "12.4", "12.5%", "0.125"])
def test_utilisation_is_used_by_capacity_where_the_page_says_the_same(told: str) -> None:
    found = read_oplog_page(page("1250", "10000", told, "1", "4", "25"))
    assert utilisation(found) == {"oplog": 0.125, "lws": 0.25}


@pytest.mark.parametrize(
    "cells", [("1250", "10000", "80.0"), ("1250", "0", "0.0"), ("x", "10000", "1"), ("0", "9", "5%")]
)
def test_cells_that_do_not_agree_are_left_out_aloud(cells: tuple[str, ...]) -> None:
    found = read_oplog_page(page(*cells, "0", "4", "0.0"))
    assert utilisation(found) == {"lws": 0.0}
    assert [entry.section for entry in found.unrecognised] == ["oplog_flush_stats"]


def test_empty_cells_are_no_value() -> None:
    found = read_oplog_page(page("", "", "", "0", "4", "0.0"))
    assert (utilisation(found), found.unrecognised) == ({"lws": 0.0}, [])


def test_a_page_without_a_row_of_totals_is_not_recognised() -> None:
    assert read_oplog_page(b"<table><tr><td>Sum<td>1</table>").recognised == {}
