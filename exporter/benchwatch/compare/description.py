"""One line about a side of a comparison."""

from .experiment import Experiment
from .measures import LATENCY_MEAN, THROUGHPUT
from .text import figure, span, title

_SAME = 0.05
"""Seconds by which the time left out may differ from the warm-up without a remark."""


def describe(experiment: Experiment) -> str:
    """Name, tool, number of runs and workers, length; with a warm-up, the time left out and the whole run's result."""
    first = experiment.runs[0]
    versions = ", ".join(
        dict.fromkeys(found for run in experiment.runs if (found := run.parameters.get("tool_version")))
    )
    parts = [f"{experiment.name}:", f"{first.tool} {versions.removeprefix(f'{first.tool}-')}".strip() + ","]
    number = len(experiment.runs)
    parts.append("1 run" if number == 1 else f"{number} runs")
    workers = max(len(run.timelines) for run in experiment.runs)
    if workers > 1:
        parts.append(f"of {workers} workers")
    lengths = [run.seconds for run in experiment.runs if run.seconds is not None]
    if lengths:
        parts.append(f"of {span(lengths)}")
    if any(run.left_out for run in experiment.runs):
        parts.append(f"without the first {_left_out(experiment)}")
    return " ".join(parts) + _whole(experiment)


def _left_out(experiment: Experiment) -> str:
    run = max(experiment.runs, key=lambda run: abs(run.left_out - run.warmup))
    if abs(run.left_out - run.warmup) < _SAME:
        return f"{run.warmup:g} s"
    return f"{round(run.left_out, 2):g} s (its warm-up of {run.warmup:g} s ends within a report)"


def _whole(experiment: Experiment) -> str:
    """The result including the warm-up, as other views show it; for several runs, the mean."""
    groups = {group for run in experiment.runs for group, measure in run.main()}
    if len(groups) != 1 or not all(run.whole for run in experiment.runs):
        return ""
    (group,) = groups
    roles = experiment.runs[0].roles
    found = []
    unit = "" if roles.unit.in_bytes else f" {title(THROUGHPUT, roles)}"
    for measure, text in ((THROUGHPUT, f"{{}}{unit}"), (LATENCY_MEAN, "mean {}")):
        values = [run.whole.get((group, measure)) for run in experiment.runs]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            found.append(text.format(figure(sum(known) / len(known), measure, roles)))
    return f"; whole run: {', '.join(found)}" if found else ""
