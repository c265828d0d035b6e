"""What is made of iperf3's reports: stalls, ends, omitted intervals, several tests in one output."""

import re

import pytest

from benchwatch.metrics.buckets import Buckets
from benchwatch.tools.api import Misread
from benchwatch.tools.iperf3 import IPERF3
from benchwatch.tools.states import Written

from .recordings import ARRIVED, NAMES, client, data_of, misread, parse, parts, read, server, state_of, values

START = b"Connecting to host 10.0.0.2, port 5201\n[  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201\n"
ROW = b"[  5]   %d.00-%d.00   sec  23.8 MBytes   200 Mbits/sec    0    767 KBytes       \n"


def lines_until(file: str, count: int) -> bytes:
    return b"".join(data_of(file).splitlines(keepends=True)[:count])


def test_every_family_has_a_unit_and_a_source_in_its_help() -> None:
    names = [family.name for family in IPERF3.families]
    assert len(names) == len(set(names))
    for family in IPERF3.families:
        assert re.fullmatch(r"iperf_[a-z_]+", family.name)
        assert family.help.endswith(".")
        assert (family.kind == "counter") == family.name.endswith("_total")
        of_the_run = "_result_" in family.name or family.name in (
            "iperf_streams",
            "iperf_target_bytes_per_second",
        )
        assert family.part == ("runs" if of_the_run else "live")


def test_a_report_shows_what_the_sum_says() -> None:
    state = state_of(lines_until("stream-tcp-3.18.out", 4))
    assert values(state) == {
        ("iperf_throughput_bytes_per_second", "send"): 25034752 / 0.99895399808883667,
        ("iperf_rtt_seconds",): pytest.approx(100e-6),
        ("iperf_congestion_window_bytes",): 785796,
        ("iperf_bytes_total", "send"): 25165824 + 25034752 + 25034752,
        ("iperf_retransmits_total",): 1,
        ("iperf_streams",): 1,
        ("iperf_target_bytes_per_second", "send"): 25e6,
    }
    assert (state.start, state.last_report) == (1795334815, 1795334815 + 3.006949)
    assert (state.tool_version, state.report_interval, state.end) == ("3.18", 1, None)
    assert state.figures()[:4] == (25034752 / 0.99895399808883667, None, None, 75235328)


def test_several_streams_are_summed_and_their_round_trips_averaged() -> None:
    shown = values(state_of(lines_until("stream-p2-bidir-3.22.out", 3)))
    assert shown["iperf_rtt_seconds",] == pytest.approx((255 + 283) / 2 * 1e-6)
    assert shown["iperf_congestion_window_bytes",] == 2 * 1178694
    assert shown["iperf_throughput_bytes_per_second", "send"] == pytest.approx(101084311.52704425 / 8)
    assert shown["iperf_throughput_bytes_per_second", "receive"] == pytest.approx(101084311.52704425 / 8)
    assert shown["iperf_target_bytes_per_second", "send"] == 2 * 50e6 / 8
    text = values(state_of(lines_until("text-p4-bidir-3.12.out", 12)))
    assert text["iperf_throughput_bytes_per_second", "send"] == 101e6 / 8
    assert text["iperf_congestion_window_bytes",] == 2 * round(1.12 * 2**20)
    assert text["iperf_streams",] == 2


def test_a_report_in_both_directions_is_one_report_in_text_as_in_json() -> None:
    for name in ("text-p4-bidir-3.18", "stream-p2-bidir-3.18"):
        history = state_of(data_of(client(name))).history
        assert len(history) == 4
        assert all(report.throughput == pytest.approx(25e6, rel=0.02) for report in history)


