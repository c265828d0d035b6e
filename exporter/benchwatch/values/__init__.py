"""Plain values and their forms: durations, names, numbers for people, YAML, command-line arguments, errors.

Nothing here knows about benchmarks, metrics or files of a run, and nothing here imports another room.
"""
