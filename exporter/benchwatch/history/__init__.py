"""Recorded output read once, from beginning to end: the series and results that a live exporter would have shown.

The offline commands read runs through here; nothing here writes a file or formats a number for people.
"""
