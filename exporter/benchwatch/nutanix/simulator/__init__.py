"""Simulated CVMs: servers that answer like port 2009, for tests, the demo and trying out dashboards.

They follow what is known about the real pages (see `main_page` and `vdisk_page`), play scenes, and can vary everything
that is not known. The exporter does not import this package; only `benchwatch nutanix simulate` does.
"""