def test_the_last_interval_that_is_printed_again_when_the_connection_is_lost_counts_once() -> None:
    shown = values(state_of(data_of(client("stream-server-killed-3.22"))), current=False)
    assert shown["iperf_bytes_total", "send"] == 25165824 + 24903680 + 25034752
    assert values(state_of(data_of(client("json-server-killed-3.12"))))["iperf_bytes_total", "send"] == 74973184
    text = state_of(data_of(client("text-server-killed-3.12")), data_of("text-server-killed-3.12.err"))
    assert len(text.history) == 3
    assert values(text)["iperf_retransmits_total",] == 0 + 2 + 1
    assert (text.outcome, text.reason) == ("failed", "control socket has closed unexpectedly")


@pytest.mark.parametrize("name", ["stream-omit-interval05-3.22", "json-udp-omit-3.18", "text-verbose-omit-3.22"])
def test_omitted_intervals_are_shown_but_not_counted_and_time_goes_on_behind_them(name: str) -> None:
    state = state_of(data_of(client(name)))
    step = 0.5 if "05" in name else 1.0
    times = [report.time - state.history[0].time for report in state.history]
    assert times == pytest.approx([step * number for number in range(len(times))], abs=0.03)
    assert len(times) == round(4 / step)
    if name.startswith("stream"):
        assert values(state)["iperf_bytes_total", "send"] == 74973184 == values(state)["iperf_result_bytes", "send"]
        first = values(state_of(lines_until(client(name), 2)))
        assert first["iperf_throughput_bytes_per_second", "send"] == pytest.approx(25e6, rel=0.01)
        assert ("iperf_bytes_total", "send") not in first


@pytest.mark.parametrize(
    ("name", "burst"), [("stream-server-stopped4s-3.18", 818547351 / 8), ("text-server-stopped4s-3.12", 859e6 / 8)]
)
def test_a_frozen_receiver_shows_no_byte_and_no_round_trip(name: str, burst: float) -> None:
    data = data_of(client(name))
    lines = data.splitlines(keepends=True)
    rows = [
        number for number, line in enumerate(lines) if b'"event":"interval"' in line or re.match(rb"\[  5\] +\d", line)
    ]
    frozen = state_of(b"".join(lines[: rows[5] + 1]))
    assert (frozen.idle_reports, frozen.outcome) == (3, "")
    shown = {key: value for key, value in values(frozen).items() if "_total" not in key[0]}
    assert shown["iperf_throughput_bytes_per_second", "send"] == 0
    assert not {key[0] for key in shown} & {"iperf_rtt_seconds", "iperf_congestion_window_bytes"}
    thawed = state_of(b"".join(lines[: rows[6] + 1]))
    assert thawed.idle_reports == 0
    assert values(thawed)["iperf_throughput_bytes_per_second", "send"] == pytest.approx(burst)


def test_the_short_rest_of_a_server_is_no_stall() -> None:
    data = data_of(server("text-p4-bidir-3.22"))
    state = state_of(data[: data.index(b"[  9][TX-S]   4.00")])
    assert state.figures().throughput == 0
    assert state.idle_reports == 0


def test_what_an_interrupted_test_sent_is_kept_and_what_arrived_is_not_known() -> None:
    state = state_of(data_of(client("stream-sigint-3.22")))
    shown = values(state, current=False)
    assert shown["iperf_bytes_total", "send"] == shown["iperf_result_bytes", "send"] == 79298560
    assert shown["iperf_result_throughput_bytes_per_second", "send"] == pytest.approx(199944049.949 / 8)
    assert shown["iperf_result_cpu_ratio", "local"] == pytest.approx(0.017609674579)
    assert ("iperf_result_cpu_ratio", "remote") not in shown
    assert state.end == pytest.approx(1795334890.092 + 3.17283, abs=1e-3)


def test_an_end_without_results_is_a_failure() -> None:
    state = state_of(b'{"event":"end","data":{}}\n')
    assert (state.outcome, state.reason) == ("failed", "it ended without results")
    assert values(state) == {}


