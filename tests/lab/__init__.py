"""The laboratory: programs that repeat the measurements which the documentation publishes.

    .venv/bin/python -m tests.lab.alert_noise             docs/measured/alerts.md: false and missed alerts
    .venv/bin/python -m tests.lab.why simulated=5,2000    docs/measured/why.md: simulated faults
    sudo .venv/bin/python -m tests.lab.real               docs/measured/why.md: real faults
    .venv/bin/python -m tests.lab.scale                   docs/measured/scale.md: many machines, one receiver

`--help` lists the options of each. They need what `scripts/setup tests` installs.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

CHECKOUT = Path(__file__).parents[2]
RULES = CHECKOUT / "prometheus" / "rules"
sys.path.insert(0, str(CHECKOUT / "scripts"))


def shipped(targets: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """prometheus/prometheus.yml with its rules, without Alertmanager.

    `targets` has static configurations by how a job's name begins; the first that fits counts. Other jobs are left out.
    """
    config = yaml.safe_load((CHECKOUT / "prometheus" / "prometheus.yml").read_text())
    jobs = []
    for job in config["scrape_configs"]:
        if found := [own for begin, own in targets.items() if job["job_name"].startswith(begin)]:
            job.pop("file_sd_configs", None)
            jobs.append(job | {"static_configs": found[0]})
    return {"global": config["global"], "scrape_configs": jobs, "rule_files": [str(RULES / "*.yml")]}
