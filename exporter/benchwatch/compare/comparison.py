"""A whole comparison: the base, and the others compared with it."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ..tools.roles import Roles
from .changes import Change, changes, shared
from .experiment import CannotCompare, Experiment, same_jobs
from .final_numbers import Part, parts
from .findings import Finding, findings
from .parameters import Difference, differences


class Comparison(NamedTuple):
    """The base and one other."""

    other: Experiment
    rows: Sequence[Change]
    parameters: Sequence[Difference]
    findings: Sequence[Finding]
    parts: Sequence[Part]

    @property
    def verdicts(self) -> list[Change]:
        """The main measures, which have verdicts."""
        return [row for row in self.rows if row.verdict]


class Comparisons(NamedTuple):
    """What `benchwatch compare` shows."""

    base: Experiment
    others: Sequence[Comparison]
    confidence: float
    """Probability that all verdicts together are right."""
    each: float
    """Confidence of every single interval."""
    allowance: float
    """Change that two equal single runs may show, as a ratio."""
    vary: Collection[str]

    @property
    def tool(self) -> str:
        """That of all runs."""
        return self.base.runs[0].tool

    @property
    def roles(self) -> Roles:
        """The roles of the tool's families in these runs."""
        return self.base.runs[0].roles

    @property
    def warmup(self) -> bool:
        """Whether the figures of any run leave out its warm-up."""
        sides = (self.base, *(comparison.other for comparison in self.others))
        return any(run.left_out for side in sides for run in side.runs)


def compare(
    base: Experiment, others: Sequence[Experiment], *, confidence: float, allowance: float, vary: Collection[str]
) -> Comparisons:
    """Compare each of the others with the base. Raises CannotCompare."""
    base, *others = comparable([base, *others])
    number = sum(len({key for run in base.runs for key in run.main()}) for _ in others)
    each = 1 - (1 - confidence) / max(number, 1)
    found = []
    for other in others:
        differing = list(differences(base.runs, other.runs, vary))
        table = changes(base, other, each, allowance)
        warnings = findings([base, other], differing)
        found.append(Comparison(other, table, differing, warnings, parts(base.runs, other.runs)))
    return Comparisons(base, found, confidence, each, allowance, vary)


def comparable(sides: Sequence[Experiment]) -> list[Experiment]:
    """The sides, their groups named alike. Raises CannotCompare unless they are of one kind of test."""
    base, *others = sides
    for other in others:
        tools = [side.runs[0].tool for side in (base, other)]
        if tools[0] != tools[1]:
            text = f"{base.name} is a run of {tools[0]}, {other.name} of {tools[1]}"
            raise CannotCompare(f"{text}; expected runs of the same tool")
        units = [side.runs[0].roles.unit.name for side in (base, other)]
        if units[0] != units[1]:
            text = f"{base.name} measured {units[0]}, {other.name} {units[1]}"
            raise CannotCompare(f"{text}; expected runs of the same kind of test")
    base, *others = same_jobs(sides)
    for other in others:
        if not shared(base, other):
            raise CannotCompare(f"{base.name} and {other.name} have no measure in common; expected the same jobs")
    return [base, *others]
