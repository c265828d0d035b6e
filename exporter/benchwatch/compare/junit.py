"""Verdicts and requirements as JUnit XML, which GitLab, Jenkins and GitHub's test reporters read.

Each comparison (or run) is a suite, each verdict (or requirement) a test case. A verdict `worse` is a failure; `not
judged` is skipped. With --vary, a further case says whether another parameter differs.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from ..values.printable import printable
from .comparison import Comparisons
from .comparison_view import sentence
from .measures import heading, title


class Case(NamedTuple):
    """One test case."""

    name: str
    failure: str
    """The reason for its failure; empty if it passed."""
    skipped: str = ""
    """The reason why it was not judged; empty if it was."""


class Suite(NamedTuple):
    """The cases of one run or comparison."""

    name: str
    cases: Sequence[Case]


def junit(suites: Iterable[Suite]) -> str:
    """The XML text, ASCII."""
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


def suites(found: Comparisons) -> Iterator[Suite]:
    """The verdicts of each comparison."""
    for one in found.others:
        cases = []
        for row in one.verdicts:
            said = sentence(row, found.roles, found.each)
            name = f"{heading(row.group)} {title(row.measure, found.roles)}".strip()
            cases.append(Case(name, said * (row.verdict == "worse"), said * (row.verdict == "not judged")))
        if found.vary:
            others = [each.name for each in one.parameters if not each.intended]
            cases.append(Case("no other parameter differs", ", ".join(others)))
        yield Suite(f"{one.other.name} against {found.base.name}", cases)
