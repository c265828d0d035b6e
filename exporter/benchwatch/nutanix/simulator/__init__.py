"""Simulated CVMs: servers that answer like port 2009, for the demo, tests and trying out dashboards.

They follow what is known about the real pages (see `main_page` and `vdisk_page`) and play scenes. The exporter does not
import this package; only `benchwatch nutanix simulate` does.
"""
