"""The panel of Exporter health that lists what the names of active runs do not lead to."""

import json
from collections.abc import Iterator
from pathlib import Path

from tests.support.grafana import DASHBOARDS, panels
from tests.support.programs import evaluate, series

ONE = "1x60"


def worker(
    run: str, host: str, device: str = "sdb", vm: str = "", state: str = "running", start: int = 0
) -> Iterator[dict[str, str]]:
    own = {"instance": "b:1", "run": run, "worker": "db1"}
    yield series("benchwatch_run_state", ONE, **own, state=state)
    yield series("benchwatch_run_start_timestamp_seconds", f"{start}x60", **own)
    yield series("benchwatch_run_host_info", ONE, **own, host=host, role="server")
    yield series("benchwatch_run_disk_info", ONE, **own, host=host, device=device, role="log")
    yield series("benchwatch_run_vm_info", ONE, **own, host=host, vm=vm or host)


def test_each_name_that_leads_nowhere_is_listed_with_what_is_wrong(tmp_path: Path) -> None:
    loads = [
        *worker("well", "db1"),
        *worker("unknown", "db9", vm="db1"),
        *worker("device", "db1", device="sdz"),
        *worker("vm", "db1", vm="elsewhere"),
        *worker("over", "db8", device="sdz", state="finished"),
        series("up", ONE, job="node", instance="db1:9100", host="db1"),
        series("node_disk_writes_completed_total", ONE, host="db1", device="sdb"),
        series("nutanix_vdisk_info", ONE, cvm="cvm1", vdisk="1", vm="db1", role="log"),
    ]
    loads.append(
        series(
            "benchwatch_run_disk_info",
            ONE,
            instance="b:1",
            run="well",
            worker="db1",
            host="db1",
            device="sdb",
            role="data",
        )
    )
    (panel,) = [
        panel
        for panel in panels(json.loads((DASHBOARDS / "json" / "exporter.json").read_text()))
        if panel["title"] == "Names that match nothing"
    ]
    query = panel["targets"][0]["expr"].replace("$run", ".*").replace("$worker", ".*")
    found = (
        'host="db9", run="unknown", what="no target of the job node has this label host"',
        'device="sdz", host="db1", run="device", what="the job node has no such device of this host"',
        'device="sdb", host="db1", run="well", what="the run\'s workers give this device two roles"',
        'host="db1", run="vm", vm="elsewhere", what="the mapping has no listed vdisk of this VM"',
    )
    expected = {f"count by (run, host, device, vm, what) ({query})": {f"{{{labels}}}": 1.0 for labels in found}}
    evaluate(tmp_path, loads, 60, expected)
