"""A comparison for programs: JSON, CSV (docs/compare.md explains keys and columns), and JUnit XML.

Keys and columns may be added, but none changes its meaning. null, or an empty cell, means unknown. Characters beyond
ASCII are escaped in JSON, so no encoding changes them.

GitLab, Jenkins and GitHub's test reporters read JUnit. Each comparison (or run) is a suite, each verdict (or
requirement) a test case. A verdict `worse` is a failure; `not judged` is skipped. With --vary, a further case says
whether another parameter differs.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from xml.etree import ElementTree

from ..show.as_csv import Value, records
from ..tools.roles import Roles
from ..values.printable import printable
from .comparison import Comparison, Comparisons
from .comparison_view import sentence
from .experiment import Experiment
from .final_numbers import labels_of
from .measures import described, heading, named, named_group, unit_of


def document(found: Sequence[Comparisons]) -> str:
    """The JSON text; several comparisons, of workers that followed each other, are a list."""
    each = [_comparisons(one) for one in found]
    content = each[0] if len(each) == 1 else {"comparisons": each}
    return json.dumps(content, indent=2) + "\n"


def table(found: Sequence[Comparisons]) -> str:
    """The CSV text, with a record for each figure, then one for each number of a part."""
    return records(row for one in found for other in one.others for row in _figures(one, other))


def _figures(found: Comparisons, comparison: Comparison) -> Iterator[dict[str, Value]]:
    sides: dict[str, Value] = {"base": found.base.name, "other": comparison.other.name}
    for row in comparison.rows:
        low, high = row.interval or (None, None)
        yield {
            **sides,
            "part": heading(row.group),
            "measure": row.measure.name,
            "unit": unit_of(row.measure, found.roles),
            "better": row.measure.better,
            "base_value": row.base,
            "other_value": row.other,
            "change": row.ratio,
            "change_low": low,
            "change_high": high,
            "verdict": row.verdict,
        }
    for part in comparison.parts:
        yield {
            **sides,
            "part": ", ".join(f"{name}={value}" for name, value in labels_of(part.sample).items()),
            "measure": part.sample.family.name,
            "base_value": part.base,
            "other_value": part.other,
            "change": part.ratio,
        }


def _comparisons(found: Comparisons) -> dict[str, Any]:
    return {
        "tool": found.tool,
        "confidence": found.confidence,
        "interval_level": found.each,
        "allowance": found.allowance,
        "vary": list(found.vary),
        "base": _experiment(found.base),
        "others": [_comparison(comparison, found.roles) for comparison in found.others],
    }


def _experiment(experiment: Experiment) -> dict[str, Any]:
    runs = [
        {
            "name": run.name,
            "seconds": run.seconds,
            "warmup_seconds": run.warmup,
            "left_out_seconds": round(run.left_out, 3),
            "workers": len(run.timelines),
        }
        for run in experiment.runs
    ]
    return {"name": experiment.name, "runs": runs}


def _comparison(comparison: Comparison, roles: Roles) -> dict[str, Any]:
    return {
        **_experiment(comparison.other),
        "measures": [
            described(row.group, row.measure, roles)
            | {"base": row.base, "other": row.other, "change": row.ratio, "interval": row.interval}
            for row in comparison.rows
        ],
        "verdicts": [
            named_group(row.group, roles) | {"name": row.measure.name, "verdict": row.verdict, "reason": row.reason}
            for row in comparison.verdicts
        ],
        "parts": [
            {
                "name": one.sample.family.name,
                "labels": labels_of(one.sample),
                "base": one.base,
                "other": one.other,
                "change": one.ratio,
            }
            for one in comparison.parts
        ],
        "parameters": [
            {"name": one.name, "base": one.base or None, "other": one.other or None, "intended": one.intended}
            for one in comparison.parameters
        ],
        "findings": [one._asdict() for one in comparison.findings],
    }


class Case(NamedTuple):
    """One test case."""

    name: str
    failure: str
    """The reason for its failure; empty if it passed."""
    skipped: str = ""
    """The reason why it was not judged; empty if it was."""


def junit(suites: Iterable[tuple[str, Sequence[Case]]]) -> str:
    """The XML text, ASCII. `suites` are the cases of runs or comparisons, and their names."""
    root = ElementTree.Element("testsuites", name="benchwatch")
    for name, cases in suites:
        failed, skipped = (sum(bool(case[place]) for case in cases) for place in (1, 2))
        suite = ElementTree.SubElement(
            root, "testsuite", name=printable(name), tests=str(len(cases)), failures=str(failed), skipped=str(skipped)
        )
        for case in cases:
            element = ElementTree.SubElement(suite, "testcase", classname=printable(name), name=printable(case.name))
            for tag, message in (("failure", case.failure), ("skipped", case.skipped)):
                if message:
                    ElementTree.SubElement(element, tag, message=printable(message))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="us-ascii", xml_declaration=True)
    return f"{text.decode()}\n"


def suites(found: Comparisons) -> Iterator[tuple[str, list[Case]]]:
    """The verdicts of each comparison, after its name."""
    for one in found.others:
        cases = []
        for row in one.verdicts:
            said, name = sentence(row, found.roles, found.each), named(row.group, row.measure, found.roles)
            cases.append(Case(name, said * (row.verdict == "worse"), said * (row.verdict == "not judged")))
        if found.vary:
            others = [each.name for each in one.parameters if not each.intended]
            cases.append(Case("no other parameter differs", ", ".join(others)))
        yield f"{one.other.name} against {found.base.name}", cases