def test_losses_of_an_upload_are_counted_by_the_server_and_known_to_the_client_at_the_end() -> None:
    sender, receiver = (state_of(data_of(of("text-udp-3.12"))) for of in (client, server))
    assert values(receiver)["iperf_lost_packets_total", "receive"] == 1
    assert values(receiver)["iperf_packets_total", "receive"] == 763
    assert not [key for key in values(sender) if key[0] in ("iperf_lost_packets_total", "iperf_jitter_seconds")]
    assert values(sender)["iperf_packets_total", "send"] == 763
    for state, direction in ((sender, "send"), (receiver, "receive")):
        assert values(state)["iperf_result_lost_ratio", direction] == 1 / 763
        assert values(state)["iperf_result_jitter_seconds", direction] == pytest.approx(25e-6)
    live = values(state_of(lines_until(server("stream-udp-3.22"), 4)))
    assert live["iperf_jitter_seconds",] == pytest.approx(0.02201744010130207e-3)
    assert live["iperf_packets_total", "receive"] == 192 + 191 + 190


def test_both_directions_of_datagrams_are_apart_at_both_ends() -> None:
    here, there = (parts(data_of(of("json-udp-bidir-3.12"))) for of in (client, server))
    for own, other, file in ((here, there, client), (there, here, server)):
        shown = values(state_of(data_of(file("json-udp-bidir-3.12"))))
        counted = "iperf_server" if file is server else "iperf"
        for name in ("sum", "sum_bidir_reverse"):
            flows = [each[name] for each in own["intervals"]]
            direction = "send" if flows[0]["sender"] else "receive"
            assert shown[f"{counted}_bytes_total", direction] == sum(flow["bytes"] for flow in flows)
            assert shown["iperf_packets_total", direction] == sum(flow["packets"] for flow in flows)
            if direction == "receive":
                assert shown["iperf_lost_packets_total", "receive"] == sum(flow["lost_packets"] for flow in flows)
                received = shown[f"{counted}_result_bytes", "receive"]
                assert received == shown[f"{counted}_bytes_total", "receive"]
                assert received < sum(each[name]["bytes"] for each in other["intervals"])


def test_the_document_behind_the_stream_says_nothing_new() -> None:
    data = data_of(client("stream-full-3.22"))
    assert len(read(data)) == 1
    assert values(state_of(data)) == values(state_of(data[: data.index(b"\n{\n") + 1]))


@pytest.mark.parametrize("name", [name for name in NAMES if "refused" not in name and "killed" not in name])
def test_another_test_in_the_same_output_begins_anew(name: str) -> None:
    for file in (client(name), server(name)):
        data = data_of(file)
        states = read(data + re.sub(rb'("time(?:milli)?secs":\s*)1795', rb"\g<1>1796", data))
        assert len(states) == 2
        assert values(states[0]) == values(states[1]) == values(state_of(data))


def test_tests_of_a_server_are_apart_and_errors_between_them_belong_to_none() -> None:
    data = data_of(server("text-udp-3.12"))
    between = b"-----------------------------------------------------------\nServer listening on 5201 (test #2)\n"
    error = b"iperf3: error - unable to receive cookie at server\n"
    (state,) = read(data + between + error)
    assert (state.outcome, state.reason) == ("finished", "")
    assert [each.outcome for each in read(data + between + error + data)] == ["finished", "finished"]
    events = data_of(server("stream-udp-3.22"))
    (state,) = read(events + b'{"event":"error","data":"unable to receive cookie"}\n{"event":"end","data":{}}\n')
    assert state.outcome == "finished"


def test_a_client_that_is_refused_again_is_another_test() -> None:
    data = data_of(client("stream-refused-3.22"))
    assert [state.outcome for state in read(data * 3)] == ["failed"] * 3
    again = read(data + data_of(client("stream-tcp-3.18")))
    assert [state.outcome for state in again] == ["failed", "finished"]


