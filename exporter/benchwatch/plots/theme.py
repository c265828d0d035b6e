"""How plots look: colours that follow the reader's light or dark theme.

A colour is the name of a CSS variable. Those of series are of Okabe and Ito (https://jfly.uni-koeln.de/color/), which
people with colour-blindness can distinguish, darkened or lightened for contrast: WCAG 2.2, level AA, is 3 to 1 for
lines, 4.5 to 1 for text.
"""

from pathlib import Path

INK, SOFT, STALL, WARMUP, SLOW = "--ink", "--soft", "--stall", "--warmup", "--slow"
SERIES = tuple(f"--s{number}" for number in range(8))
"""For items of the same kind: runs, operations, percentiles, disks without a role."""
OF_ROLE = {
    ("log", "write"): "--s6",
    ("log", "read"): "--s3",
    ("log", ""): "--s6",
    ("data", "write"): "--s1",
    ("data", "read"): "--s0",
    ("data", ""): "--s1",
}
"""By role and operation of a disk or vdisk."""
STAGES = {
    "log device": "--s6",
    "data device": "--s1",
    "vdisk": "--s3",
    "path to the vdisk": "--s5",
    "client and network": "--s0",
    "database at work": "--s2",
    "lock": "--s4",
    "other waits of the database": "--s7",
}
"""By what an operation waits for."""
STYLE = (Path(__file__).parent / "theme.css").read_text()
"""The variables, for the light theme and the dark one, and how drawings look."""
