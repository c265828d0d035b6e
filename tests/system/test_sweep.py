"""A sweep of a real pgbench on a real PostgreSQL: it is interrupted, continued, shown and drawn."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from benchwatch.cli import main
from tests.support.pages import Page
from tests.support.servers import Database
from tests.support.waiting import PATIENCE, eventually
from tests.system.test_launch import start


def test_a_sweep_of_pgbench_is_continued_after_ctrl_c_and_becomes_a_curve(server: Database, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    pgbench = [*server.postgres.pgbench("-n", "-c", "{clients}", "-j", "2", "-T", "2")]
    arguments = ("--name", "curve", "--order", "given", "--sweep", "clients=1..4x2", "--objective", "10s")
    process = start(tmp_path, *arguments, "--", *pgbench, start_new_session=True)
    eventually(lambda: (runs / "curve-clients2/pgbench.yaml").exists(), "the second point runs")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert not (runs / "curve-clients4").exists()
    first = (runs / "curve-clients1/pgbench.yaml").read_bytes()

    process = start(tmp_path, *arguments, "--", *pgbench)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert b"sweep curve: 3 runs of 3 points; skips 1 that has finished, given" in err
    assert (runs / "curve-clients1/pgbench.yaml").read_bytes() == first

    command = [sys.executable, "-m", "benchwatch", "show", str(runs / "curve"), "--json"]
    shown = subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE)
    (subject,) = json.loads(shown.stdout)["subjects"]
    (curve,) = subject["sweep"]["curves"]
    assert [point["value"] for point in curve["points"]] == ["1", "2", "4"]
    assert all({"throughput", "latency_mean", "latency_p99"} == set(point["figures"]) for point in curve["points"])
    assert (curve["law"], curve["most_within_objective"]) == (None, "4")
    assert main(["report", str(runs / "curve"), "--output", str(tmp_path / "page.html")]) == 0
    assert len(Page(tmp_path / "page.html").drawings()) == 3