def test_text_without_its_beginning_is_recognised_by_a_line_and_counts_from_the_second() -> None:
    data = ROW % (5, 6) + ROW % (6, 7) + ROW % (7, 8)
    assert IPERF3.recognise(ROW % (5, 6)) == "text"
    assert len(state_of(data).history) == 2
    parallel = data_of(client("text-p4-bidir-3.12"))
    begun = state_of(parallel[parallel.index(b"[  7][TX-C]   1.00") :])
    assert [report.throughput for report in begun.history] == pytest.approx([202e6 / 8] * 2 + [197.2e6 / 8])


def test_units_follow_the_format_that_was_asked_for() -> None:
    kilo, mega = (state_of(data_of(client(f"text-timestamps-units-{version}"))) for version in ("3.22", "3.12"))
    assert [report.throughput for report in kilo.history] == [n * 1024 for n in (24434, 23726, 25034, 24533)]
    assert [report.throughput for report in mega.history] == [n * 1e6 / 8 for n in (200, 200, 201, 199)]
    row = ROW.replace(b"200 Mbits", b"1.64 Gbits") % (0, 1)
    assert state_of(START + row).history[0].throughput == 1.64e9 / 8


@pytest.mark.parametrize(
    ("torn", "reason"),
    [
        (b'{"event":"interval","data":{"streams":[{"soc', "truncated_line"),
        (b"[  5]   2.00-3.00   sec  23.9 MBytes   200 Mbits/sec    1", "truncated_line"),
        (b'{\n\t"start":\t{\n\t\t"connected":\t[', "truncated_document"),
    ],
)
def test_an_output_that_ends_in_the_middle_says_so(torn: bytes, reason: str) -> None:
    data = START + ROW % (0, 1) + ROW % (1, 2)
    assert [each for each, _ in misread(data + torn)] == [reason]
    assert len(state_of(data + torn).history) == 2


def test_a_document_after_one_that_was_cut_off_is_read() -> None:
    data = data_of(client("json-tcp-p2-3.22"))
    for last in (b"{\n", b"\n\t\t}, {\n", b"\n\t\t}],\n"):
        torn = data[: data.index(last) + len(last)].replace(b":\t1795", b":\t1794")  # its time
        assert values(read(torn + data)[-1]) == values(state_of(data))
        assert [reason for reason, _ in misread(torn + data)] == ["truncated_document"]


@pytest.mark.parametrize("name", ["stream-tcp-3.18", "json-tcp-p2-3.22", "text-tcp-3.12"])
def test_a_last_line_counts_without_its_end(name: str) -> None:
    data = data_of(client(name)).rstrip(b"\n")
    parser = IPERF3.parser("text")
    found = [*parser.feed(data), *parser.settle()]
    assert found == parse(data + b"\n") == [*found, *parser.feed(b"\n"), *parser.close()]


@pytest.mark.parametrize(
    "line",
    [
        b'{"event":"interval","data":[]}',
        b'{"event":"interval","data":{"sum":{"bytes":-1}}}',
        b'{"event":"interval","data":{"Sum":{"bytes":1}}}',
        b'{"event":"interval","data":{"sum":{"bytes":1e400}}}',
        b'{"event":"start","data":{"version":3}}',
        b'{"start":1,"intervals":[],"end":{}}',
        b'{"event":"end","data":{"sum_sent":{"bytes":-1}}}',
        b'{"event":"end","data":{"cpu_utilization_percent":[]}}',
        b'{"end":{"sum":3}}',
        b"{}",
        b'{"event":"interval","data":' + b"[" * 5000,
    ],
)
def test_json_that_is_not_iperf3s_is_counted_and_nothing_else_is_lost(line: bytes) -> None:
    data = data_of(client("stream-tcp-3.18"))
    first, rest = data.split(b"\n", 1)
    doctored = first + b"\n" + line + b"\n" + rest
    assert misread(doctored) == [("bad_document", "line 2")]
    assert values(state_of(doctored)) == values(state_of(data))


