"""The benchmark tools: their interface (`api`), the table of all of them (`registry`), and one package per tool that
turns output into records and records into samples.

Nothing here opens a run's files or knows their names; whatever concerns a single tool lives here and nowhere else.
"""
