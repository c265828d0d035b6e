"""`benchwatch report`: runs as one HTML file with plots, tables and all figures.

The page loads nothing and runs only the scripts that draw plots; verdicts and intervals come from `compare`.
"""
