"""Results for programs, as JSON (schema 1) and CSV: docs/results.md explains keys and columns.

Within a schema, keys and columns may be added, but none changes its meaning or disappears. null, or an empty cell,
means unknown or none. A figure that was not measured is absent from `figures` and `lost`.
"""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from ..compare.final_numbers import labels_of, number, reported
from ..compare.measures import described, heading, named_group, unit_of
from ..compare.result import Result
from ..show.as_csv import Value, records
from .repeats import CONFIDENCE, finished, kinds, repeated
from .requirements import CheckedRequirement
from .scalability import Bounded
from .subject import Subject, findings_of, kept_level, longest_stall, objective_of
from .sweep import CapacityCurve, curves

SCHEMA = 1


def document(subjects: Sequence[Subject], answers: Sequence[Sequence[CheckedRequirement]]) -> str:
    """The JSON text; `answers` has the checked requirements of each subject."""
    content = {"schema": SCHEMA, "subjects": [_subject(*one) for one in zip(subjects, answers, strict=True)]}
    return json.dumps(content, indent=2) + "\n"


def records_of(subjects: Sequence[Subject]) -> str:
    """The CSV text, with a record for each figure; a result without figures has one without a measure."""
    return records(row for subject in subjects for result in subject.results for row in _rows(result))


def _rows(result: Result) -> Iterator[dict[str, Value]]:
    common: dict[str, Value] = {
        "run": result.name,
        "state": result.state,
        "tool": result.tool,
        "version": result.version or None,
        "workers": len(result.timelines),
        "start": result.start,
        "seconds": result.length,
        "warmup_seconds": result.warmup,
        **dict.fromkeys(("part", "measure", "unit", "better", "value")),
    }
    if not result.figures:
        yield common
    for (group, measure), figure in result.figures.items():
        unit = unit_of(measure, result.roles)
        own: dict[str, Value] = {"measure": measure.name, "unit": unit, "better": measure.better, "value": figure.value}
        yield {**common, "part": heading(group), **own}
    for timeline in result.timelines:
        worker = {"worker": timeline.name} if len(result.timelines) > 1 else {}
        for sample in reported(timeline):
            part = ", ".join(f"{name}={value}" for name, value in {**worker, **labels_of(sample)}.items())
            yield {**common, "part": part, "measure": sample.family.name, "value": number(sample)}


def _subject(subject: Subject, answers: Sequence[CheckedRequirement]) -> dict[str, Any]:
    return {
        "name": subject.name,
        "repeated": subject.repeated,
        "results": [_result(result) for result in subject.results],
        "repeats": _repeats(subject.results) if subject.repeated else None,
        "sweep": {"level": CONFIDENCE, "curves": list(_curves(subject.results))} if subject.swept else None,
        "without": list(subject.without),
        "requirements": [
            {"requirement": one.requirement.text, "met": one.met, "measured": one.measured} for one in answers
        ],
    }


def _result(result: Result) -> dict[str, Any]:
    kept = objective_of(result)
    return {
        "run": result.name,
        "tool": result.tool,
        "version": result.version or None,
        "workers": [timeline.name for timeline in result.timelines],
        "state": result.state,
        "reason": result.reason or None,
        "start": result.start,
        "end": result.end,
        "seconds": result.length,
        "warmup_seconds": result.warmup,
        "left_out_seconds": round(result.left_out, 3),
        "labels": result.labels,
        "parameters": result.parameters,
        "figures": [
            {**described(group, one, result.roles), "value": figure.value}
            for (group, one), figure in result.figures.items()
        ],
        "final_report": [
            {"worker": timeline.name, "name": one.family.name, "labels": labels_of(one), "value": one.value}
            for timeline in result.timelines
            for one in reported(timeline)
        ],
        "operations": result.operations,
        "lost": {word: counted for word, (counted, _) in result.lost.items()},
        "stalled_seconds": longest_stall(result),
        "steady": kept_level(result),
        "objective": kept
        and {
            "seconds": kept.seconds,
            **named_group(kept.group, result.roles),
            "name": kept.measure.name,
            "value": kept.value,
            "reports_above": kept.above,
            "reports": kept.reports,
            "met": kept.met,
        },
        "findings": [one._asdict() for one in findings_of(result)],
    }


def _repeats(results: Sequence[Result]) -> dict[str, Any]:
    return {
        "level": CONFIDENCE,
        "measures": [
            {
                "tool": counted[0].tool,
                **described(one.group, one.measure, counted[0].roles),
                "runs": len(one.mean.values),
                "mean": one.mean.value,
                "interval": one.mean.interval,
                "spread": one.mean.spread,
                "lowest": min(one.mean.values),
                "highest": max(one.mean.values),
                "outliers": one.outliers,
            }
            for counted in map(finished, kinds(results).values())
            for one in repeated(counted)
        ],
    }


def _curves(results: Sequence[Result]) -> Iterator[dict[str, Any]]:
    for runs in map(finished, kinds(results).values()):
        yield from (_curve(one, runs[0].tool) for one in curves(runs))


def _curve(curve: CapacityCurve, tool: str) -> dict[str, Any]:
    law, knee, most = curve.law, curve.knee, curve.most_within
    return {
        "tool": tool,
        **named_group(curve.group, curve.roles),
        "parameter": curve.parameter,
        "second": dict([curve.second]) if curve.second else None,
        "points": [
            {
                "value": point.value,
                "runs": [run.name for run in point.runs],
                "figures": {
                    one.name: {"mean": mean.value, "interval": mean.interval} for one, mean in point.figures.items()
                },
            }
            for point in curve.points
        ],
        "knee": knee and knee.value,
        "objective_seconds": curve.objective,
        "most_within_objective": most and most.value,
        "law": law
        and {
            "throughput_of_one": _bounded(law.rate),
            "contention": _bounded(law.contention),
            "coherence": _bounded(law.coherence),
            "peak": _bounded(law.peak, law.reach),
            "deviation": law.deviation,
        },
    }


def _bounded(found: Bounded, most: float = math.inf) -> dict[str, Any]:
    value, low, high = (one if math.isfinite(one) and one <= most else None for one in found)
    return {"value": value, "interval": [low, high]}
