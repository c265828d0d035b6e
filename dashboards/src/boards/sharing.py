"""A dashboard as grafana.com and Grafana's page *Import* take it: with `__inputs`, so that it asks for its data source.

Grafana puts the chosen data source in place of `${DS_PROMETHEUS}`; the variable that does so in the provisioned
dashboards is left out. `__requires` names what must be installed: Grafana, the kinds of data sources and panels.
"""

from collections.abc import Iterator
from typing import Any

INPUT = "DS_PROMETHEUS"
GRAFANA = "12.2.0"
"""The oldest version in which the dashboards were checked."""
_VARIABLE = "datasource"


def shared(dashboard: dict[str, Any]) -> dict[str, Any]:
    """The same dashboard, decoded JSON, to be imported."""
    variables = [one for one in dashboard["templating"]["list"] if one["name"] != _VARIABLE]
    inputs: dict[str, Any] = _with_input(dashboard | {"templating": {"list": variables}})
    kinds = sorted({panel["type"] for panel in _panels(dashboard)} - {"row"})
    return {
        "__inputs": [
            {
                "name": INPUT,
                "label": "Prometheus",
                "description": "The Prometheus that scrapes benchwatch",
                "type": "datasource",
                "pluginId": "prometheus",
                "pluginName": "Prometheus",
            }
        ],
        "__elements": {},
        "__requires": [
            {"type": "grafana", "id": "grafana", "name": "Grafana", "version": GRAFANA},
            {"type": "datasource", "id": "prometheus", "name": "Prometheus", "version": "1.0.0"},
            *({"type": "panel", "id": kind, "name": kind, "version": ""} for kind in kinds),
        ],
        **inputs,
        "id": None,
        "editable": True,
    }


def _panels(dashboard: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for panel in dashboard["panels"]:
        yield panel
        yield from panel.get("panels", ())


def _with_input(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_input(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_with_input(part) for part in value]
    return f"${{{INPUT}}}" if value == f"${{{_VARIABLE}}}" else value
