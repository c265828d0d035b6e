"""The table and picture of the density experiment."""

import io
import json
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from tests.experiments import density_figures


def run(folder: Path, name: str, *rates: float) -> Path:
    path = folder / name
    path.mkdir()
    for number, rate in enumerate(rates, 1):
        record = {"found": {"host": f"vm{number}"}, "start": 100.0 + number, "end": 200.0 + number}
        (path / f"db{number}.yaml").write_text(yaml.safe_dump(record))
        (path / f"db{number}.out").write_text(
            f"latency average = 1.0 ms\ntps = {rate} (without initial connection time)\n"
        )
    (path / "run.yaml").write_text("labels: {aos: '6.5'}\n")
    return path


def test_a_step_is_compared_with_as_many_single_databases(tmp_path: Path) -> None:
    published = {1: 64.0, 4: 64.0, 32: 1957 / 32, 40: 2194 / 40}
    steps = [density_figures.read_step(run(tmp_path, f"d-{n}", *[rate] * n)) for n, rate in published.items()]
    assert [line.split()[-1] for line in density_figures.table(steps).splitlines()] == [
        "linear",
        "100.0%",
        "100.0%",
        "95.6%",
        "85.7%",
    ]
    found = density_figures.at_most_of_the_load(steps)
    assert found
    assert (len(found[0].rates), round(found[1], 3)) == (32, 0.044)
    assert density_figures.at_most_of_the_load(steps[:2]) is None
    assert steps[1].hosts == ["vm1", "vm2", "vm3", "vm4"]
    assert (steps[1].start, steps[1].end) == (104.0, 201.0)
    density_figures.draw(steps, tmp_path / "picture.png", "AHV")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_a_database_without_a_result_is_named(tmp_path: Path) -> None:
    path = run(tmp_path, "d-2", 1.0, 2.0)
    (path / "db2.out").write_text("")
    with pytest.raises(ValueError, match="d-2: db2 has no result"):
        density_figures.read_step(path)


def test_the_share_of_the_controllers_is_asked_of_prometheus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, list[str]]] = []

    def urlopen(address: str, timeout: float) -> io.BytesIO:
        asked.append(parse_qs(urlsplit(address).query))
        found = [{"metric": {}, "value": [201, "0.05"]}] if len(asked) == 1 else []
        return io.BytesIO(json.dumps({"data": {"result": found}}).encode())

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    step = density_figures.read_step(run(tmp_path, "d-2", 1.0, 2.0))
    known = density_figures.measured(step, "http://prometheus:9090/", "cvm.*")
    assert density_figures.table([known]).splitlines()[1].split()[-1] == "5.0%"
    assert density_figures.measured(step, "http://prometheus:9090", "cvm.*").controllers is None
    own, hosts = (
        f'sum(increase(node_cpu_seconds_total{{host=~"{name}",mode!~"idle|iowait"}}[99s]))'
        for name in ("cvm.*", "vm1|vm2")
    )
    assert asked[0] == {"query": [f"{own} / ({own} + {hosts})"], "time": ["201.0"]}
    rules = {"groups": [{"name": "a", "rules": [{"record": "a", "expr": asked[0]["query"][0]}]}]}
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(rules))
    subprocess.run(["promtool", "check", "rules", tmp_path / "rules.yml"], check=True, capture_output=True)
