"""What views show, as data (`content`), and how it is written: as text, Markdown, HTML and CSV.

A view says what is in it; how that looks is decided here once. Nothing here knows of runs or tools. Text may come from
outside: each form escapes it, so that no terminal, page or spreadsheet obeys it.
"""
