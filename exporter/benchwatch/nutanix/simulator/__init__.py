"""Simulated CVMs: servers that answer like port 2009, for tests, the demo and trying out dashboards.

They follow what is known about the real pages (see `main_page` and `vdisk_page`), play scenes, and can vary whatever is
not known. No code of the exporter imports this package; only `benchwatch nutanix simulate` starts it.
"""
