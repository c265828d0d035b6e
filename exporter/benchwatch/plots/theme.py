"""How plots look: colours that follow the reader's light or dark theme.

A colour is the name of a CSS variable. Those of series are of Okabe and Ito (https://jfly.uni-koeln.de/color/), which
people with colour-blindness can distinguish, darkened or lightened for contrast: WCAG 2.2, level AA, is 3 to 1 for
lines, 4.5 to 1 for text.
"""

from pathlib import Path

INK, SOFT, STALL, WARMUP = "--ink", "--soft", "--stall", "--warmup"
SERIES = tuple(f"--s{number}" for number in range(8))
"""For items of the same kind: runs, operations, percentiles, disks."""
STYLE = (Path(__file__).parent / "theme.css").read_text()
"""The variables, for the light theme and the dark one, and how drawings look."""
