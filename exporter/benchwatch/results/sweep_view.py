"""A sweep as blocks: a table with a row per point, then lines about knee, law and objective of each curve."""

from collections.abc import Iterator, Sequence

from ..compare.measures import LATENCY_MEAN, THROUGHPUT, Measure, figure, heading, level, named, title
from ..compare.result import Result
from ..show.content import Block, Sentence, Table, table
from ..values import numbers
from .repeats import CONFIDENCE, FEWEST, Mean
from .scalability import FEWEST_POINTS, Bounded
from .sweep import CapacityCurve, CurvePoint, Matrix, curves, matrices


def blocks(runs: Sequence[Result]) -> list[Block]:
    """The table and the lines of a sweep. `runs` are its finished runs."""
    found = curves(runs)
    if not found:
        return [Sentence("nothing to show: expected at least one finished run")]
    names = curve_names(found)
    first = found[0]
    shown = [THROUGHPUT, LATENCY_MEAN, *dict.fromkeys(one.tail for one in found if one.tail)]
    heads = [title(one, first.roles).removeprefix("latency ") for one in shown]
    rows: list[list[str]] = []
    for name, curve in zip(names, found, strict=True):
        for point in curve.points:
            cells = [_cell(curve, point.figures.get(one), one) for one in shown]
            rows.append([name, point.value, str(len(point.runs)), *cells])
    several = len(found) > 1
    lines = [f"{f'{name}: ' * several}{line}" for name, one in zip(names, found, strict=True) for line in _lines(one)]
    fewest = min(len(point.runs) for curve in found for point in curve.points)
    if fewest < FEWEST:
        few = f"expected {FEWEST} or more a point (--repeat {FEWEST})"
        lines.append(f"too few runs for intervals of the points: {few}")
    else:
        lines.append(f"±: half of the {level(CONFIDENCE)} interval of the mean")
    tables = [table(["", first.parameter, "runs", *heads], rows), *map(_table_of, matrices(found))]
    return [*tables, *map(Sentence, lines)]


def _table_of(matrix: Matrix) -> Table:
    """The throughput by both parameters; the best is marked."""
    heads = [f"{matrix_title(matrix)}: {matrix.names[0]}", *(f"{matrix.names[1]} {value}" for value in matrix.columns)]
    shown = {
        place: figure(value, THROUGHPUT, matrix.roles) + " best" * (place == matrix.best)
        for place, value in matrix.values.items()
    }
    return table(heads, [[row, *(shown.get((row, column), "") for column in matrix.columns)] for row in matrix.rows])


def matrix_title(matrix: Matrix) -> str:
    """What the matrix shows: read IOPS."""
    return named(matrix.group, THROUGHPUT, matrix.roles)


def best(runs: Sequence[Result]) -> Iterator[str]:
    """In a line for each curve, or for each matrix of two parameters: its knee, or where the throughput is highest."""
    found = curves(runs)
    matrix_of = {one.group: one for one in matrices(found)}
    for one in matrix_of.values():
        row, column = one.best
        (curve,) = (each for each in found if each.group == one.group and each.second == (one.names[1], column))
        (point,) = (each for each in curve.points if each.value == row)
        yield f"highest at {one.names[1]} {column}, {_at(curve, point)}"
    for name, curve in zip(curve_names(found), found, strict=True):
        if curve.group not in matrix_of:
            top = max(curve.points, key=lambda point: point.figures[THROUGHPUT].value)
            where = f"knee at {_at(curve, curve.knee)}" if curve.knee else f"highest at {_at(curve, top)}"
            yield f"{name} {where}".strip()


def curve_names(found: Sequence[CapacityCurve]) -> list[str]:
    """What distinguishes the curves of a sweep from each other; empty for a single one."""
    jobs = {one.group[:-1] for one in found}
    groups = {one.group for one in found}
    names = []
    for one in found:
        group = heading(one.group if len(jobs) > 1 else one.group[-1:]) if len(groups) > 1 else ""
        names.append(" ".join(part for part in (group, " ".join(one.second or ())) if part))
    return names


