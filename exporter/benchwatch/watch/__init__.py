"""`benchwatch watch`: what an exporter shows, live in the terminal.

It reads /metrics and the alerts and verdicts of a Prometheus, and never the files of a run.
"""
