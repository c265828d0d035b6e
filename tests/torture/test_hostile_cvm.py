"""A real `benchwatch serve` beside a CVM that hangs, drips, or answers with what takes a reader away."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from benchwatch.nutanix.simulator.cluster import Cluster
from tests.support.cvm.varied_cvm import VariedCvm
from tests.support.ports import free_address
from tests.support.waiting import PATIENCE, eventually

INTERVAL = 1.0


@pytest.fixture
def cvm() -> Iterator[VariedCvm]:
    with VariedCvm(Cluster("checkpoint", cvms=1, vdisks=4, seed=1, clock=time.monotonic)) as cvm:
        yield cvm


@pytest.fixture
def exporter(cvm: VariedCvm, tmp_path: Path) -> Iterator[str]:
    """The URL of an exporter of this CVM, with a deadline for a page that outlasts the test."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "benchwatch.yaml").write_text(
        f"runs: {{path: runs}}\nnutanix:\n  cvms: [{{name: a, url: '{cvm.url}'}}]\n  poll_interval: {INTERVAL:g}s\n"
        "  allow_fast_polling: true\n  deadline: 10m\n"
    )
    address = free_address()
    command = [sys.executable, "-m", "benchwatch", "serve", "--config.file", str(tmp_path / "benchwatch.yaml")]
    with subprocess.Popen([*command, "--web.listen-address", address], stderr=subprocess.DEVNULL) as process:
        try:
            eventually(lambda: "nutanix_vdisk_usage_bytes" in metrics(f"http://{address}"), "it is polled")
            yield f"http://{address}"
        finally:
            process.kill()


def metrics(url: str) -> str:
    try:
        return requests.get(f"{url}/metrics", timeout=PATIENCE).text
    except requests.ConnectionError:
        return ""


@pytest.mark.parametrize("variation", ["late", "slow", "slow-header", "tangled", "gzip", "huge", "closed", "not-http"])
def test_a_hostile_cvm_is_down_without_numbers_and_comes_back(cvm: VariedCvm, exporter: str, variation: str) -> None:
    release: list[bool] = []
    cvm.sleep = lambda seconds: eventually(lambda: bool(release), "the test goes on")
    cvm.variations.add(variation)
    eventually(lambda: 'nutanix_cvm_up{cvm="a"} 0' in metrics(exporter), "it is down")
    eventually(lambda: "nutanix_vdisk" not in metrics(exporter), "no numbers are left")
    assert requests.get(exporter, timeout=PATIENCE).status_code == 200
    if variation != "huge":  # of which the CVM still sends when the exporter has had enough
        assert cvm.most_at_once == 1
    cvm.variations.clear()
    release.append(True)
    back = {'nutanix_cvm_up{cvm="a"} 1', "nutanix_vdisk_usage_bytes"}
    eventually(lambda: all(part in page for page in [metrics(exporter)] for part in back), "it is back, with numbers")
