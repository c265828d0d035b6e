"""Reads recorded output once, from beginning to end: the series and results that a live exporter would have shown.

All offline commands read runs through this package; it never writes a file or formats a number for people.
"""
