"""Questions to this machine: its facts, processes, mounts and block devices, and what other programs answer.

Nothing here knows of runs, tools or metrics, and nothing is measured.
"""
