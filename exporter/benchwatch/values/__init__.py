"""Plain values and their forms: durations, names, numbers for people, YAML, command-line arguments, errors.

It knows nothing about benchmarks, metrics or the files of a run, and imports no other package.
"""
