"""The laboratory: programs that repeat the measurements which the documentation publishes.

    .venv/bin/python -m tests.lab.alert_noise             docs/measured/alerts.md: false and missed alerts
    .venv/bin/python -m tests.lab.why simulated=5,2000    docs/measured/why.md: simulated faults
    sudo .venv/bin/python -m tests.lab.real               docs/measured/why.md: real faults
    .venv/bin/python -m tests.lab.scale                   docs/measured/scale.md: many machines, one receiver

`--help` lists the options of each. They need what `scripts/setup tests` installs.
"""

import sys
from pathlib import Path
from typing import Any

import yaml

CHECKOUT = Path(__file__).parents[2]
RULES = CHECKOUT / "prometheus" / "rules"
sys.path.insert(0, str(CHECKOUT / "scripts"))


def shipped(*names: str) -> dict[str, Any]:
    """prometheus/prometheus.yml with its rules, without Alertmanager and targets; of its jobs, those of these names."""
    config = yaml.safe_load((CHECKOUT / "prometheus" / "prometheus.yml").read_text())
    jobs = [job for job in config["scrape_configs"] if job["job_name"].startswith(names)]
    for job in jobs:
        job.pop("file_sd_configs", None)
    return {"global": config["global"], "scrape_configs": jobs, "rule_files": [str(RULES / "*.yml")]}
