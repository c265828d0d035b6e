"""Simulated CVMs whose pages and servers vary in all ways that a real one may."""
