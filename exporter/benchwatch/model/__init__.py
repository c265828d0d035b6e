"""The one model of what is observed: runs and their workers, CVMs and their vdisks.

Frozen, plain data: every view shows it, and `/api` serves it as JSON. It does no I/O and computes no figure.
"""
