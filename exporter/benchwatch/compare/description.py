"""One line about a side of a comparison."""

from .experiment import Experiment
from .text import span


def describe(experiment: Experiment) -> str:
    """Name, tool, number of runs and workers, length, warm-up."""
    first = experiment.runs[0]
    versions = ", ".join(dict.fromkeys(run.parameters.get("tool_version", "") for run in experiment.runs))
    parts = [f"{experiment.name}:", f"{first.tool} {versions.removeprefix('fio-')}".strip() + ","]
    number = len(experiment.runs)
    parts.append("1 run" if number == 1 else f"{number} runs")
    workers = max(len(run.timelines) for run in experiment.runs)
    if workers > 1:
        parts.append(f"of {workers} workers")
    lengths = [run.seconds for run in experiment.runs if run.seconds is not None]
    if lengths:
        parts.append(f"of {span(lengths)}")
    if first.warmup:
        parts.append(f"without the first {first.warmup:g} s")
    return " ".join(parts)
