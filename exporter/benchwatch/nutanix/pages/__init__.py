"""Parsers for the pages of a CVM: HTML text in, numbers in base units out.

They send no request, trust no cell, and count what they do not recognise instead of guessing.
"""
