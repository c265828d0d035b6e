"""Grafana of the demo, where the machine has one: the provisioned dashboards for everybody who can reach loopback.

Grafana is in no package registry, so scripts/setup cannot bring it. It is looked for in the folder that GRAFANA_HOME
names (an unpacked release: bin/, conf/, public/), then on PATH (the packages of its makers have /usr/share/grafana).
"""

import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from demo_processes import Failure

_PACKAGED_HOME = Path("/usr/share/grafana")
_NAMES = ("grafana", "grafana-server")


class Grafana(NamedTuple):
    """An installed Grafana: its program and its home, the folder with conf/ and public/."""

    program: Path
    home: Path

    def command(self, settings: Path) -> list[str]:
        """What starts the server with this file of settings."""
        server = [] if self.program.name == "grafana-server" else ["server"]
        return [str(self.program), *server, "--homepath", str(self.home), "--config", str(settings)]


def find_grafana() -> Grafana | None:
    """The Grafana of this machine, None if there is none. Raises Failure if GRAFANA_HOME is set and is not one."""
    named = os.environ.get("GRAFANA_HOME")
    if named:
        home = Path(named).resolve()
        program = next((home / "bin" / name for name in _NAMES if (home / "bin" / name).exists()), None)
        if program is None or not (home / "public").is_dir():
            raise Failure(
                f"GRAFANA_HOME={named}: expected a folder with bin/grafana, conf and public, as a release has"
            )
        return Grafana(program, home)
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        return None
    program = Path(found).resolve()
    home = program.parent.parent
    return Grafana(program, home if (home / "public").is_dir() else _PACKAGED_HOME)


def environment(address: tuple[str, int], prometheus: str, dashboards: Path, data: Path) -> Mapping[str, str]:
    """Grafana's settings: everybody looks on, nobody need log in, nothing is asked of any other machine."""
    host, port = address
    return {
        "PROMETHEUS_URL": prometheus,
        "DASHBOARDS_PATH": str(dashboards / "json"),
        "GF_PATHS_PROVISIONING": str(dashboards / "provisioning"),
        "GF_PATHS_DATA": str(data),
        "GF_PATHS_LOGS": str(data / "log"),
        "GF_PATHS_PLUGINS": str(data / "plugins"),
        "GF_SERVER_HTTP_ADDR": host,
        "GF_SERVER_HTTP_PORT": str(port),
        "GF_DASHBOARDS_MIN_REFRESH_INTERVAL": "1s",
        "GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH": str(dashboards / "json" / "live.json"),
        "GF_AUTH_ANONYMOUS_ENABLED": "true",
        "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
        "GF_SECURITY_ADMIN_PASSWORD": secrets.token_hex(16),
        "GF_ANALYTICS_REPORTING_ENABLED": "false",
        "GF_ANALYTICS_CHECK_FOR_UPDATES": "false",
        "GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES": "false",
        "GF_NEWS_NEWS_FEED_ENABLED": "false",
        "GF_PLUGINS_PREINSTALL_DISABLED": "true",
        "GF_PLUGINS_PLUGIN_ADMIN_ENABLED": "false",
    }
