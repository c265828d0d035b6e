"""What is exported of slow runs, and the alerts of prometheus/rules about that."""

from ..metrics.samples import Family

INFO = Family(
    "benchwatch_run_why_info",
    "gauge",
    "1 while a run is slow; why: the server, the slow layer (none: no layer explains it) and a sentence.",
    ("run", "host", "layer", "text"),
)
MESSAGE = Family(
    "benchwatch_run_why_message",
    "gauge",
    "1 for the message of the alert RunSlow: a slow run, its layer, since when (UTC), and whether another layer "
    "was named before. Of runs that are slow in one layer of a machine, only one.",
    ("run", "host", "layer", "since", "corrected"),
)
SECONDS = Family(
    "benchwatch_run_why_seconds",
    "gauge",
    "What a mean operation of a slow run waits for, by stage, usually and now; the stages add up to its latency.",
    ("run", "stage", "when"),
)
SINCE = Family(
    "benchwatch_run_why_since_timestamp_seconds", "gauge", "Since when the run has been slow, Unix time.", ("run",)
)
UP = Family("benchwatch_why_up", "gauge", "1 if Prometheus answered all questions of the last second about slow runs.")
FAMILIES = (INFO, MESSAGE, SECONDS, SINCE, UP)

UNSEEN = "RunExplained"
"""The alert that only silences others."""
SLOW = frozenset(
    ("RunSlow", "LatencySpike", "LatencyObjectiveMissed", "ThroughputCollapse", "ThroughputZero", "RunStalled")
)
"""Alerts that say that a run is slow: one cause, of which RunSlow says why."""
