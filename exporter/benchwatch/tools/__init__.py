"""The benchmark tools: their interface (`api`), the table of all of them (`registry`), and one package per tool that
turns output into records and records into samples.

Nothing here opens a file of a run or knows its name, and whatever concerns one tool only lives here and nowhere else.
"""
