"""The result of runs: `benchwatch show`, `benchwatch list`, and what `benchwatch run` prints at the end.

It measures nothing of its own: figures and what speaks against them come from `compare`; nothing here starts a program.
"""
