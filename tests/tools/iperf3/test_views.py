"""A run with the outputs of a client and its server: each byte is counted once, whoever looks."""

import json
import os
import re
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.metrics.buckets import Buckets
from benchwatch.model.run import Loss
from benchwatch.runs.watcher import Runs
from benchwatch.server.exporter import Exporter
from benchwatch.server.landing import landing_page
from benchwatch.settings.settings import RunsSettings
from benchwatch.tools.iperf3 import IPERF3
from tests.support.places import NOW
from tests.support.shown import shown_workers
from tests.support.timelines import read_timelines

from .recordings import client, data_of, parts, server

ENDED = 1_795_334_829
"""When the recorded test over UDP with JSON streams ended, Unix seconds."""


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name, recording in (("one", "stream-p2-bidir-3.18"), ("two", "stream-p2-bidir-3.22")):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        (folder / "client.out").write_bytes(data_of(client(recording)))
        (folder / "server.out").write_bytes(data_of(server(recording)))
    return tmp_path / "runs"


def compared(capsys: pytest.CaptureFixture[str], runs: Path) -> dict[tuple[str | None, str], tuple[float, float]]:
    assert main(["compare", str(runs / "one"), str(runs / "two"), "--format", "json"]) == 0
    (other,) = json.loads(capsys.readouterr().out)["others"]
    return {(row.get("direction"), row["name"]): (row["base"], row["other"]) for row in other["measures"]}