@pytest.mark.parametrize("end", [b"  \n", b"\n\n", b"\r\n"])
def test_a_document_may_have_spaces_at_line_ends_and_empty_lines(end: bytes) -> None:
    data = data_of(client("json-tcp-p2-3.12"))
    assert misread(data.replace(b"\n", end)) == []
    assert values(state_of(data.replace(b"\n", end))) == values(state_of(data))


def test_other_text_is_counted_and_does_not_disturb() -> None:
    data = START + b"hello from a wrapper\n" + ROW % (0, 1)
    assert misread(data) == [("other_text", "line 3")]
    assert len(state_of(data).history) == 1


@pytest.mark.parametrize("name", NAMES)
def test_moments_are_when_the_reports_were_made(name: str) -> None:
    if "refused" in name:
        return
    data = data_of(client(name))
    moments = list(IPERF3.moments("text", data))
    assert [moment.offset for moment in moments] == sorted({moment.offset for moment in moments})
    assert all(moment.elapsed for moment in moments)
    state = state_of(data)
    last = state.last_report
    assert last is not None and state.start is not None
    assert moments[-1].time + state.start == pytest.approx(last, abs=1e-3)
    assert len(moments) > 3
    half = moments[len(moments) // 2]
    if not name.startswith("text"):
        assert state_of(data[: half.offset]).last_report == pytest.approx(state.start + half.time, abs=1e-3)


def test_text_is_dated_by_when_it_was_written() -> None:
    state = state_of(START + ROW % (0, 1) + ROW % (1, 2), arrived=ARRIVED)
    assert (state.start, state.last_report) == (ARRIVED - 2, ARRIVED)
    state.written("stream 0", Written(ARRIVED + 0.5, ARRIVED - 1.6))
    assert state.start == ARRIVED - 1.6


def test_parameters_are_those_of_the_test() -> None:
    found = state_of(data_of(client("stream-omit-interval05-3.22"))).parameters()
    assert found == {
        "role": "client",
        "protocol": "TCP",
        "streams": "1",
        "block_size": "131072",
        "omit": "1",
        "duration": "3",
        "target_bitrate": "200000000",
        "interval": "0.5",
    }


def test_a_number_with_zeros_before_it_is_read() -> None:
    row = ROW.replace(b"200 Mbits", b"0200 Mbits").replace(b"767", b"00767") % (0, 1)
    assert values(state_of(START + row)) == values(state_of(START + ROW % (0, 1)))
    datagrams = b"[  5]   0.00-1.00   sec  23.8 MBytes   200 Mbits/sec  00.010 ms  -01/010 (0%)  \n"
    assert values(state_of(START + datagrams))["iperf_packets_total", "receive"] == 10


@pytest.mark.parametrize("rate", [b"50.0.1.3", b"5" * 20])
def test_a_rate_that_is_no_number_is_other_text(rate: bytes) -> None:
    data = START + ROW % (0, 1) + ROW.replace(b"200 Mbits", rate + b" Mbits") % (1, 2)
    assert misread(data) == [("other_text", "line 4")]
    assert len(state_of(data).history) == 1


def test_what_only_one_direction_can_have_is_shown_once_whatever_a_line_says() -> None:
    data = data_of(client("text-p4-bidir-3.12"))
    doctored = re.sub(rb"(\[RX-C\].*/sec).*", rb"\1    7    767 KBytes", data)
    assert b"[SUM][RX-C]   0.00-1.00   sec  12.0 MBytes   101 Mbits/sec    7    767 KBytes\n" in doctored
    shown = values(state_of(doctored[: doctored.index(b"\n[ ID][Role]", 900)]))
    assert shown["iperf_retransmits_total",] == 0


@pytest.mark.parametrize("name", ["stream-udp-3.18", "text-udp-3.18"])
def test_a_datagram_that_comes_late_after_all_takes_back_a_loss_and_nothing_else_is_lost(name: str) -> None:
    """iperf3 counts it with the next interval: the losses of that may be below 0."""
    data = data_of(server(name))
    losses = re.compile(rb'(?<="lost_packets":)\d+|(?<= ms  )\d+(?=/)')
    said = iter((b"3", b"-1", b"-2", b"4"))
    changed = losses.sub(lambda _: next(said), data, 4) if b"[  5]" in data else data
    if changed is data:  # each of them stands in the stream and in the sum
        said = iter((b"3", b"3", b"-1", b"-1", b"-2", b"-2", b"4", b"4"))
        changed = losses.sub(lambda _: next(said), data, 8)
    lines = [
        line for line in changed.splitlines(keepends=True) if b"receiver" not in line and b'"end"' not in line[:20]
    ]
    shown = []
    state = IPERF3.state(Buckets())
    parser = IPERF3.parser("text")
    for line in lines:
        for record in parser.feed(line):
            assert not isinstance(record, Misread)
            state.apply(record, "a", ARRIVED)
        shown.append(values(state).get(("iperf_lost_packets_total", "receive")))
    found = [count for count in shown if count is not None]
    assert found == sorted(found)
    assert list(dict.fromkeys(found)) == [3, 4]
    whole = values(state_of(data))
    assert values(state)["iperf_packets_total", "receive"] == whole["iperf_packets_total", "receive"]
    below = values(state_of(losses.sub(b"-1", data)))
    assert ("iperf_result_lost_ratio", "receive") in whole
    assert ("iperf_result_lost_ratio", "receive") not in below
    assert below["iperf_lost_packets_total", "receive"] == 0


def test_a_line_that_stops_behind_a_bracket_is_not_complete() -> None:
    data = data_of(client("stream-tcp-3.18"))
    stop = data.index(b"}", data.index(b'"interval"')) + 1
    parser = IPERF3.parser("text")
    parser.feed(data[:stop])
    assert list(parser.settle()) == []
    assert not [record for record in (*parser.feed(data[stop:]), *parser.close()) if isinstance(record, Misread)]


@pytest.mark.parametrize("name", ["stream-tcp-3.18", "json-tcp-p2-3.12"])
def test_short_tests_that_begin_in_the_same_second_are_apart(name: str) -> None:
    data = data_of(client(name))
    again = re.sub(rb'("cookie":\s*")....', rb"\g<1>2222", data)
    assert again != data
    assert [values(state) for state in read(data + again)] == [values(state_of(data))] * 2


def test_text_behind_a_bracket_that_begins_no_document_is_read() -> None:
    data = START + ROW % (0, 1) + ROW % (1, 2)
    assert misread(b"{\n" + data) == [("truncated_document", "line 2")]
    assert values(state_of(b"{\n" + data)) == values(state_of(data))


def test_the_version_belongs_to_the_test_that_follows_although_the_one_before_was_killed() -> None:
    killed = data_of(client("text-server-killed-3.12"))
    states = read(killed + data_of(client("text-verbose-omit-3.22")))
    assert [state.tool_version for state in states] == ["", "3.22"]


def test_a_test_without_reports_has_not_reported() -> None:
    """So that the page says which option makes it report."""
    assert state_of(START).last_report is None


@pytest.mark.parametrize("name", ["stream-server-killed-3.22", "json-server-killed-3.12"])
def test_a_failed_test_that_dates_its_reports_ends_with_the_last_one_whatever_the_clock_of_the_file(name: str) -> None:
    data = data_of(client(name))
    last = state_of(data).last_report
    assert last is not None
    assert state_of(data, arrived=last + 100).end == last


def test_a_line_of_torn_json_is_no_version() -> None:
    assert (
        state_of(b"iperf 3.12+rc1 (cJSON 1.7)\nConnecting to host 127.0.0.1, port 24507\n").tool_version == "3.12+rc1"
    )
    assert state_of(b'iperf 3.12",\nConnecting to host 127.0.0.1, port 24507\n').tool_version == ""


GET_SERVER_OUTPUT = """\
Connecting to host 127.0.0.1, port 51287
[  5] local 127.0.0.1 port 51994 connected to 127.0.0.1 port 51287
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec  2.38 MBytes  19.9 Mbits/sec    4    895 KBytes
[  5]   1.00-2.00   sec  2.50 MBytes  20.9 Mbits/sec    2    767 KBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-2.00   sec  4.88 MBytes  20.4 Mbits/sec    6             sender
[  5]   0.00-2.00   sec  4.88 MBytes  20.4 Mbits/sec                  receiver

Server output:
Accepted connection from 127.0.0.1, port 51986
[  5] local 127.0.0.1 port 51287 connected to 127.0.0.1 port 51994
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-1.00   sec  2.38 MBytes  19.9 Mbits/sec
[  5]   1.00-2.00   sec  2.50 MBytes  20.9 Mbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-2.00   sec  4.88 MBytes  20.4 Mbits/sec                  receiver


iperf Done.
"""  # of 3.12


def test_what_the_server_says_in_the_clients_output_is_not_the_clients() -> None:
    shown = values(state_of(GET_SERVER_OUTPUT.encode()))
    assert shown["iperf_result_throughput_bytes_per_second", "send"] == 20.4e6 / 8
    assert ("iperf_result_throughput_bytes_per_second", "receive") not in shown


OLD_CLIENT = """\
Connecting to host 127.0.0.1, port 60455
[  4] local 127.0.0.1 port 57654 connected to 127.0.0.1 port 60455
[ ID] Interval           Transfer     Bandwidth       Total Datagrams
[  4]   0.00-1.00   sec  2.16 MBytes  18.1 Mbits/sec  69
[  4]   1.00-2.00   sec  2.41 MBytes  20.2 Mbits/sec  77
[  4]   2.00-3.00   sec  2.41 MBytes  20.2 Mbits/sec  77
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  4]   0.00-3.00   sec  6.97 MBytes  19.5 Mbits/sec  0.398 ms  22/220 (10%)
[  4] Sent 220 datagrams

iperf Done.
"""
OLD_SERVER = """\
-----------------------------------------------------------
Server listening on 60455
-----------------------------------------------------------
Accepted connection from 127.0.0.1, port 44706
[  5] local 127.0.0.1 port 60455 connected to 127.0.0.1 port 57654
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  5]   0.00-1.00   sec  1.97 MBytes  16.5 Mbits/sec  0.143 ms  5/68 (7.4%)
[  5]   1.00-2.00   sec  2.12 MBytes  17.8 Mbits/sec  0.025 ms  9/77 (12%)
[  5]   2.00-3.02   sec  2.09 MBytes  17.2 Mbits/sec  0.398 ms  8/75 (11%)
[  5]   3.02-3.06   sec  0.00 Bytes  0.00 bits/sec  0.398 ms  0/0 (0%)
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bandwidth       Jitter    Lost/Total Datagrams
[  5]   0.00-3.06   sec  0.00 Bytes  0.00 bits/sec  0.398 ms  22/220 (10%)
"""


def test_a_result_of_datagrams_in_3_1_is_one_row_for_both_ends() -> None:
    client, server = (state_of(text.encode()) for text in (OLD_CLIENT, OLD_SERVER))
    assert (client.outcome, bool(server.outcome)) == ("finished", True)
    sent, received = values(client), values(server)
    assert sent["iperf_result_throughput_bytes_per_second", "send"] == 19.5e6 / 8
    assert sent["iperf_result_lost_ratio", "send"] == received["iperf_result_lost_ratio", "receive"] == 22 / 220
    assert ("iperf_server_result_throughput_bytes_per_second", "receive") not in received, "it says 0 bits a second"