def _cell(curve: CapacityCurve, mean: Mean | None, measure: Measure) -> str:
    if mean is None:
        return ""
    shown = figure(mean.value, measure, curve.roles)
    if mean.half_width is None:
        return shown
    percent = 100 * mean.half_width
    return f"{shown} ±{f'{percent:.2g}' if percent < 100 else f'{percent:,.0f}'} %"


def _lines(curve: CapacityCurve) -> Iterator[str]:
    if not curve.free:
        yield "the command sets the rate: no knee, and no law to fit"
    elif curve.counts:
        if (knee := curve.knee) is not None:
            yield f"knee: {_at(curve, knee)}; beyond it latency grows faster than throughput"
        elif curve.powers:
            yield f"knee: none up to {curve.parameter} {curve.points[-1].value}"
    yield from _law(curve)
    if (objective := curve.objective) is not None and curve.numeric:
        yield f"objective: {_within(curve, objective)}"


def _at(curve: CapacityCurve, point: CurvePoint) -> str:
    figures = ((THROUGHPUT, ""), (curve.judged, curve.judged.title.removeprefix("latency ")))
    means = [(name, one, point.figures[one].value) for one, name in figures if one in point.figures]
    known = [f"{name} {figure(value, one, curve.roles)}".strip() for name, one, value in means]
    known[0] += f" {curve.roles.unit.name}" * (not curve.roles.unit.in_bytes)
    return f"{curve.parameter} {point.value}, {', '.join(known)}"


def _within(curve: CapacityCurve, objective: float) -> str:
    what = "the mean" if curve.judged is LATENCY_MEAN else curve.judged.title.removeprefix("latency ")
    limit = numbers.trimmed(numbers.latency(objective))
    most = curve.most_within
    if most is None:
        return f"no value of {curve.parameter} keeps {what} within {limit}"
    end = " (the largest that was measured)" if most is curve.points[-1] else ""
    mean = most.figures[curve.judged]
    unsure = mean.interval is not None and mean.interval[1] > objective
    doubt = "; its interval reaches beyond" if unsure else ""
    return f"{_at(curve, most)}: the most that keeps {what} within {limit}{end}{doubt}"


def _law(curve: CapacityCurve) -> Iterator[str]:
    """The fit of the universal scalability law, or why there is none."""
    law = curve.law
    if law is None:
        if curve.counts and curve.free and len(curve.points) < FEWEST_POINTS:
            yield f"too few points for a fit: {len(curve.points)}, expected {FEWEST_POINTS} or more"
        elif curve.counts and curve.free:
            yield "no fit: expected values and throughputs above 0"
        return
    sure = f"{level(CONFIDENCE)} intervals"
    yield (
        f"Universal Scalability Law: contention {_bounded(law.contention)}, coherence {_bounded(law.coherence)} "
        f"({sure}); runs deviate by {100 * law.deviation:.1f} % (root mean square)"
    )
    peak, reach = law.peak, f"{law.reach:g}"
    if peak.value > law.reach:
        least = f"; it may be from {peak.low:.3g} on" if peak.low <= law.reach else ""
        yield f"peak: none up to {curve.parameter} {reach}, twice the largest measured{least}"
        return
    high = f"{peak.high:.3g}" if peak.high <= law.reach else f"beyond {reach}"
    top = figure(law.at(peak.value), THROUGHPUT, curve.roles)
    unit = "" if curve.roles.unit.in_bytes else f" {curve.roles.unit.name}"
    yield f"peak: {curve.parameter} {peak.value:.3g} ({peak.low:.3g} to {high}), {top}{unit} by the law"


def _bounded(found: Bounded) -> str:
    return f"{found.value:.3g} ({found.low:.2g} to {found.high:.2g})"
