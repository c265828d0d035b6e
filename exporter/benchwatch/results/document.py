"""Results as JSON, schema 1. Within a schema keys may be added; none changes its meaning or goes away.

    schema          1
    subjects[]      name, repeated (true: repeats of an experiment), without (names of its runs in which nothing is
                    recognised),
      results[]     see below, one a run (and tool)
      repeats       null for a single run; else level (confidence, ratio) and measures[]: tool, labels of the group,
                    name, unit, better, runs, mean, interval ([low, high] or null), spread (standard deviation over the
                    mean, ratio), lowest, highest, outliers (names of runs)
      sweep         null unless it is a sweep; else level and curves[]: tool, labels of the group, parameter, second
                    ({name: value} or null), points[]: value (text), runs (names), figures {name: {mean, interval}};
                    knee, most_within_objective (values or null), objective_seconds, law (null, or
                    throughput_of_one, contention, coherence, peak: each {value, interval}, null where it is infinite or
                    beyond twice the largest value; deviation, a ratio)
      requirements[] requirement (as given), met, measured (text)

    results[]       run, tool, version, workers (names), state, reason, start, end (Unix seconds), seconds,
                    warmup_seconds, left_out_seconds, labels, parameters,
      figures[]     labels of its group, name, unit (per second, bytes per second, seconds, ratio), better, value
      operations    how many were done; lost: {failed, skipped ...: how many}
      stalled_seconds, steady (true, false)
      objective     seconds, labels of the group, name (the figure that decides), value, reports_above, reports, met
      findings[]    kind, text: what speaks against the figures (docs/compare.md, Warnings)

null: not known, or there is none. What was not measured is absent from `figures` and `lost`.
"""

import json
from collections.abc import Sequence
from typing import Any

from ..compare.measures import named_group, unit_of
from . import sweep_document
from .repeats import CONFIDENCE, finished, kinds, repeated
from .requirements import CheckedRequirement
from .result import RunResult, Subject

SCHEMA = 1


def document(subjects: Sequence[Subject], answers: Sequence[Sequence[CheckedRequirement]]) -> str:
    """The JSON text; `answers` are those of each subject."""
    content = {"schema": SCHEMA, "subjects": [_subject(*one) for one in zip(subjects, answers, strict=True)]}
    return json.dumps(content, indent=2) + "\n"


def _subject(subject: Subject, answers: Sequence[CheckedRequirement]) -> dict[str, Any]:
    return {
        "name": subject.name,
        "repeated": subject.repeated,
        "results": [_result(result) for result in subject.results],
        "repeats": _repeats(subject.results) if subject.repeated else None,
        "sweep": sweep_document.content(subject.results) if subject.swept else None,
        "without": list(subject.without),
        "requirements": [
            {"requirement": one.requirement.text, "met": one.met, "measured": one.measured} for one in answers
        ],
    }


def _result(result: RunResult) -> dict[str, Any]:
    run, kept = result.run, result.objective
    return {
        "run": run.name,
        "tool": run.tool,
        "version": result.version or None,
        "workers": [timeline.worker for timeline in run.timelines],
        "state": result.state,
        "reason": result.reason or None,
        "start": result.start,
        "end": result.end,
        "seconds": result.seconds,
        "warmup_seconds": run.warmup,
        "left_out_seconds": round(run.left_out, 3),
        "labels": result.labels,
        "parameters": run.parameters,
        "figures": [
            {
                **named_group(group, run.roles),
                "name": one.name,
                "unit": unit_of(one, run.roles),
                "better": one.better,
                "value": figure.value,
            }
            for (group, one), figure in run.figures.items()
        ],
        "operations": result.operations,
        "lost": {word: counted for word, (counted, _) in result.lost.items()},
        "stalled_seconds": result.stalled,
        "steady": result.steady,
        "objective": kept
        and {
            "seconds": kept.seconds,
            **named_group(kept.group, run.roles),
            "name": kept.measure.name,
            "value": kept.value,
            "reports_above": kept.above,
            "reports": kept.reports,
            "met": kept.met,
        },
        "findings": [{"kind": one.kind, "text": one.text} for one in result.findings],
    }


def _repeats(results: Sequence[RunResult]) -> dict[str, Any]:
    return {
        "level": CONFIDENCE,
        "measures": [
            {
                "tool": counted[0].run.tool,
                **named_group(one.group, counted[0].run.roles),
                "name": one.measure.name,
                "unit": unit_of(one.measure, counted[0].run.roles),
                "better": one.measure.better,
                "runs": len(one.values),
                "mean": one.mean,
                "interval": one.interval,
                "spread": one.spread,
                "lowest": min(one.values),
                "highest": max(one.values),
                "outliers": one.outliers,
            }
            for counted in map(finished, kinds(results).values())
            for one in repeated(counted)
        ],
    }
