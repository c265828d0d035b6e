import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.nutanix import families as f
from benchwatch.nutanix.pages.main_page import read_main_page
from benchwatch.nutanix.pages.vdisk_page import read_vdisk_page
from benchwatch.nutanix.save import Sanitiser, numbers
from benchwatch.nutanix.simulator.cluster import Cluster
from tests.support.cvm.page_variations import write
from tests.support.cvm.published_cluster import PublishedCluster
from tests.support.cvm.varied_cvm import VariedCvm
from tests.support.vdisks import of_family
from tests.support.waiting import PATIENCE


@pytest.fixture
def cvm() -> Iterator[VariedCvm]:
    cluster = PublishedCluster()
    with VariedCvm(cluster) as cvm:
        yield cvm


def test_check_says_in_words_what_is_understood(cvm: VariedCvm, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nutanix", "check", cvm.url]) == 0
    text = capsys.readouterr().out
    for line in (
        "  Start time: 20150618-11:12:52-GMT-0700",
        "Cluster State: 6 disks",
        '  Avg latency (usec) / Write: nutanix_vdisk_frontend_latency_seconds{op="write"}',
        "Hosted VDisks (behind the oplog): 2 vdisks",
        "Page of vdisk 31181823: 5 of 9 sections",
        "  working_set_sizes: not found",
        "Oplog flush statistics: oplog 0.0%, lws 0.0%",
        "Usable.",
    ):
        assert f"{line}\n" in text
    assert "Not recognised" not in text
    assert cvm.requests == ["/", "/vdisk_stats?vdisk_id=31181823", "/oplog_flush_stats"]


def test_check_says_what_is_not_understood(cvm: VariedCvm, capsys: pytest.CaptureFixture[str]) -> None:
    cvm.variations = {"units-unknown", "missing-cluster-state"}
    assert main(["nutanix", "check", cvm.url, "--vdisk", "15432793"]) == 0
    text = capsys.readouterr().out
    assert "Cluster State: not found, so disks are missing\n" in text
    assert "    nfs: column 'Avg latency (jiffies) / Read': the unit 'jiffies' is not known\n" in text
    assert "Page of vdisk 15432793: 5 of 9 sections\n" in text


@pytest.mark.parametrize("options", [[], ["--metrics"]])
def test_check_of_a_vdisk_that_is_not_there_fails(
    cvm: VariedCvm, capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    assert main(["nutanix", "check", cvm.url, "--vdisk", "15432793", "--vdisk", "99", *options]) == 1
    out, err = capsys.readouterr()
    sentence = "age 99: the main page has no such vdisk, or no link to its page; linked vdisks: 31181823, 15432793"
    assert sentence in (err if options else out)


def test_check_prints_the_metrics(cvm: VariedCvm, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nutanix", "check", cvm.url, "--metrics"]) == 0
    text = capsys.readouterr().out
    assert 'nutanix_vdisk_frontend_latency_seconds{cvm="127.0.0.1",vdisk="31181823",op="write"} 0.002198\n' in text
    assert text.startswith("# HELP nutanix_cvm_up ")


@pytest.mark.parametrize(
    ("variation", "said"),
    [
        ("refused", "connection refused"),
        ("not-a-cvm", "not with the main page of a CVM"),
        ("http500", "HTTP status 500"),
        ("redirect", "not followed"),
    ],
)
def test_check_of_what_is_no_cvm_gives_advice(variation: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Cluster("idle", cvms=1, vdisks=2, seed=1, clock=time.monotonic)
    with VariedCvm(cluster, variations=[variation]) as cvm:
        assert main(["nutanix", "check", cvm.url, "--deadline", "2m"]) == 1
    text = capsys.readouterr().err
    assert said in text
    assert "ssh -N -L 12009:127.0.0.1:2009 nutanix@cvm" in text


def test_check_without_a_table_of_vdisks_is_not_usable(cvm: VariedCvm, capsys: pytest.CaptureFixture[str]) -> None:
    cvm.variations = {"missing-nfs", "missing-hosted-vdisks"}
    assert main(["nutanix", "check", cvm.url]) == 1
    assert "Not usable: the page has no table of vdisks." in capsys.readouterr().out


def test_a_deadline_of_nothing_is_wrong_use(cvm: VariedCvm, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nutanix", "check", cvm.url, "--deadline", "0s"]) == 2
    assert capsys.readouterr().err.startswith("benchwatch: --deadline: expected more than 0s, got '0s'\n")


@pytest.mark.parametrize("url", ["https://cvm", "cvm:2009", "http://cvm/h/exit"])
def test_a_url_of_another_form_is_wrong_use(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nutanix", "check", url]) == 2
    assert "expected http://host" in capsys.readouterr().err


def test_a_saved_copy_has_the_same_numbers_and_no_names(
    cvm: VariedCvm, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cvm.variations = {"names-nested"}
    assert main(["nutanix", "save", cvm.url, "--output", str(tmp_path / "copy")]) == 0
    said = capsys.readouterr().out
    assert "Replaced: 1 IP addresses, 0 uuids, 0 host names, " in said
    saved = {path.name: path.read_bytes() for path in (tmp_path / "copy").iterdir()}
    assert set(saved) == {"main.html", "vdisk-31181823.html", "oplog_flush_stats.html"}
    original = (cvm.page("/") or "").encode()
    assert numbers(read_main_page(saved["main.html"])) == numbers(read_main_page(original))
    stats = read_vdisk_page(saved["vdisk-31181823.html"]).vdisks["31181823"]
    assert of_family(stats, f.FRONTEND_LATENCY) == {("read",): 0.000401, ("write",): 0.0042}
    for secret in (b"10.3.140.151", b"flat", b"old", b"vmdk"):
        assert secret in original
        assert secret not in saved["main.html"]
    assert b"NFS:31181823 (name" in saved["main.html"]


def test_no_file_is_named_after_a_vdisk_without_an_id(
    cvm: VariedCvm, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = cvm.page
    cvm.page = lambda target: (  # type: ignore[method-assign]
        (page(target) or "").replace("VDisk Id", "Number").replace("(1a8ef41c", "(x/../../../payroll 1a8ef41c")
    )
    assert main(["nutanix", "save", cvm.url, "--output", str(tmp_path / "a/copy")]) == 0
    saved = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.html")}
    assert saved == {f"a/copy/{name}.html" for name in ("main", "vdisk-1", "oplog_flush_stats")}
    assert "payroll" not in capsys.readouterr().out
    assert main(["nutanix", "check", cvm.url]) == 0
    assert "payroll 1a8ef41c-ae3f-4293-a46e-49d7e6c1c907): 5 of 9 sections\n" in capsys.readouterr().out


def test_names_of_many_vdisks_are_replaced_in_reasonable_time() -> None:
    cluster = Cluster("checkpoint", cvms=1, vdisks=500, seed=1, clock=time.monotonic)
    html = write(cluster.main(0), ["names-nested"]).encode()
    sanitiser = Sanitiser()
    sanitiser.learn(read_main_page(html))
    began = time.thread_time()
    clean = sanitiser.clean(html)
    assert time.thread_time() - began < 20  # seconds; it takes 0.2
    assert b"flat" in html
    assert b"flat" not in clean


def test_save_overwrites_nothing(cvm: VariedCvm, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "oplog_flush_stats.html").write_text("kept")
    assert main(["nutanix", "save", cvm.url, "--output", str(tmp_path)]) == 2
    sentence = f"{tmp_path}/oplog_flush_stats.html already exists: choose another folder with --output"
    assert capsys.readouterr().err == f"benchwatch: {sentence}; nothing was written\n"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"oplog_flush_stats.html": "kept"}


def test_save_into_what_is_no_folder_is_said(
    cvm: VariedCvm, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["nutanix", "save", cvm.url, "--output", str(tmp_path / "file")]) == 1
    assert "/file/main.html cannot be written: File exists" in capsys.readouterr().err


def test_uuids_addresses_and_hosts_are_replaced_alike_everywhere(recordings: Path) -> None:
    original = (recordings / "nutanix/main-2015.html").read_bytes()
    sanitiser = Sanitiser()
    sanitiser.learn(read_main_page(original))
    clean = sanitiser.clean(original)
    assert sanitiser.replaced == {"IP addresses": 1, "uuids": 2, "host names": 0, "words of names": 0}
    assert sanitiser.leftovers(clean) == []
    assert clean.count(b"198.18.0.1:2009") == original.count(b"10.3.140.151:2009") == 5
    assert clean.count(b"00000000-0000-4000-8000-000000000001") == 2
    assert numbers(read_main_page(clean)) == numbers(read_main_page(original))
    assert len(re.findall(b"<[^>]*>", clean)) == len(re.findall(b"<[^>]*>", original))


def test_a_sanitiser_leaves_times_versions_and_labels_alone() -> None:
    html = (
        b"<title>cvm-7.corp.example</title><a href='http://cvm-7.corp.example:2009/'>x</a>"
        b"<table><tr><td>Build version<td>el7.3-release-euphrates-5.20.1.2-stable-0a1b"
        b"<tr><td>Start time<td>14:14:03 10.20.30.40 fe80::1:2 <tr><td>NFS Flush Queue (size/admitted)<td>0/0</table>"
        b"<h2>Hosted VDisks</h2><table><tr><th>VDisk Id<th>VDisk Name<th>Usage (GB)"
        b"<tr><td>5<td>NFS:5 (Read &amp; co)<td>2<tr><td>6<td>payroll<td>3<tr><td>7<td>NFS:4:0:77<td>4"
        b"<tr><td>8<td>NFS:8 (db7)<td>5</table>"
        b"<p>About payroll on disk 6: Read &amp; co, unlike db7 or odb77"
    )
    sanitiser = Sanitiser()
    sanitiser.learn(read_main_page(html))
    clean = sanitiser.clean(html).decode()
    for kept in (
        "5.20.1.2-stable",
        "14:14:03",
        "NFS Flush Queue (size/admitted)",
        "NFS:4:0:77",
        "NFS:5 (",
        "on disk 6",
        "odb77",
    ):
        assert kept in clean
    for gone in ("corp", "10.20.30.40", "fe80", "payroll", "Read &amp; co", " db7"):
        assert gone not in clean
    assert sanitiser.leftovers(clean.encode()) == []
    assert numbers(read_main_page(clean.encode())) == numbers(read_main_page(html))


def test_simulate_lists_what_it_can(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nutanix", "simulate", "--list"]) == 0
    text = capsys.readouterr().out
    assert "checkpoint: vDisk" in text
    assert "\noplog-full: seconds 180 to 220 of every 240: a full oplog" in text


def test_simulate_refuses_what_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nutanix", "simulate", "--scene", "storm"]) == 2
    assert "storm" in capsys.readouterr().err


def test_simulate_refuses_ports_that_do_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nutanix", "simulate", "--listen", "127.0.0.1:65535", "--cvms", "2"]) == 2
    assert capsys.readouterr().err.startswith("benchwatch: --listen: ")


def test_simulate_blames_the_folder_if_its_run_cannot_be_written(tmp_path: Path) -> None:
    """No file may grow: each write fails as on a full disk."""
    program = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0));"
    program += "from benchwatch.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "nutanix", "simulate", "--listen", "127.0.0.1:0"]
    ended = subprocess.run([*command, "--runs.path", str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"benchwatch: --runs.path: cannot write {tmp_path}/simulated-")


def test_simulate_serves_several_cvms_until_interrupted() -> None:
    command = [sys.executable, "-m", "benchwatch", "nutanix", "simulate", "--listen", "127.0.0.1:0", "--cvms", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        urls = [process.stdout.readline().split()[-1] for _ in range(2)]
        for url in urls:
            assert main(["nutanix", "check", url, "--metrics"]) == 0
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_nothing_of_a_page_is_obeyed_by_the_terminal(
    cvm: VariedCvm, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = cvm.page

    def hostile(target: str) -> str | None:
        html = page(target)
        return html and html.replace("el6-", "\x1b]52;c;bad\x07el6-").replace(
            "Incarnation id", "\x9b31m\u202eIncarnation"
        )

    cvm.page = hostile  # type: ignore[method-assign]
    for command in (["check", cvm.url], ["check", cvm.url, "--metrics"], ["save", cvm.url, "--output", str(tmp_path)]):
        main(["nutanix", *command])
        shown = "".join(capsys.readouterr())
        assert [character for character in shown if not character.isprintable() and character != "\n"] == []
        if command[0] == "check":
            assert r"\x1b]52;c;bad\x07el6-" in shown.replace(r"\\", "\\")
