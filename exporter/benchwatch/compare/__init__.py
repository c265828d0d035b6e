"""`benchwatch compare`: runs side by side, what changed, and how certain that is.

It never judges a run by a figure that was not measured, and its statistics know neither tools nor files.
"""