def test_compare_counts_what_the_client_counts(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = compared(capsys, runs)
    assert found["send", "throughput"][1] == pytest.approx(100042092.22 / 8)
    assert found["receive", "throughput"][1] == pytest.approx(99993816.98 / 8)
    assert found["all", "throughput"][1] == pytest.approx((100042092.22 + 99993816.98) / 8)


def test_a_server_alone_is_compared_by_what_it_counts(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        (runs / name / "client.out").unlink()
    assert compared(capsys, runs)["send", "throughput"][1] == pytest.approx(101e6 / 8)


def test_watch_shows_both_and_sums_up_the_client(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workers = shown_workers(runs / "two")
    assert {worker.name: worker.observer for worker in workers} == {"client": False, "server": True}
    rates = {worker.name: {part.op: part.rate for part in worker.result} for worker in workers}
    assert rates["client"]["send"] == pytest.approx(100042092.22 / 8)
    assert rates["client"]["receive"] == pytest.approx(99993816.98 / 8)


def test_report_and_backfill_show_its_throughput(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(runs / "one"), "--output", str(tmp_path / "one.html")]) == 0
    assert "All streams of a direction, from iperf3" in (tmp_path / "one.html").read_text()
    assert main(["backfill", str(runs / "one"), "--output", str(tmp_path / "out")]) == 0
    wanted = r'(?m)^iperf_throughput_bytes_per_second\{.*run="one",worker="client",direction="send"\} (\S+) (\S+)$'
    found = [(float(rate), float(time)) for rate, time in re.findall(wanted, (tmp_path / "out").read_text())]
    assert [time for _, time in found] == pytest.approx(
        [1795334820 + end for end in (1.001, 2.001, 3.001, 4.005)], abs=0.001
    )
    assert found[0][0] == pytest.approx(12565872.6)


@pytest.fixture
def datagrams(tmp_path: Path) -> Path:
    """Of 573 datagrams in each direction one was lost."""
    for name in ("one", "two"):
        (tmp_path / "udp" / name).mkdir(parents=True)
        (tmp_path / "udp" / name / "client.out").write_bytes(data_of(client("json-udp-bidir-3.12")))
    return tmp_path / "udp"


def test_lost_datagrams_are_a_part_of_those_sent_and_segments_sent_again_a_rate(
    datagrams: Path, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(capsys, datagrams)[None, "lost_packets"][0] == pytest.approx(2 / 1146)
    again = compared(capsys, runs)[None, "retransmits_per_second"]
    assert again == pytest.approx((5 / 4.006, 6 / 4.006), rel=0.001)


def test_lost_datagrams_are_told_by_watch_and_the_landing_page(
    datagrams: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (worker,) = shown_workers(datagrams / "one")
    assert worker.lost["lost packets"] == Loss(2, 1146, True)
    assert worker.lost["lost packets"].text("lost packets", None) == "2 lost packets (0.175 %)"
    watched = Runs([datagrams], RunsSettings(), Buckets())
    while watched.poll(NOW):
        pass
    page = landing_page(Exporter(watched, push_folder=datagrams), now=NOW, url="http://h")
    assert page.count("2 lost packets (0.175 %)") == 2


def test_a_rate_that_was_asked_for_stands_beside_each_direction(
    datagrams: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["metrics", str(datagrams / "one")]) == 0
    found = re.findall(r'iperf_target_bytes_per_second\{.*direction="(\w+)"\} (\S+)', capsys.readouterr().out)
    assert [way for way, _ in found] == ["send", "receive"] and len({rate for _, rate in found}) == 1


def test_a_worker_that_does_not_say_its_version_adds_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.out").write_bytes(data_of(client("stream-udp-3.18")))
        undated = tmp_path / name / "b.out"
        undated.write_bytes(data_of(client("text-udp-3.18")))
        os.utime(undated, (ENDED, ENDED))
    assert main(["compare", str(tmp_path / "one"), str(tmp_path / "two")]) == 0
    assert "base: one: iperf3 3.18, 1 run of 2 workers of 4 s" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["json-server-killed-3.12", "json-tcp-p2-3.22", "json-udp-bidir-3.12"])
def test_a_document_has_the_course_of_its_intervals(tmp_path: Path, name: str) -> None:
    data = data_of(client(name))
    document = json.loads(data)
    sums = {each["sum"]["end"]: each["sum"]["bytes"] / each["sum"]["seconds"] for each in document["intervals"]}
    for content in (data, data[: data.rindex(b"\t}],\n")]):  # of the other, the end is missing: the disk was full
        path = tmp_path / f"{len(content)}.out"
        path.write_bytes(content)
        (timeline,) = read_timelines([path], now=NOW * 2)
        (series,) = timeline.get(IPERF3.roles[0].rate, direction="send")
        ends = (series.times - (timeline.start or 0.0)).tolist()
        found = {round(end, 2): rate for end, rate in zip(ends, series.values.tolist(), strict=True)}
        assert found == {round(end, 2): pytest.approx(rate) for end, rate in sums.items()}


def test_every_view_shows_bits_a_second_as_iperf3_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The text of this recording ends in `200 Mbits/sec`."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "w.out").write_bytes(data_of(client("stream-tcp-3.18")))
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    for command in (
        ["show", one],
        ["list", str(tmp_path)],
        ["compare", one, two],
        ["show", one, "--format", "markdown"],
    ):
        assert main(command) == 0
        shown = capsys.readouterr().out
        assert "200 Mbit/s" in shown and "iB/s" not in shown, command
    assert main(["show", one, "--require", "throughput >= 0.19Gbit/s", "--require", "throughput > 23MiB/s"]) == 0
    assert "met: throughput >= 0.19Gbit/s: 200 Mbit/s" in capsys.readouterr().out
    assert main(["report", one, "--output", str(tmp_path / "one.html")]) == 0
    page = (tmp_path / "one.html").read_text()
    assert "200 Mbit/s" in page and "iB/s" not in page and "B/s<" not in page
    watched = Runs([tmp_path / "one"], RunsSettings(), Buckets())
    while watched.poll(NOW):
        pass
    page = landing_page(Exporter(watched, push_folder=tmp_path / "one"), now=NOW, url="http://h")
    assert "200 Mbit/s" in page and "iB/s" not in page


def test_retransmits_a_second_are_by_the_time_that_the_sender_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The test ended 3 ms after the sender measured, and began 0.4 s after its launcher."""
    found = parts(data_of(client("stream-server-stopped4s-3.18")))
    sent = found["end"]["sum_sent"]
    (tmp_path / "w.out").write_bytes(data_of(client("stream-server-stopped4s-3.18")))
    (tmp_path / "w.yaml").write_text(f"start: {found['start']['timestamp']['timesecs'] - 1.4}\n")
    assert main(["show", str(tmp_path), "--json"]) == 0
    (subject,) = json.loads(capsys.readouterr().out)["subjects"]
    rates = [one["value"] for one in subject["results"][0]["figures"] if one["name"] == "retransmits_per_second"]
    assert rates == [pytest.approx(sent["retransmits"] / sent["seconds"], rel=1e-9)]


def test_a_version_that_prints_whole_seconds_began_at_its_launch(tmp_path: Path) -> None:
    """A document of 3.12 says the second in which the test began, the launcher's record when in it."""
    recording = json.loads(data_of(client("json-tcp-p2-3.12")))
    launched = recording["start"]["timestamp"]["timesecs"] + 0.95
    (tmp_path / "w.out").write_bytes(data_of(client("json-tcp-p2-3.12")))
    (tmp_path / "w.yaml").write_text(f"start: {launched}\nend: {launched + 3.1}\nexit_code: 0\n")
    (worker,) = read_timelines([tmp_path])
    assert worker.span == pytest.approx((launched, launched + recording["end"]["sum_sent"]["seconds"]), abs=0.001)
    (rates,) = worker.get(IPERF3.roles[0].rate)
    assert rates.times[0] == pytest.approx(launched + recording["intervals"][0]["sum"]["end"], abs=0.001)
