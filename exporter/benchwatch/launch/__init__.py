"""`benchwatch run`: starts a benchmark, passes its output on untouched, and records it in the run's folder.

What is particular to a tool (its options, its server, its files) never lives here: that is its launcher's, in `tools/`.
"""
