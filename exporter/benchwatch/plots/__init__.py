"""Plots and tables of runs as HTML: what the report and the exporter's own pages share.

Drawings have no scripts, no style attributes and no external content. Figures and their words come from `compare`.
"""
