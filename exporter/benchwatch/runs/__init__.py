"""Runs while they grow: the files of each worker, what is new in them, the life cycle of a worker, pushed bytes.

It never changes a byte that a benchmark wrote, and leaves HTTP to `server` and finished runs to `history`.
"""
