"""Every recording of iperf3, client and server: what it came to, and that nothing in it is lost."""

import pytest

from benchwatch.tools.api import Begin, Misread
from benchwatch.tools.iperf3 import IPERF3
from benchwatch.tools.registry import TOOLS

from .recordings import FILES, NAMES, client, data_of, misread, parse, parts, server, state_of, values

REFUSED = "unable to connect to server: Connection refused"
REFUSED_LONG = (
    "unable to connect to server - server may have stopped running or use a different port, firewall issue, etc.: "
    "Connection refused"
)
LOST = "control socket has closed unexpectedly"
FAILED = {
    "json-refused-3.12.out": REFUSED,
    "text-refused-3.12.err": REFUSED,
    "stream-refused-3.18.out": REFUSED_LONG,
    "stream-refused-3.22.out": REFUSED_LONG,
    "json-server-killed-3.12.out": LOST,
    "stream-server-killed-3.22.out": LOST,
    "text-server-killed-3.12.err": LOST,
    "stream-sigint-3.18.out": "interrupt - the client has terminated",
    "stream-sigint-3.22.out": "interrupt - the client has terminated by signal Interrupt(2)",
    "stream-sigint-3.18.server.out": "the client has terminated",
    "stream-sigint-3.22.server.out": "the client has terminated",
}
CUT_OFF = {
    "json-server-killed-3.12.server.out",
    "stream-server-killed-3.22.server.out",
    "text-server-killed-3.12.server.out",
    "text-server-killed-3.12.out",
    "stream-reverse-3.18.server.out",
    "text-p4-bidir-3.9.server.out",
    "text-tcp-3.18.server.out",
}
"""Outputs that have no end: the process was killed, or says why it ended on another stream."""
JSON = [name for name in NAMES if name.startswith(("json-", "stream-")) and "refused" not in name]


@pytest.mark.parametrize("file", FILES)
def test_every_output_is_recognised_as_that_of_iperf3_alone(file: str) -> None:
    data = data_of(file)
    assert [tool.name for tool in TOOLS if tool.recognise(data)] == ["iperf3"]


@pytest.mark.parametrize("file", FILES)
def test_every_line_is_understood(file: str) -> None:
    assert misread(data_of(file)) == []


@pytest.mark.parametrize("file", FILES)
def test_every_outcome_is_as_recorded(file: str) -> None:
    state = state_of(data_of(file))
    if file in FAILED:
        expected = "interrupted" if FAILED[file].startswith("interrupt") else "failed"
        assert (state.outcome, state.reason) == (expected, FAILED[file])
    else:
        assert (state.outcome, state.reason) == ("" if file in CUT_OFF else "finished", "")


@pytest.mark.parametrize("file", FILES)
def test_records_do_not_depend_on_how_the_bytes_arrive(file: str) -> None:
    data = data_of(file)
    whole = parse(data)
    assert any(not isinstance(record, Misread | Begin) for record in whole)
    for step in (1, 7, 100, 4096):
        assert parse(data, range(step, len(data), step)) == whole


@pytest.mark.parametrize("name", JSON)
def test_bytes_are_those_that_json_counts_exactly(name: str) -> None:
    found = parts(data_of(client(name)))
    for sent, total in (("sum_sent", "sum"), ("sum_received_bidir_reverse", "sum_bidir_reverse")):
        sums = {
            (each[total]["start"], each[total]["omitted"]): each[total] for each in found["intervals"] if total in each
        }
        if not sums:
            continue
        direction = "send" if next(iter(sums.values()))["sender"] else "receive"
        counted = sum(each["bytes"] for each in sums.values() if not each["omitted"])
        assert values(state_of(data_of(client(name))))["iperf_bytes_total", direction] == counted > 0
        own = sent if direction == "send" or "bidir" in sent else "sum_received"
        if own in found["end"]:
            assert counted == found["end"][own]["bytes"]


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("text-") and "refused" not in name])
def test_rates_of_text_are_within_half_a_percent_and_no_byte_is_counted(name: str) -> None:
    shown = values(state_of(data_of(client(name))))
    assert not [key for key in shown if key[0] in ("iperf_bytes_total", "iperf_result_bytes")]
    asked = {"text-udp-": 6.25e6, "text-udp-reverse-p2-": 5e6, "text-p4-": 12.5e6}
    target = next((asked[start] for start in sorted(asked, reverse=True) if name.startswith(start)), 25e6)
    results = {key[1]: value for key, value in shown.items() if key[0] == "iperf_result_throughput_bytes_per_second"}
    assert set(results) == (
        set()
        if "killed" in name
        else {"send", "receive"}
        if "bidir" in name
        else {"receive"}
        if "reverse" in name
        else {"send"}
    )
    assert all(rate == pytest.approx(target, rel=0.005) for rate in results.values())


@pytest.mark.parametrize("name", [name for name in NAMES if client(name) in FILES and server(name) in FILES])
def test_what_client_and_server_both_count_is_in_families_of_their_own(name: str) -> None:
    shown = {}
    for file, own, other in ((client(name), "iperf", "iperf_server"), (server(name), "iperf_server", "iperf")):
        shown[own] = {key[0] for key in values(state_of(data_of(file)))}
        assert f"{own}_throughput_bytes_per_second" in shown[own]
        both = ("throughput_bytes_per_second", "result_throughput_bytes_per_second", "bytes_total", "result_bytes")
        assert not {f"{other}_{name}" for name in both} & shown[own]
    ended = {own: f"{own}_result_throughput_bytes_per_second" in names for own, names in shown.items()}
    assert ended["iperf"] == ("killed" not in name)
    assert ended["iperf_server"] == (server(name) not in CUT_OFF)


def test_another_programs_lines_are_not_those_of_iperf3() -> None:
    for text in (
        b"iperf 2.1.8\n",
        b"0.012 out 64 b'iperf3: error - unable to connect'\n",
        b'{"event":"login"}\n',
        b"{\n",
    ):
        assert IPERF3.recognise(text) == ""
