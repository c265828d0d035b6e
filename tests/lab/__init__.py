"""The laboratory: programs that repeat the measurements which docs/measured publishes; each page names its command.

They need what `scripts/setup tests` installs.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

CHECKOUT = Path(__file__).parents[2]
BENCHWATCH = (sys.executable, "-m", "benchwatch")
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
