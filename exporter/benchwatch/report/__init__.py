"""`benchwatch report`: runs as one HTML file with plots, tables and all figures.

The page loads nothing and runs no script; verdicts and intervals come from `compare`, never from here.
"""
