"""Plots and tables of runs as HTML: what the report and the exporter's own pages share.

Everything is drawn here, without script, styles in attributes or anything from elsewhere; figures and their
words come from `compare`.
"""
