"""Alerts: the list of those that fire, each with a link to its moment, and their history."""

from grafana_foundation_sdk.models import dashboard

from .look import BLUE, ORANGE, RED, transformation
from .queries import now
from .tables import Column, table

_LABELS = "alertname, severity, run, worker, job, op, instance, host, vm, role, cvm, vdisk, device"
CHOSEN = 'alertstate="firing",run=~"$run|",host=~"$host|"'
"""Those of the chosen runs and hosts, and those of neither, such as the exporter's own."""


def _leading(expression: str) -> str:
    """With labels for the variables of the link: what the alert names, else all."""
    for label in ("run", "host", "vdisk"):
        with_name = f'label_replace({expression}, "to_{label}", "$1", "{label}", "(.+)")'
        expression = f'label_replace({with_name}, "to_{label}", "All", "{label}", "")'
    return expression


_SPIKE = (
    '/d/benchwatch-spike?from=${__data.fields["from"].numeric}&to=${__data.fields["to"].numeric}'
    "&var-run=${__data.fields.to_run:percentencode}&var-host=${__data.fields.to_host:percentencode}"
    "&var-vdisk=${__data.fields.to_vdisk:percentencode}"
)


def firing(size: tuple[int, int]) -> dashboard.Panel:
    """The alerts that fire now, the most severe first."""
    every = f"ALERTS{{{CHOSEN}}}"
    critical, warning = (f'ALERTS{{{CHOSEN},severity="{severity}"}}' for severity in ("critical", "warning"))
    begun = f"(ALERTS_FOR_STATE and ignoring (alertstate) {every}) * 1000"
    return table(
        "Firing alerts",
        "Alerts that fire at the end of the time range. The name opens Spike for the two minutes before and after the "
        "alert began, with its run, host and vdisk selected.",
        now(_leading(f"max by ({_LABELS}) ({critical} or 2 * {warning} or 3 * {every})")),
        now(_leading(f"max by ({_LABELS}) ({begun}) - 120000")),
        now(_leading(f"max by ({_LABELS}) ({begun}) + 120000")),
        columns=[
            Column("alertname", "Alert", link=_SPIKE, width=160),
            Column("severity", "Severity", width=75, mappings={"critical": RED, "warning": ORANGE, "info": BLUE}),
            Column("run", "Run", width=215),
            Column("worker", "Worker", width=65),
            Column("job", "Job", width=60),
            Column("op", "Op", width=55),
            Column("host", "Host", width=60),
            Column("device", "Device", width=60),
            Column("role", "Role", width=55),
            Column("vm", "VM", width=60),
            Column("vdisk", "Vdisk", width=65),
            Column("cvm", "CVM", width=60),
            Column("instance", "Instance"),
            Column("Value #B", "from", hidden=True),
            Column("Value #C", "to", hidden=True),
            *(Column(name, name, hidden=True) for name in ("to_run", "to_host", "to_vdisk")),
        ],
        bad="any line. docs/alerts.md explains each alert and what to do.",
        none="No alert is firing",
        size=size,
        before=[transformation("merge"), transformation("sortBy", fields={}, sort=[{"field": "Value #A"}])],
    )
