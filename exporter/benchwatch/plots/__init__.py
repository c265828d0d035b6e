"""Plots and tables of runs as HTML: what the report and the exporter's own pages share.

Figures and their words come from `compare`. A browser draws plots; without its scripts, their words stand there.
"""
