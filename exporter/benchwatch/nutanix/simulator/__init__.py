"""A double of the pages of a CVM's port 2009, for tests, demonstrations and trying out dashboards.

It follows what is known of the real pages (see `main_page` and `vdisk_page`), plays scenes, and can vary whatever is
not known of them.
"""
