"""The rules that name families of the tools, from the roles of these: latency and throughput of a worker, its default
objective, which runs are of a database and what its transactions take, and what is recorded of whole runs for the
dashboards.

Their labels are the same for all tools: `job` and `op` are the parts of a group (see benchwatch.tools.roles). Where a
tool reports no mean, a quantile of its reports stands in for it, with the label `quantile`; a throughput in bytes has
the label `unit`. What a process only sees of another one's work has no rule.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from textwrap import indent

from benchwatch.metrics.samples import Family
from benchwatch.tools.api import Tool
from benchwatch.tools.registry import TOOLS
from benchwatch.tools.roles import Roles

_RULES = Path(__file__).resolve().parent.parent / "prometheus" / "rules"
RUNS, WORKERS, DASHBOARDS = (_RULES / f"{name}.yml" for name in ("runs", "workers", "dashboards"))
_BEGIN, _END = "# By scripts/rules, from the tools' roles:\n", "# End of what scripts/rules writes.\n"
_WRITTEN = re.compile(rf"^( *){_BEGIN}.*?^\1{_END}", re.MULTILINE | re.DOTALL)
_OR = "\n          or\n          "
_WINDOWS = """\
      # A report may be on the page for one scrape only, which an evaluation each second can miss, so the windows cover
      # four scrapes of 500 ms. If you scrape less often, enlarge these windows.
"""


_MANY = ("pgbench", "fio", "sysbench")
"""Tools of which a run has dozens of workers. Dashboards add up those of others themselves."""


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
    joined = _OR.join(expressions)
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


def _workers() -> str:
    parts: tuple[tuple[str, Callable[[], Iterator[str]]], ...] = (
        ("", lambda: _latencies("worker:latency_seconds:mean")),
        ("", lambda: _rates("worker:operations:rate", "max")),
        (_WINDOWS, lambda: _latencies("worker:latency_seconds:max2s", "max_over_time")),
    )
    return "\n".join(f"{comment}{''.join(rules())}" for comment, rules in parts)


def _objectives() -> str:
    """The run's objective, else that of its tool."""
    by = "max by (instance, run, worker)"
    expressions = [f"{by} (last_over_time(benchwatch_run_latency_objective_seconds[1m]))"] + [
        f'{by} (last_over_time(worker:latency_seconds:mean{{tool="{tool.name}"}}[30s])) * 0 + {objective:g}'
        for tool in TOOLS
        if (objective := tool.roles[0].objective) is not None
    ]
    joined = _OR.join(expressions)
    return f"      - record: worker:latency_objective_seconds:effective\n        expr: |\n          {joined}\n"


def _databases() -> str:
    """The runs of a database; the label `latency` is there where their tool reports the mean."""
    rules = ""
    for labels, found in (
        ("\n        labels: {latency: mean}", [roles for roles in _of_databases() if roles.latency]),
        ("", [roles for roles in _of_databases() if not roles.latency]),
    ):
        counted = [f"max by (run) (last_over_time({(roles.total or roles.rate).name}[10s])) ^ 0" for roles in found]
        text = f"|\n          {_OR.join(counted)}" if len(counted) > 1 else "".join(counted)
        rules += f"      - record: run:database_benchmark:info\n        expr: {text}{labels}\n" if counted else ""
    return rules


def _of_databases() -> Iterator[Roles]:
    return (roles for tool in TOOLS for roles in tool.roles if roles.database and not roles.observer)


def _failed() -> str:
    """Transactions that failed: which part, where it is more than a hundredth and five in half a minute."""
    by, expressions = "sum by (instance, run, worker)", []
    for lost in (lost for roles in _of_databases() for lost in roles.lost.values() if lost.bad and lost.of):
        failed, *of = (f"{by} (rate({family.name}[30s]))" for family in (lost.counter, *lost.of))
        whole = "\n  +\n  ".join(of)
        expressions.append(f"{failed}\n/\n(\n  {whole}\n) > 0.01\nand\n{failed} * 30 >= 5")
    return "\nor\n".join(expressions) + "\n"


def _of_runs() -> str:
    """Sums over the workers of whole runs; of several exporters that read the same run one counts."""
    rules: dict[str, str] = {}
    for tool in (one for one in TOOLS if one.name in _MANY):
        for roles in (one for one in tool.roles if not one.observer):
            of_run = ", ".join(("run", *roles.labels[-1:]))
            of_worker = ", ".join(("run", "worker", *roles.labels))
            apart = f'{{{roles.operation}!~"{"|".join(sorted(roles.apart))}"}}' if roles.apart else ""
            rate, latency, window, histogram = roles.rate.name, roles.latency, roles.window, roles.histogram
            present = f"{rate}{apart} and last_over_time({rate}[2s])"
            total = (
                f"sum by ({of_run}) (\n            max by ({of_worker}) (\n{' ' * 14}{{}}\n            )\n          )"
            )
            rules[f"run:{rate}:mean1s"] = total.format(f"avg_over_time(({present})[1s:500ms])")
            if latency:
                rules[f"run:{tool.name.replace('-', '_')}_under_way:mean1s"] = total.format(
                    f"sum_over_time(({latency.name} * ({present}))[1s:500ms])\n              /\n"
                    f"              count_over_time(({present})[1s:500ms])"
                )
            if window and not roles.labels:
                rules[f"run:{window.name}:max1s"] = f"max by (run, quantile) (max_over_time({window.name}[1s]))"
            if histogram and histogram.part == "live" and not roles.labels:
                by, bucket = ", ".join(("run", "worker", *histogram.labels, "le")), f"{histogram.name}_bucket"
                buckets = f'max by ({by}) (rate({bucket}{{le!~".*e-0."}}[5s]))'
                rules[f"run:{bucket}:rate5s"] = f"sum by (run, le) (\n            {buckets}\n          )"
    return "".join(f"      - record: {name}\n        expr: |\n          {text}\n" for name, text in rules.items())


def _now(rules: Iterator[str]) -> str:
    """What these rules record, as one expression: an alert that asks for it waits for no recording of another rule."""
    expressions = []
    for rule in rules:
        _, text, labels = re.split(r"\n        (?:expr|labels): ", rule)
        for one in text.removeprefix("|").split("\n          or\n"):
            pairs = re.findall(r"(\w+): (\w+)", labels)
            for name, value in pairs:
                one = f'label_replace({one.strip()}, "{name}", "{value}", "", "")'
            expressions.append(one)
    return "\nor\n".join(expressions) + "\n"


def _latency_now() -> str:
    return _now(_latencies("", "max_over_time"))


def _rate_now() -> str:
    return _now(_rates("", "min", "min_over_time"))


_PARTS: dict[Path, Sequence[Callable[[], str]]] = {
    RUNS: (_databases, _failed),
    WORKERS: (_workers, _latency_now, _latency_now, _rate_now, _objectives),
    DASHBOARDS: (_of_runs,),
}
FILES = tuple(_PARTS)


def whole(path: Path) -> str:
    """The file with the rules of all tools in it."""
    parts = iter(_PARTS[path])

    def write(match: re.Match[str]) -> str:
        part = next(parts)()
        if not part.startswith("      - record"):
            part = indent(part, match[1])
        else:
            part += "\n"
        return f"{match[1]}{_BEGIN}{part}{match[1]}{_END}"

    return _WRITTEN.sub(write, path.read_text())


if __name__ == "__main__":
    for file in FILES:
        file.write_text(whole(file))
