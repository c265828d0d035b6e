"""How much of one fio is shown apart; a document with more is counted as misread once, and its totals stay right."""

MOST_JOBS = 256
"""Jobs with a name of their own; the others are added up under OTHER_JOBS."""
OTHER_JOBS = "(other jobs)"
MOST_DISKS = 256
"""Disks whose use is shown."""
MOST_OPTIONS = 2000
"""Options that are shown as parameters, of all jobs together."""
