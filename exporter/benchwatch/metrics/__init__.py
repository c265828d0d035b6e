"""Metric families, the Prometheus text format, the bucket scheme of every histogram, and the limits on series.

No metric of a tool or of a CVM is declared here, and nothing here reads a file or answers a request.
"""
