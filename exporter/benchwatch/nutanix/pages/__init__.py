"""Parsers for the pages of a CVM: they turn HTML into numbers in base units.

They send no requests, trust no cell, and count what they do not recognise instead of guessing.
"""
