"""The rules by which each tool's latency and throughput become those of a worker, from the roles of its families.

Their labels are the same for all tools: `job` and `op` are the parts of a group (see benchwatch.tools.roles). Where a
tool reports no mean, a quantile of its reports stands in for it, with the label `quantile`; a throughput in bytes has
the label `unit`. What a process only sees of another one's work has no rule.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchwatch.metrics.exposition import Family
from benchwatch.tools.api import Tool
from benchwatch.tools.registry import TOOLS
from benchwatch.tools.roles import Roles

FILE = Path(__file__).resolve().parent.parent / "prometheus" / "rules" / "workers.yml"
_BEGIN, _END = "      # By scripts/rules, from the tools' roles:\n", "      # End of what scripts/rules writes.\n"
_WINDOWS = """\
      # A report may be on the page for one scrape only, which an evaluation each second can miss: four scrapes of
      # 500 ms are looked at. Scrape slower, and these windows must grow.
"""


def _latency(roles: Roles) -> tuple[Family, str] | None:
    """The family that says how long operations take, and how to select of it."""
    if roles.latency:
        return roles.latency, ""
    return (roles.window, '{quantile!="1"}') if roles.window else None


def _expression(roles: Roles, reduce: str, family: Family, selector: str = "", over: str = "") -> str:
    """Of several exporters that know a worker the highest (lowest); its group in the labels job and op."""
    series = f"{over}({family.name}{selector}[2s])" if over else f"{family.name}{selector}"
    *job, op = ("job", "op")[-len(roles.labels) :] if roles.labels else ("",)
    for label, own in zip((*job, op), roles.labels, strict=False):
        if label != own:
            series = f'label_replace({series}, "{label}", "$1", "{own}", "(.*)")'
    groups = (*job, op) if roles.labels else ()
    quantile = ("quantile",) if selector else ()
    return f"{reduce} by ({', '.join(('instance', 'run', 'worker', *groups, *quantile))}) ({series})"


def _rule(record: str, tool: Tool, expressions: Sequence[str], in_bytes: bool = False) -> str:
    joined = "\n          or\n          ".join(expressions)
    text = f"|\n          {joined}" if len(expressions) > 1 else joined
    labels = f"tool: {tool.name}{', unit: bytes' if in_bytes else ''}"
    return f"      - record: {record}\n        expr: {text}\n        labels: {{{labels}}}\n"


def _latencies(record: str, over: str = "") -> Iterator[str]:
    for tool in TOOLS:
        found = [(roles, _latency(roles)) for roles in tool.roles if not roles.observer]
        expressions = [_expression(roles, "max", *latency, over) for roles, latency in found if latency]
        if expressions:
            yield _rule(record, tool, list(dict.fromkeys(expressions)))


def _rates(record: str, reduce: str, over: str = "") -> Iterator[str]:
    for tool in TOOLS:
        for in_bytes in (False, True):
            found = [one for one in tool.roles if one.unit.in_bytes is in_bytes and not one.observer]
            expressions = [_expression(roles, reduce, roles.rate, over=over) for roles in found]
            if expressions:
                yield _rule(record, tool, list(dict.fromkeys(expressions)), in_bytes)


def generated() -> str:
    """The rules of all tools."""
    parts: tuple[tuple[str, Callable[[], Iterator[str]]], ...] = (
        ("", lambda: _latencies("worker:latency_seconds:mean")),
        ("", lambda: _rates("worker:operations:rate", "max")),
        (_WINDOWS, lambda: _latencies("worker:latency_seconds:max2s", "max_over_time")),
        ("", lambda: _rates("worker:operations:rate_min2s", "min", "min_over_time")),
    )
    return "\n".join(f"{comment}{''.join(rules())}" for comment, rules in parts)


def whole(text: str) -> str:
    """The file with the rules of all tools in it."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}{generated()}\n{_END}{after}"


if __name__ == "__main__":
    FILE.write_text(whole(FILE.read_text()))
