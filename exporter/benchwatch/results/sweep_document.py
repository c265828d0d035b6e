"""A sweep as JSON: the key `sweep` of a subject (see document)."""

import math
from collections.abc import Sequence
from typing import Any

from ..compare.measures import named_group
from .repeats import CONFIDENCE, finished, kinds
from .result import RunResult
from .scalability import Bounded, Scalability
from .sweep import CapacityCurve, CurvePoint, curves


def content(results: Sequence[RunResult]) -> dict[str, Any]:
    """Of the finished runs of a sweep."""
    each = [[one.run for one in finished(own)] for own in kinds(results).values()]
    return {"level": CONFIDENCE, "curves": [_curve(one, runs[0].tool) for runs in each for one in curves(runs)]}


def _curve(curve: CapacityCurve, tool: str) -> dict[str, Any]:
    law, knee, most = curve.law, curve.knee, curve.most_within
    return {
        "tool": tool,
        **named_group(curve.group, curve.roles),
        "parameter": curve.parameter,
        "second": dict([curve.second]) if curve.second else None,
        "points": [_point(point) for point in curve.points],
        "knee": knee and knee.value,
        "objective_seconds": curve.objective,
        "most_within_objective": most and most.value,
        "law": law and _law(law),
    }


def _point(point: CurvePoint) -> dict[str, Any]:
    figures = {one.name: {"mean": mean.value, "interval": mean.interval} for one, mean in point.figures.items()}
    return {"value": point.value, "runs": [run.name for run in point.runs], "figures": figures}


def _law(law: Scalability) -> dict[str, Any]:
    return {
        "throughput_of_one": _bounded(law.rate, math.inf),
        "contention": _bounded(law.contention, math.inf),
        "coherence": _bounded(law.coherence, math.inf),
        "peak": _bounded(law.peak, law.reach),
        "deviation": law.deviation,
    }


def _bounded(found: Bounded, most: float) -> dict[str, Any]:
    value, low, high = (one if math.isfinite(one) and one <= most else None for one in found)
    return {"value": value, "interval": [low, high]}
