"""Requirements and verdicts as JUnit XML, which GitLab, Jenkins and GitHub's test reporters read.

A suite a run or comparison, a test case a requirement; one case more says whether the run itself ended well.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from ..values.printable import printable


class Case(NamedTuple):
    """One test case."""

    name: str
    failure: str
    """Why it failed; empty if it passed."""
    skipped: str = ""
    """Why nothing can be said; empty otherwise."""


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
