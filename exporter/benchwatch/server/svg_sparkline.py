"""A small chart of a quantity over time, as inline SVG: no script, no style attribute, nothing from elsewhere.

Time runs to the right, the value from 0 at the bottom to the peak at the top. The line breaks where nothing was
measured, so that a gap never looks like a value.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from statistics import median_low

_WIDTH = 300
_HEIGHT = 36
_MARGIN = 3
_BOTTOM = _HEIGHT + _MARGIN
_GAP = 3.0
"""A pause longer than this many usual intervals is a gap."""


def sparkline(
    times: Sequence[float], values: Sequence[float | None], peak: float, span: tuple[float, float], label: str
) -> str:
    """The chart of `values` (0 to `peak`) at `times` (Unix seconds, ascending) from the start to the end of `span`.

    `label` is a description for readers who cannot see the chart, plain text without markup.
    """
    start, end = span
    scale = _WIDTH / (end - start) if end > start else 0.0
    lines, top = [], ""
    for begin, after in _pieces(times, values):
        measured = [value or 0.0 for value in values[begin:after]]
        across = [int(scale * (time - start)) for time in times[begin:after]]
        down = [int(_BOTTOM - (value / peak * _HEIGHT if peak else 0.0)) for value in measured]
        # A line to itself at the end: with round ends, a lone value is a dot.
        lines.append("M" + "%d %d " * len(across) % (*chain.from_iterable(zip(across, down, strict=True)),) + "h0")
        if peak and peak in measured:
            place = measured.index(peak)
            top = f'<path class="top" d="M{across[place]} {down[place]}h0"/>'
    return (
        f'<svg class="rate" viewBox="0 0 {_WIDTH} {_BOTTOM + _MARGIN}" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}"><path class="zero" d="M0 {_BOTTOM}H{_WIDTH}"/>'
        f'<path d="{"".join(lines)}"/>{top}</svg>'
    )


def _pieces(times: Sequence[float], values: Sequence[float | None]) -> Iterator[tuple[int, int]]:
    """The unbroken pieces: index of the first value, and the one after the last."""
    pauses = [later - earlier for earlier, later in pairwise(times)]
    gap = _GAP * median_low(pauses) if pauses else 0.0
    cuts = {index for index, pause in enumerate(pauses, 1) if pause > gap}
    cuts.update(index for index, value in enumerate(values) if value is None)
    begin = 0
    for cut in [*sorted(cuts), len(values)]:
        if cut > begin:
            yield begin, cut
        begin = cut + 1 if cut < len(values) and values[cut] is None else cut
