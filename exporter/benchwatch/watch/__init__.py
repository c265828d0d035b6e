"""`benchwatch watch`: what an exporter shows, live in the terminal.

It reads /metrics, and alerts and verdicts from a Prometheus; it never reads the files of a run.
"""
