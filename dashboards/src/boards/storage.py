"""What the storage controller says of vdisks, and of itself."""

from collections.abc import Sequence

from grafana_foundation_sdk.models import dashboard

from .queries import Query, lately
from .strips import strip

NO_CVM = "No page of a Nutanix CVM was read in this time range. To watch one, set nutanix.cvms in benchwatch.yaml"
CVM = 'cvm=~"$cvm"'


def highest(name: str, vdisks: str, *labels: str) -> str:
    """A figure of vdisks, from the page itself: of two exporters that read it the higher value."""
    return f"max by ({', '.join(('cvm', 'vdisk', *labels))}) (nutanix_vdisk_{name}{{{vdisks}}})"


def slowest(name: str, vdisks: str, *labels: str) -> str:
    """The same of a latency, the highest of the pages that were read in each step of a graph."""
    pages = lately(f"nutanix_vdisk_{name}_latency_seconds{{{vdisks}}}")
    return f"max by ({', '.join(('cvm', 'vdisk', *labels))}) ({pages})"


def controller() -> Sequence[dashboard.Panel]:
    """Queues and oplog of the CVMs."""
    return [
        strip(
            "CVM queue",
            "Operations that wait for admission, by queue of the CVM.",
            Query(
                f'max by (cvm, queue) (nutanix_stargate_queue_operations{{{CVM},state="queued"}})', "{{cvm}} {{queue}}"
            ),
            unit="short",
            bad="above 0 for longer than a poll: the CVM is saturated.",
            none=NO_CVM,
            height=3,
            slow=f"nutanix_cvm_up{{{CVM}}}",
        ),
        strip(
            "CVM oplog",
            "Used part of the CVM's oplog, by store.",
            Query(f"max by (cvm, store) (nutanix_oplog_utilisation_ratio{{{CVM}}})", "{{cvm}} {{store}}"),
            unit="percentunit",
            bad="rises throughout the run: it drains more slowly than it fills; in the end, writes bypass it.",
            none="No page /oplog_flush_stats of a Nutanix CVM was read in this time range",
            height=3,
            maximum=1.1,
            clock=True,
            slow=f"nutanix_cvm_up{{{CVM}}}",
        ),
    ]
